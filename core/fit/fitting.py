"""`fit`: checks what was given, lets the method make members of it, and issues the predictor with its certificate."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import torch
from numpy.typing import ArrayLike

from certiset.core.certificate import Certificate
from certiset.core.certificate.canaries import Canaries
from certiset.core.certificate.names import ModelFacts, Names
from certiset.core.certificate.stored_thresholds import thresholds_by_group, ties_by_group
from certiset.core.data.arrays import CheckedData
from certiset.core.errors import DataError, OptionError
from certiset.core.fit.canaries import make_canaries
from certiset.core.fit.caveats import label_caveats, rounding_caveats, set_caveats
from certiset.core.fit.combinations import check_combinations
from certiset.core.fit.data_caveats import Findings, examine
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.group_certification import check_group_plan
from certiset.core.fit.grouping import check_groups, count_groups, is_grouped
from certiset.core.fit.issuing import issue
from certiset.core.fit.keywords import FitKeywords
from certiset.core.fit.methods import METHODS
from certiset.core.fit.model_defaults import completed
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan
from certiset.core.fit.portable import Conversion
from certiset.core.fit.precision import full_precision
from certiset.core.fit.predictor import Predictor, make_predictor
from certiset.core.fit.roles import Given, other_columns, read_rows
from certiset.core.fit.scorer import make_scorer
from certiset.core.fit.serialization import Members
from certiset.core.fit.served_rows import check_served_groups, check_served_rows
from certiset.core.fit.splitting import count_units
from certiset.core.fit.target_rows import listed_prevalences
from certiset.core.fit.threads import suitable_threads
from certiset.core.fit.used_rows import used_rows
from certiset.core.fit.workspace import Progress, Workspace
from certiset.core.models import Model, as_model
from certiset.core.posterior.optimizer import ShouldStop

_ROWS_LOOKED_AT = 20_000
"""for caveats about labels"""


def fit(
    model: object,
    x: Any,
    y: Any,
    *,
    clusters: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    weights: str | ArrayLike | None = None,
    target: Any = None,
    groups: str | list[str] | ArrayLike | None = None,
    progress: Progress | None = None,
    should_stop: ShouldStop | None = None,
    **options: Unpack[FitKeywords],
) -> Predictor:
    """Turns calibration data into a predictor whose members carry a certificate.

    ``model`` is a fitted scikit-learn estimator, a torch module, the path of an ONNX file, a function from rows to
    outputs, or a `Model`. ``x`` is an array or a data frame; ``clusters``, ``order``, ``weights`` and ``groups`` name
    columns of the data frame, or are arrays with one entry per row; ``groups`` may also be several columns, which
    cross, or "class". ``target`` are inputs without truths, of another population: weights for it are estimated.
    Options and their defaults are those of `FitOptions`. Everything is checked before any work is done; the same seed
    gives the same bytes on one device.
    """
    roles: dict[str, Any] = {"clusters": clusters, "order": order, "weights": weights, "groups": groups}
    bound, data, plan = prepare(model, x, y, target=target, roles=roles, options=options)
    device = _device(plan.options.device)
    with full_precision(device):
        work = Workspace(bound, data, plan, device, progress, should_stop)
        findings = examine(
            data, work.in_sequence, work.rows, plan.options, work.given_scorer(), target=plan.target_rows
        )
        with suitable_threads(bound, device):
            fitted = METHODS[plan.options.method].run(work)
        predictor = _issued(work, fitted, findings)
    if not bound.is_in_process:
        return predictor
    again = {**options, **roles, "target": target}
    return replace(predictor, conversion=Conversion(model, x, y, again, fit))


def check(
    model: object,
    x: Any,
    y: Any,
    *,
    clusters: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    weights: str | ArrayLike | None = None,
    groups: str | list[str] | ArrayLike | None = None,
    target: Any = None,
    estimate: bool = True,
    **options: Unpack[FitKeywords],
) -> tuple[CheckedData, Plan]:
    """All that `fit` refuses before any work is done: options, data, their number, and whether they go together.

    The rows are those that are used, and the plan is for these; its ``groups`` say what each group may expect, and how
    many rows those lack that would have no threshold. Without ``estimate`` no weights are estimated for
    ``target``, and the plan is for all rows that could be kept.
    """
    roles: dict[str, Any] = {"clusters": clusters, "order": order, "weights": weights, "groups": groups}
    _, data, plan = prepare(model, x, y, target=target, roles=roles, options=options, estimate=estimate)
    return data, plan


def prepare(
    given_model: object,
    x: Any,
    y: Any,
    *,
    target: Any,
    roles: Mapping[str, Any],
    options: Mapping[str, Any],
    estimate: bool = True,
) -> tuple[Model, CheckedData, Plan]:
    """The same as `check`, with the model that these rows make of the one that was given."""
    given = Given.of(roles)
    asked = FitOptions.read({**options, **given.names})
    check_combinations(asked, [*given.arrays, *([] if target is None else ["target"])])
    method = METHODS[asked.method]
    method.check(asked)
    model = as_model(given_model, x, y, other_columns(asked))
    if target is not None and model.reader is not None:
        raise DataError(
            "target cannot be used with a model that takes tables as they are: give x and target as arrays of numbers.",
            field="target",
        )
    resolved = asked.resolved(model.manifest.task, method.guarantee_of(asked))
    prevalences = listed_prevalences(resolved.prevalences, model.manifest.task, model.outputs)
    resolved = resolved.model_copy(update={"prevalences": prevalences})
    chosen = completed(resolved, model, split=method.split, chooses=method.chooses)
    device = _device(chosen.device) if estimate and target is not None else None
    data, target_rows = used_rows(model, read_rows(model, x, y, chosen, given), chosen, target, device)
    check_groups(chosen, model, data)
    plan = replace(method.plan(chosen, *count_units(data)), target_rows=target_rows)
    if is_grouped(chosen, data):
        plan = method.for_groups(plan, count_groups(chosen, data))
        plan = check_group_plan(plan, model, data)
    plan.score.check(model.outputs, 1 if data.y.ndim == 1 else data.y.shape[1])
    make_scorer(model, chosen, plan.score, tuned=method.tunes, features=1)
    return model, data, plan


def _issued(work: Workspace, fitted: Fitted, findings: Findings) -> Predictor:
    """The predictor, looked at once more as it would be served, with its certificate."""
    scorer, target = fitted.scorer, work.plan.target_rows
    members = Members(scorer, fitted.theta.cpu(), *_thresholds(fitted, work.dtype))
    hashes = {
        "members_sha256": members.sha256,
        "predictor_sha256": hashlib.sha256(members.to_bytes()).hexdigest(),
        "model_sha256": work.model.fingerprint(work.rows.features),
        "dataset_sha256": work.data.sha256 if target is None else target.sha256,
    }
    calibration = torch.cat(list(_distinct(fitted.blocks)))
    looked_at = calibration[:_ROWS_LOOKED_AT]
    caveats = [*findings.caveats]
    if scorer.score.task == "classification":
        as_given = work.rows.outputs[looked_at.to(work.device)].cpu().numpy()
        caveats += label_caveats(as_given, work.data.y[looked_at.numpy()])

    def certificate(canaries: Canaries | None = None) -> Certificate:
        return issue(
            work.plan.options,
            fitted,
            **hashes,
            device=str(work.device),
            messages=work.messages,
            caveats=caveats,
            data=findings.data,
            model=ModelFacts(work.model.rows, work.data.labels),
            names=Names(model=work.model.manifest.name),
            canaries=canaries,
            shift=None if target is None else target.shift,
        )

    draft = make_predictor(members, certificate(), work.device)
    if fitted.groups is None or fitted.codes is None:
        empty = check_served_rows(draft, work.data, fitted.blocks, [m.k for m in fitted.members], work.stop_if_asked)
    else:
        empty = check_served_groups(draft, work.data, fitted.blocks, fitted.codes, fitted.groups, work.stop_if_asked)
    for level in fitted.levels.table[:: max(1, len(fitted.levels.table) - 1)] if fitted.levels is not None else ():
        check_served_rows(draft.at_alpha(level.alpha), work.data, fitted.blocks, [level.k], work.stop_if_asked)
    caveats += set_caveats(empty, labels=scorer.score.task == "classification")
    caveats += rounding_caveats(fitted.rounding, work.plan.options.dtype)
    canaries = make_canaries(draft, work.data.x, calibration.numpy(), work.plan.options.seed % 2**32)
    work.report("calibrate", 1, 1)
    return replace(draft, certificate=certificate(canaries))


def _thresholds(fitted: Fitted, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor | None]:
    """As they are stored: (members,), or (members, groups)."""
    if fitted.groups is None:
        stated: list[Any] = [member.tau for member in fitted.members]
        ties: list[Any] = [member.tie for member in fitted.members if member.tie is not None]
    else:
        stated, ties = thresholds_by_group(fitted.groups), ties_by_group(fitted.groups) or []
    tau = torch.tensor(np.ldexp(np.array(stated, dtype=np.float64), -fitted.scorer.exponent)).to(dtype)
    return tau, torch.tensor(ties, dtype=torch.float64) if ties else None


def _distinct(blocks: list[torch.Tensor]) -> list[torch.Tensor]:
    """Each block once: members that are drawn from one posterior share theirs."""
    found: list[torch.Tensor] = []
    for block in blocks:
        if not any(block is other for other in found):
            found.append(block)
    return found


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()
    except (RuntimeError, AssertionError, TypeError):
        raise OptionError(f"device {name!r} is not available on this machine.", field="device") from None
    return device
