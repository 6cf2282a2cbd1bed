"""After the signing key is replaced, old certificates are confirmed if, and only if, the old key is listed."""

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx

from certiset.core.certificate.signing import Signer
from certiset.core.fit import fit
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.service.http.app import create_app
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.service.server import enter_predictor


def test_old_certificates_after_a_new_signing_key(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, api_keys="a-key")
    store = Store.ready(settings)
    predictor = fit(class_model(), *class_data(600, 0), **{**QUICK, "prior": {"steps": 5}})
    enter_predictor(store, predictor, tenant="default")
    store.close()
    old = Signer.from_file_or_new(settings.signing_key).public_key
    id = predictor.certificate.id

    def valid(chosen: Settings) -> bool:
        return asyncio.run(asked(chosen))

    async def asked(chosen: Settings) -> bool:
        app = create_app(chosen)
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://here", headers={"X-API-Key": "a-key"}
        )
        async with app.router.lifespan_context(app), client:
            return bool((await client.get(f"/certificates/{id}/verify")).json()["valid"])

    assert valid(settings)
    settings.signing_key.rename(tmp_path / "retired.pem")
    assert not valid(settings)
    assert valid(replace(settings, retired_keys=f"AAAA, {old}"))
    assert not valid(replace(settings, retired_keys="AAAA"))
