"""Write the original records of the kept documents, unchanged: lines, rows, WARC records and files."""
