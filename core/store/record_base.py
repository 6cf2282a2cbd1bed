"""What all tables share: names of their constraints, and the types of their columns."""

from typing import Any

from sqlalchemy import JSON, Double, MetaData, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase

_Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
Id = String(64)


class Record(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 (SQLAlchemy's own convention)
        float: Double,
        dict[str, Any]: _Json,
        list[int]: _Json,
        list[float]: _Json,
        list[str]: _Json,
    }
