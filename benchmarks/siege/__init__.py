"""Kill loads and cut their power at random moments, and compare the resumed index with an undisturbed one."""
