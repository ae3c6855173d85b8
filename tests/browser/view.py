"""The view as a person meets it: by the roles and names that it promises, and by its pixels."""

import io
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image
from playwright.sync_api import Error, FloatRect, Locator, Page, expect

from tests.support import PATIENCE_MS, PATIENCE_SECONDS

# Keys and queries travel as float16, which moves a weight by less than this.
WEIGHT_TOLERANCE = 2e-3
# At least one decimal of q · k and of scores is right; test_digits.py is stricter.
SCORE_TOLERANCE = 0.1

# In CSS pixels: what the names of a matrix's rows or columns take, or, where it is narrow, the
# places of its rows; the smallest cells that are all named, and the frame around all cells.
LABEL_ROOM = 76
PLACE_ROOM = 48
NAMED_FROM = 10
FRAME = 1

# Presses keys without waiting for a picture in between.
PRESS = """(target, keys) => {
  for (const key of keys) {
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
  }
}"""

FRAMES = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)));
})"""


@dataclass(frozen=True)
class View:
    """The view on a page, or in one element of it."""

    within: Page | Locator

    @property
    def page(self) -> Page:
        return self.within if isinstance(self.within, Page) else self.within.page

    @property
    def body(self) -> Locator:
        return self.within.get_by_role("tabpanel")

    @property
    def status(self) -> Locator:
        return self.within.get_by_role("status")

    @property
    def alert(self) -> Locator:
        return self.within.get_by_role("alert")

    @property
    def layer(self) -> Locator:
        return self.within.get_by_role("spinbutton", name="Layer", exact=True)

    @property
    def head(self) -> Locator:
        return self.within.get_by_role("spinbutton", name="Head", exact=True)

    @property
    def filter(self) -> Locator:
        return self.within.get_by_role("combobox", name="Attention", exact=True)

    @property
    def combine(self) -> Locator:
        return self.within.get_by_role("combobox", name="Show", exact=True)

    @property
    def grid(self) -> Locator:
        return self.within.get_by_role("grid", name="Heads of every layer", exact=True)

    def tab(self, name: str) -> Locator:
        return self.within.get_by_role("tab", name=name, exact=True)

    def tokens(self, column: str) -> Locator:
        """The options of "Queries" or "Keys"."""
        return self.within.get_by_role("listbox", name=column, exact=True).get_by_role("option")

    def query(self, position: int) -> Locator:
        return self.tokens("Queries").nth(position)

    def key(self, position: int) -> Locator:
        return self.tokens("Keys").nth(position)

    def button(self, name: str) -> Locator:
        return self.within.get_by_role("button", name=name, exact=True)

    def open_options(self) -> None:
        """Show the controls that have no room in the header, if there are any."""
        expect(self.layer).to_be_visible()
        # The header is measured in the frame after its layout.
        self.page.evaluate(FRAMES)
        options = self.button("Options")
        if options.is_visible() and options.get_attribute("aria-expanded") == "false":
            options.click()

    def swatch(self, head: int) -> Locator:
        return self.button(f"Head {head}")

    def cell(self, layer: int, head: int) -> Locator:
        name = f"Layer {layer}, head {head}"
        return self.grid.get_by_role("gridcell", name=name, exact=True)

    # Pictures have no role: what they show is also said in words, and only pixels can tell
    # whether they show it.

    @property
    def lines(self) -> Locator:
        return self.body.locator("canvas:not(.veil)").first

    @property
    def matrix(self) -> Locator:
        return self.body.locator("canvas:not(.veil)").last

    def drawn(self) -> list[str]:
        """The pixels of every picture of the view, on the screen or not."""
        images: list[str] = self.body.locator("canvas").evaluate_all(
            "canvases => canvases.map(canvas => canvas.toDataURL())"
        )
        return images

    def open(self, tab: str) -> None:
        self.tab(tab).click()
        expect(self.tab(tab)).to_have_attribute("aria-selected", "true")

    def show(self, layer: int, head: int) -> None:
        """Go to a head as a fast keyboard user does."""
        for spin, wanted in ((self.layer, layer), (self.head, head)):
            spin.evaluate(PRESS, ["Home", *["ArrowUp"] * wanted])
            expect(spin).to_have_text(str(wanted))

    def point_at_cell(self, row: int, column: int, rows: int, columns: int) -> None:
        """Move the pointer to the middle of a cell of the matrix."""
        # A head that is opened in the model view replaces its matrix.
        eventually(self.page, self.matrix.scroll_into_view_if_needed)
        box = self.matrix.bounding_box()
        assert box
        left, top, side = cells(box["width"], box["height"], rows, columns)
        x, y = left + (column + 0.5) * side, top + (row + 0.5) * side
        self.page.mouse.move(box["x"] + x, box["y"] + y)


def cells(width: float, height: float, rows: int, columns: int) -> tuple[float, float, float]:
    """The first cell's place in the picture of a matrix, and the side of a cell.

    They are square, and have a frame. Names stand above them, and where there is room to the left
    of them. Cells too small for all their names have some of them on both sides.
    """
    for left in (0, LABEL_ROOM, PLACE_ROOM):
        side = (width - left - 2 * FRAME) / columns
        # Both are rounded to pixels.
        fits = abs(height - LABEL_ROOM - 2 * FRAME - rows * side) < 1.5
        if fits and (side >= NAMED_FROM or left > 0):
            return left + FRAME, LABEL_ROOM + FRAME, side
    raise AssertionError(f"{width} x {height} is no picture of {rows} x {columns} square cells")


def metrics_of(status: str) -> dict[str, float]:
    """The metrics of a head by their labels, as the status line of the model view says them."""
    found = re.findall(r"· ([\w ]+) (<?−?\d+\.\d+)", status)
    return {name: numbers(value)[0] for name, value in found}


def numbers(text: str) -> list[float]:
    """The decimal numbers in a text; "<0.001" is half of that."""
    found = re.findall(r"(<?)([−]?\d+\.\d+)", text)
    return [float(n.replace("−", "-")) * (0.5 if less else 1) for less, n in found]


def names(labels: Sequence[str]) -> list[str]:
    """The view's names of tokens: a repeated label has its position added."""
    small = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return [
        label if labels.count(label) == 1 else label + str(position).translate(small)
        for position, label in enumerate(labels)
    ]


