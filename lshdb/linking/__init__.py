"""Find pairs: which contents share buckets, and how similar each candidate pair is."""
