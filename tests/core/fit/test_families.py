"""Which ways to adapt a model are tried, by its task and by what the options leave open."""

from typing import Any

import numpy as np
import pytest
import torch

from certiset.core.fit.families import Family, families_of
from certiset.core.fit.fitting import check
from certiset.core.fit.workspace import Workspace
from certiset.core.models import Model
from tests.core.fit.problems import class_data, class_model, shifted_logits, shifted_logits_model, toy_data, toy_model


def families(model: Model, data: Any, **options: Any) -> list[Family]:
    checked, plan = check(model, *data, **options)
    return families_of(Workspace(model, checked, plan, torch.device("cpu"), None, None))


TOY, CLASSES = (toy_model(), toy_data(500, 0)), (class_model(), class_data(500, 0))


@pytest.mark.parametrize("method", ["auto", "progressive"])
@pytest.mark.parametrize(
    ("problem", "options", "names"),
    [
        (CLASSES, {}, ["head"]),
        (CLASSES, {"tune": "head", "score": "aps"}, ["head"]),
        (TOY, {}, ["scale", "head and scale"]),
        (TOY, {"tune": "score"}, ["scale"]),
        (TOY, {"tune": "both"}, ["head and scale"]),
        (TOY, {"score": "residual"}, ["head"]),
    ],
    ids=lambda value: "toy" if value is TOY else "classes" if value is CLASSES else str(value),
)
def test_what_the_options_leave_open_is_tried(
    problem: Any, options: dict[str, Any], names: list[str], method: str
) -> None:
    found = families(*problem, method=method, **options)
    assert [family.name for family in found] == names
    for family in found:
        assert family.scorer.tunes_head == ("head" in family.name)
        assert (family.scorer.scale is not None) == ("scale" in family.name)
        assert family.pulls == tuple(sorted(family.pulls))
        assert family.learns_slowly == (family.name == "head")
        assert family.words(family.pulls[0]).startswith(f"{family.name}, pull ")


def test_nothing_is_tried_where_nothing_is_to_be_tuned() -> None:
    assert families(*CLASSES, prior={"train": "none"}) == []


def test_trials_are_no_longer_than_the_tuning_itself() -> None:
    (head,) = families(*CLASSES)
    assert (head.schedule.steps, head.trial.steps, head.trial.batch) == (1000, 150, 128)
    (short,) = families(*CLASSES, prior={"steps": 7, "batch": 16})
    assert (short.schedule.steps, short.trial.steps, short.trial.batch) == (7, 7, 16)
    scale, both = families(*TOY)
    assert (scale.schedule.steps, scale.trial.steps) == (300, 75)
    assert (both.schedule, both.trial) == (scale.schedule, scale.trial)


def test_a_small_head_makes_up_for_fewer_steps_by_longer_ones() -> None:
    (adapter,) = families(shifted_logits_model(), shifted_logits(500, 0))
    for schedule in (adapter.schedule, adapter.trial):
        assert schedule.rate * schedule.steps == pytest.approx(adapter.schedule.rate * adapter.schedule.steps)


def test_a_head_is_free_where_it_has_more_parameters_than_rows() -> None:
    (head,) = families(*CLASSES)
    assert head.is_free(head.scorer.parameters - 1)
    assert not head.is_free(head.scorer.parameters)
    assert not any(family.is_free(2) for family in families(*TOY))


def test_many_parameters_have_fewer_pulls_and_a_faster_rate_unless_one_is_given() -> None:
    rng = np.random.default_rng(0)
    wide = Model.from_manifest(
        {
            "task": "classification",
            "classes": 3,
            "input_shape": [2],
            "head": {"kind": "mlp", "widths": [2, 5000, 3], "activation": "relu"},
        },
        {
            "head.0.weight": rng.normal(size=(5000, 2)),
            "head.0.bias": np.zeros(5000),
            "head.1.weight": rng.normal(size=(3, 5000)),
            "head.1.bias": np.zeros(3),
        },
    )
    (few,), (many,) = families(wide, class_data(500, 0)), families(shifted_logits_model(), shifted_logits(500, 0))
    assert len(few.pulls) < len(many.pulls)
    assert few.schedule.rate == 2 * many.schedule.rate
    (told,) = families(wide, class_data(500, 0), prior={"rate": 0.01})
    assert told.schedule.rate == 0.01