def expect_strongest(
    view: View, start: str, weights: Mapping[int, np.ndarray], labels: Sequence[str]
) -> None:
    """The status line starts so, and then names the three strongest weights in order.

    Args:
        weights: per head that is drawn, the weights over `labels`.
    """
    expect(view.status).to_contain_text(start)
    said = " ".join((view.status.text_content() or "").split())
    strongest_as_said(said, start, weights, labels)


def strongest_as_said(
    said: str, start: str, weights: Mapping[int, np.ndarray], labels: Sequence[str]
) -> None:
    """The same of a status line's text."""
    rest = said.split(start, 1)[1].removesuffix(" · Esc releases").removesuffix(" (sums)").strip()
    known = names(labels)
    seen = []
    for part in rest.split(" · "):
        parsed = re.fullmatch(r"(.*) (<?\d\.\d{3})(?: \((?:layer \d+, )?head (\d+)\))?", part)
        assert parsed, said
        name, value, head = parsed.groups()
        # For one head alone, the prefix already has its number.
        of = next(iter(weights)) if len(weights) == 1 else int(head)
        [shown] = numbers(value)
        expected = weights[of][known.index(name)]
        assert abs(shown - expected) <= WEIGHT_TOLERANCE, (said, expected)
        seen.append(shown)
    largest = np.sort(np.concatenate(list(weights.values())))[::-1][:3]
    assert np.allclose(seen, largest, rtol=0, atol=WEIGHT_TOLERANCE), (said, largest)


def look(place: Locator) -> np.ndarray:
    """The pixels of a place on the screen: RGB, [height, width, 3], 0 to 255."""
    png = place.screenshot(animations="disabled", timeout=PATIENCE_MS)
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(float)


def background(picture: np.ndarray) -> np.ndarray:
    """The most frequent colour."""
    # Three components as one number: counting rows of an array is slow.
    colors, counts = np.unique(picture @ [65536, 256, 1], return_counts=True)
    most = int(colors[counts.argmax()])
    return np.array([most >> 16, most >> 8 & 255, most & 255], float)


def brightness(picture: np.ndarray) -> float:
    """The brightness of the background, from 0 for black to 255 for white."""
    return float(background(picture).mean())


def ink(picture: np.ndarray) -> np.ndarray:
    """The distance of each pixel to the background: [height, width]."""
    distance: np.ndarray = np.abs(picture - background(picture)).max(axis=2)
    return distance


def darkness(picture: np.ndarray) -> np.ndarray:
    """0 for white to 255 for black: [height, width]."""
    dark: np.ndarray = 255 - picture.mean(axis=2)
    return dark


def eventually(page: Page, check: Callable[[], None]) -> None:
    """Repeat a check for which no locator can wait, as one of pixels, until it holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return check()
        except (AssertionError, Error):  # Playwright's: the element was just replaced.
            if time.monotonic() > deadline:
                raise
        page.wait_for_timeout(50)


def middle(place: Locator) -> tuple[float, float]:
    """The middle of a place on the screen, once it stands still: layouts follow their fonts."""
    seen: list[FloatRect | None] = [None]

    def still() -> None:
        seen.append(place.bounding_box())
        assert seen[-1] is not None, "it is not on the screen"
        assert seen[-1] == seen[-2], f"it moves: {seen[-2]}, {seen[-1]}"

    eventually(place.page, still)
    box = seen[-1]
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def expect_lines(view: View) -> None:
    """Lines are on the screen, not an empty canvas."""
    expect_painted(view.lines)


def expect_painted(picture: Locator) -> None:
    """Something is on the screen there, not an empty canvas."""

    def painted() -> None:
        share = (ink(look(picture)) > 16).mean()
        assert share > 0.005, f"only {share:.1%} of the picture is painted"

    eventually(picture.page, painted)
