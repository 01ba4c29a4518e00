"""Read WARC files: records, the HTTP responses in them, and the documents in those."""
