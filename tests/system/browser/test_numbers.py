"""Numbers on the page: none says more than was proved, and none contradicts the one beside it."""

from playwright.sync_api import Page, expect

from tests.system.browser.flowers import Flowers


def test_bounds_and_intervals_are_rounded_against_us(page: Page) -> None:
    shown = page.evaluate(
        """async () => {
          const { atMost, measured, number, within } = await import("/static/dom.js");
          return [measured(27.1859), atMost(27.1859), within(0.50893, 0.70011), within(0.9, 1), number(1.01e49)];
        }"""
    )
    assert [one.replace("\u00a0", " ") for one in shown] == [
        *("27.19", "27.19", "50.8 – 70.1 %", "90 – 100 %", "1.01 · 10⁴⁹"),
    ]


def test_the_monitor_states_the_certified_size_no_smaller_than_the_certificate(page: Page, flowers: Flowers) -> None:
    page.goto(f"/#/certificates/{flowers.drawn_certificate}")
    shown = page.locator(".figures div").filter(has_text="certified size").locator("dd").inner_text()
    page.goto(f"/#/predictors/{flowers.drawn}/monitor")
    expect(page.locator(".figures div").filter(has_text="certified mean size").locator("dd")).to_have_text(shown)


def test_what_a_bound_counts_is_not_called_measured(page: Page, flowers: Flowers) -> None:
    """It is at the threshold on the grid, so that it may be larger than the measured size above."""
    page.goto(f"/#/certificates/{flowers.drawn_certificate}")
    heads = page.get_by_role("region", name="Members").get_by_role("columnheader")
    expect(heads.filter(has_text="Counted size")).to_have_count(1)
    expect(heads.filter(has_text="Measured size")).to_have_count(0)


def test_phones_show_rows_as_cards_that_nothing_is_cut_from(page: Page, flowers: Flowers) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    for view in ("datasets", "models", "deployments", "account", f"certificates/{flowers.grouped_certificate}"):
        page.goto(f"/#/{view}")
        page.wait_for_selector("main:not([aria-busy]) h1")
        page.locator(".cards-on-phones").first.wait_for()
        cut = page.evaluate(
            """() => [...document.querySelectorAll(".scroll:has(.cards-on-phones)")]
              .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.getAttribute("aria-label"))"""
        )
        assert cut == [], view


def test_the_menu_says_where_a_page_belongs(page: Page, flowers: Flowers) -> None:
    for view, title in ((f"datasets/{flowers.dataset}", "Data sets"), (f"predictors/{flowers.drawn}", "Overview")):
        page.goto(f"/#/{view}")
        expect(page.locator("nav [aria-current]")).to_have_text(title)
