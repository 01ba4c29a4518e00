"""WARC files: records, the HTTP responses inside them, and the documents inside those."""
