"""Two widgets that `ipywidgets.link` holds together follow each other on the screen."""

import pytest
from playwright.sync_api import expect

from tests.browser.view import View, eventually, expect_lines
from tests.lab.lab import Lab

LINK = """
import ipywidgets
links = [
    ipywidgets.link((one, name), (two, name)) for name in one.trait_names(choice=True)
]
"""


@pytest.fixture
def pair(lab: Lab) -> tuple[View, View]:
    """`one` and `two`, which show the same record, with every choice linked."""
    first = View(lab.run("one = aw.show(record); one").output)
    second = View(lab.run("two = aw.show(record); two").output)
    lab.run(LINK)
    expect_lines(first)
    expect_lines(second)
    return first, second


DIFFERENT = """[
    name for name in one.trait_names(choice=True) if getattr(one, name) != getattr(two, name)
]"""


def expect_same(lab: Lab) -> None:
    """Both widgets have chosen the same."""

    def same() -> None:
        assert lab.evaluate(DIFFERENT) == []

    eventually(lab.page, same)


def test_a_click_in_one_is_seen_in_the_other(lab: Lab, pair: tuple[View, View]) -> None:
    here, there = pair
    here.query(4).click()
    expect(there.query(4)).to_have_attribute("aria-selected", "true")
    expect(there.status).to_contain_text("Layer 0 fox →")
    here.key(9).click()
    expect(there.key(9)).to_have_attribute("aria-selected", "true")
    expect(there.query(4)).to_have_attribute("aria-selected", "false")
    here.swatch(3).dblclick()
    expect(there.swatch(3)).to_have_attribute("aria-pressed", "true")
    expect(there.swatch(2)).to_have_attribute("aria-pressed", "false")
    there.open_options()
    here.open_options()
    here.filter.select_option("A → B")
    expect(there.filter).to_have_value("ab")
    here.open("Model")
    expect(there.tab("Model")).to_have_attribute("aria-selected", "true")
    here.cell(5, 1).click()
    expect(there.layer).to_have_text("5")
    expect(there.head).to_have_text("1")
    expect_same(lab)

    # And back.
    there.layer.press("ArrowDown")
    expect(here.layer).to_have_text("4")
    there.open("Head")
    there.query(5).click()
    expect(here.query(5)).to_have_attribute("aria-selected", "true")
    here.query(5).click()
    expect(there.query(5)).to_have_attribute("aria-selected", "false")
    expect_same(lab)
    assert lab.evaluate("[one.layer, one.head, one.query]") == [4, 1, None]


def test_texts_of_another_length_follow_as_far_as_they_go(lab: Lab) -> None:
    """The other text has no token 12; what both have goes on following."""
    first = View(lab.run("one = aw.show(record); one").output)
    second = View(lab.run("two = aw.show(other); two").output)
    lab.run(LINK)
    expect_lines(first)
    expect_lines(second)
    first.query(12).click()
    expect(first.query(12)).to_have_attribute("aria-selected", "true")
    expect(first.alert).to_contain_text("query position 12 does not exist")
    expect(second.alert).to_have_count(0)
    # It would stay locked beside another token.
    first.query(12).click()
    first.query(2).click()
    expect(second.query(2)).to_have_attribute("aria-selected", "true")
    second.layer.press("ArrowUp")
    expect(first.layer).to_have_text("1")
    expect_same(lab)
