"""The revisions of the schema, oldest first; installed as lshdb.migrations."""
