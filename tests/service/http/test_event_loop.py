"""Nothing that one tenant sends stops the event loop, which everybody's requests need."""

import contextlib
import io
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from certiset.core.fit import fit
from certiset.core.models import Model
from certiset.core.store import Store
from tests.service.bodies import NPZ_BACK, npz
from tests.service.server import Server, enter_predictor


@contextlib.contextmanager
def longest_pause(server: Server) -> Iterator[list[float]]:
    """Asks for an empty answer again and again; the list then holds the longest time that one took."""
    stop, longest = threading.Event(), [0.0]

    def ask() -> None:
        with server.client(None) as client:
            while not stop.is_set():
                begin = time.perf_counter()
                assert client.get("/healthz").status_code == 200
                longest[0] = max(longest[0], time.perf_counter() - begin)
                time.sleep(0.005)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield longest
    finally:
        stop.set()
        thread.join()


def test_large_json_is_parsed_and_written_without_stopping_the_event_loop(shared: Server) -> None:
    rows = 200_000
    values = ", ".join(f"{value:<36.6f}" for value in np.random.default_rng(0).normal(size=2 * rows))
    tensor = f'{{"name": "x", "shape": [{rows}, 2], "datatype": "FP32", "data": [{values}]}}'
    body = f'{{"id": "large", "inputs": [{tensor}]}}'
    assert 15_000_000 < len(body) < 2**24
    with shared.client("reader") as ada, longest_pause(shared) as longest:
        answer = ada.post(f"/v2/models/{shared.id('classification')}/infer", content=body)
    assert answer.status_code == 200, answer.text[:500]
    found = answer.json()
    assert found["id"] == "large"
    shapes = {output["name"]: output["shape"] for output in found["outputs"]}
    assert shapes["mask"] == [rows, 3]
    assert all(len(output["data"]) == np.prod(output["shape"]) for output in found["outputs"])
    assert longest[0] < 1.5, "it was 11 s"


def test_json_of_millions_of_numbers_is_refused_without_stopping_the_event_loop(shared: Server) -> None:
    numbers = 8_000_000
    head = f'{{"inputs": [{{"name": "x", "shape": [{numbers // 2}, 2], "datatype": "FP32", "data": ['
    body = head + "1," * (numbers - 1) + "1]}]}"
    with shared.client("reader") as ada, longest_pause(shared) as longest:
        answer = ada.post(f"/v2/models/{shared.id('classification')}/infer", content=body)
    assert (answer.status_code, answer.json()["detail"]) == (413, "At most 200,000 rows are accepted at once.")
    assert longest[0] < 0.6, "it was 1.2 s, and 11 s when 40 MiB were allowed"


