"""Everything that only SQLite needs."""
