"""What lshdb is measured with: real corpora, an exact oracle, recall and speed. Nothing here is shipped."""
