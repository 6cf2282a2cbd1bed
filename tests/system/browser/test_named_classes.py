"""Classes and groups by their names: in sets, beside the model's probabilities, in truths, tables and figures."""

from playwright.sync_api import Page, expect

from tests.system.browser.flowers import NAMES, ROWS, SEED, Flowers, csv_of, flower_rows
from tests.system.browser.looking import check


def test_a_set_stands_beside_the_models_own_probabilities(page: Page, flowers: Flowers) -> None:
    page.goto(f"/#/predictors/{flowers.drawn}")
    page.get_by_role("heading", name="Try it").wait_for()
    page.get_by_label("Input", exact=True).fill("0, 2, 0")
    page.get_by_role("button", name="Predict", exact=True).click()
    own = page.locator(".own")
    expect(own.get_by_role("heading")).to_have_text("Beside it, the model's own probabilities")
    # softmax of (0, 2, 0)
    expect(own.locator("li").first).to_contain_text("tulip")
    expect(own.locator("li").first).to_contain_text("78.7\u00a0%")
    expect(own.locator("li.in").first).to_contain_text("in the set")
    expect(page.locator(".answer")).to_contain_text("tulip")
    expect(page.locator("#answer")).to_contain_text("Each time a member is drawn")
    page.get_by_label("The truth").fill("daisy")
    page.get_by_role("button", name="Report").click()
    expect(page.locator("#answer .wrong")).to_have_text("The truth must be the number or the name of a class.")
    page.get_by_label("The truth").fill("tulip")
    page.get_by_role("button", name="Report").click()
    expect(page.get_by_text("Covered. It was counted.")).to_be_visible()
    check(page, "named-classes")


def test_many_inputs_bring_their_groups_by_name_or_behind_the_numbers(page: Page, flowers: Flowers) -> None:
    page.goto(f"/#/predictors/{flowers.grouped}")
    page.get_by_role("heading", name="Try it").wait_for()
    page.get_by_text("Many inputs at once").click()
    rows, said = page.get_by_label("Rows", exact=True), page.locator("details .wrong").first
    x, regions, species = flower_rows(4, 8)
    plain = "\n".join(",".join([*map(str, row), region]) for row, region in zip(x.tolist(), regions, strict=True))
    for text in (csv_of(x, regions, species), plain):
        rows.fill(text)
        page.get_by_role("button", name="Predict all").click()
        table = page.get_by_role("region", name="Sets")
        expect(table.locator("tbody tr")).to_have_count(4)
        for place, region in enumerate(regions):
            expect(table.locator("tbody tr").nth(place)).to_contain_text(region)
        expect(table).to_contain_text("Likeliest by itself")
        assert any(name in table.inner_text() for name in NAMES)
    rows.fill("1,2,3")
    page.get_by_role("button", name="Predict all").click()
    expect(said).to_have_text("Line 1 does not have 3 numbers and region.")
    rows.fill("a,b,c\n1,2,3")
    page.get_by_role("button", name="Predict all").click()
    expect(said).to_have_text("The column region is missing.")


def test_a_stored_row_comes_with_its_group(page: Page, flowers: Flowers) -> None:
    _, regions, _ = flower_rows(ROWS, SEED)
    page.goto(f"/#/predictors/{flowers.grouped}")
    page.get_by_role("heading", name="Try it").wait_for()
    for row in (regions.index("south"), regions.index("north")):
        page.get_by_role("button", name=f"row {row + 1}", exact=True).click()
        chosen = page.get_by_label("Group").locator("option:checked")
        expect(chosen).to_have_text(regions[row])


def test_the_monitor_shows_each_group(page: Page, flowers: Flowers) -> None:
    page.goto(f"/#/predictors/{flowers.grouped}/monitor")
    table = page.get_by_role("region", name="By group")
    for region in ("north", "south"):
        expect(table).to_contain_text(region)
    expect(page.get_by_role("heading", name="Outcomes by group")).to_be_visible()
    expect(page.locator("figure svg").nth(2)).to_contain_text("south")
    check(page, "monitor-groups")


def test_live_counts_know_the_groups_of_a_stored_text_column(page: Page, flowers: Flowers) -> None:
    page.goto(f"/#/new?dataset={flowers.dataset}")
    page.get_by_role("heading", name="New calibration").wait_for()
    first = page.get_by_role("group", name="1. Calibration data")
    expect(first.get_by_role("table")).to_contain_text("region")
    expect(first.get_by_role("table")).to_contain_text(flower_rows(ROWS, SEED)[2][0])
    first.get_by_text("Groups, clusters, weights or order").click()
    first.get_by_label("Groups", exact=True).fill("region")
    expect(page.get_by_text("2 of your 3 groups are large enough")).to_be_visible()


def test_drawn_members_have_their_chance_their_distance_and_their_threshold(page: Page, flowers: Flowers) -> None:
    page.goto(f"/#/certificates/{flowers.drawn_certificate}")
    page.locator(".statement").wait_for()
    members = page.get_by_role("region", name="Members: the stored pairs, one of which computes each set")
    for words in ("Served with chance", "Distance from the prior", "Threshold tau", "Rank k"):
        expect(members).to_contain_text(words)
    check(page, "certificate-drawn")


def test_a_dataset_counts_its_classes_and_groups_by_name(page: Page, flowers: Flowers) -> None:
    page.goto(f"/#/datasets/{flowers.dataset}")
    page.get_by_role("heading", name="Classes of species").wait_for()
    for name in (*NAMES, "north", "coast"):
        expect(page.locator(".bars").filter(has_text=name)).to_have_count(1)
    check(page, "dataset-named")
