"""Answer questions: near-duplicates of a document, why two documents are a pair, what contaminates a test set."""
