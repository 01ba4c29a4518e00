"""Everything that only Postgres needs."""
