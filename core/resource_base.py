"""What all resources of the HTTP API share."""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

CertificateStatus: TypeAlias = Annotated[
    str, Field(json_schema_extra={"enum": ["consistent", "contradicted", "withdrawn"]})
]


class Resource(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)
