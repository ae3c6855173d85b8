"""Views that are displayed as frames: how they are asked for, and what their cells hold."""

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.error import UsageError
from IPython.core.formatters import DisplayFormatter

import attnwidget as aw
from attnwidget.widget import StaticView
from tests.unit.elements import Elements
from tests.unit.records import PROGRAMS, layer_of, record_of
from tests.unit.shell import running


@pytest.fixture
def record() -> aw.AttentionRecord:
    return record_of(*(layer_of(PROGRAMS["causal"], seed) for seed in range(4)))


def _page(cell: Any) -> Elements:
    """The page in the frame that a cell displays."""
    [page] = re.findall(r'srcdoc="([^"]*)"', cell._repr_html_())
    return Elements(html.unescape(page))


def _widget(page: Elements) -> dict[str, Any]:
    [(_, text)] = page.all("script", "data-content")
    [widget] = json.loads(text)["widgets"]
    assert isinstance(widget, dict)
    return widget


def _layers(page: Elements) -> list[str | None]:
    return [attributes["data-block"] for attributes, _ in page.all("script", "data-block")]


def test_a_cell_shows_the_current_choices(record: aw.AttentionRecord) -> None:
    view = aw.show(record, layer=2, view="neuron", static=True)
    assert isinstance(view, StaticView)
    assert view._repr_html_().isascii()
    page = _page(view)
    assert _widget(page)["choices"]["layer"] == 2
    assert sorted(map(str, _layers(page))) == [f"self.{number}" for number in range(4)]
    view.layer = 1
    assert _widget(_page(view))["choices"]["layer"] == 1


def test_a_cell_is_no_widget(record: aw.AttentionRecord) -> None:
    """A notebook would save its state, and a manager would look for it."""
    formatter = DisplayFormatter()  # type: ignore[no-untyped-call]
    data, _ = formatter.format(aw.show(record, static=True))  # type: ignore[no-untyped-call]
    assert data.keys() == {"text/html", "text/plain"}


def test_the_layers_in_a_cell(record: aw.AttentionRecord) -> None:
    view = aw.show(record, layer=3, static=True)
    assert _layers(_page(view.embed([0, 1]))) == ["self.0", "self.1"]
    widget = aw.AttentionWidget(record, layer=3)
    assert _layers(_page(widget.static(layers=[1]))) == ["self.1"]
    page = _page(widget.static(budget=1))
    assert _layers(page) == []
    assert "Change it with widget.static(layers=…" in _widget(page)["note"]


def test_a_wrong_selection_is_an_error_at_once(record: aw.AttentionRecord) -> None:
    view = aw.show(record, static=True)
    assert isinstance(view, StaticView)
    for options, error in (
        ({"layers": [9]}, IndexError),
        ({"layers": 3}, TypeError),
        ({"quality": "best"}, ValueError),
        ({"budget": -1}, ValueError),
    ):
        with pytest.raises(error):
            view.embed(**options)  # type: ignore[arg-type]
    # The last selection without an error holds.
    assert len(_layers(_page(view))) == 4


def test_every_cell_carries_the_program_and_little_else(record: aw.AttentionRecord) -> None:
    [(_, program)] = _page(aw.show(record, static=True)).all("script", "data-program")
    cell = aw.show(record, static=True)._repr_html_()
    assert len(program) < 198_000
    assert len(cell) < len(program) + 40_000


def test_only_pages_of_frames_follow_the_page_around_them(record: aw.AttentionRecord) -> None:
    view = aw.show(record, static=True)
    [(attributes, _)] = _page(view).all("html", "data-framed")
    assert attributes["lang"] == "en"
    assert not Elements(view.to_html()).all("html", "data-framed")


def test_the_height_of_a_frame(record: aw.AttentionRecord) -> None:
    widget = aw.AttentionWidget(record)
    assert "height: 640px" in widget.static(640).html
    assert "height: 640px" in widget.static(np.int64(640)).html
    assert 'data-attnwidget="fixed"' in widget.static(640).html
    assert 'data-attnwidget="auto"' in widget.static().html
    for height in (0, -3, 2.5, "tall", True, None):
        with pytest.raises((TypeError, ValueError), match="height is"):
            widget.static(height)  # type: ignore[arg-type]


def test_one_setting_for_all_cells(
    record: aw.AttentionRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value, kind in (("", aw.AttentionWidget), ("0", aw.AttentionWidget), ("1", StaticView)):
        monkeypatch.setenv("ATTNWIDGET_STATIC", value)
        for show in (aw.show, aw.head_view, aw.model_view, aw.neuron_view):
            assert isinstance(show(record), kind)
        assert isinstance(aw.show(record, static=True), StaticView)
        assert isinstance(aw.show(record, static=False), aw.AttentionWidget)
    monkeypatch.setenv("ATTNWIDGET_STATIC", "yes")
    with pytest.raises(ValueError, match="ATTNWIDGET_STATIC is 'yes'; expected 1"):
        aw.show(record)


def test_the_magic(
    record: aw.AttentionRecord, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ATTNWIDGET_STATIC", "")
    with running(tmp_path) as shell:
        shell.extension_manager.load_extension("attnwidget")
        shell.run_line_magic("attnwidget", "static")
        assert isinstance(aw.show(record), StaticView)
        shell.run_line_magic("attnwidget", "live")
        assert isinstance(aw.show(record), aw.AttentionWidget)
        with pytest.raises(UsageError, match="expected %attnwidget static or %attnwidget live"):
            shell.run_line_magic("attnwidget", "")
