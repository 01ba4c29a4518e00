"""Every SELECT with a join, one function a question. Nothing here executes SQL."""
