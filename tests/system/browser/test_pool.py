"""A pool on the page: who answers how often, what is promised, and why no member serves alone."""

import pytest
from playwright.sync_api import Page, expect

from certiset.core.fit import Predictor
from certiset.core.settings import Settings
from certiset.core.store import Store
from tests.core.fit.pools import hand_pool
from tests.core.fit.problems import class_data, class_model
from tests.service.server import enter_predictor
from tests.system.browser.conftest import Deployment
from tests.system.browser.looking import check


@pytest.fixture(scope="module")
def pool(deployment: Deployment) -> Predictor:
    made = hand_pool(class_model(), *class_data(1000, 0), sizes=[200, 300], weights=[0.35, 0.65])
    store = Store.ready(Settings(home=deployment.home))
    enter_predictor(store, made, tenant="default")
    store.close()
    return made


@pytest.mark.parametrize("width", [360, 1200])
def test_the_members_panel_shows_weights_blocks_and_levels(page: Page, pool: Predictor, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"/#/certificates/{pool.certificate.id}")
    page.locator(".statement").wait_for()
    expect(page.locator(".statement")).to_contain_text("not for each of its members")
    members = page.get_by_role("region", name="Members: one computes each set, drawn by these chances")
    for words in ("Served with chance", "35 %", "65 %", "Block", "200", "300", "Level"):
        expect(members).to_contain_text(words.replace(" %", "\u00a0%"))
    expect(page.get_by_text("Room below delta, and the chosen ranks")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check(page, f"pool-{width}")


def test_one_member_alone_is_refused_with_the_reason(page: Page, pool: Predictor) -> None:
    page.goto(f"/#/predictors/{pool.certificate.predictor_id}")
    page.get_by_role("heading", name="Try it").wait_for()
    expect(page.get_by_label("Member", exact=True)).to_contain_text("member 1, drawn for 65\u00a0% of the inputs")
    expect(page.get_by_text("The promise is for the mean over all members")).to_be_visible()
    page.get_by_label("Which member answers").select_option("best")
    expect(page.get_by_text("one alone is not covered by it")).to_be_visible()
    expect(page.get_by_label("Which member answers")).to_have_value("random")
