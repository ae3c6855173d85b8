"""Settings of a reader's system: forced colours, motion, touch, writing direction."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, expect

from tests.browser.view import View, background, brightness, eventually, expect_lines, look

OpenAs = Callable[..., View]
TABS = ["Head", "Model", "Neuron", "Map"]


@pytest.fixture
def open_as(browser: Browser, pair_page: Path) -> Iterator[OpenAs]:
    """Opens the page of the pair with a browser's settings."""
    contexts: list[BrowserContext] = []

    def open_(**settings: Any) -> View:
        contexts.append(browser.new_context(viewport={"width": 1100, "height": 1000}, **settings))
        page = contexts[-1].new_page()
        page.goto(pair_page.as_uri())
        view = View(page)
        expect(view.query(0)).to_be_visible()
        return view

    yield open_
    for context in contexts:
        context.close()


def frame(place: Locator) -> str:
    style: str = place.evaluate(
        "node => { const { outlineStyle, outlineWidth, backgroundColor } = getComputedStyle(node);"
        " return `${outlineStyle} ${outlineWidth} ${backgroundColor}` }"
    )
    return style


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colors_keep_what_is_chosen_apart(open_as: OpenAs, scheme: str) -> None:
    view = open_as(forced_colors="active", color_scheme=scheme)
    assert frame(view.tab("Head")) != frame(view.tab("Model"))
    view.query(4).click()
    view.page.mouse.move(0, 0)
    assert frame(view.query(4)) != frame(view.query(5))
    theme = view.within.get_by_role("button", name="Theme")
    theme.press("Enter")
    items = view.within.get_by_role("menuitemradio")
    assert frame(items.nth(0)) != frame(items.nth(1))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colors_leave_the_pictures_alone(open_as: OpenAs, scheme: str) -> None:
    forced = open_as(forced_colors="active", color_scheme=scheme)
    free = open_as(color_scheme=scheme)
    for tab in TABS:
        for view in (forced, free):
            view.open(tab)
            expect(view.status).not_to_be_empty()
        eventually(forced.page, lambda: _same_drawings(forced, free))
        # On the paper that they are made for.
        behind = background(look(forced.matrix))
        assert np.abs(behind - background(look(free.matrix))).max() <= 8, tab


def _same_drawings(one: View, other: View) -> None:
    assert one.drawn() == other.drawn()


def test_nothing_fades_or_moves(open_as: OpenAs) -> None:
    """Each step of a transition is a frame to draw, and some readers want none."""
    view = open_as()
    moving = view.body.locator("*").evaluate_all(
        "nodes => nodes.filter((node) => parseFloat(getComputedStyle(node).transitionDuration))"
        ".length"
    )
    assert moving == 0


@pytest.mark.parametrize(("touch", "least"), [(False, 24), (True, 32)])
def test_there_is_room_for_a_finger(open_as: OpenAs, touch: bool, least: int) -> None:
    view = open_as(has_touch=touch, is_mobile=touch)
    for tab in TABS:
        view.open(tab)
        # Steppers' buttons are for the pointer, and so without a role.
        for control in view.within.locator("header button:visible").all():
            box = control.bounding_box()
            assert box
            assert min(box["width"], box["height"]) >= least, control.inner_text()


def test_everything_is_reached_by_touch(open_as: OpenAs) -> None:
    """A tap shows the same as hovering."""
    view = open_as(has_touch=True, is_mobile=True)
    view.query(4).tap()
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    expect(view.status).to_contain_text("fox →")
    view.tab("Model").tap()
    view.cell(2, 3).tap()
    expect(view.status).to_contain_text("Layer 2 · Head 3")


def test_a_page_from_right_to_left_does_not_mirror_it(open_as: OpenAs) -> None:
    view = open_as()
    for tab in ("Head", "Neuron"):
        view.open(tab)
        expect(view.key(0)).to_be_visible()
        places = [view.tab("Head"), view.query(0), view.key(0), view.matrix, view.status]
        before = [place.bounding_box() for place in places]
        view.page.locator("html").evaluate("node => { node.dir = 'rtl' }")
        assert [place.bounding_box() for place in places] == before
        view.page.locator("html").evaluate("node => { node.dir = 'ltr' }")


def test_twice_as_large(open_as: OpenAs) -> None:
    """A browser's zoom of 200% is half the pixels, each twice as large."""
    view = open_as(device_scale_factor=2)
    view.page.set_viewport_size({"width": 550, "height": 500})
    surplus = "node => node.scrollWidth - node.clientWidth"
    for tab in TABS:
        view.open(tab)
        expect(view.status).not_to_be_empty()
        assert view.page.locator("html").evaluate(surplus) == 0
        if tab == "Head":
            expect_lines(view)
        assert brightness(look(view.status)) > 200
