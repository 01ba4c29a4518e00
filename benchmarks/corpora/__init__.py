"""Corpora, real and synthetic, and the brute-force oracle that finds all their pairs."""
