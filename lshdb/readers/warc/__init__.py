"""Read WARC and ARC files: records, the HTTP responses in them, and the documents in those."""
