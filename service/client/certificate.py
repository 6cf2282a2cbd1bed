"""A certificate as the client reads it; `document` is the whole, which is what was signed."""

from typing import Any

from pydantic import model_validator

from certiset.core.certificate.card import certificate_card, statement_card
from certiset.core.certificate.content import Account, Caveat, Coverage, DeploymentAccount, Efficiency
from certiset.core.certificate.group_content import Group
from certiset.core.certificate.selection import Selection
from certiset.core.display import Card, Shown
from certiset.core.resource_base import Resource


class Sizes(Resource):
    measure: str
    gamma: float
    upper_bound: float
    """on the mean size of future sets"""
    empirical: float
    cap: float
    """above which sizes count as this"""
    rows: int
    member: int | None = None
    """the one that answers for every input; None where each draws one"""


class SignedDocument(Shown, Resource):
    id: str
    predictor_id: str
    issued_at: str
    statement: str
    """the promise, in one sentence"""
    assumptions: tuple[str, ...]
    caveats: tuple[Caveat, ...] = ()
    """what a reader should know before relying on the promise"""
    signature: str | None = None
    document: dict[str, Any]
    """all of it, as the server sent it"""

    def card(self) -> Card:
        return statement_card(self)

    @model_validator(mode="before")
    @classmethod
    def _keep_document(cls, document: Any) -> Any:
        return {**document, "document": document} if isinstance(document, dict) else document


class SizeStatement(SignedDocument):
    """What was certified about sizes on fresh inputs."""

    sizes: Sizes


class Certificate(SignedDocument):
    size_statement: str | None = None
    """what is promised about the size, in one sentence"""
    account: Account | None = None
    """which attempt on its rows it was; None where that is not known"""
    deployment: DeploymentAccount | None = None
    """whose reported outcomes calibrated it, and what was spent so far; None where data were uploaded"""
    selection: Selection | None = None
    """what the fit compared on revealed rows, and why it chose; None where it had no choice"""
    coverage: Coverage
    efficiency: Efficiency
    groups: tuple[Group, ...] | None = None
    """where every group, or class, has a threshold of its own"""

    @property
    def all_levels(self) -> bool:
        """Whether the promise is for all alpha at once."""
        return self.document.get("levels") is not None

    def card(self) -> Card:
        model, names, options = (self.document.get(name) or {} for name in ("model", "names", "options"))
        return certificate_card(
            self,
            model=names.get("model"),
            labels=model.get("labels"),
            by_class=options.get("groups") == "class",
            all_levels=self.all_levels,
        )
