"""A fitted predictor: stored members, their certificate, and the sets they give."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from certiset.core.certificate import Certificate, SizeStatement
from certiset.core.certificate.guarantees import guarantee_of
from certiset.core.certificate.level_table import LevelCost, check_asked, level_table, smallest_alpha_for, threshold_at
from certiset.core.data.arrays import check_inputs
from certiset.core.data.frame import in_order
from certiset.core.data.named_rows import named_rows
from certiset.core.display import Card, Shown
from certiset.core.errors import DataError
from certiset.core.fit.default_levels import DEFAULT_GAMMA
from certiset.core.fit.fresh_sizes import certify_size
from certiset.core.fit.group_rule import GroupRule, labels_in
from certiset.core.fit.member_choice import MemberChoice, Randomness
from certiset.core.fit.member_thresholds import MemberThresholds
from certiset.core.fit.own_outputs import own_outputs
from certiset.core.fit.portable import Conversion, converted
from certiset.core.fit.precision import full_precision
from certiset.core.fit.predictor_card import predictor_card
from certiset.core.fit.roles import role_columns
from certiset.core.fit.scorer import Scorer
from certiset.core.fit.seen_rows import CHUNK, SeenRows, see, see_nothing
from certiset.core.fit.serialization import Members, save
from certiset.core.sets import PredictionSets


@dataclass(frozen=True, repr=False)
class Predictor(Shown):
    scorer: Scorer
    theta: Tensor
    """(members, d), on the host"""
    tau: Tensor
    """(members,), on the host; (members, groups) where groups have their own"""
    certificate: Certificate
    device: torch.device
    tie: Tensor | None = None
    """likewise: the other half of the thresholds, where ties are broken"""
    conversion: Conversion | None = field(default=None, repr=False, compare=False)
    """how to make one that can be saved, where the model lives in memory"""

    @property
    def members(self) -> int:
        return len(self.tau)

    @cached_property
    def labels(self) -> tuple[str, ...] | None:
        """Names of the classes, where they have some."""
        facts = self.certificate.model
        return None if facts is None or facts.labels is None else tuple(facts.labels)

    def card(self) -> Card:
        return predictor_card(self.scorer.model, self.certificate, self.members, self.groups)

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
        groups: Any = None,
        alpha: float | None = None,
    ) -> PredictionSets:
        """The sets for a batch of inputs: an array, or a data frame whose columns are put in order by their names.

        ``member`` replays one member, or one for each row; otherwise each row draws its own, from ``generator``
        (NumPy's or torch's) or from the operating system's randomness. A set does not depend on the rest of its batch.
        Where every group has its own threshold, ``groups`` says the group of each row (a list for each row where
        columns cross), unless x is a data frame that has the columns.
        ``alpha`` is needed where the promise is for all of them: one for all inputs.
        """
        asked = self.asked_at(alpha)
        inputs = self.inputs(x)
        if self.groups is None and groups is None and member is None and generator is None and len(inputs) == 1:
            with full_precision(self.device):
                return asked._part(inputs, self.choice.one()).with_names(self.labels)
        members = self.draw_members(len(inputs), member, generator)
        cells = self.cells(
            members, self.group_codes(labels_in(self.groups, x) if groups is None else groups, len(inputs))
        )
        with full_precision(self.device):
            return asked.sets_of(inputs, cells)

    def asked_at(self, alpha: float | None) -> "Predictor":
        """The predictor that answers where this level, or none, was asked for."""
        check_asked(self.certificate, alpha)
        return self if alpha is None or self.certificate.levels is None else self.at_alpha(alpha)

    def at_alpha(self, alpha: float) -> "Predictor":
        """The same with the thresholds of one of the levels that the promise is for."""
        tau, tie = threshold_at(self.certificate, alpha)
        own = torch.tensor([math.ldexp(tau, -self.scorer.exponent)], dtype=self.tau.dtype)
        return replace(self, tau=own, tie=None if tie is None else torch.tensor([tie], dtype=torch.float64))

    def levels(self) -> list[LevelCost]:
        """Where the promise is for all alpha: ranks and sizes at some of them."""
        return level_table(self.certificate)

    def smallest_alpha(self, size: float, share: float = 0.9) -> float | None:
        """The smallest of these levels at which that share of the sets is no larger than ``size``: as measured."""
        return smallest_alpha_for(self.certificate, share, size)

    @property
    def groups(self) -> GroupRule | None:
        """Which inputs have thresholds of their own; None where all have the same, or every class has its own."""
        rule = self.scorer.rule.groups
        return None if rule is None or rule.by_class else rule

    def group_codes(self, groups: Any, rows: int) -> NDArray[np.int64] | None:
        """(rows,): the place of each one's threshold, from what a caller gave; an error if that is missing."""
        rule = self.groups
        if rule is None:
            if groups is not None:
                message = "this predictor has the same threshold for all inputs: leave groups out."
                raise DataError(message, field="groups")
            return None
        if groups is None:
            named = "" if rule.columns is None else f" ({', '.join(rule.columns)})"
            raise DataError(
                f"this predictor has a threshold for each group{named}: say the group of every input, as groups.",
                field="groups",
            )
        return rule.read(groups, rows)

    def cells(self, members: NDArray[np.int64], codes: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """(rows,): member and group in one number, as `sets_of` takes it; the member where there are no groups."""
        return members if codes is None else members + self.members * codes

    def certify_size(
        self, x: Any, gamma: float = DEFAULT_GAMMA, member: int | None = None, groups: Any = None
    ) -> SizeStatement:
        """A bound on the mean size of future sets, from fresh inputs that are used for nothing else; without truths.

        It holds with probability 1 - gamma over the inputs, which must be drawn as future ones will be: for sets as
        they are served, a member drawn for each, or for those of one ``member``, chosen without these inputs. Where
        groups have thresholds, also for each group, by the ``groups`` of the inputs.
        """
        inputs = self.inputs(x)
        codes = self.group_codes(labels_in(self.groups, x) if groups is None else groups, len(inputs))
        return certify_size(self, inputs, gamma, member, codes=codes)

    def inputs(self, x: Any) -> NDArray[Any]:
        """Checked inputs, as the model takes them."""
        if type(x) is np.ndarray and self.scorer.model.reader is None:
            return check_inputs(self.scorer.model, x)
        return check_inputs(self.scorer.model, self._in_order(x))

    def model_outputs(self, x: Any) -> NDArray[np.float64]:
        """(rows, outputs): what the model says by itself, probabilities or predictions, without a promise."""
        return own_outputs(self.scorer, self.inputs(x), self.device, self.theta.dtype)

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
        reader = self.scorer.model.reader
        if reader is not None:
            return reader.read(x, role_columns(options))
        return in_order(x, data.columns if data is not None else None, role_columns(options))

    def named_inputs(self, x: ArrayLike, columns: list[str]) -> ArrayLike:
        """Rows whose columns have these names, in the order of the fit; other names are refused."""
        known = self.certificate.data.columns if self.certificate.data is not None else None
        found: ArrayLike = self._in_order(named_rows(x, columns, known))
        return found

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

    def sets_of(self, inputs: NDArray[Any], members: NDArray[np.int64]) -> PredictionSets:
        """The sets of checked inputs under given members, or cells of members and groups.

        A row's set is the same whichever rows came with it: `seen_rows.py`.
        """
        if not len(inputs):
            return (
                self.sets_from(see_nothing(self.scorer, self.device, self.theta.dtype), 0)
                .take(np.zeros(0, dtype=np.int64))
                .with_names(self.labels)
            )
        if len(inputs) == 1 or (len(inputs) <= CHUNK and (members == members[0]).all()):
            return self._part(inputs, int(members[0])).with_names(self.labels)
        order = np.argsort(members, kind="stable")
        ends = np.flatnonzero(np.diff(members[order], append=-1)) + 1
        parts, start = [], 0
        for end in ends.tolist():
            member = int(members[order[start]])
            parts += [self._part(inputs[order[at : min(at + CHUNK, end)]], member) for at in range(start, end, CHUNK)]
            start = end
        return _joined(parts, np.argsort(order, kind="stable")).with_names(self.labels)

    def _part(self, inputs: NDArray[Any], member: int) -> PredictionSets:
        """At most CHUNK rows of one member."""
        return self.sets_from(self.seen(inputs), member)

    def seen(self, inputs: NDArray[Any]) -> SeenRows:
        """At most CHUNK rows, as all members see them."""
        return see(self.scorer, inputs, self.device, self.theta.dtype)

    def sets_from(self, rows: SeenRows, cell: int) -> PredictionSets:
        """The sets of these rows under one member, all of one group where groups have thresholds."""
        features, digests, count = rows
        group, member = divmod(cell, self.members)
        # A tuned head gives the outputs itself; the one that the model came with need not run beside it.
        outputs = features if self.scorer.tunes_head else self.scorer.model.given_outputs(features)
        theta, thresholds = self._on_device
        prediction = self.scorer.predict_from(theta[member], features, outputs)
        # A sum is quicker than a look at each; only one that is not finite, which may be an overflow, asks for more.
        outputs = prediction.outputs
        if not math.isfinite(float(outputs.sum())) and not torch.isfinite(outputs).all():
            raise DataError("the model's output is not finite for some row of x, so no set can be given.")
        threshold = thresholds(member, group)
        sets = self.scorer.rule.sets(self.scorer.score, prediction, threshold, digests)
        if self.scorer.exponent:
            sets = sets.times_power_of_two(self.scorer.exponent)
        return sets.take(slice(count)) if count < features.shape[0] else sets

    @cached_property
    def _on_device(self) -> tuple[list[Tensor], MemberThresholds]:
        """The parameters (1, d) of each member, and all thresholds, copied to the device once."""
        by_group = self.scorer.rule.groups is not None and not self.scorer.rule.by_class
        thresholds = MemberThresholds.of(self.tau.to(self.device), self.tie, by_group=by_group)
        return list(torch.split(self.theta.to(self.device), 1)), thresholds

    @property
    def stored(self) -> Members:
        """What is kept of the predictor, beside its certificate."""
        return Members(self.scorer, self.theta, self.tau, self.tie)

    def portable(self) -> "Predictor":
        """The same, if its model can be stored; otherwise one whose model was converted to ONNX and calibrated anew.

        The rows and options are those of the fit. An error says why a model cannot be converted, and what to do.
        """
        return converted(self, self.conversion)

    def save(self, folder: str | Path) -> None:
        """Writes one safetensors file and one JSON file; each appears whole or not at all.

        A model that lives in memory is converted, and the predictor calibrated with it again: see `portable`.
        """
        found = self.portable()
        save(found.stored, found.certificate, folder)


def make_predictor(members: Members, certificate: Certificate, device: str | torch.device = "cpu") -> Predictor:
    return Predictor(members.scorer, members.theta, members.tau, certificate, torch.device(device), members.tie)


def _joined(parts: list[PredictionSets], order: NDArray[np.int64]) -> PredictionSets:
    """The parts one after the other, brought back into the order of the rows."""
    return type(parts[0]).joined(parts).take(order)
