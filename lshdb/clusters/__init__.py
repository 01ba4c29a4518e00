"""Turn pairs into clusters: groups of near-duplicates, the document kept for each, and the deduplicated corpus."""
