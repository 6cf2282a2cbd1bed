"""Databases as older versions left them."""

from alembic import command

from certiset.core.store.database import Database
from certiset.core.store.migrate import alembic_config


def upgrade_to(database: Database, revision: str) -> None:
    with database.connection(writing=True) as connection:
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
