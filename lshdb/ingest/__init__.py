"""Ingest files into the index in three steps (plan, make, write), and remove documents again."""
