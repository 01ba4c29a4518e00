"""One module a revision. A revision names its tables by itself: it must mean the same for ever."""
