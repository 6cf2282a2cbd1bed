"""A thousand switches under load: on two replicas, no request is lost and none is answered by two predictors."""

import time

import httpx

from tests.service.server import Server, replica_of
from tests.service.switching import Load


def test_a_thousand_switches_under_load_lose_and_mix_nothing(server: Server, ada: httpx.Client) -> None:
    predictors = [server.id("classification"), server.id("doomed")]
    name, switches = "thousand", 1000
    ada.delete(f"/deployments/{name}")
    first = ada.put(f"/deployments/{name}", json={"predictor": predictors[0]}).json()["version"]
    meant = {first: predictors[0]}
    # The larger batches are answered by the process for large requests.
    with (
        replica_of(server) as (_, url),
        Load([server.url, url], server.keys["ada"], name, rows=300) as small,
        Load([server.url], server.keys["ada"], name, rows=6000) as large,
    ):
        begun = time.monotonic()
        for turn in range(1, switches + 1):
            body = {"predictor": predictors[turn % 2]}
            switched = ada.put(f"/deployments/{name}", json=body, headers={"If-Match": f'"{first + turn - 1}"'})
            assert switched.status_code == 200, switched.text
            meant[first + turn] = predictors[turn % 2]
        seconds = time.monotonic() - begun
        for load in (small, large):
            load.wait_for_version(first + switches)
    for load in (small, large):
        load.check(meant)
        assert len({rows[0][1] for _, _, _, rows in load.answers}) > 3, "some were answered in between"
    print(f"{len(small.answers) + len(large.answers)} answers during {switches} switches in {seconds:.1f} s")
    assert ada.get(f"/deployments/{name}/history", params={"limit": 1}).json()["items"][0]["version"] == first + 1000
    ada.delete(f"/deployments/{name}")
