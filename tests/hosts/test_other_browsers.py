"""The self-contained page in Firefox and in WebKit, of which Safari is made."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import attnwidget as aw
from tests import hostile
from tests.browser.view import brightness, ink, strongest_as_said
from tests.hosts.firefox import firefox
from tests.hosts.hostile_texts import LISTEN, PAGES, RUN_ONE, WALK
from tests.hosts.remote import ESCAPE, Remote
from tests.hosts.shown import PAINTS, metrics_as_said, pair_as_said
from tests.hosts.webkit import watched, webkit

QUERY, KEY = "[aria-label=Queries] [role=option]", "[aria-label=Keys] [role=option]"
LAYER, HEAD = "[role=spinbutton][aria-label=Layer]", "[role=spinbutton][aria-label=Head]"
BODY, STATUS, ALERT = "[role=tabpanel]", "[role=status]", "[role=alert]:not([hidden])"
GRID, CANVAS = "[role=grid]", "[role=tabpanel] canvas"


@pytest.fixture(scope="module", params=["Firefox", "WebKit"])
def remote(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Remote]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "Firefox":
        program = shutil.which("firefox-esr") or shutil.which("firefox")
        if program is None:
            pytest.skip("Firefox is not installed")
        with firefox(program, folder) as opened:
            yield opened
        return
    driver = shutil.which("WebKitWebDriver")
    browser = next(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"), None)
    if driver is None or browser is None or not shutil.which("Xvfb"):
        pytest.skip("WebKitGTK, its driver or Xvfb is not installed")
    with webkit(driver, str(browser), folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def url(record: aw.AttentionRecord, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "pair.html"
    # Shown numbers are compared with the record's.
    page = aw.AttentionWidget(record).to_html(quality="exact")
    path.write_text(watched(page), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(remote: Remote, url: str) -> Iterator[Remote]:
    """The page, freshly opened. A test fails at its end if it complained, or made a request."""
    opened(remote, url)
    yield remote
    problems = remote.problems()
    assert not problems, "\n".join(problems)


def opened(remote: Remote, url: str) -> None:
    remote.go(url)
    expect_painted(remote, CANVAS)


def expect_painted(page: Remote, selector: str, n: int = 0) -> None:
    def painted() -> None:
        share = (ink(page.look(selector, n)) > 16).mean()
        assert share > 0.005, f"only {share:.1%} of the picture is painted"

    page.eventually(painted)


def expect_said(page: Remote, *parts: str) -> str:
    """The status line, as soon as all of this is in it."""
    said = ""

    def there() -> None:
        nonlocal said
        said = page.text(STATUS)
        assert all(part in said for part in parts), said

    page.eventually(there)
    return said


def expect_text(page: Remote, selector: str, text: str) -> None:
    def there() -> None:
        assert page.text(selector) == text

    page.eventually(there)


def expect_attribute(page: Remote, selector: str, n: int, name: str, value: str) -> None:
    def there() -> None:
        assert page.attribute(selector, n, name) == value

    page.eventually(there)


def expect_told(page: Remote, part: str) -> None:
    """A problem of the page has this in it, at once or later."""
    told: list[str] = []

    def there() -> None:
        told.extend(page.problems())
        assert any(part in problem for problem in told), told

    page.eventually(there)


def show_view(page: Remote, name: str) -> None:
    page.click(f"#tab-{name}")
    expect_attribute(page, f"#tab-{name}", 0, "aria-selected", "true")


def test_first_paint(remote: Remote, url: str) -> None:
    for _ in range(PAINTS):
        opened(remote, url)
        assert remote.problems() == []


def test_the_three_views(page: Remote, record: aw.AttentionRecord) -> None:
    page.click(LAYER)
    page.press("]", "]", "]")
    expect_text(page, LAYER, "3")
    page.point(QUERY, 4)
    said = expect_said(page, "Layer 3 fox →")
    rows = {head: record.weights(3, head)[4] for head in range(record.num_heads(3))}
    strongest_as_said(said, "Layer 3 fox →", rows, record.tokens()[1])
    expect_painted(page, CANVAS)
    # The matrix of the head, beside the lines.
    expect_painted(page, CANVAS, page.count(CANVAS) - 1)

    show_view(page, "model")
    expect_painted(page, GRID)
    page.point("[role=gridcell][aria-label='Layer 1, head 8']")
    metrics_as_said(expect_said(page, "Layer 1 · Head 8"), record)

    show_view(page, "neuron")
    page.click(LAYER)
    page.press("[", "[", "[")
    expect_text(page, LAYER, "0")
    for n in range(page.count(CANVAS)):
        if page.of(CANVAS, n, "clientWidth"):
            expect_painted(page, CANVAS, n)
    page.click(QUERY, 4)
    page.point(KEY, 9)
    pair_as_said(expect_said(page, "fox → dog q·k"), record)
    assert page.count(ALERT) == 0


def test_hostile_texts_stay_text(remote: Remote, tmp_path: Path) -> None:
    # Without the page's own policy, which would not let them run.
    html = watched(aw.AttentionWidget(hostile.record()).to_html())
    path = tmp_path / "hostile.html"
    path.write_text(html.replace("Content-Security-Policy", "X-Nothing", 1), encoding="utf-8")
    opened(remote, path.as_uri())
    remote.call(LISTEN)
    for column in ("Queries", "Keys"):
        listbox = f"[role=listbox][aria-label={column}]"
        assert remote.evaluate(listbox, WALK, "PageDown", len(PAGES)) == PAGES
    remote.click(QUERY, 1)
    show_view(remote, "model")
    expect_painted(remote, GRID)
    remote.point("[role=gridcell][aria-label='Layer 1, head 1']")
    expect_said(remote, "Layer 1 · Head 1")
    show_view(remote, "neuron")
    remote.point(KEY, 3)
    expect_said(remote, "q·k")
    assert remote.problems() == []

    # If one ran, it would be seen.
    remote.call(RUN_ONE)
    expect_told(remote, "hostile code ran")


def test_pointer_and_keys(page: Remote) -> None:
    page.click(QUERY, 4)
    expect_attribute(page, QUERY, 4, "aria-selected", "true")
    page.point(HEAD)
    expect_said(page, "Layer 0 fox →", "Esc releases")
    page.press(ESCAPE)
    expect_attribute(page, QUERY, 4, "aria-selected", "false")

    page.drag((QUERY, 2), (QUERY, 8))
    assert page.call("() => `${getSelection()}`") == ""

    page.click(LAYER)
    page.press("]", ".", ".")
    expect_text(page, LAYER, "1")
    expect_text(page, HEAD, "2")
    for key, name in (("2", "model"), ("3", "neuron"), ("1", "head")):
        page.press(key)
        expect_attribute(page, f"#tab-{name}", 0, "aria-selected", "true")
    page.press("?")
    page.eventually(lambda: _is_open(page, True))
    page.press(ESCAPE)
    page.eventually(lambda: _is_open(page, False))


def _is_open(page: Remote, opened: bool) -> None:
    assert page.of("dialog[aria-label^=Keyboard]", 0, "open") == opened


def test_it_turns_with_what_is_around_it_until_a_theme_is_chosen(page: Remote) -> None:
    paint = "(color) => { document.documentElement.style.background = color }"
    for color, dark in (("#111", True), ("#fff", False)):
        page.call(paint, color)
        page.eventually(lambda dark=dark: _is_dark(page, dark))
    page.click("[aria-label=Theme][aria-haspopup=menu]")
    page.click("[role=menu][aria-label=Theme] [role=menuitemradio]", 2)
    page.eventually(lambda: _is_dark(page, True))


def _is_dark(page: Remote, dark: bool) -> None:
    bright = brightness(page.look(BODY))
    assert bright < 48 if dark else bright > 230, bright


def test_no_request_can_be_made(page: Remote) -> None:
    """So that the other tests mean something: one that is tried is seen."""
    page.call("() => fetch('https://example.com/').catch(() => null)")
    expect_told(page, "example.com")


@pytest.mark.parametrize("name", ["head", "model", "neuron", "map", "text"])
def test_a_link_opens_at_its_place(remote: Remote, url: str, name: str) -> None:
    remote.go("about:blank")
    opened(remote, f"{url}#view={name}&layer=3&head=7&query=4")
    expect_attribute(remote, f"#tab-{name}", 0, "aria-selected", "true")
    assert remote.call("() => location.hash") == f"#view={name}&layer=3&head=7&query=4"
    # Where the view has steppers, and where it has none.
    other = "neuron" if name == "head" else "head"
    show_view(remote, other)
    expect_text(remote, LAYER, "3")
    expect_text(remote, HEAD, "7")
    expect_attribute(remote, QUERY, 4, "aria-selected", "true")
    assert remote.count(ALERT) == 0

    def followed() -> None:
        place = "layer=3&head=7&query=4"
        assert remote.call("() => location.hash") == (
            f"#{place}" if other == "head" else f"#view={other}&{place}"
        )

    remote.eventually(followed)
    if name != "head":
        remote.call("() => history.back()")
        expect_attribute(remote, f"#tab-{name}", 0, "aria-selected", "true")
    assert remote.problems() == []
