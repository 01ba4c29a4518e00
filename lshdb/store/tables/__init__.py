"""What is written to and read from each table. Each function takes the transaction that it works in."""
