"""Requests: sent, sent again where that is safe, and their refusals turned into errors."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from certiset.core.resource_base import Resource
from certiset.core.resources import Problem
from certiset.core.whole_file import written_whole
from certiset.service.client.errors import ApiError, ClientError, UnreachableError

R = TypeVar("R", bound=Resource)

BUSY = (429, 503)
_TRIES = 5
_LONGEST_PAUSE = 30.0


class Connection:
    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        if key is not None and not (key.isascii() and key.isprintable()):
            raise ClientError("The key has characters that no key has.")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.url = url.rstrip("/")
        try:
            self._http = httpx.Client(base_url=self.url, headers=headers, timeout=timeout, verify=_trust(self.url))
        except httpx.InvalidURL as error:
            raise UnreachableError(f"{url} is not an address: {error}.") from None

    def close(self) -> None:
        self._http.close()

    def send(
        self,
        method: str,
        path: str,
        *,
        again: bool = True,
        accepted: tuple[int, ...] = (),
        files: Callable[[], Mapping[str, Any]] | None = None,
        **request: Any,
    ) -> httpx.Response:
        """The answer to a request that was accepted.

        While the server is busy the request is repeated after the pause that it asks for, unless ``again`` says that
        doing it twice would not be the same as doing it once. ``files`` makes the form anew for each try; statuses
        that are ``accepted`` are answers, though they stand for an error.
        """
        for attempt in range(_TRIES):
            with self.explained():
                form = None if files is None else files()
                response = self._http.request(method, path, files=form, **request)
            if not _busy(response) or not again or attempt + 1 == _TRIES:
                break
            time.sleep(pause_of(response))
        if response.status_code not in accepted:
            raise_refusal(response)
        if "x-request-id" not in response.headers:
            raise ClientError(f"{self.url} answers, but not as certiset does: is that the right address?")
        return response

    def ask(self, kind: type[R], method: str, path: str, **request: Any) -> R:
        """The resource that the server answers with; the request is one of `send`."""
        return kind.model_validate_json(self.send(method, path, **request).content)

    def pages(self, kind: type[R], path: str, **params: Any) -> Iterator[R]:
        """The items of all pages, newest first; each page is fetched when it is reached."""
        return map(kind.model_validate, self.items(path, **params))

    def items(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """The same as JSON, for lists of more than one kind."""
        cursor = None
        while True:
            page = self.send("GET", path, params=given({**params, "limit": 200, "cursor": cursor})).json()
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str], silence: float) -> Iterator[httpx.Response]:
        """An answer that arrives in pieces; httpx's own errors pass, since whoever reads a stream comes back."""
        timeout = httpx.Timeout(self._http.timeout.connect, read=silence)
        with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
            if response.is_error:
                response.read()
            raise_refusal(response)
            yield response

    def save(self, path: str, file: Path) -> None:
        """Writes an answer to a file as it arrives; what is broken off leaves nothing behind."""
        with written_whole(file) as target, self.explained(), self._http.stream("GET", path) as response:
            if response.is_error:
                response.read()
            raise_refusal(response)
            for piece in response.iter_bytes():
                target.write(piece)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Whatever goes wrong on the way is said in a sentence."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise UnreachableError(f"Nothing answers at {self.url}: is `certiset up` running?") from None
        except httpx.TimeoutException:
            raise UnreachableError(f"{self.url} did not answer in time.") from None
        except httpx.UnsupportedProtocol:
            raise UnreachableError(f"{self.url} is not an address: it must begin with http:// or https://.") from None
        except httpx.TransportError as error:
            raise UnreachableError(f"The connection to {self.url} broke: {error or type(error).__name__}.") from None


def _trust(url: str) -> bool | ssl.SSLContext:
    """Reading the certificates of all authorities takes longer than a request, and plain HTTP needs none of them."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if url.lower().startswith("http://") else True


def _busy(response: httpx.Response) -> bool:
    """Whether the same request may be accepted in a moment, which waiting does not bring about for a full quota."""
    full = response.status_code == 429 and "Retry-After" not in response.headers
    return response.status_code in BUSY and not full


def part(id: str) -> str:
    """An id as a part of a path, whatever is in it."""
    return quote(id, safe="")


def given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def pause_of(response: httpx.Response) -> float:
    try:
        return min(float(response.headers.get("Retry-After", "1")), _LONGEST_PAUSE)
    except ValueError:
        return 1.0


def raise_refusal(response: httpx.Response) -> None:
    """The problem that the server states, or, from something that is not our server, what can be said."""
    if response.is_success:
        return
    try:
        problem = Problem.model_validate({"code": "unknown", **response.json()})
    except (ValueError, TypeError):
        status, title = response.status_code, response.reason_phrase
        detail = f"{response.request.url} answered {status} {title}".rstrip() + "."
        problem = Problem(type="about:blank", title=title, status=status, detail=detail, code="unknown")
    raise ApiError(problem)
