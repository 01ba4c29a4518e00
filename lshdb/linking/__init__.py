"""From buckets to pairs: which contents become candidates, and how similar each candidate pair is."""
