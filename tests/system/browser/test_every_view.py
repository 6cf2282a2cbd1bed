"""Every view at every width, light and dark: readable, within the window, and without a finding of axe-core."""

import pytest
from playwright.sync_api import Browser, Page

from tests.system.browser.conftest import Deployment
from tests.system.browser.flowers import Flowers
from tests.system.browser.looking import check

LETTERS = """() => [...document.querySelectorAll("figure svg text")].map((text) => {
  const drawn = text.closest("svg");
  const scale = drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width;
  return parseFloat(getComputedStyle(text).fontSize) * scale;
})"""
OVERPRINTED = """() => [...document.querySelectorAll("figure svg")].flatMap((drawn) => {
  const texts = [...drawn.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const within = drawn.getBoundingClientRect();
  const cut = texts.filter(([, box]) => box.left < within.left - 1 || box.right > within.right + 1)
    .map(([words]) => `cut: ${words}`);
  const pairs = texts.flatMap(([a, one], place) => texts.slice(place + 1)
    .filter(([, other]) => one.left < other.right - 1 && other.left < one.right - 1
      && one.top < other.bottom - 3 && other.top < one.bottom - 3).map(([b]) => `${a} / ${b}`));
  return [...cut, ...pairs];
})"""


def places_of(flowers: Flowers) -> dict[str, str]:
    """By the name of a screenshot."""
    return {
        "overview": "",
        "compare": f"compare?ids={flowers.drawn},{flowers.drawn}",
        "new": "new",
        "datasets": "datasets",
        "dataset": f"datasets/{flowers.dataset}",
        "models": "models",
        "model": f"models/{flowers.model}",
        "calibration": f"calibrations/{flowers.calibration}",
        "certificate-grouped": f"certificates/{flowers.grouped_certificate}",
        "certificate-drawn": f"certificates/{flowers.drawn_certificate}",
        "predictor-grouped": f"predictors/{flowers.grouped}",
        "predictor-drawn": f"predictors/{flowers.drawn}",
        "monitor": f"predictors/{flowers.grouped}/monitor",
        "deployments": "deployments",
        "deployment": f"deployments/{flowers.deployment}",
        "account": "account",
        "unknown": "no/such/view",
    }


def look(page: Page, name: str, width: int) -> None:
    """With everything opened that can be."""
    page.wait_for_selector("main:not([aria-busy]) h1")
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    # Figures are drawn again once they know their width.
    for _ in range(50):
        page.wait_for_timeout(200)
        letters = page.evaluate(LETTERS)
        if all(size >= 11 for size in letters):
            break
    assert all(size >= 11 for size in letters), name
    assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    check(page, name)
    assert page.evaluate(OVERPRINTED) == [], name


@pytest.mark.parametrize(("scheme", "width"), [("light", 400), ("dark", 400), ("light", 1000), ("dark", 2000)])
def test_every_view_is_readable_and_has_no_finding(
    browser: Browser, deployment: Deployment, flowers: Flowers, scheme: str, width: int
) -> None:
    page = browser.new_page(
        base_url=deployment.url,
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page.goto("/")
    page.wait_for_selector("h1")
    check(page, f"view-{scheme}-{width}-key")
    page.goto(f"/#key={deployment.key}")
    page.get_by_role("heading", name="Overview").wait_for()
    for name, place in places_of(flowers).items():
        page.goto(f"/#/{place}")
        look(page, f"view-{scheme}-{width}-{name}", width)
    page.goto("/docs")
    check(page, f"view-{scheme}-{width}-docs")
    page.close()
