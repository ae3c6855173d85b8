"""Grids beside a record: found by its tokens or heads, sent, opened, drawn, and refused by name."""

import json
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

import attnwidget as aw
from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.analysis import GridScores
from attnwidget.plot.figure import draw_figure
from tests.unit.elements import Elements
from tests.unit.records import LENGTH, labels, some_weights

TOKENS = labels()


def grid_of(by: Any = "layer×position", rows: Any = ("0", "1"), columns: Any = None) -> GridScores:
    columns = TOKENS if columns is None else columns
    values = np.linspace(-0.5, 0.4, len(rows) * len(columns)).reshape(len(rows), -1)
    values[-1, 2] = 1.25
    null = np.full_like(values, 0.01)
    return GridScores(
        "restored",
        "The share that a patch restores",
        "residual pre",
        by,
        tuple(rows),
        tuple(columns),
        values,
        null,
        "permuted positions",
        "a text",
        missing=("layer 3: it has none",),
    )


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    return AttentionRecord.from_arrays([some_weights(4), some_weights(4)], TOKENS)


def sent_of(widget: Any) -> list[dict[str, Any]]:
    json.dumps(widget._manifest, allow_nan=False)
    sent: list[dict[str, Any]] = widget._manifest["grids"]
    return sent


def test_a_grid_opens_at_the_cell_furthest_beyond_its_null(record: AttentionRecord) -> None:
    grid = grid_of()
    widget = aw.show(grid, record)
    assert (widget.view, widget.layer, widget.query) == ("grid", 1, 2)
    [sent] = sent_of(widget)
    assert sent["label"] == "restored at residual pre"
    assert sent["description"].endswith("of a text. Not measured: layer 3: it has none")
    assert (sent["stack"], sent["axes"]) == ("self", ["layer", "position"])
    assert (sent["rows"], sent["columns"]) == ([("0", 0, None), ("1", 1, None)], list(TOKENS))
    np.testing.assert_allclose(sent["values"], grid.values, rtol=1e-8)
    assert sent["null"]["label"] == "permuted positions"
    assert aw.show(grid, record, layer=0).query is None


def test_unknown_numbers_are_null(record: AttentionRecord) -> None:
    grid = grid_of()
    grid.values[0, 0] = np.nan
    assert sent_of(AttentionWidget(record, grids=[grid]))[0]["values"][0][0] is None


def test_a_grid_of_heads_is_a_metric_of_them(record: AttentionRecord) -> None:
    grid = grid_of("head", columns="0123")
    widget = aw.show(grid, record, metrics={"mine": np.zeros((2, 4))})
    assert (widget.layer, widget.head, widget.query) == (1, 2, None)
    assert list(widget.metrics) == ["restored at residual pre", "mine"]
    values = widget._metrics[0]["values"]["self"]
    np.testing.assert_allclose(values, grid.values, rtol=1e-8)
    both = AttentionWidget(record, grids=[grid, grid], color="restored at residual pre, 2")
    assert len(both._metrics) == 2


def test_heads_by_positions(record: AttentionRecord) -> None:
    rows = [f"{layer}-{head}" for layer in (0, 1) for head in range(4)]
    widget = aw.show(grid_of("head×position", rows), record)
    assert (widget.layer, widget.head, widget.query) == (1, 3, 2)
    [sent] = sent_of(widget)
    assert sent["rows"][5] == ("1-1", 1, 1)
    assert widget._metrics == []


def test_a_comparison_is_of_the_clean_and_the_corrupt_text(record: AttentionRecord) -> None:
    others = [*TOKENS[:2], "other", *TOKENS[3:]]
    corrupt = AttentionRecord.from_arrays([some_weights(4), some_weights(4)], others)
    both = [a if a == b else f"{a} / {b}" for a, b in zip(TOKENS, others, strict=True)]
    for columns in (TOKENS, others, both, [str(n) for n in range(LENGTH)]):
        widget = aw.show(grid_of(columns=columns), [record, corrupt])
        assert (widget.view, widget.compared, widget.query) == ("grid", "difference", 2)
        assert sent_of(widget)[0]["stack"] == "self"


def test_a_page_has_the_view_where_there_are_grids(record: AttentionRecord) -> None:
    def content(page: str) -> Any:
        [(_, text)] = Elements(page).all("script", "data-content")
        return json.loads(text)

    page = content(aw.to_html(grid_of(), record))
    assert page["views"][-1] == "grid"
    assert page["widgets"][0]["choices"]["view"] == "grid"
    assert len(page["records"][0]["manifest"]["grids"]) == 1
    assert "grid" not in content(aw.to_html(record))["views"]
    both = content(aw.to_html(aw.show(grid_of(), record), record, views=["grid", "head"]))
    assert [each["choices"]["view"] for each in both["widgets"]] == ["grid", "head"]
    with pytest.raises(ValueError, match="a record without grids would have none"):
        aw.to_html(record, views=["grid"])


def test_what_is_shown_is_drawn(record: AttentionRecord) -> None:
    grid = grid_of()
    widget = AttentionWidget(record, view="grid", grids=[grid])
    [axes, _] = draw_figure(widget._plotted()).axes
    np.testing.assert_array_equal(axes.images[0].get_array(), grid.values)
    assert axes.get_title() == "restored at residual pre"
    assert widget._preview().startswith(b"\x89PNG")
    assert "layer 1, position 2 token2 1.250 (null 0.010)" in widget.describe()


@pytest.mark.parametrize(
    ("grids", "error", "message"),
    [
        ([grid_of(columns=TOKENS[:-1])], ValueError, f"{LENGTH - 1} positions, and the record"),
        ([grid_of(columns=["?", *TOKENS[1:]])], ValueError, "its position 0 is '\\?'"),
        ([grid_of(rows=("7", "8"))], ValueError, "the record has none of its layers"),
        ([grid_of("head", columns="012")], ValueError, "3 heads, and the record 4"),
        ([1], TypeError, "grids has 1; expected a list of GridScores"),
        (grid_of(), TypeError, "expected a list of GridScores"),
    ],
)
def test_what_does_not_fit_is_refused(
    record: AttentionRecord, grids: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        AttentionWidget(record, grids=grids)


def test_there_is_no_view_without_a_grid_and_no_grid_without_a_text(
    record: AttentionRecord,
) -> None:
    with pytest.raises(TraitError, match="there are no grids"):
        AttentionWidget(record, view="grid")
    with pytest.raises(TypeError, match=r"show\(grid, record\)"):
        aw.show(grid_of())
    widget = AttentionWidget(record, grids=[grid_of(), grid_of()], shown_grid=1)
    with pytest.raises(TraitError, match="shown_grid 2 does not exist"):
        widget.shown_grid = 2