def test_raw_tensors_are_read_without_stopping_the_event_loop(shared: Server) -> None:
    texts = 2**25
    head = json.dumps(
        {
            "inputs": [
                {"name": "x", "shape": [2, 2], "datatype": "FP32", "parameters": {"binary_data_size": 16}},
                {"name": "groups", "shape": [2], "datatype": "BYTES", "parameters": {"binary_data_size": texts}},
            ]
        }
    ).encode()

    def pieces() -> Iterator[bytes]:
        """Of an unknown length, so that this process itself reads them: two rows, and millions of empty texts."""
        yield head + bytes(16)
        yield from (bytes(2**20) for _ in range(texts // 2**20))

    headers = {"Inference-Header-Content-Length": str(len(head)), "Content-Type": "application/octet-stream"}
    with shared.client("reader") as ada, longest_pause(shared) as longest:
        answer = ada.post(f"/v2/models/{shared.id('classification')}/infer", content=pieces(), headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "inputs.1.data")
    assert longest[0] < 0.6, "it was several seconds"


def test_numbers_from_another_process_are_those_of_the_body(shared: Server) -> None:
    x = [[row / 3, 0.5] for row in range(60_000)]
    predictor = shared.id("classification")
    with shared.client("reader") as ada:
        large = ada.post("/predict_set", json={"predictor": predictor, "member": 0, "x": x})
        small = ada.post("/predict_set", json={"predictor": predictor, "member": 0, "x": x[:3]})
        assert len(large.request.content) > 2**20
        assert large.status_code == 200, large.text[:500]
        sets = [one["set"] for one in large.json()["predictions"]]
        assert len(sets) == len(x)
        assert sets[:3] == [one["set"] for one in small.json()["predictions"]]
        wrong = {"predictor": predictor, "x": [*x, ["a", "b"]]}
        for body in (wrong, {"predictor": predictor, "y": x}):
            assert ada.post("/predict_set", json=body).status_code == 422
        cut = ada.post("/predict_set", content=json.dumps(wrong)[:-1], headers={"Content-Type": "application/json"})
        assert (cut.status_code, cut.json()["errors"][0]["where"]) == (422, "body")
        chatty = ada.post("/predict_set", json={"predictor": predictor, "x": x, "note": "a" * 100_000})
        assert chatty.status_code == 422
        assert "65,536" in chatty.json()["detail"]


def test_json_beyond_16_mib_is_refused_and_told_what_to_send_instead(shared: Server) -> None:
    body = b'{"x": [' + b"1, " * (2**24 // 3) + b'1], "y": [1]}'
    with shared.client() as ada:
        answers = [
            ada.post(path, content=body, headers={"Content-Type": "application/json"})
            for path in ("/predict_set", f"/v2/models/{shared.id('classification')}/infer")
        ]
        assert all("Open Inference Protocol" in answer.json()["detail"] for answer in answers)
        answers.append(ada.post("/datasets", files={"file": ("data.json", body)}))
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert ".npz" in answer.json()["detail"]


def test_a_json_data_set_is_read_without_stopping_the_event_loop(shared: Server) -> None:
    rows = 2_000_000
    x, y = ",".join(["[1,2]", "[2,1]"] * (rows // 2)), ",".join(["0", "1"] * (rows // 2))
    body = f'{{"x":[{x}],"y":[{y}]}}'
    with shared.client() as ada, longest_pause(shared) as longest:
        answer = ada.post("/datasets", files={"file": ("data.json", body.encode())})
    assert answer.status_code == 201, answer.text
    assert answer.json()["rows"] == rows
    assert longest[0] < 1.5, "it was 8 s"


def test_few_rows_with_very_many_classes_do_not_stop_the_event_loop(shared: Server) -> None:
    classes = 100_000
    generator = np.random.default_rng(3)
    manifest = {"name": "wide", "task": "classification", "classes": classes, "input_shape": [1]}
    weights = {"head.0.weight": generator.normal(size=(classes, 1)), "head.0.bias": generator.normal(size=classes)}
    model = Model.from_manifest({**manifest, "head": {"kind": "mlp", "widths": [1, classes]}}, weights)
    x, y = generator.normal(size=(100, 1)), generator.integers(classes, size=100)
    options: dict[str, Any] = {"method": "standard", "bound": "vovk_2b", "alpha": 0.2, "allow_missing_classes": True}
    predictor = fit(model, x, y, **options)
    store = Store(shared.settings)
    enter_predictor(store, predictor)
    store.close()
    path = f"/predict_set?predictor={predictor.certificate.predictor_id}"
    with shared.client("reader") as ada:
        assert ada.post(path, content=npz(x=x[:1]), headers=NPZ_BACK).status_code == 200, "it is in memory now"
        with longest_pause(shared) as longest:
            arrays = ada.post(path, content=npz(x=x[:64]), headers=NPZ_BACK)
            words = ada.post(path, content=npz(x=x[:64]), headers={"Content-Type": NPZ_BACK["Content-Type"]})
    assert (arrays.status_code, words.status_code) == (200, 200)
    assert np.load(io.BytesIO(arrays.content))["mask"].shape == (64, classes)
    assert len(words.json()["predictions"]) == 64
    assert longest[0] < 0.6, "it was 1.3 s"
