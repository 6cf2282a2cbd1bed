"""Upload, calibrate, watch, read the certificate, ask for a set, verify: as a user does it in the browser."""

import re
from pathlib import Path

import httpx
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from certiset.service.cli.main import main
from tests.system.browser.conftest import Deployment
from tests.system.browser.looking import check, findings, keep


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logits of eight classes, a file as a user would have it; two classes are shifted, so that tuning pays."""
    random = np.random.default_rng(5)
    y = random.integers(8, size=1500)
    file = tmp_path_factory.mktemp("data") / "logits.csv"
    shift = np.array([3.0, 0, 0, -3.0, 0, 0, 0, 0])
    x = 2.5 * np.eye(8)[y] + random.normal(size=(1500, 8)) + shift
    rows = [",".join(f"{value:.5f}" for value in row) + f",{label}" for row, label in zip(x, y, strict=True)]
    file.write_text("\n".join([",".join(f"logit {n}" for n in range(8)) + ",digit", *rows]))
    return file


COUNT_CLICKS = """() => {
  Object.assign(window, { clicks: 0, keys: 0, printed: 0, print: () => { window.printed += 1; } });
  document.addEventListener("click", (event) => { if (event.isTrusted) window.clicks += 1; }, true);
  document.addEventListener("keydown", (event) => { if (event.isTrusted) window.keys += 1; }, true);
}"""
MOST_CLICKS = 8
"""from an empty page to the first set of one's own data"""


def start_calibration(page: Page, file: Path) -> None:
    """By clicks alone: what the data say need not be said again."""
    page.get_by_role("link", name="New calibration").first.click()
    page.get_by_role("heading", name="New calibration").wait_for()
    first, second, third = (page.get_by_role("group", name=re.compile(rf"^{n}\.")) for n in (1, 2, 3))
    for part in (first, second):
        if not part.get_by_label("a new one").is_checked():
            part.get_by_label("a new one").check()
    first.get_by_label("File").set_input_files(file)
    expect(first.get_by_role("table")).to_contain_text("logit 7")
    assert first.get_by_role("row").count() == 11
    expect(first.get_by_label("Target")).to_have_value("digit")
    expect(second.get_by_label("Outputs")).to_have_value("8")
    expect(second.get_by_label("Task")).to_have_value("classification")
    expect(third.get_by_text("With 1,500 rows that calibrate, thresholds are set at level 0.08")).to_be_visible()
    check(page, "new-csv")
    page.get_by_role("button", name="Start the calibration").click()


def test_from_upload_to_a_verified_set(page: Page, deployment: Deployment, data: Path, tmp_path: Path) -> None:
    check(page, "overview-empty")
    page.evaluate(COUNT_CLICKS)
    start_calibration(page, data)

    page.get_by_role("heading", name="Fit").wait_for()
    expect(page.locator("progress").first).not_to_have_attribute("value", "0")
    shares = [float(page.locator("progress").first.get_attribute("value") or 0)]
    keep(page, "calibration-running")
    done = page.get_by_role("link", name="See the certificate")
    done.wait_for()
    shares.append(float(page.locator("progress").first.get_attribute("value") or 0))
    assert shares[0] < shares[1] == 1
    assert page.locator("figure svg polyline").count() >= 1
    check(page, "calibration-done")

    done.click()
    statement = page.locator(".statement")
    expect(statement).to_contain_text("contain the truth for at least 90\u00a0% of future inputs")
    expect(page.get_by_text("numbers and signature hold")).to_be_visible()
    # One member by itself makes no picture.
    members = page.get_by_role("region", name="Members").get_by_role("row").count() - 1
    assert page.locator(".figure svg").count() == (3 if members > 1 else 2)
    chosen = page.locator("#selection")
    expect(chosen).to_contain_text("revealed")
    assert chosen.locator("tbody tr").count() >= 5
    expect(chosen.locator("tbody tr").filter(has_text="taken")).to_have_count(1)
    expect(page.locator("#checks .badge.bad")).to_have_count(0)
    expect(page.locator(".strip .covered")).to_have_count(90)
    page.get_by_role("button", name="Print", exact=True).click()
    assert page.evaluate("window.printed") == 1
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    check(page, "certificate")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    file = tmp_path / "certificate.json"
    download.value.save_as(file)
    served = httpx.get(
        f"{deployment.url}/certificates/{page.url.split('/')[-1]}",
        headers={"Authorization": f"Bearer {deployment.key}"},
    )
    assert file.read_text() == served.text
    line = page.locator("pre code").first.inner_text()
    assert line.startswith("certiset verify ")
    key = line.split("--key ")[1]
    verify = ["verify", str(file), "--key"]
    assert main([*verify, key]) == 0
    file.write_text(file.read_text().replace('"alpha": 0.1', '"alpha": 0.01').replace('"alpha":0.1', '"alpha":0.01'))
    assert main([*verify, key]) == 1

    page.get_by_role("link", name="Try the predictor").click()
    page.get_by_role("button", name="row 3", exact=True).click()
    expect(page.locator(".answer")).to_contain_text("The set: {")
    # One more for the file, which was chosen without a click; printing and downloading are not on the way.
    assert page.evaluate("window.clicks") + 1 - 2 <= MOST_CLICKS
    assert page.evaluate("window.keys") == 0
    page.get_by_label("Input", exact=True).fill("0, 0, 9, 0, 0, 0, 0, 0")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.locator(".answer")).to_have_text("The set: { 2 }")
    page.get_by_label("The truth").fill("2")
    page.get_by_role("button", name="Report").click()
    expect(page.get_by_text("Covered. It was counted.")).to_be_visible()
    check(page, "predictor")

    page.get_by_role("link", name="Monitor").first.click()
    expect(page.get_by_text("consistent with the certificate")).to_be_visible()
    check(page, "monitor")
    page.get_by_role("link", name="Overview").click()
    row = page.locator("tbody tr").filter(has_text="logits.csv")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("90\u00a0%")
    check(page, "overview")


