"""Corpora with known truth: real, synthetic, and the brute force that knows every pair."""
