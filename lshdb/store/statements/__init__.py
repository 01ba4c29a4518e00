"""Every SELECT with a join, one function for each query. Nothing here executes SQL."""
