"""The self-contained page in a browser that Playwright does not drive, by roles and pixels."""

import io
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from tests.support import PATIENCE_SECONDS

# Size of the page in CSS pixels.
WIDTH, HEIGHT = 1100, 1000

ESCAPE = "\ue00c"

# The nth element of the view that a CSS selector finds.
FIND = """const find = (selector, n) => {
  const { shadowRoot } = document.querySelector("[data-attnwidget] > div > div");
  return shadowRoot.querySelectorAll(selector)[n];
};"""

BOX = """(selector, n) => {
  const node = find(selector, n);
  node.scrollIntoView({ block: "nearest" });
  const { x, y, width, height } = node.getBoundingClientRect();
  return [x, y, width, height];
}"""

NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => done()))"


class Remote(ABC):
    """A browser with one page."""

    @abstractmethod
    def go(self, url: str) -> None:
        """Load a page, and wait until it has."""

    @abstractmethod
    def call(self, function: str, *arguments: Any) -> Any:
        """The JSON result of a function in the page, or of its promise."""

    @abstractmethod
    def act(self, device: dict[str, Any]) -> None:
        """An action of a keyboard or a pointer in WebDriver's format."""

    @abstractmethod
    def screenshot(self) -> bytes:
        """A PNG of what is seen of the page."""

    @abstractmethod
    def problems(self) -> list[str]:
        """The page's errors and network requests since the last call."""

    # Actions of a reader.

    def point(self, selector: str, n: int = 0) -> None:
        self._pointer(selector, n)

    def click(self, selector: str, n: int = 0) -> None:
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._pointer(selector, n, *press)

    def drag(self, start: tuple[str, int], end: tuple[str, int]) -> None:
        down, up = ({"type": f"pointer{which}", "button": 0} for which in ("Down", "Up"))
        self._pointer(*start, down)
        self._pointer(*end, up)

    def press(self, *keys: str) -> None:
        actions = [{"type": each, "value": key} for key in keys for each in ("keyDown", "keyUp")]
        self.act({"type": "key", "id": "keyboard", "actions": actions})

    # Things that a reader sees.

    def text(self, selector: str, n: int = 0) -> str:
        return " ".join(self.of(selector, n, "textContent").split())

    def of(self, selector: str, n: int, *path: str) -> Any:
        """A property of an element, or a property of that."""
        follow = "path.reduce((value, name) => value[name], find(selector, n))"
        return self._find(f"(selector, n, path) => {follow}", selector, n, path)

    def attribute(self, selector: str, n: int, name: str) -> str | None:
        found = "(selector, n, name) => find(selector, n).getAttribute(name)"
        return self._find(found, selector, n, name)

    def evaluate(self, selector: str, function: str, *arguments: Any) -> Any:
        """The result of a function of the element."""
        called = f"(selector, ...given) => ({function})(find(selector, 0), ...given)"
        return self._find(called, selector, *arguments)

    def count(self, selector: str) -> int:
        counted = "(selector) => { let n = 0; while (find(selector, n)) n += 1; return n }"
        return self._find(counted, selector)

    def look(self, selector: str, n: int = 0) -> np.ndarray:
        """The pixels of an element on the screen: RGB, [height, width, 3], 0 to 255."""
        x, y, width, height = (round(side) for side in self._find(BOX, selector, n))
        seen = np.asarray(Image.open(io.BytesIO(self.screenshot())).convert("RGB")).astype(float)
        return seen[max(y, 0) : y + height, max(x, 0) : x + width]

    def eventually(self, check: Callable[[], None]) -> None:
        """Repeat a check, a frame of the page after the other, until it holds."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return check()
            except (AssertionError, PageError):
                if time.monotonic() > deadline:
                    raise
            self.call(NEXT_FRAME)

    def _find(self, function: str, *arguments: Any) -> Any:
        return self.call(f"(...given) => {{ {FIND} return ({function})(...given) }}", *arguments)

    def _pointer(self, selector: str, n: int, *then: dict[str, Any]) -> None:
        x, y, width, height = self._find(BOX, selector, n)
        move = {"type": "pointerMove", "x": round(x + width / 2), "y": round(y + height / 2)}
        self.act(
            {
                "type": "pointer",
                "id": "mouse",
                "parameters": {"pointerType": "mouse"},
                "actions": [move, *then],
            }
        )


class PageError(Exception):
    """An error that a function of the page threw."""
