"""A certificate on paper: one page however much there is to say, and black on white whatever the screen has."""

import json
import re

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.system.browser.conftest import Deployment
from tests.system.browser.flowers import Flowers
from tests.system.browser.looking import check

CAVEAT = {"code": "order", "message": "There is a lot to say about these rows, and about what became of them. " * 3}


def pages(page: Page) -> int:
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    return len(re.findall(rb"/Type\s*/Page\b", printed))


def open_with(page: Page, id: str, *, members: int, groups: int, caveats: int) -> None:
    """The certificate as the page would show it if there were so many."""

    def answer(route: Route) -> None:
        content = route.fetch().json()
        content["members"] = [content["members"][0] | {"member": number} for number in range(members)]
        given = content.get("groups") or []
        content["groups"] = [given[0] | {"name": [f"group {number}"]} for number in range(groups)] if given else None
        content["caveats"] = [CAVEAT] * caveats
        route.fulfill(body=json.dumps(content), content_type="application/json")

    page.route(f"**/certificates/{id}", answer)
    page.goto(f"/#/certificates/{id}")
    page.reload()
    expect(page.locator(".statement")).to_be_visible()
    page.wait_for_selector("main:not([aria-busy])")


@pytest.mark.parametrize(("members", "groups", "caveats"), [(1, 4, 1), (1, 60, 2), (1, 60, 5)])
def test_a_certificate_with_groups_is_one_page(
    page: Page, flowers: Flowers, members: int, groups: int, caveats: int
) -> None:
    open_with(page, flowers.grouped_certificate, members=members, groups=groups, caveats=caveats)
    assert pages(page) == 1


@pytest.mark.parametrize(("members", "caveats"), [(6, 0), (32, 2), (200, 5)])
def test_a_certificate_with_members_is_one_page(page: Page, flowers: Flowers, members: int, caveats: int) -> None:
    open_with(page, flowers.drawn_certificate, members=members, groups=0, caveats=caveats)
    assert pages(page) == 1
    page.emulate_media(media="print")
    expect(page.get_by_role("columnheader", name="Threshold tau")).to_be_visible()
    if members > 8:
        expect(page.get_by_text(f"and {members - 8} more, which the certificate's file has")).to_be_visible()


def test_paper_is_white_and_says_how_to_check(browser: Browser, deployment: Deployment, flowers: Flowers) -> None:
    page = browser.new_page(base_url=deployment.url, color_scheme="dark")
    page.goto(f"/#key={deployment.key}")
    page.get_by_role("heading", name="Overview").wait_for()
    page.goto(f"/#/certificates/{flowers.drawn_certificate}")
    expect(page.get_by_role("heading", name="Certificate of flowers, drawn")).to_be_visible()
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.get_by_role("heading", name="How to check it")).to_be_visible()
    expect(page.get_by_role("button", name="Print", exact=True)).to_be_hidden()
    check(page, "certificate-on-paper")
    page.close()
