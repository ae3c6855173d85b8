"""A check that hostile texts stay text in a host, in each of the three views."""

from pathlib import Path

from playwright.sync_api import Locator, expect

from tests import hostile
from tests.browser.view import View, eventually, expect_lines
from tests.hostile import CALL, TELL, TEXTS, shown
from tests.support import Watch

FILE = "hostile.safetensors"

# After `LOAD`.
LOAD_HOSTILE = f"hostile = aw.AttentionRecord.load({FILE!r})"

# Goes down a column by a key, and gives what each token is called that is looked at.
WALK = """async (list, key, count) => {
  const seen = [];
  for (let n = 0; n < count; n++) {
    const before = list.getAttribute("aria-activedescendant");
    list.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    // Cells out of sight are created only when they are scrolled into view.
    for (let frames = 0; frames < 300; frames++) {
      const now = list.getAttribute("aria-activedescendant");
      if (now && now !== before) break;
      await new Promise(requestAnimationFrame);
    }
    const option = list.getRootNode().getElementById(list.getAttribute("aria-activedescendant"));
    seen.push(option.getAttribute("aria-label") ?? option.textContent);
  }
  return seen;
}"""

# The tokens that PageDown comes to. It goes on by less than is in sight, so that every token is
# shown; tests/browser and tests/lab read each.
PAGES = [shown(text) for text in (*TEXTS[19::20], TEXTS[-1])]

# Defines the function that hostile scripts call; without it they raise an error.
LISTEN = f"() => {{ {TELL}; }}"

# Runs, or is blocked, at once, so that no later test hears of it.
RUN_ONE = f"""() => {{
  const script = document.createElement("script");
  script.textContent = "{CALL}";
  document.body.append(script);
  script.remove();
}}"""


def save_hostile(folder: Path) -> None:
    hostile.record().save(folder / FILE)


def expect_text_alone(view: View, watch: Watch, *, vectors: bool = True) -> None:
    """Check that every token is shown unchanged, and that none runs, loads or logs an error.

    If one ran in this place, `watch` would tell: at the end one is made to.

    Args:
        vectors: whether the record has queries and keys.
    """
    view.body.evaluate(LISTEN)
    go_through(view, vectors)
    view.page.wait_for_timeout(50)  # one more turn, for pending events
    assert watch.problems() == []

    view.body.evaluate(RUN_ONE)
    eventually(view.page, lambda: _told(watch))
    # Chromium may report it twice.
    view.page.wait_for_timeout(500)
    watch.clear()


def go_through(view: View, vectors: bool) -> None:
    view.open("Head")
    expect_lines(view)
    for column in ("Queries", "Keys"):
        listbox = view.within.get_by_role("listbox", name=column, exact=True)
        assert walked(listbox, "PageDown", len(PAGES)) == PAGES
    view.query(1).click()
    expect(view.status).to_contain_text("Layer 0")
    view.open("Model")
    view.cell(1, 1).hover()
    expect(view.status).to_contain_text("Layer 1 · Head 1")
    if vectors:
        view.open("Neuron")
        view.key(3).hover()
        expect(view.status).to_contain_text("q·k")


def walked(listbox: Locator, key: str, count: int) -> list[str]:
    seen: list[str] = listbox.evaluate(
        f"(list, [key, count]) => ({WALK})(list, key, count)", [key, count]
    )
    return seen


def _told(watch: Watch) -> None:
    """Check that an error reports code that ran, or that the page's policy blocked."""
    told = ("hostile code ran", "Content Security Policy")
    assert any(part in problem for problem in watch.problems() for part in told)
