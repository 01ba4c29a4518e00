"""Run the revisions in the transaction that lshdb.store.upgrade passes in."""

from alembic import context

from lshdb.store.schema import metadata
from lshdb.store.upgrade import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
