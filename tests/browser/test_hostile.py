"""Text is data, whatever it looks like: nothing of it runs, loads, or changes the page."""

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests import hostile
from tests.browser.view import View, expect_lines
from tests.browser.visit import Visit
from tests.hostile import FILES, NAMES, TEXTS, shown
from tests.hosts.hostile_texts import walked


@pytest.fixture(scope="module")
def html() -> str:
    return aw.AttentionWidget(hostile.record()).to_html()


@pytest.mark.parametrize("policy", [True, False])
def test_a_page_that_shows_them_as_markup_is_caught(visit: Visit, html: str, policy: bool) -> None:
    """With the page's own policy nothing runs, but that it would is seen."""
    raw = html.replace("<main", f"{' '.join(TEXTS[::-1])}<main", 1)
    assert raw != html
    if not policy:
        raw = raw.replace("Content-Security-Policy", "X-Nothing", 1)
    visit.open(raw)
    ran = any("hostile code ran" in event for event in visit.events)
    assert ran is not policy
    assert visit.events


def test_tokens_are_text_in_every_view(visit: Visit, html: str) -> None:
    view = View(visit.open(html))
    expect_lines(view)
    for column in ("Queries", "Keys"):
        listbox = visit.page.get_by_role("listbox", name=column, exact=True)
        assert walked(listbox, "ArrowDown", len(TEXTS)) == [shown(text) for text in TEXTS]
        said = view.status.evaluate("node => node.textContent")
        assert shown(TEXTS[-1]) in said
    view.query(0).hover()
    view.key(1).click()
    for tab in ("Model", "Neuron", "Map", "Head"):
        view.open(tab)
        if tab == "Model":
            view.cell(1, 1).hover()
            expect(view.status).to_contain_text("Layer 1 · Head 1")
            view.cell(1, 1).click()
        if tab == "Neuron":
            view.query(2).click()
            view.key(3).hover()
            expect(view.status).to_contain_text("q·k")
    assert visit.events == []


def test_words_are_text(visit: Visit, html: str) -> None:
    view = View(visit.open(html))
    visit.page.get_by_role("button", name="Words", exact=True).click()
    expect_lines(view)
    for position in range(6):
        view.query(position).hover()
    for tab in ("Model", "Neuron", "Map", "Head"):
        view.open(tab)
    assert visit.events == []


def test_they_are_found(visit: Visit, html: str) -> None:
    view = View(visit.open(html))
    find = visit.page.get_by_role("searchbox", name="Find token")
    for text in TEXTS[::21]:
        find.fill(shown(text).replace("\x00", ""))
        find.press("Enter")
    find.press("Escape")
    expect_lines(view)
    assert visit.events == []


def test_copied_they_compute_nothing(visit: Visit, html: str) -> None:
    view = View(visit.open(html))
    visit.page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    view.query(0).click()
    for table in ("Row", "Matrix"):
        visit.page.get_by_role("button", name="Copy", exact=True).click()
        visit.page.get_by_role("menuitem", name=table).first.click()
        expect(view.status).to_contain_text("copied")
        copied = visit.page.evaluate("window.copied")
        # Split as a spreadsheet does.
        lines = csv.reader(io.StringIO(copied.replace("\x00", ""), newline=""), delimiter="\t")
        cells = [cell for line in lines for cell in line]
        assert "'=1+1" in cells
        assert [cell for cell in cells if re.match(r"\s*[=+@-].", cell) and not number(cell)] == []
    assert visit.events == []


def test_stacks_are_named_by_them(visit: Visit) -> None:
    view = View(visit.open(aw.AttentionWidget(hostile.stacks()).to_html()))
    values = "node => [...node.options].map((option) => option.textContent)"
    assert len(view.filter.evaluate(values)) == len(NAMES)
    for name in NAMES[::5]:
        view.filter.select_option(name)
        expect(view.filter).to_have_value(name)
    expect_lines(view)
    assert visit.events == []


def test_models_are_named_by_them(visit: Visit) -> None:
    for start in range(0, len(TEXTS), 64):
        name = "\n".join(TEXTS[start : start + 64])
        view = View(visit.open(aw.AttentionWidget(hostile.named(name)).to_html()))
        expect(view.tokens("Queries")).to_have_count(2)
        for tab in ("Model", "Neuron", "Map", "Head"):
            view.open(tab)
    assert visit.events == []


def test_a_page_has_the_same_elements_whatever_its_model_is_called() -> None:
    plain = structure(aw.AttentionWidget(hostile.named("model")).to_html())
    for text in TEXTS:
        assert structure(aw.AttentionWidget(hostile.named(text)).to_html()) == plain, text


def test_files_are_named_by_them(visit: Visit, tmp_path: Path) -> None:
    record = hostile.named("model")
    html = aw.AttentionWidget(record).to_html()
    folder = tmp_path / "files"
    folder.mkdir()
    for name in FILES:
        record.save(folder / name)
        assert aw.AttentionRecord.load(folder / name).stacks == ("self",)
        (folder / name).write_bytes(b"nothing")
        with pytest.raises(ValueError, match="not a readable safetensors file") as caught:
            aw.AttentionRecord.load(folder / name)
        assert str(caught.value).isprintable()
        (folder / name).unlink()
    for name in FILES[::60]:
        path = folder / f"{name}.html"
        path.write_text(html, encoding="utf-8")
        visit.page.goto(path.as_uri())
        expect(View(visit.page).tokens("Queries")).to_have_count(2)
    assert visit.events == []


def number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def structure(html: str) -> list[tuple[str, list[str]]]:
    """Elements in order, with the names of their attributes."""
    found: list[tuple[str, list[str]]] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, [name for name, _ in attrs]))

    Parser().feed(html)
    return found


@pytest.mark.parametrize("width", [600, 1100])
def test_a_long_token_stays_in_its_column(visit: Visit, width: int) -> None:
    long = "x" * 300
    record = aw.AttentionRecord.from_arrays([[[[0.5, 0.5]] * 2]], [long, "it"], model=long)
    document = visit.open(aw.AttentionWidget(record).to_html())
    view = View(document)
    document.set_viewport_size({"width": width, "height": 1000})
    for tab in ("Head", "Model", "Neuron", "Map"):
        view.open(tab)
        surplus = "node => node.scrollWidth - node.clientWidth"
        assert document.locator("html").evaluate(surplus) == 0
        assert view.body.evaluate(surplus) == 0
    view.open("Head")
    expect(view.query(0)).to_have_attribute("title", long)
    box, other = view.query(0).bounding_box(), view.query(1).bounding_box()
    assert box
    assert other
    assert box["width"] == other["width"]
    view.query(0).hover()
    status = view.status.bounding_box()
    assert status
    assert status["x"] + status["width"] <= width