def test_what_is_wrong_is_said_at_its_field(page: Page, data: Path) -> None:
    page.goto("/#/new")
    page.get_by_role("heading", name="New calibration").wait_for()
    first, second, third = (page.get_by_role("group", name=re.compile(rf"^{n}\.")) for n in (1, 2, 3))
    first.get_by_label("a new one").check()
    second.get_by_label("a new one").check()
    page.get_by_role("button", name="Start the calibration").click()
    expect(page.get_by_text("Choose a file.")).to_be_visible()
    first.get_by_label("File").set_input_files(data)
    second.get_by_label("Outputs").fill("8")
    third.get_by_label("Alpha", exact=True).fill("2")
    page.get_by_role("button", name="Start the calibration").click()
    expect(third.get_by_label("Alpha", exact=True)).to_have_attribute("aria-invalid", "true")
    third.get_by_label("Alpha", exact=True).fill("0.0005")
    page.get_by_role("button", name="Start the calibration").click()
    # The rows are too few for this promise: that is said where the rows come from.
    expect(first.locator(".wrong").filter(has_text="too few")).to_be_visible()
    expect(first.get_by_label("File")).to_have_attribute("aria-invalid", "true")
    third.get_by_text("Method and other options").click()
    methods = third.get_by_label("Method", exact=True)
    assert methods.input_value() == methods.locator("option").all_inner_texts()[0] == "auto"
    methods.select_option("learned")
    third.get_by_text("More options").click()
    third.get_by_label("Prior.split").fill("0.995")
    third.get_by_label("Alpha", exact=True).fill("0.1")
    page.get_by_role("button", name="Start the calibration").click()
    expect(first.locator(".wrong").filter(has_text="too few")).to_be_visible()
    check(page, "new-refused")


def test_a_wrong_key_and_no_key(browser: Browser, deployment: Deployment) -> None:
    page = browser.new_page(base_url=deployment.url)
    page.goto("/")
    page.get_by_label("API key").fill("wrong")
    assert findings(page) == []
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("status").first).to_have_text("Unknown API key.")
    keep(page, "key")
    page.get_by_label("API key").fill(deployment.key)
    page.get_by_role("button", name="Open").click()
    page.get_by_role("heading", name="Overview").wait_for()
    assert deployment.key not in page.url
    page.get_by_role("button", name="Forget the key").click()
    page.get_by_label("API key").wait_for()
    page.goto(f"/#key={deployment.key}")
    page.get_by_role("heading", name="Overview").wait_for()
    assert deployment.key not in page.url
    page.goto("/#/predictors/pred-unknown")
    expect(page.get_by_role("status").first).to_contain_text("There is no predictor pred-unknown")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_screens_in_light_and_dark(browser: Browser, deployment: Deployment, scheme: str) -> None:
    page = browser.new_page(
        base_url=deployment.url,
        viewport={"width": 360, "height": 740},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page.goto(f"/#key={deployment.key}")
    page.get_by_role("heading", name="Overview").wait_for()
    for name in ("", "new", "datasets", "models", "account"):
        page.goto(f"/#/{name}")
        page.wait_for_selector("h1")
        page.wait_for_selector("main:not([aria-busy])")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        check(page, f"narrow-{scheme}-{name or 'overview'}")
    page.close()


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    page.goto("/#/new")
    page.get_by_role("heading", name="New calibration").wait_for()
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim() || document.activeElement.id"))
        if "Start the calibration" in reached:
            break
    assert "Start the calibration" in reached
    page.goto("/#/")
    page.reload()
    page.get_by_role("heading", name="Overview").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.get_by_role("heading", name="Overview").wait_for()


def test_no_promise_is_rounded_in_its_own_favour(page: Page) -> None:
    shown = page.evaluate(
        """async () => {
          const { atLeast, atMost } = await import("/static/dom.js");
          return [0.9, 0.95, 0.9999, 0.999999999, 0.9496, 0.87654321, 1].map(atLeast)
            .concat([1.39, 1.23451, 0.1, 2, 123456, null].map((value) => atMost(value)));
        }"""
    )
    shares, bounds = shown[:7], shown[7:]
    assert [share.removesuffix("\u00a0%") for share in shares] == [
        *("90", "95", "99.99", "99.9999", "94.96", "87.6543", "100"),
    ]
    assert bounds == ["1.39", "1.235", "0.1", "2", "123500", "–"]
