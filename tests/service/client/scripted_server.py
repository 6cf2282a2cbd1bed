"""A server that answers by a script, and remembers what it was asked."""

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Script:
    answers: list[tuple[int, dict[str, str], Any]]
    """(status, headers, JSON), in order; the last one stays"""
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """(method, path, headers)"""
    bodies: list[bytes] = field(default_factory=list)
    """what came with them"""
    url: str = ""


@contextlib.contextmanager
def scripted(*answers: tuple[int, dict[str, str], Any]) -> Iterator[Script]:
    state = Script(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            state.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
            state.asked.append((self.command, self.path, {name.lower(): v for name, v in self.headers.items()}))
            status, headers, content = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            body = content.encode() if isinstance(content, str) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"X-Request-Id": "scripted", **headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = do_PATCH = _answer  # noqa: N815

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
