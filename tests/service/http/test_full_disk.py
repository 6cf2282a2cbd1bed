"""A disk that is full is named, sets are served all the same, and uploads go on as soon as there is room."""

from pathlib import Path

import httpx
import numpy as np

from tests.disks import fill, small_disk
from tests.servers import wait_until
from tests.service.bodies import npz
from tests.service.server import start_server


def upload(client: httpx.Client) -> httpx.Response:
    content = npz(x=np.random.default_rng(0).normal(size=(20_000, 2)), y=np.arange(20_000) % 3)
    return client.post("/datasets", files={"file": ("data.npz", content)})


def test_a_full_disk_is_named_while_sets_are_served(tmp_path: Path) -> None:
    with small_disk(tmp_path, 16) as disk:
        server = start_server(disk)
        try:
            with server.client() as ada:
                asked = {"predictor": server.id("classification"), "x": "0.1,0.2"}
                assert ada.get("/predict_set", params=asked).status_code == 200
                fill(disk / "filler")
                refused = upload(ada)
                assert (refused.status_code, refused.json()["code"]) == (507, "store_full"), refused.text
                assert "no space left" in refused.json()["detail"]
                assert "Retry-After" in refused.headers
                assert ada.get("/predict_set", params=asked).status_code == 200
                # It is looked at once a second, and still says ready: sets are what a replica is for.
                wait_until(lambda: ada.get("/readyz").json()["disk"] == "full", 10, "the disk to be named")
                assert ada.get("/readyz").status_code == 200
                (disk / "filler").unlink()
                assert upload(ada).status_code == 201
                wait_until(lambda: ada.get("/readyz").json()["disk"] == "ok", 10, "the disk to be fine")
        finally:
            server.stop()
