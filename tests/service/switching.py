"""Load on a deployment while it is switched: every answer is kept, and judged at the end."""

import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import httpx

from tests.servers import wait_until


class Load:
    """Threads that ask replicas for single sets and for batches under a name."""

    def __init__(self, urls: list[str], key: str, name: str, *, rows: int, threads: int = 1) -> None:
        self._urls, self._name, self._rows = urls, name, rows
        self._headers = {"Authorization": f"Bearer {key}"}
        self._done = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(url,)) for url in urls for _ in range(threads)]
        self._lock = threading.Lock()
        self.answers: list[tuple[str, int, float, list[tuple[str, int]]]] = []
        """address, status, when it was answered, and the (predictor, version) that each row names"""
        self.failures: list[str] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def wait_for_version(self, version: int, seconds: float = 20.0) -> None:
        """Until every replica has answered with it."""

        def everywhere() -> bool:
            with self._lock:
                found = {url for url, _, _, rows in self.answers if rows and rows[0][1] == version}
            return found == set(self._urls)

        wait_until(everywhere, seconds, f"version {version} everywhere")

    def check(self, meant: dict[int, str]) -> None:
        """No request was lost, none was answered by two predictors, and each by the one that its version stood for."""
        assert not self.failures, self.failures[:3]
        assert {status for _, status, _, _ in self.answers} == {200}
        for _, _, _, rows in self.answers:
            assert len(set(rows)) == 1
            predictor, version = rows[0]
            assert meant[version] == predictor
        for url in self._urls:
            seen = [rows[0][1] for one, _, _, rows in self.answers if one == url]
            assert seen

    def _ask(self, url: str) -> None:
        batch = {"predictor": self._name, "x": [[0.5, -1.0]] * self._rows}
        with httpx.Client(base_url=url, headers=self._headers, timeout=60) as client:
            while not self._done.is_set():
                for asked in (
                    {"method": "GET", "params": {"predictor": self._name, "x": "0.5,-1"}},
                    {"method": "POST", "json": batch},
                ):
                    try:
                        answer = client.request(url="/predict_set", **asked)  # type: ignore[arg-type]
                        named = list(_named(answer.json())) if answer.status_code == 200 else []
                    except Exception as error:
                        self.failures.append(repr(error))
                        continue
                    with self._lock:
                        self.answers.append((url, answer.status_code, time.monotonic(), named))


def _named(body: dict[str, Any]) -> Iterator[tuple[str, int]]:
    yield body["predictor"], body["deployment"]["version"]
    for row in body.get("predictions", []):
        yield row["predictor"], row["deployment"]["version"]
