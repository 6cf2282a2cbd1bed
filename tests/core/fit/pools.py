"""Pools by hand: members that differ from the model as given, each calibrated on a block of its own."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from certiset.core.certificate import Certificate, Provenance, Union
from certiset.core.certificate.completion import completed
from certiset.core.certificate.content import FORMAT, Data
from certiset.core.certificate.names import ModelFacts
from certiset.core.certificate.pool_parts import PoolPlan, pool_efficiency
from certiset.core.certificate.pool_sizes import pool_sizes
from certiset.core.fit import Predictor
from certiset.core.fit import model_defaults as defaults
from certiset.core.fit.options import FitOptions
from certiset.core.fit.pool_measurement import measure_pool
from certiset.core.fit.predictor import make_predictor
from certiset.core.fit.reference_rows import make_reference
from certiset.core.fit.roles import Given, read_rows
from certiset.core.fit.rows import on_device
from certiset.core.fit.scorer import make_scorer
from certiset.core.fit.serialization import Members
from certiset.core.fit.splitting import split
from certiset.core.fit.target_unit import target_exponent
from certiset.core.fit.thresholds import GRID_POINTS, calibrate, size_cap
from certiset.core.models import Model
from tests.core.fit.problems import class_data, class_model

CPU = torch.device("cpu")


def hand_pool(
    model: Model,
    x: NDArray[Any],
    y: NDArray[Any],
    *,
    sizes: Sequence[int],
    weights: Sequence[float] | None = None,
    spread: float = 0.05,
    **options: Any,
) -> Predictor:
    """Blocks of these sizes at the end of the shuffled rows; the rows before them make the last member's grid."""
    given = {"method": "learned", "prior": {"split": 0.5}, **options}
    chosen = defaults.completed(FitOptions.read(given).resolved(model.manifest.task), model, split=0.5, chooses=False)
    score = chosen.chosen_score
    data = read_rows(model, x, y, chosen, Given.of({}))
    n_tune = len(x) - sum(sizes)
    parts = split(chosen.seed, n_tune, data)
    assert parts.tuning is not None
    plain = on_device(model, data, CPU, torch.float32)
    exponent = target_exponent(score, data.y, plain.outputs, parts.tuning)
    rows = on_device(model, data, CPU, torch.float32, exponent)
    scorer = make_scorer(model, chosen, score, tuned=True, features=rows.features.shape[1], exponent=exponent)
    random = torch.Generator().manual_seed(chosen.seed)
    start = scorer.initial(random)
    theta = start + spread * torch.randn((len(sizes), len(start)), generator=random)
    tuning, calibration = rows.take(parts.tuning), rows.take(parts.calibration)
    plan = PoolPlan.of(sizes, chosen.level, chosen.own_delta, weights)
    tau, blocks = [], []
    for place, rank in enumerate(plan.ranks):
        first = sum(sizes[:place])
        blocks.append(calibration.slice(first, first + sizes[place]))
        reference = make_reference(scorer, data, parts.calibration[first : first + sizes[place]], torch.float32)
        tau += calibrate(
            scorer, theta[place : place + 1], blocks[-1], [rank], tuning=None, cap=None, reference=reference
        ).tau
    cap = size_cap(scorer, tuning, chosen.size_cap)
    measured = measure_pool(scorer, theta, tau, blocks[-1], tuning, cap, chosen.level)
    tuned_on = [n_tune + sum(sizes[:place]) for place in range(len(sizes))]
    mean, gamma, measure = measured.mean(plan.weights), chosen.own_gamma, score.sets.measure
    found, widths = None, None
    if score.one_size is not None:
        widths = np.maximum(measured.size.max(axis=0), 2 * np.array(tau)).tolist()
        efficiency = plan.exact_efficiency(widths, measure="width", gamma=gamma, empirical=mean, cap=cap)
    else:
        found = pool_sizes(
            measured.at_grid,
            plan.weights,
            cap=cap,
            labels=measure == "labels",
            gamma=gamma,
            grid_size=GRID_POINTS,
            seed=chosen.seed,
        )
        efficiency, _ = pool_efficiency(
            found, measure=measure, gamma=gamma, empirical=mean, cap=cap, grid_size=GRID_POINTS
        )
    stored = Members(scorer, theta, torch.tensor(np.ldexp(tau, -exponent)).to(torch.float32))
    certificate = Certificate(
        id="",
        predictor_id="",
        issued_at="2026-01-01T00:00:00+00:00",
        statement="",
        assumptions=[],
        coverage=plan.coverage(chosen.level, chosen.own_delta, Union(["tuned on D_0"], [1.0], 0)),
        members=plan.members(tau, tuned_on, found, widths),
        efficiency=efficiency,
        provenance=Provenance(
            dataset_sha256=data.sha256,
            model_sha256=model.sha256,
            members_sha256=stored.sha256,
            n_tune=n_tune,
            n_calibrate=plan.n,
            seed=chosen.seed,
            software={},
            device="cpu",
            method=chosen.method,
            score=score.kind,
            messages=[],
            predictor_sha256=hashlib.sha256(stored.to_bytes()).hexdigest(),
        ),
        signature=None,
        format=FORMAT,
        data=Data(rows=len(x), distinct_rows=len(x)),
        options={name: value for name, value in chosen.to_json().items() if name != "device"},
        model=ModelFacts(model.rows),
    )
    return make_predictor(stored, completed(certificate))


def pool_of_labels() -> Predictor:
    """Two members, of which neither has the weight of its block."""
    return hand_pool(class_model(), *class_data(1200, 0), sizes=[200, 300], weights=[0.45, 0.55])
