"""Write the original records of the documents that are kept: lines, rows, WARC records and files, as they came in."""
