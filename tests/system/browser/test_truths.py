"""Truths on the page: reported, corrected, annulled, and the verdict that follows; certificates with caveats."""

import io
import itertools
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.servers import wait_until
from tests.system.browser.conftest import Deployment
from tests.system.browser.looking import check

SCORE = {"kind": "scaled_residual"}
FAR = "1000000"
QUICK = {"alpha": 0.1, "members": 8, "prior": {"steps": 60}, "optimizer": {"steps": 20}}
MANIFEST = '{"name": "prices", "task": "regression", "input_shape": [1]}'


@pytest.fixture(scope="module")
def api(deployment: Deployment) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {deployment.key}"}
    with httpx.Client(base_url=deployment.url, headers=headers, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def served(api: httpx.Client) -> dict[str, Any]:
    """A second attempt on rows in an order that means something: a certificate with all there is to say."""
    random = np.random.default_rng(6)
    x = np.round(random.normal(size=1200), 3)
    y = x + np.linspace(0.2, 3, 1200) * random.standard_t(3, size=1200)
    stream = io.BytesIO()
    np.savez(stream, x=x[:, None], y=y)
    dataset = api.post("/datasets", files={"file": ("prices.npz", stream.getvalue())}).json()["id"]
    model = api.post("/models", files={"manifest": (None, MANIFEST)}).json()["id"]
    for seed, name in enumerate(("first", "prices")):
        asked = {"dataset_id": dataset, "model_id": model, "name": name, "score": SCORE, "seed": seed, **QUICK}
        made = api.post("/calibrations", json=asked)
        assert made.status_code == 202, made.text
        path = made.headers["location"]
        wait_until(lambda path=path: api.get(path).json()["finished_at"] is not None, 120, name)  # type: ignore[misc]
    ended: dict[str, Any] = api.get(path).json()
    assert ended["status"] == "succeeded", ended["error"]
    return ended


def ask(page: Page, served: dict[str, Any], x: str) -> None:
    page.goto(f"/#/predictors/{served['predictor_id']}")
    page.get_by_role("heading", name="Try it").wait_for()
    page.get_by_label("Input", exact=True).fill(x)
    page.get_by_role("button", name="Predict", exact=True).click()
    page.get_by_label("The truth").wait_for()


def test_a_wrong_truth_is_corrected_where_it_was_reported(page: Page, served: dict[str, Any]) -> None:
    ask(page, served, "0.12345")
    truth, answer = page.get_by_label("The truth"), page.locator("#answer")
    expect(answer.get_by_role("button", name="Annul")).to_be_hidden()
    truth.fill("much")
    page.get_by_role("button", name="Report").click()
    expect(truth).to_have_attribute("aria-invalid", "true")
    expect(answer.locator(".wrong")).to_have_text("The truth must be a number, or several, comma-separated.")
    truth.fill("1, 2")
    page.get_by_role("button", name="Report").click()
    expect(answer.locator(".wrong")).to_contain_text("y")
    truth.fill(FAR)
    page.get_by_role("button", name="Report").click()
    expect(page.get_by_text("Missed. It was counted.")).to_be_visible()
    expect(answer.get_by_text("1 miss of 1 counted outcome")).to_be_visible()
    check(page, "truth-reported")
    truth.fill("0.12")
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_text("Corrected: covered. It counts.")).to_be_visible()
    expect(answer.get_by_text("0 misses of 1 counted outcome")).to_be_visible()
    page.get_by_role("button", name="Annul").click()
    expect(page.get_by_text("Annulled: it no longer counts.")).to_be_visible()
    expect(answer.get_by_text("0 misses of 0 counted outcomes")).to_be_visible()
    expect(page.get_by_role("button", name="Annul")).to_be_disabled()
    page.get_by_role("button", name="Correct").click()
    expect(answer.get_by_text("0 misses of 1 counted outcome")).to_be_visible()


def test_a_contradiction_that_rested_on_a_wrong_truth_is_withdrawn(
    page: Page, served: dict[str, Any], api: httpx.Client
) -> None:
    id = served["predictor_id"]
    for number in itertools.count():
        assert number < 40
        asked = {"predictor": id, "x": f"{number / 7:.4f}", "case": f"wrong {number}"}
        last = api.get("/predict_set", params=asked).json()["prediction_id"]
        assert api.post("/outcomes", json={"prediction_id": last, "y": float(FAR)}).json()["counted"] == 1
        if api.get(f"/predictors/{id}/monitor").json()["status"] == "contradicted":
            break
    page.goto(f"/#/predictors/{id}/monitor")
    head = page.locator("main .badge").first
    expect(head).to_have_text("contradicted")
    form = page.locator("form")
    name, truth = form.get_by_label("Prediction id"), form.get_by_label("The truth")

    def wrong(at: Locator, words: str) -> None:
        expect(at).to_have_attribute("aria-invalid", "true")
        expect(form.locator(".wrong").filter(has_text=words)).to_be_visible()

    form.get_by_role("button", name="Correct").click()
    wrong(name, "Its id is missing")
    name.fill("A" * 60)
    form.get_by_role("button", name="Correct").click()
    wrong(truth, "must be a number")
    form.get_by_role("button", name="Annul").click()
    wrong(name, "This prediction_id is unknown.")
    expect(truth).to_have_attribute("aria-invalid", "false")
    name.fill("not an id!")
    form.get_by_role("button", name="Annul").click()
    expect(name).to_have_attribute("aria-invalid", "true")
    check(page, "monitor-contradicted")
    name.fill(last)
    form.get_by_role("button", name="Annul").click()
    expect(form.get_by_text("Annulled: it no longer counts.")).to_be_visible()
    expect(head).to_have_text("consistent")
    truth.fill(FAR)
    form.get_by_role("button", name="Correct").click()
    expect(form.get_by_text("Corrected: missed. It counts.")).to_be_visible()
    expect(head).to_have_text("contradicted")
    truth.fill("0")
    form.get_by_role("button", name="Correct").click()
    expect(form.get_by_text("Corrected: covered. It counts.")).to_be_visible()
    expect(head).to_have_text("consistent")


@pytest.mark.parametrize(("scheme", "width"), [("dark", 360), ("light", 1200)])
def test_certificates_with_caveats_and_truths_look_well(
    browser: Browser, deployment: Deployment, served: dict[str, Any], scheme: str, width: int
) -> None:
    page = browser.new_page(
        base_url=deployment.url,
        viewport={"width": width, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page.goto(f"/#key={deployment.key}")
    page.get_by_role("heading", name="Overview").wait_for()
    page.goto(f"/#/certificates/{served['certificate_id']}")
    page.locator(".statement").wait_for()
    expect(page.locator(".caveat").filter(has_text="order")).to_have_count(1)
    expect(page.get_by_text("attempt 2", exact=False).first).to_be_visible()
    page.get_by_text("All numbers").click()
    expect(page.get_by_role("region", name="Data", exact=True)).to_contain_text("order of the rows, p-value")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check(page, f"caveats-{scheme}-{width}")
    ask(page, served, f"0.{width}")
    page.get_by_label("The truth").fill("0")
    page.get_by_role("button", name="Report").click()
    page.get_by_role("button", name="Annul").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check(page, f"truth-{scheme}-{width}")
    page.goto(f"/#/predictors/{served['predictor_id']}/monitor")
    page.get_by_role("heading", name="A truth that was wrong").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check(page, f"monitor-{scheme}-{width}")
    page.close()
