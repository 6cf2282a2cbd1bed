"""The rows that a deployment collects: which are refused, corrected, exported, forgotten and erased."""

import json
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from certiset.core.errors import ConflictError, OptionError, QuotaExceededError
from certiset.core.jobs.deletion import delete_dataset, delete_model, delete_predictor
from certiset.core.jobs.outcomes import correct_outcome
from certiset.core.jobs.recalibration import forget_collected
from certiset.core.jobs.tenant_erasure import erase_tenant
from certiset.core.jobs.tenant_export import export_tenant
from tests.core.jobs.deployment_world import ETA, ROWS, World


def test_what_is_refused_before_anything_is_collected(world: World) -> None:
    with pytest.raises(OptionError, match="too few") as refused:
        world.set(every={"rows": 20})
    assert refused.value.field == "recalibrate.every.rows"
    world.set()
    with world.store.reading() as work:
        model = work.models.list("ada").items[0].id
    with pytest.raises(ConflictError, match="recalibrates with this model"):
        delete_model(world.store, "ada", model)
    with pytest.raises(ConflictError, match="stands for this predictor"):
        delete_predictor(world.store, "ada", world.id(0))
    with world.store.writing() as work:
        work.tenants.set_quotas("ada", {"rows": work.tenants.usage("ada").rows + 5})
    assert world.report(world.asked(5)) == 5
    with pytest.raises(QuotaExceededError):
        world.report(world.asked(1))


def test_rows_are_corrected_annulled_forgotten_exported_and_erased(world: World, tmp_path: Path) -> None:
    world.set()
    outcomes = world.asked(4)
    world.report(outcomes)
    correct_outcome(world.store, "ada", outcomes[0].prediction, ETA, 2)
    correct_outcome(world.store, "ada", outcomes[1].prediction, ETA)
    assert world.now.block is not None
    assert world.now.block.rows == 3
    file = tmp_path / "ada.zip"
    export_tenant(world.store, "ada", file)
    with zipfile.ZipFile(file) as archive:
        rows = [json.loads(line) for line in archive.read("records/deployment_rows.jsonl").splitlines()]
        assert archive.read("records/deployments.jsonl")
    kept = {row["prediction"]: row for row in rows}
    assert set(kept) == {outcome.prediction.number for outcome in (outcomes[0], *outcomes[2:])}
    assert kept[outcomes[0].prediction.number]["y"] == [2.0]
    assert outcomes[0].x is not None
    assert kept[outcomes[0].prediction.number]["x"] == np.frombuffer(outcomes[0].x).tolist()
    assert forget_collected(world.store) == 0
    with world.store.writing() as work:
        for row in work.blocks.outdated_rows(time.time() + 10)[:2]:
            row.created_at -= 91 * 86400
    assert forget_collected(world.store) == 2
    assert world.now.block.rows == 1
    erase_tenant(world.store, "ada", key_seconds=0.0)
    with world.store.reading() as work:
        assert work.deployments.find("ada", "fraud") is None
        assert work.deployments.events_after("ada", "fraud", 0) == []
        assert list(work.blocks.outdated_rows(time.time() + 10)) == []


def test_data_sets_made_of_outcomes_are_deleted_in_time(world: World) -> None:
    world.set()
    world.report(world.asked(ROWS))
    world.advance()
    (job,) = world.jobs
    with pytest.raises(ConflictError):
        delete_dataset(world.store, "ada", job.dataset_id)
    world.end(job, 2)
    world.advance()

    def kept() -> bool:
        with world.store.reading() as work:
            return job.dataset_id in [one.id for one in work.datasets.list("ada").items]

    forget_collected(world.store)
    assert kept()
    with world.store.writing() as work:
        block = work.blocks.of_request("ada", str(job.idempotency_key))
        assert block is not None
        block.closed_at -= 91 * 86400
    forget_collected(world.store)
    assert not kept()
    assert world.now.predictor == world.id(2)
