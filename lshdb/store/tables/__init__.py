"""Functions that read and write the tables, each inside a transaction that is passed to it."""
