"""Questions about documents: what is like this one, why are two a pair, what contaminates a test set."""
