"""Alembic's entry point; the connection comes from `certiset.core.store.migrate` and stays in its transaction."""

from alembic import context

from certiset.core.store import account_records, deployment_records, records, summary_records  # noqa: F401 (the tables)
from certiset.core.store.record_base import Record

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Record.metadata,
    render_as_batch=True,
)
context.run_migrations()
