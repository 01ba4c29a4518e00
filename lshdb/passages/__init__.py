"""Find passages: runs of words that stand in several texts, and texts that are contained in others."""
