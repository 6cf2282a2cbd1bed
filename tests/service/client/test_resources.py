"""The client reads what the server says it sends, and what a newer one may send."""

from typing import Any

import pytest

from certiset.core import insight_resources, monitor_resources, resources
from certiset.core.resource_base import Resource
from certiset.service.client import ClientError, PredictionSet
from tests.service.server import Server


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("get", "/datasets/{id}", "200", resources.Dataset),
        ("post", "/datasets", "201", resources.Dataset),
        ("get", "/models/{id}", "200", resources.Model),
        ("get", "/calibrations/{id}", "200", resources.Calibration),
        ("post", "/calibrations", "202", resources.Calibration),
        ("get", "/predictors/{id}", "200", resources.Predictor),
        ("get", "/predictors/{id}/monitor", "200", monitor_resources.Monitor),
        ("post", "/predictors/{id}/outputs", "200", insight_resources.ModelOutputs),
        ("post", "/outcomes", "200", monitor_resources.OutcomesCounted),
        ("patch", "/outcomes/{prediction_id}", "200", monitor_resources.OutcomeState),
        ("get", "/certificates/{id}/verify", "200", resources.Verification),
        ("get", "/certificates/key", "200", resources.PublicKey),
        ("get", "/readyz", "200", resources.Ready),
    ],
)
def test_the_client_reads_what_the_server_says_it_sends(
    method: str, path: str, status: str, kind: type[Resource], document: dict[str, Any]
) -> None:
    content = document["paths"][path][method]["responses"][status]["content"]["application/json"]
    assert content["schema"] == {"$ref": f"#/components/schemas/{kind.__name__}"}
    assert set(document["components"]["schemas"][kind.__name__]["properties"]) == set(kind.model_fields)


@pytest.fixture(scope="module")
def document(deployment: Server) -> dict[str, Any]:
    with deployment.client() as plain:
        found: dict[str, Any] = plain.get("/openapi.json").json()
    return found


def test_fields_and_words_of_a_newer_server_are_no_error() -> None:
    key = resources.PublicKey.model_validate({"algorithm": "ml-dsa", "public_key": "AA==", "rotated_at": "tomorrow"})
    assert not hasattr(key, "rotated_at")
    made = {"id": "mod-1", "name": "", "task": "ranking", "input_shape": [1], "classes": None, "sha256": "", "bytes": 1}
    assert resources.Model.model_validate({**made, "manifest": {}, "created_at": ""}).task == "ranking"
    assert resources.Model.model_json_schema()["properties"]["task"]["enum"] == ["classification", "regression"]


def test_a_set_of_a_kind_that_is_not_installed() -> None:
    found = PredictionSet.model_validate({"kind": "ellipsoid", "size": 1.5, "axes": [1.0, 2.0]})
    assert found.axes == (1.0, 2.0)
    with pytest.raises(ClientError, match="'ellipsoid' are unknown here: install the package that brings them"):
        found.contains([0.0, 0.0])
