"""From files to the index: what changed, what it says, and writing it down; and taking documents out again."""
