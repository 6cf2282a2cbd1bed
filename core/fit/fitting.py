"""`fit`: checks what was given, lets the method make members of it, and issues the predictor with its certificate."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from certiset.core.certificate import Certificate
from certiset.core.certificate.canaries import Canaries
from certiset.core.certificate.content import ModelFacts, Names
from certiset.core.data.arrays import CheckedData
from certiset.core.errors import OptionError
from certiset.core.fit.canaries import make_canaries
from certiset.core.fit.caveats import label_caveats, rounding_caveats, set_caveats
from certiset.core.fit.data_caveats import Findings, examine
from certiset.core.fit.fitted import Fitted
from certiset.core.fit.issuing import issue
from certiset.core.fit.methods import METHODS
from certiset.core.fit.model_defaults import completed
from certiset.core.fit.options import FitOptions
from certiset.core.fit.plan import Plan
from certiset.core.fit.precision import full_precision
from certiset.core.fit.predictor import Predictor, make_predictor
from certiset.core.fit.roles import Given, read_rows
from certiset.core.fit.scorer import make_scorer
from certiset.core.fit.serialization import Members
from certiset.core.fit.served_rows import check_served_rows
from certiset.core.fit.splitting import count_units
from certiset.core.fit.threads import suitable_threads
from certiset.core.fit.workspace import Progress, Workspace
from certiset.core.models import Model
from certiset.core.posterior.optimizer import ShouldStop

_ROWS_LOOKED_AT = 20_000
"""for caveats about labels"""


def fit(
    model: Model,
    x: Any,
    y: ArrayLike,
    *,
    clusters: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    progress: Progress | None = None,
    should_stop: ShouldStop | None = None,
    **options: Any,
) -> Predictor:
    """Turns calibration data into a predictor whose members carry a certificate.

    Options and their defaults are those of `FitOptions`. Everything is checked before any work is done; the same seed
    gives the same bytes on one device. ``x`` is an array or a data frame; ``clusters`` and ``order`` name columns of
    the data frame, or are arrays with one entry per row.
    """
    data, plan = check(model, x, y, clusters=clusters, order=order, **options)
    device = _device(plan.options.device)
    with full_precision(device):
        work = Workspace(model, data, plan, device, progress, should_stop)
        findings = examine(data, work.in_sequence, work.rows, plan.options, work.given_scorer())
        with suitable_threads(model, device):
            fitted = METHODS[plan.options.method].run(work)
        return _issued(work, fitted, findings)


def check(
    model: Model,
    x: Any,
    y: ArrayLike,
    *,
    clusters: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    **options: Any,
) -> tuple[CheckedData, Plan]:
    """All that `fit` refuses before any work is done: options, data, their number, and whether they go together."""
    given = Given.of({"clusters": clusters, "order": order})
    asked = FitOptions.read({**options, **given.names})
    method = METHODS[asked.method]
    method.check(asked)
    resolved = asked.resolved(model.manifest.task, method.guarantee_of(asked))
    chosen = completed(resolved, model, split=method.split, chooses=method.chooses)
    data = read_rows(model, x, y, chosen, given)
    plan = method.plan(chosen, *count_units(data))
    plan.score.check(model.outputs, 1 if data.y.ndim == 1 else data.y.shape[1])
    make_scorer(model, chosen, plan.score, tuned=method.tunes, features=1)
    return data, plan


def _issued(work: Workspace, fitted: Fitted, findings: Findings) -> Predictor:
    """The predictor, looked at once more as it would be served, with its certificate."""
    scorer = fitted.scorer
    tau = torch.tensor(np.ldexp([member.tau for member in fitted.members], -scorer.exponent)).to(work.dtype)
    ties = [member.tie for member in fitted.members if member.tie is not None]
    tie = torch.tensor(ties, dtype=torch.float64) if ties else None
    members = Members(scorer, fitted.theta.cpu(), tau, tie)
    hashes = {
        "members_sha256": members.sha256,
        "predictor_sha256": hashlib.sha256(members.to_bytes()).hexdigest(),
        "model_sha256": work.model.sha256,
        "dataset_sha256": work.data.sha256,
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
            model=ModelFacts(work.model.rows),
            names=Names(model=work.model.manifest.name),
            canaries=canaries,
        )

    draft = make_predictor(members, certificate(), work.device)
    empty = check_served_rows(draft, work.data, fitted.blocks, [m.k for m in fitted.members], work.stop_if_asked)
    caveats += set_caveats(empty, labels=scorer.score.task == "classification")
    caveats += rounding_caveats(fitted.rounding, work.plan.options.dtype)
    canaries = make_canaries(draft, work.data.x, calibration.numpy(), work.plan.options.seed % 2**32)
    work.report("calibrate", 1, 1)
    return replace(draft, certificate=certificate(canaries))


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
