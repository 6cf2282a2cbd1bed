"""The overview as one table: searched and sorted with the state in its address, compared, deleted, renamed."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import certiset.service.http.routes.page
from certiset.core.deployment_resources import Spend
from certiset.core.fit import fit
from certiset.core.jobs import naming
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.service.client import Client
from tests.core.fit.problems import QUICK, class_data, class_model
from tests.service.server import enter_predictor
from tests.system.browser.conftest import Deployment
from tests.system.browser.looking import check

STATIC = Path(certiset.service.http.routes.page.__file__).parents[2] / "static"
NAMES = ("apple", "pear", "quince")


@pytest.fixture(scope="module")
def ids(deployment: Deployment) -> dict[str, str]:
    store, found = Store.ready(Settings(home=deployment.home)), {}
    for seed, name in enumerate(NAMES):
        made = fit(class_model(), *class_data(300, 20 + seed), **QUICK)
        enter_predictor(store, made, tenant="default")
        found[name] = made.certificate.predictor_id
        naming.rename_predictor(store, "default", found[name], name)
    store.close()
    return found


def shows(page: Page, *names: str) -> None:
    """Waits for these of the names, in this order: rows come after the head of the table."""
    rows = page.locator(".overview tbody th").filter(has_text=re.compile(f"^({'|'.join(NAMES)})$"))
    expect(rows).to_have_text(list(names))


def test_the_state_of_the_table_is_in_its_address(page: Page, ids: dict[str, str]) -> None:
    page.reload()
    page.get_by_label("Search").fill("e")
    expect(page.get_by_role("button", name="Name")).to_be_visible()
    page.get_by_role("button", name="Name").click()
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    expect(page.locator(".overview tbody th").filter(has_text="apple")).to_be_visible()
    shows(page, "apple", "pear", "quince")
    page.get_by_role("button", name="Name").click()
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "descending")
    shows(page, "quince", "pear", "apple")
    page.get_by_text("Columns").click()
    page.get_by_label("Guarantee").check()
    expect(page.get_by_role("columnheader", name="Guarantee")).to_be_visible()
    check(page, "overview-sorted")
    assert "sort=-name" in page.url
    assert "search=e" in page.url
    page.reload()
    expect(page.get_by_role("columnheader", name="Guarantee")).to_be_visible()
    shows(page, "quince", "pear", "apple")
    page.get_by_label("Search").fill("no such name")
    expect(page.get_by_text("Nothing fits this search.")).to_be_visible()


def test_several_are_compared_and_deleted_together(page: Page, ids: dict[str, str]) -> None:
    page.goto("/#/?sort=name&search=e")
    for name in ("apple", "quince"):
        page.get_by_label(f"Select {name}", exact=True).check()
    page.get_by_role("link", name="Compare").click()
    page.get_by_role("heading", name="2 predictors side by side").wait_for()
    expect(page.get_by_role("row").filter(has_text="Data set")).to_have_class("differs")
    expect(page.get_by_role("row").filter(has_text="Method")).to_have_class("same")
    page.get_by_label("only what differs").check()
    expect(page.get_by_role("row").filter(has_text="Method")).to_be_hidden()
    chart = page.locator("figure svg")
    chart.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tooltip")).to_contain_text("size of a set (labels)")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert download.value.path().read_text().startswith('series,"size of a set (labels)"')
    check(page, "compare")
    page.goto("/#/?search=quince")
    page.get_by_label("Select quince", exact=True).check()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Nothing fits this search.")).to_be_visible()


def test_a_deployment_is_what_its_form_says(page: Page, ids: dict[str, str], deployment: Deployment) -> None:
    page.goto("/#/deployments")
    page.get_by_label("Name", exact=True).fill("fruit")
    page.get_by_label("Stands for").select_option(ids["apple"])
    page.get_by_label("Recalibrate every").fill("30")
    page.get_by_label("Counted in").select_option("days")
    page.get_by_label("Served population").check()
    page.get_by_label("Total risk").fill("2")
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(page.get_by_label("Total risk")).to_have_js_property("validity.valid", False)
    page.get_by_label("Total risk").fill("0.2")
    page.get_by_label("Shared among").fill("4")
    check(page, "new-deployment")
    page.get_by_role("button", name="Deploy", exact=True).click()
    page.get_by_role("heading", name="Deployment fruit").wait_for()
    expect(page.get_by_text("every 30 days of outcomes")).to_be_visible()
    expect(page.get_by_text("for the population that is served")).to_be_visible()
    with Client(deployment.url, deployment.key) as client:
        made = client.deployments.get("fruit")
        client.deployments.delete("fruit")
    assert made.recalibrate is not None
    assert made.recalibrate.every.days == 30
    assert made.recalibrate.on_contradiction
    assert made.recalibrate.population == "served"
    assert made.spend == Spend(total=0.2, over=4)


def test_a_new_name_shows_everywhere(page: Page, ids: dict[str, str]) -> None:
    page.goto(f"/#/predictors/{ids['pear']}")
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("New name").fill("plum")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="plum")).to_be_visible()
    page.goto("/#/?search=plum")
    expect(page.locator(".overview tbody tr")).to_have_count(1)


def test_the_page_is_light() -> None:
    files = [file for file in STATIC.rglob("*") if file.is_file()]
    assert len(files) > 30
    assert sum(file.stat().st_size for file in files) < 200_000
