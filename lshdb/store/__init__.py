"""The index as SQL tables, in SQLite or Postgres. The only package that knows SQLAlchemy, Alembic and the drivers.

`store.Store` opens an index and starts transactions; the modules of `tables` read and write inside one. Importing this
package imports nothing: the command line starts without SQLAlchemy.
"""
