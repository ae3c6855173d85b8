"""Drivers of the pages, which use visible elements and a reader's input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from playwright.sync_api import Locator, Page

from .cases import Case
from .chromium import HEIGHT, WIDTH

Point = tuple[float, float]

_MIDDLES = """elements => elements.map(element => {
  const box = element.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})"""

_SOME_DRAWN = """canvases => canvases.some(canvas => {
  const empty = document.createElement("canvas");
  [empty.width, empty.height] = [canvas.width, canvas.height];
  return canvas.width && canvas.toDataURL() !== empty.toDataURL();
})"""


def visible(elements: Locator) -> list[Point]:
    """The centres of the elements in the window."""
    points: list[list[float]] = elements.evaluate_all(_MIDDLES)
    return [(x, y) for x, y in points if 0 < x < WIDTH and 0 < y < HEIGHT]


class Subject(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def hovers(self) -> bool:
        """True if the page reacts to the pointer."""

    def drew(self, page: Page, case: Case) -> bool:
        """True if the page shows a picture."""

    def prepare(self, page: Page, case: Case) -> None:
        """Scroll to the tokens to hover."""

    def targets(self, page: Page, case: Case) -> list[Point]:
        """The visible tokens."""

    def has_layers(self, case: Case) -> bool:
        """True if a reader can change the layer."""

    def switch(self, page: Page, layer: int) -> str:
        """Go to a layer from the one before, and return the kind of input used."""


@dataclass(frozen=True)
class Ours:
    """A page of ours: of attention, or of a reading with this name."""

    name: str = "attnwidget"
    hovers: bool = True

    def drew(self, page: Page, case: Case) -> bool:
        canvases = page.get_by_role("tabpanel").locator("canvas")
        drawn: bool = canvases.evaluate_all(_SOME_DRAWN)
        return drawn and page.get_by_role("alert").count() == 0

    def prepare(self, page: Page, case: Case) -> None:
        if case.view == "model":
            page.get_by_role("gridcell", name="Layer 0, head 0", exact=True).click()
            page.get_by_role("region").get_by_role("option").first.wait_for()

    def targets(self, page: Page, case: Case) -> list[Point]:
        place = page.get_by_role("region") if case.view == "model" else page
        queries = place.get_by_role("listbox", name="Queries", exact=True)
        footer = page.locator("footer").bounding_box()
        assert footer
        # Further tokens are behind the footer, which stays in sight.
        return [(x, y) for x, y in visible(queries.get_by_role("option")) if y < footer["y"]]

    def has_layers(self, case: Case) -> bool:
        return case.view != "model"

    def switch(self, page: Page, layer: int) -> str:
        page.get_by_role("spinbutton", name="Layer", exact=True).press("ArrowUp")
        return "keydown"


@dataclass(frozen=True)
class BertViz:
    name: str = "bertviz"
    hovers: bool = True

    def drew(self, page: Page, case: Case) -> bool:
        marks: int = page.locator("#vis svg :is(line, rect)").count()
        return marks > case.tokens**2 if case.view != "neuron" else marks > case.tokens

    def prepare(self, page: Page, case: Case) -> None:
        if case.view == "model":
            box = page.locator("#attn_background_0_0").bounding_box()
            assert box
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)

    def targets(self, page: Page, case: Case) -> list[Point]:
        places = {
            "head": "#left rect.background",
            "model": "g.detail rect.highlight",
            "neuron": "#leftText rect.highlight",
        }
        points = visible(page.locator(places[case.view]))
        # In its model view both columns are alike, and the left one answers.
        left = min((x for x, _ in points), default=0)
        return [(x, y) for x, y in points if x == left]

    def has_layers(self, case: Case) -> bool:
        return case.view != "model"

    def switch(self, page: Page, layer: int) -> str:
        page.locator("#layer").select_option(str(layer))
        return "change"


@dataclass(frozen=True)
class Floor:
    """A page without a view."""

    name: str
    hovers: bool

    def drew(self, page: Page, case: Case) -> bool:
        return page.locator("canvas, p").count() > 0

    def prepare(self, page: Page, case: Case) -> None:
        """Do nothing, because the page opens nothing."""

    def targets(self, page: Page, case: Case) -> list[Point]:
        return [(100, y) for y in range(50, HEIGHT - 50, 24)]

    def has_layers(self, case: Case) -> bool:
        return False

    def switch(self, page: Page, layer: int) -> str:
        raise NotImplementedError("a floor has no layers")
