"""Kill and cut loads at random moments, and compare what is left with an index that was never disturbed."""
