"""Find passages: runs of words that several texts share, and texts that are contained in others."""
