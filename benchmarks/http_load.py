"""Requests as plainly as possible, so that what is measured is the server: one path, many connections, one process."""

import asyncio
import json
import subprocess
import sys
import time
from typing import Any

from certiset.service import event_loop

KEY = "benchmark-key"
_PROGRAM = "from benchmarks.http_load import print_load; print_load()"


async def wait_for_server(port: int) -> None:
    """Up to a minute: two versions that start at once on two cores take their time."""
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        except OSError:
            await asyncio.sleep(0.1)
    raise SystemExit("the server did not start")


class Client(asyncio.Protocol):
    """One connection that sends the same request again and again, as plainly as possible."""

    def __init__(self, request: bytes, times: list[float], errors: list[int]) -> None:
        self.request, self.times, self.errors = request, times, errors
        self.buffer, self.sent, self.due = b"", 0.0, 0.0
        self.interval = 0.0
        self.stopped = False
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.due = time.perf_counter()
        self.send()

    def send(self) -> None:
        if self.stopped:
            self.transport.close()
            return
        self.sent = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.buffer[:end].lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        if len(self.buffer) < end + 4 + length:
            return
        if not head.startswith(b"http/1.1 200"):
            self.errors.append(1)
        self.buffer = b""
        now = time.perf_counter()
        # Measured from when the request was due: a late answer also delays those behind it.
        self.times.append(now - (max(self.due, 0.0) if self.interval else self.sent))
        if not self.interval:
            self.send()
            return
        self.due += self.interval
        loop = asyncio.get_running_loop()
        if self.due > now:
            loop.call_later(self.due - now, self.send)
        else:
            self.send()


async def load(port: int, path: str, connections: int, seconds: float, rate: float | None) -> dict[str, Any]:
    request = f"GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()
    times: list[float] = []
    errors: list[int] = []
    clients = []
    loop = asyncio.get_running_loop()
    begin = time.perf_counter()
    for _ in range(connections):
        client = Client(request, times, errors)
        client.interval = connections / rate if rate else 0.0
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
        clients.append(client)
        if rate:
            await asyncio.sleep(1 / rate)
    await asyncio.sleep(seconds)
    for client in clients:
        client.stopped = True
    elapsed = time.perf_counter() - begin
    times.sort()
    return {"rate": len(times) / elapsed, "p99": times[int(0.99 * len(times))], "errors": len(errors)}


def run(port: int, path: str, connections: int, seconds: float, rate: float | None = None) -> dict[str, Any]:
    """Requests per second, the 99th percentile of the seconds that one takes, and how many failed.

    In a process of its own, which imports nothing but this.
    """
    arguments = json.dumps([port, path, connections, seconds, rate])
    done = subprocess.run([sys.executable, "-c", _PROGRAM], input=arguments, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def print_load() -> None:
    """What `run` asks for, of the process that it starts."""
    print(json.dumps(event_loop.run(load(*json.load(sys.stdin)))))
