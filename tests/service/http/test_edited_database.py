"""Whoever edits the database cannot have anything promised that was not signed: it is neither shown nor served."""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from safetensors.torch import load, save

from certiset.core.certificate import Certificate
from certiset.core.certificate.signing import Signer
from certiset.core.digests import members_sha256
from certiset.core.fit import Predictor, fit
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.service.http.app import create_app
from certiset.service.serving.predictor_cache import CachedPredictor
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.service.server import enter_predictor

OPTIONS: dict[str, Any] = {**QUICK, "prior": {"steps": 5}}


@pytest.fixture(scope="module", name="predictors")
def predictors_() -> list[Predictor]:
    return [fit(class_model(), *class_data(600, seed), **OPTIONS) for seed in (0, 1)]


@dataclass(frozen=True)
class Deployment:
    settings: Settings
    predictors: list[Predictor]

    @property
    def certificate(self) -> Certificate:
        return self.predictors[0].certificate

    def execute(self, statement: str, *values: Any) -> None:
        database = sqlite3.connect(self.settings.home / "certiset.db")
        with database:
            assert database.execute(statement, values).rowcount == 1
        database.close()

    def write(self, document: dict[str, Any]) -> None:
        self.execute("update certificates set document = ? where id = ?", json.dumps(document), self.certificate.id)

    def ask(self, *paths: str, **settings: Any) -> list[httpx.Response]:
        """In one process that starts with the database as it is."""
        app = create_app(replace(self.settings, **settings))

        async def answers() -> list[httpx.Response]:
            client = httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://here", headers={"X-API-Key": "a-key"}
            )
            async with app.router.lifespan_context(app), client:
                return [await client.get(path) for path in paths]

        return asyncio.run(answers())

    @property
    def served(self) -> str:
        return f"/predict_set?predictor={self.certificate.predictor_id}&x=0,1"


@pytest.fixture(name="deployment")
def deployment_(tmp_path: Path, predictors: list[Predictor]) -> Deployment:
    settings = Settings(home=tmp_path, api_keys="a-key")
    store = Store.ready(settings)
    for predictor in predictors:
        enter_predictor(store, predictor, tenant="default")
    store.close()
    return Deployment(settings, predictors)


def stored(deployment: Deployment) -> dict[str, Any]:
    database = sqlite3.connect(deployment.settings.home / "certiset.db")
    chosen = database.execute("select document from certificates where id = ?", (deployment.certificate.id,))
    ((document,),) = chosen.fetchall()
    database.close()
    found: dict[str, Any] = json.loads(document)
    return found


def edited_promise(deployment: Deployment) -> None:
    """Served until now as "coverage 0.9999", and consistent."""
    document = stored(deployment)
    document["coverage"] |= {"alpha": 0.0001, "delta": 1e-6, "miscoverage_bound": 0.0001}
    document["coverage"]["pool_miscoverage_bound"] = 0.0001
    deployment.write(document)


def edited_threshold(deployment: Deployment) -> None:
    """In the database and in the artifact, with every hash put right."""
    predictor, document = deployment.predictors[0], stored(deployment)
    tensors = load(predictor.stored.to_bytes())
    tensors["members.tau"] = torch.full_like(tensors["members.tau"], -1e9)
    content = save(tensors)
    scoring = predictor.stored.description()["scoring"]
    for member in document["members"]:
        member["tau"] = -1e9
    document["provenance"]["members_sha256"] = members_sha256(
        tensors["members.theta"].numpy(), tensors["members.tau"].numpy(), scoring
    )
    document["provenance"]["predictor_sha256"] = hashlib.sha256(content).hexdigest()
    store = Store.ready(deployment.settings)
    artifact = store.artifacts.put(content)
    store.close()
    deployment.write(document)
    deployment.execute("update predictors set artifact = ? where id = ?", artifact, deployment.certificate.predictor_id)


def resigned_by_a_stranger(deployment: Deployment) -> None:
    stranger = Signer.from_file_or_new(deployment.settings.home / "stranger.pem")
    deployment.write(stranger.sign(deployment.certificate).to_json())


