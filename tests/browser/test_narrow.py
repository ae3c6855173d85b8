"""500 px and more, as in a notebook's split pane: nothing runs out at the side."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import WEIGHT_TOLERANCE, View, eventually, expect_lines, names, numbers
from tests.support import OpenPage

SURPLUS = "node => node.scrollWidth - node.clientWidth"


TABS = ["Head", "Model", "Neuron", "Map"]


@pytest.mark.parametrize("which", ["pair_page", "smollm2_page"])
def test_nothing_overflows(open_page: OpenPage, request: pytest.FixtureRequest, which: str) -> None:
    page: Path = request.getfixturevalue(which)
    view = View(open_page(page, width=600, height=1000))

    def fits() -> None:
        assert view.page.locator("html").evaluate(SURPLUS) == 0
        # Nor is anything cut off or scrolled away inside the view.
        assert view.body.evaluate(SURPLUS) == 0

    for tab in TABS:
        view.open(tab)
        expect(view.status).not_to_be_empty()
        eventually(view.page, fits)


@pytest.mark.parametrize("width", [500, 760, 1000])
def test_every_control_is_in_sight(open_page: OpenPage, pair_page: Path, width: int) -> None:
    view = View(open_page(pair_page, width=width, height=1000))
    for tab in TABS:
        view.open(tab)
        view.open_options()
        expect_controls_in_sight(view, tab, width)


def test_colours_of_heads_are_named(open_page: OpenPage, pair_page: Path) -> None:
    view = View(open_page(pair_page, width=600, height=1000))
    for tab in ("Model", "Map"):
        view.open(tab)
        legend = view.within.locator("footer .about")
        expect(legend).to_be_in_viewport()
        assert legend.evaluate("node => node.scrollHeight - node.clientHeight") <= 0


def expect_controls_in_sight(view: View, tab: str, width: int) -> None:
    controls = [view.tab("Map"), view.layer, view.head]
    if tab != "Model":
        find = "Find head" if tab == "Map" else "Find token"
        controls += [view.filter, view.within.get_by_role("searchbox", name=find)]
    for name in ("Copy", "Theme", "Keyboard"):
        controls.append(view.within.get_by_role("button", name=name, exact=True))
    boxes = [control.bounding_box() for control in controls]
    for box in boxes:
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    # The last ones stay together, at the right end.
    ends = [box for box in boxes[-3:] if box]
    assert len({box["y"] for box in ends}) == 1
    assert ends[-1]["x"] + ends[-1]["width"] > width - 60


def test_the_numbers_are_not_cut_off(view: View) -> None:
    cut = "node => [node.scrollWidth - node.clientWidth, node.scrollHeight - node.clientHeight]"

    def whole() -> None:
        beside, below = view.status.evaluate(cut)
        assert beside <= 0
        assert below <= 0

    view.button("Details").click()
    for tab in TABS:
        view.open(tab)
        for width in (500, 600, 1000, 1400):
            view.page.set_viewport_size({"width": width, "height": 1000})
            if tab in ("Head", "Neuron"):
                view.query(4).hover()
                expect(view.status).to_contain_text("fox")
            eventually(view.page, whole)


def test_nothing_moves_when_the_status_line_changes(open_page: OpenPage, pair_page: Path) -> None:
    view = View(open_page(pair_page, width=600, height=1000))
    expect(view.query(0)).to_be_visible()
    heights = set()
    for position in (None, 0, 4, 12):
        if position is not None:
            view.query(position).hover()
            expect(view.status).to_contain_text("→")
        box = view.status.bounding_box()
        assert box
        heights.add(box["height"])
    assert len(heights) == 1


def test_the_view_follows_the_width(open_page: OpenPage, pair_page: Path) -> None:
    """The matrix stands beside the lines, or below them where there is no room."""
    view = View(open_page(pair_page, width=1100, height=1000))

    def expect_beside(beside: bool) -> None:
        def stands() -> None:
            lines, matrix = view.lines.bounding_box(), view.matrix.bounding_box()
            assert lines
            assert matrix
            right, bottom = lines["x"] + lines["width"], lines["y"] + lines["height"]
            assert (matrix["x"] >= right) == beside
            assert (matrix["y"] >= bottom) == (not beside)

        eventually(view.page, stands)
        expect_lines(view)

    expect_beside(True)
    view.page.set_viewport_size({"width": 600, "height": 1000})
    expect_beside(True)
    view.page.set_viewport_size({"width": 500, "height": 1000})
    expect_beside(False)
    view.page.set_viewport_size({"width": 1100, "height": 1000})
    expect_beside(True)


def test_the_matrix_below_the_lines_tells_its_numbers(
    open_page: OpenPage, pair_page: Path, record: aw.AttentionRecord
) -> None:
    view = View(open_page(pair_page, width=600, height=1000))
    labels, weights = names(record.tokens()[0]), record.weights(0, 0)
    for row, column in ((4, 9), (0, len(labels) - 1), (len(labels) - 1, 0)):
        view.point_at_cell(row, column, *weights.shape)
        expect(view.status).to_contain_text(f"{labels[row]} → {labels[column]} weight")
        [weight, _] = numbers(view.status.inner_text())
        assert abs(weight - weights[row, column]) <= WEIGHT_TOLERANCE


def test_a_kept_token_stays_over_a_change_of_width(open_page: OpenPage, pair_page: Path) -> None:
    view = View(open_page(pair_page, width=1100, height=1000))
    view.query(4).click()
    # Out of the way, for the tokens move under it.
    view.page.mouse.move(0, 0)
    view.page.set_viewport_size({"width": 600, "height": 1000})
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    expect(view.status).to_contain_text("fox →")
