"""Whether a graph is known to treat the rows of a batch one by one."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

RowsWord: TypeAlias = Literal["proved", "one_by_one", "assumed"]
_LONGEST_REASON = 200


@dataclass(frozen=True)
class RowProof:
    """What is promised for a function of one row is true of a batch only if no row can see another one."""

    proved: bool
    """if not, every row is computed by a call of its own"""
    reason: str | None = None
    """the first operator that the proof does not reach, if it was not proved"""
    assumed: bool = False
    """whether a batch is computed as one although nothing is proved: some rows were tried alone and in company"""

    @property
    def rows(self) -> RowsWord:
        return "proved" if self.proved else "assumed" if self.assumed else "one_by_one"

    @classmethod
    def told(cls, proved: Any, reason: Any) -> "RowProof":
        """What a process said that a stranger's file may have taken over: a word, and a short line of text."""
        if proved is True:
            return PROVED
        return cls(False, "".join(letter for letter in str(reason)[:_LONGEST_REASON] if letter.isprintable()))


PROVED = RowProof(True)
ASSUMED = RowProof(False, "the model is a program of its owner, tried on some rows", assumed=True)
NOTHING_YET = RowProof(False, "no row was computed yet")
