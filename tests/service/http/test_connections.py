"""Connections without requests: half-sent, too slow, too many. None of them keeps anybody else out."""

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.servers import wait_until
from tests.service.server import Server, start_server

HALF = b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Half: "


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    limits = {"header_seconds": 2.0, "body_seconds": 2.0, "max_connections_per_address": 100}
    made = start_server(tmp_path_factory.mktemp("service"), **limits)
    yield made
    made.stop()


@contextlib.contextmanager
def connected(server: Server, sent: bytes) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(sent)
        yield connection


def everything(connection: socket.socket) -> bytes:
    """Until the server closes."""
    pieces = []
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def test_a_thousand_half_sent_requests_keep_nobody_out(server: Server) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(1100):
            held.enter_context(connected(server, HALF))
        begin = time.monotonic()
        for _ in range(20):
            assert httpx.get(f"{server.url}/healthz").status_code == 200
        assert time.monotonic() - begin < 15


def test_headers_have_a_deadline(server: Server) -> None:
    for sent in (b"", HALF):
        with connected(server, sent) as connection:
            begin = time.monotonic()
            answer = everything(connection)
            assert time.monotonic() - begin < 10
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b'"code": "too_slow"' in answer


def test_a_connection_that_was_used_before_has_the_same_deadline(server: Server) -> None:
    with connected(server, b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n") as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        connection.sendall(HALF)
        assert b"HTTP/1.1 408 " in everything(connection)


def test_a_body_has_a_least_pace(server: Server) -> None:
    key = server.keys["ada"].encode()
    head = b"POST /predict_set HTTP/1.1\r\nHost: a\r\nX-API-Key: " + key + b"\r\nContent-Length: 100000\r\n\r\n"
    with connected(server, head + b"{") as connection:
        begin = time.monotonic()
        assert everything(connection).startswith(b"HTTP/1.1 408 ")
        assert time.monotonic() - begin < 10


def log_lines(server: Server, route: str, status: int) -> list[dict[str, Any]]:
    lines = (server.settings.home / "api.log").read_text().splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    assert not [line for line in found if "exception" in line]
    return [line for line in found if (line.get("route"), line.get("status")) == (route, status)]


def test_bodies_that_are_cut_off_are_quiet_lines_with_their_status(server: Server) -> None:
    head = b"POST %s HTTP/1.1\r\nHost: a\r\nX-API-Key: %s\r\nContent-Type: %s\r\nContent-Length: 30000\r\n\r\n--b\r\n"
    routes = ["/predict_set", "/outcomes", "/calibrations", "/v2/models/{id}/infer", "/datasets"]
    before = {route: len(log_lines(server, route, 408)) for route in routes}
    with contextlib.ExitStack() as held:
        connections = []
        for route in routes:
            path = route.format(id="pred-1f0c").encode()
            kind = b"multipart/form-data; boundary=b" if route == "/datasets" else b"application/json"
            sent = head % (path, server.keys["ada"].encode(), kind)
            connections.append(held.enter_context(connected(server, sent)))
        for connection in connections:
            assert everything(connection).startswith(b"HTTP/1.1 408 ")
    expected = {route: count + 1 for route, count in before.items()}
    wait_until(lambda: {route: len(log_lines(server, route, 408)) for route in routes} == expected, 10, "the lines")


def test_a_caller_who_goes_away_is_no_error(server: Server) -> None:
    head = b"POST /predict_set HTTP/1.1\r\nHost: a\r\nX-API-Key: %s\r\nContent-Length: 30000\r\n\r\n{"
    with connected(server, head % server.keys["ada"].encode()):
        time.sleep(0.1)
    wait_until(lambda: log_lines(server, "/predict_set", 499), 10, "the line")


def test_a_body_that_is_slow_but_steady_is_read(server: Server) -> None:
    key = server.keys["ada"].encode()
    body = b'{"predictor": "' + server.id("regression").encode() + b'", "x": [[0.1]]' + b" " * 150_000 + b"}"
    head = b"POST /predict_set HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-Key: %s\r\nContent-Length: %d\r\n\r\n"
    with connected(server, head % (key, len(body))) as connection:
        for start in range(0, len(body), 15_100):
            connection.sendall(body[start : start + 15_100])
            time.sleep(0.4)
        answer = everything(connection)
        assert answer.startswith(b"HTTP/1.1 200 "), answer


def test_requests_in_a_row_and_at_once_are_answered_in_order(server: Server) -> None:
    one = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    with connected(server, one * 3) as connection:
        found = b""
        while found.count(b"HTTP/1.1 200 ") < 3:
            found += connection.recv(65536)
        connection.sendall(one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert b"HTTP/1.1 200 " in everything(connection)


def test_the_server_stops_in_seconds_beside_open_connections(server: Server) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(20):
            held.enter_context(connected(server, HALF))
        wait_until(lambda: httpx.get(f"{server.url}/healthz").status_code == 200, 60, "the server")
        begin = time.monotonic()
        server.stop()
        assert time.monotonic() - begin < 12
