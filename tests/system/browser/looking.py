"""What is done with every page: a screenshot to look at, and axe-core's rules for who cannot see it."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.system.browser.conftest import ARTEFACTS

_PATIENCE = 180_000
"""milliseconds that a picture may take: that of the longest page, as a whole, beside all other tests, takes a while"""


def keep(page: Page, name: str) -> None:
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True, timeout=_PATIENCE)


def findings(page: Page) -> list[str]:
    """All of them, however small axe-core thinks that they are."""
    # Evaluated like a debugger would: the page itself allows no foreign script.
    found = Axe().run(page).response["violations"]
    return [
        f"{rule['id']} ({rule['impact']}): {rule['help']}: {[node['html'][:120] for node in rule['nodes']]}"
        for rule in found
    ]


def check(page: Page, name: str) -> None:
    keep(page, name)
    found = findings(page)
    assert not found, f"{name}: {found}"
