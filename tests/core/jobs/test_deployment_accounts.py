"""What a deployment's predictors risk together, and names that are given again."""

import pytest

from certiset.core.deployment_resources import DeploymentRequest
from certiset.core.errors import ConflictError
from certiset.core.fit import fit
from certiset.core.jobs.deployments import delete_deployment, roll_back, set_deployment
from certiset.core.jobs.outcomes import correct_outcome
from tests.core.fit.problems import QUICK, toy_data, toy_model
from tests.core.jobs.deployment_world import ETA, World
from tests.service.server import enter_predictor


def test_a_name_that_is_given_again_has_an_account_of_its_own(world: World) -> None:
    world.set(place=1)
    delete_deployment(world.store, "ada", "fraud")
    world.set(place=0)
    own = world.now.delta_all
    # What stood there under the same name before is no predictor of this deployment.
    world.set(place=1)
    assert world.now.delta_all == pytest.approx(2 * own)
    delete_deployment(world.store, "ada", "fraud")
    world.set(place=0, spend={"total": own, "over": 100})
    with pytest.raises(ConflictError, match="risks"):
        roll_back(world.store, "ada", "fraud", 1)
    assert world.now.predictor == world.id(0)
    assert world.now.delta_all == pytest.approx(own)


def test_a_name_goes_back_to_nothing_that_takes_other_inputs(world: World) -> None:
    other = fit(toy_model(), *toy_data(300, 0), **QUICK)
    enter_predictor(world.store, other)
    request = DeploymentRequest(predictor=other.certificate.predictor_id)
    set_deployment(world.store, "ada", "fraud", request)
    delete_deployment(world.store, "ada", "fraud")
    world.set()
    with pytest.raises(ConflictError, match="another task"):
        roll_back(world.store, "ada", "fraud")
    assert world.now.predictor == world.id(0)


def test_a_contradiction_by_a_corrected_truth_is_one(world: World) -> None:
    world.set(on_contradiction=True)
    asked = world.asked(60)
    world.report(asked)
    for outcome in asked:
        _, contradicted = correct_outcome(world.store, "ada", outcome.prediction, ETA, (outcome.y + 1) % 3)
        if contradicted:
            break
    assert contradicted
    assert world.kinds.count("contradicted") == 1
    assert world.now.block is not None
    assert world.now.block.rows == 0
    # It is said once, however many are corrected afterwards.
    correct_outcome(world.store, "ada", asked[-1].prediction, ETA, (asked[-1].y + 1) % 3)
    assert world.kinds.count("contradicted") == 1


def test_a_block_that_a_change_drops_spends_what_its_predictor_would_have_spent(world: World) -> None:
    world.set()
    own = world.now.delta_all
    world.report(world.asked(20))
    world.set(spend={"total": 0.5, "over": 1000})
    assert world.now.delta_all == pytest.approx(2 * own)
