"""A real browser on a real service with a real worker. Screenshots are kept in `artefacts/`, to be looked at."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from certiset.service.client import Client
from tests.servers import free_port, missing
from tests.service.server import processes_of
from tests.system.browser.flowers import Flowers, make_flowers

ARTEFACTS = Path(os.environ.get("CERTISET_TEST_ARTEFACTS", Path(__file__).parents[3] / "artefacts"))
expect.set_options(timeout=60_000)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True)
class Deployment:
    """An API and a worker, with a folder of their own."""

    home: Path
    url: str
    key: str


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for longer than its tests: Playwright holds an event loop, beside which others could not run theirs."""
    path = os.environ.get("CERTISET_TEST_BROWSER") or next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        if "CERTISET_TEST_NO_BROWSER" in os.environ:
            pytest.skip("CERTISET_TEST_NO_BROWSER says that no browser can be had on this machine.")
        missing("No Chromium was found (CERTISET_TEST_BROWSER): install it with your system's packages.")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    home, port = tmp_path_factory.mktemp("browser"), free_port()
    url = f"http://127.0.0.1:{port}"
    with processes_of(home, port):
        yield Deployment(home, url, (home / "key").read_text().strip())


@pytest.fixture(scope="session")
def flowers(deployment: Deployment, tmp_path_factory: pytest.TempPathFactory) -> Flowers:
    with Client(deployment.url, deployment.key) as client:
        return make_flowers(client, tmp_path_factory.mktemp("flowers"))


@pytest.fixture
def context(browser: Browser, deployment: Deployment) -> Iterator[BrowserContext]:
    made = browser.new_context(base_url=deployment.url, viewport={"width": 1200, "height": 900}, accept_downloads=True)
    made.set_default_timeout(60_000)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, deployment: Deployment) -> Iterator[Page]:
    """A page with the key in it. Whatever goes to the console, or leaves the machine, is an error."""
    opened = context.new_page()
    complaints: list[str] = []
    # That something was refused is the browser's own remark, and what the page says about it is tested.
    opened.on(
        "console",
        lambda message: None if "status of 4" in message.text else complaints.append(f"{message.type}: {message.text}"),
    )
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "request",
        lambda request: None if request.url.startswith((deployment.url, "blob:")) else complaints.append(request.url),
    )
    opened.goto(f"/#key={deployment.key}")
    opened.wait_for_selector("h1:has-text('Overview')")
    yield opened
    assert complaints == []
