"""A fitted predictor: stored members, their certificate, and the sets they give."""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from certiset.core.certificate import Certificate, SizeStatement
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.data.arrays import check_inputs
from certiset.core.data.frame import in_order
from certiset.core.errors import DataError
from certiset.core.fit.fresh_sizes import certify_size
from certiset.core.fit.member_choice import MemberChoice, Randomness
from certiset.core.fit.precision import full_precision
from certiset.core.fit.roles import ROLES
from certiset.core.fit.row_hashes import Digests
from certiset.core.fit.rows import Rows
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.serialization import Members, save
from certiset.core.fit.ties import Threshold
from certiset.core.sets import PredictionSets

GRAIN = 16
"""rows are filled up to a multiple of this before they are computed"""
_NUMPY = {torch.float32: np.float32, torch.float64: np.float64}
CHUNK = 4096
"""the most rows that are computed at once, a multiple of GRAIN"""


class SeenRows(NamedTuple):
    """What members have to know of at most CHUNK inputs."""

    features: Tensor
    """what the backbone makes of them, filled up to whole grains with copies of the first"""
    digests: Digests | None
    """likewise, where ties are broken by a hash"""
    asked: int
    """how many of these rows were asked for"""


@dataclass(frozen=True)
class Predictor:
    scorer: Scorer
    theta: Tensor
    """(members, d), on the host"""
    tau: Tensor
    """(members,), on the host"""
    certificate: Certificate
    device: torch.device
    tie: Tensor | None = None
    """(members,), on the host: the other half of the thresholds, where ties are broken"""

    @property
    def members(self) -> int:
        return len(self.tau)

    @cached_property
    def row_numbers(self) -> int:
        """How many numbers a row has, inputs and outputs together."""
        model = self.scorer.model
        return math.prod(model.manifest.input_shape) + model.outputs

    @cached_property
    def parameters(self) -> int:
        """How many parameters a row meets in the head and the score."""
        return self.theta.shape[1] + len(self.scorer.model.head_parameters)

    def predict_set(
        self,
        x: Any,
        member: int | ArrayLike | None = None,
        generator: Randomness = None,
    ) -> PredictionSets:
        """The sets for a batch of inputs: an array, or a data frame whose columns are put in order by their names.

        ``member`` replays one member, or one for each row; otherwise each row draws its own, from ``generator``
        (NumPy's or torch's) or from the operating system's randomness. A set does not depend on the rest of its batch.
        """
        inputs = check_inputs(self.scorer.model, self._in_order(x))
        members = self.draw_members(len(inputs), member, generator)
        with full_precision(self.device):
            return self.sets_of(inputs, members)

    def certify_size(self, x: Any, gamma: float = 0.05, member: int | None = None) -> SizeStatement:
        """A bound on the mean size of future sets, from fresh inputs that are used for nothing else; without truths.

        It holds with probability 1 - gamma over the inputs, which must be drawn as future ones will be: for sets as
        they are served, a member drawn for each, or for those of one ``member``, chosen without these inputs.
        """
        return certify_size(self, check_inputs(self.scorer.model, self._in_order(x)), gamma, member)

    @cached_property
    def choice(self) -> MemberChoice:
        """Who answers for an input, by the weights of the certificate."""
        certificate = self.certificate
        return MemberChoice(self.members, guarantee_of(certificate.coverage).weights(certificate))

    @property
    def chances(self) -> NDArray[np.float64]:
        """(members,): of each to answer for an input, as `draw_members` draws them."""
        return self.choice.chances

    def _in_order(self, x: Any) -> Any:
        """A data frame's columns as they were in the fit; the columns of clusters and times may be there as well."""
        data, options = self.certificate.data, self.certificate.options or {}
        others = [options[role] for role in ROLES if options.get(role) is not None]
        return in_order(x, data.columns if data is not None else None, others)

    def draw_members(
        self, rows: int, member: int | ArrayLike | None = None, generator: Randomness = None
    ) -> NDArray[np.int64]:
        """Which member answers for each row."""
        if member is None:
            return self.choice.drawn(rows, generator)
        try:
            chosen = np.asarray(member)
        except ValueError:
            raise DataError("member must be a whole number, or one for each row.") from None
        if chosen.dtype.kind not in "iu" or chosen.ndim > 1:
            raise DataError("member must be a whole number, or one for each row.")
        if chosen.ndim == 1 and len(chosen) != rows:
            raise DataError(f"{len(chosen)} members were given for {rows} rows.")
        if chosen.size and (chosen.min() < 0 or chosen.max() >= self.members):
            raise DataError(f"member must be from 0 to {self.members - 1}.")
        return np.broadcast_to(chosen.astype(np.int64), (rows,))

    @torch.inference_mode()
    def sets_of(self, inputs: NDArray[Any], members: NDArray[np.int64]) -> PredictionSets:
        """The sets of checked inputs under given members.

        Matrix products treat the last few rows of a batch in another way than the others, which shows in the last bit.
        Rows are therefore filled up to whole grains, so that a row's set is the same whichever rows came with it.
        """
        if not len(inputs):
            shape = self.scorer.model.manifest.input_shape
            return self._part(np.zeros((1, *shape)), 0).take(np.zeros(0, dtype=np.int64))
        if len(inputs) == 1 or (len(inputs) <= CHUNK and (members == members[0]).all()):
            return self._part(inputs, int(members[0]))
        order = np.argsort(members, kind="stable")
        ends = np.flatnonzero(np.diff(members[order], append=-1)) + 1
        parts, start = [], 0
        for end in ends.tolist():
            member = int(members[order[start]])
            parts += [self._part(inputs[order[at : min(at + CHUNK, end)]], member) for at in range(start, end, CHUNK)]
            start = end
        return _joined(parts, np.argsort(order, kind="stable"))

    def _part(self, inputs: NDArray[Any], member: int) -> PredictionSets:
        """At most CHUNK rows of one member."""
        return self.sets_from(self.seen(inputs), member)

    def seen(self, inputs: NDArray[Any]) -> SeenRows:
        """At most CHUNK rows, as all members see them."""
        count = len(inputs)
        missing = -count % GRAIN
        dtype = self.theta.dtype
        digests = self.scorer.rule.ties.digests(inputs, dtype)
        if missing:
            filled = np.empty((count + missing, *inputs.shape[1:]), dtype=_NUMPY[dtype])
            with np.errstate(over="ignore"):
                # What is too large for the dtype becomes infinite, and is refused below.
                filled[:count] = inputs
            filled[count:] = filled[0]
            inputs = filled
            if digests is not None:
                digests = np.append(digests, np.full(missing, digests[0]))
        return SeenRows(self.scorer.model.features(inputs, self.device, dtype), digests, count)

    def sets_from(self, rows: SeenRows, member: int) -> PredictionSets:
        """The sets of these rows under one member."""
        features, digests, count = rows
        # A tuned head gives the outputs itself; the one that the model came with need not run beside it.
        outputs = features if self.scorer.tunes_head else self.scorer.model.given_outputs(features)
        theta, tau = self._on_device
        prediction = self.scorer.predict(theta[member : member + 1], Rows(features, outputs, features))
        # A sum is quicker than a look at each; only one that is not finite, which may be an overflow, asks for more.
        outputs = prediction.outputs
        if not math.isfinite(float(outputs.sum())) and not torch.isfinite(outputs).all():
            raise DataError("the model's output is not finite for some row of x, so no set can be given.")
        tie = None if self.tie is None else self.tie[member : member + 1]
        threshold = Threshold(tau[member : member + 1], tie)
        sets = self.scorer.rule.sets(self.scorer.score, prediction, threshold, digests)
        if self.scorer.exponent:
            sets = sets.times_power_of_two(self.scorer.exponent)
        return sets.take(slice(count)) if count < len(features) else sets

    @cached_property
    def _on_device(self) -> tuple[Tensor, Tensor]:
        """All members, copied to the device once."""
        return self.theta.to(self.device), self.tau.to(self.device)

    @property
    def stored(self) -> Members:
        """What is kept of the predictor, beside its certificate."""
        return Members(self.scorer, self.theta, self.tau, self.tie)

    def save(self, folder: str | Path) -> None:
        """Writes one safetensors file and one JSON file; each appears whole or not at all."""
        save(self.stored, self.certificate, folder)


def make_predictor(members: Members, certificate: Certificate, device: str | torch.device = "cpu") -> Predictor:
    return Predictor(members.scorer, members.theta, members.tau, certificate, torch.device(device), members.tie)


def _joined(parts: list[PredictionSets], order: NDArray[np.int64]) -> PredictionSets:
    """The parts one after the other, brought back into the order of the rows."""
    return type(parts[0]).joined(parts).take(order)