def without_its_signature(deployment: Deployment) -> None:
    deployment.write(stored(deployment) | {"signature": None})


def another_one_in_its_place(deployment: Deployment) -> None:
    signer = Signer.from_file(deployment.settings.signing_key)
    deployment.write(signer.sign(deployment.predictors[1].certificate).to_json())


def no_certificate_at_all(deployment: Deployment) -> None:
    deployment.write({"alpha": 0.0001})


EDITS: list[Callable[[Deployment], None]] = [
    edited_promise,
    edited_threshold,
    resigned_by_a_stranger,
    without_its_signature,
    another_one_in_its_place,
    no_certificate_at_all,
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edited_certificate_is_neither_shown_nor_served(
    deployment: Deployment, edit: Callable[[Deployment], None]
) -> None:
    edit(deployment)
    path = f"/certificates/{deployment.certificate.id}"
    *refused, verified, listed = deployment.ask(
        deployment.served,
        path,
        f"{path}/attestation",
        f"{path}/status",
        f"{path}/figures/budget",
        f"{path}/verify",
        "/certificates",
    )
    for answer in refused:
        assert (answer.status_code, answer.json()["code"]) == (500, "damaged_certificate"), answer.url
        assert deployment.certificate.id in answer.json()["detail"]
    assert (verified.status_code, verified.json()["valid"]) == (200, False)
    assert [found["id"] for found in listed.json()["items"]] == [deployment.predictors[1].certificate.id]


def test_a_predictor_that_was_given_another_certificate(deployment: Deployment) -> None:
    other = deployment.predictors[1].certificate.id
    deployment.execute(
        "update predictors set certificate_id = ? where id = ?", other, deployment.certificate.predictor_id
    )
    (answer,) = deployment.ask(deployment.served)
    assert (answer.status_code, answer.json()["code"]) == (500, "damaged_certificate")
    assert "was not issued for the predictor" in answer.json()["detail"]


def test_a_new_key_serves_what_the_old_one_signed_if_it_is_listed(deployment: Deployment) -> None:
    id, settings = deployment.certificate.id, deployment.settings
    paths = (deployment.served, f"/certificates/{id}", f"/certificates/{id}/attestation", "/certificates/keys")
    assert [answer.status_code for answer in deployment.ask(*paths)] == [200] * 4
    old = Signer.from_file(settings.signing_key).public_key
    settings.signing_key.rename(settings.home / "retired.pem")
    *refused, keys = deployment.ask(*paths)
    assert [answer.json()["code"] for answer in refused] == ["damaged_certificate"] * 3
    assert "CERTISET_RETIRED_KEYS" in refused[0].json()["detail"]
    assert [key["status"] for key in keys.json()["items"]] == ["current"]
    *shown, keys = deployment.ask(*paths, retired_keys=f"nonsense, {old}")
    assert [answer.status_code for answer in shown] == [200] * 3
    assert [(key["status"], key["public_key"] == old) for key in keys.json()["items"]] == [
        ("current", False),
        ("retired", True),
    ]
    # The attestation is the current key's, about a certificate that keeps the signature that it had.
    assert shown[2].json()["signatures"][0]["keyid"] == keys.json()["items"][0]["id"]
    assert Certificate.from_json(shown[1].json()).verify(old).trusted


def test_one_member_alone_is_served_only_if_each_is_promised(deployment: Deployment) -> None:
    """``serve`` is a column like any other: what it says must not go beyond the certificate."""
    predictor = deployment.predictors[0]
    for guarantee, bound, each in (("per_draw", "vovk_2b", True), ("posterior", "chernoff", False)):
        coverage = replace(predictor.certificate.coverage, guarantee=guarantee, bound=bound)
        promised = replace(predictor, certificate=replace(predictor.certificate, coverage=coverage))
        assert CachedPredictor("ada", "id", promised, 0, serve="best").each_is_promised == each
