"""Plots: what stands in the Axes, where it stands, and how strong it is."""

import subprocess
import sys
from dataclasses import fields
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from numpy.typing import NDArray
from traitlets import TraitError

from attnwidget import AttentionRecord, AttentionWidget, capture, plot
from attnwidget.analysis import rollout, row_shares, value_weighted
from attnwidget.plot.axes import palette_of
from attnwidget.plot.colors import head_colors
from attnwidget.plot.figure import draw_figure
from attnwidget.plot.shown import Shown
from attnwidget.plot.text import shorten
from attnwidget.view_state import Choices, choice_values
from tests.unit.records import PROGRAMS, layer_of, record_of, some_weights
from tests.unit.tiny import gpt2, token_ids
from tests.unit.wire.test_vectors import read
from tests.unit.wire.test_vectors import record_of as record_of_vectors


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


@pytest.fixture
def record() -> AttentionRecord:
    return record_of_vectors(read("record.json"))


def axes_of(record: AttentionRecord, **choices: Any) -> list[Axes]:
    """The Axes of what a widget shows."""
    choices = choice_values(AttentionWidget(record, **choices))
    return draw_figure(Shown(record, **choices)).axes


def test_a_plot_shows_by_default_what_a_new_widget_shows() -> None:
    defaults = choice_values(Choices())
    shown = {each.name: each.default for each in fields(Shown) if each.name in defaults}
    empty = dict.fromkeys(("also", "off", "cut", "muted", "named_segments"), ())
    assert shown == defaults | {"stack": None, **empty}


def test_a_map_has_a_point_per_head(record: AttentionRecord) -> None:
    counts = [record.num_heads(layer) for layer in range(record.num_layers())]
    own = [np.arange(count) / 10 for count in counts]
    metrics = {"own": {"values": own, "null": [values - 1 for values in own]}}
    axes = plot.map(record, x="own", y="own", size="own", metrics=metrics)
    points, nulls = axes.collections
    assert isinstance(points, PathCollection)
    assert isinstance(nulls, PathCollection)
    places = np.concatenate(own)
    np.testing.assert_allclose(np.sort(np.asarray(points.get_offsets())[:, 0]), np.sort(places))
    np.testing.assert_allclose(np.asarray(nulls.get_offsets())[:, 1], places - 1)
    assert np.all(np.diff(points.get_sizes()) <= 0), "small points stay visible on large ones"
    low, high = np.percentile(places - 1, [2.5, 97.5])
    [across, _] = axes.patches
    box = across.get_extents().transformed(axes.transData.inverted())
    np.testing.assert_allclose([box.x0, box.x1], [low, high])
    assert axes.get_xlabel() == "own"


def test_a_null_on_one_axis_of_a_map_is_a_band_alone(record: AttentionRecord) -> None:
    counts = [record.num_heads(layer) for layer in range(record.num_layers())]
    own = [np.arange(count) / 10 for count in counts]
    metrics = {"own": {"values": own, "null": own, "null_label": "shuffled"}}
    axes = plot.map(record, x="entropy", y="own", metrics=metrics)
    assert len(axes.collections) == 1
    [up] = axes.patches
    box = up.get_extents().transformed(axes.transData.inverted())
    ends = np.percentile(np.concatenate(own), [2.5, 97.5])
    np.testing.assert_allclose([box.y0, box.y1], ends)
    legend = axes.get_legend()
    assert legend is not None
    assert "shuffled, 95% in grey" in legend.get_title().get_text()


def test_a_map_says_which_metrics_there_are(record: AttentionRecord) -> None:
    assert plot.map(record).get_xlabel() == "distance, tokens (← to the left, to the right →)"
    with pytest.raises(ValueError, match="x is 'width'; there are entropy, distance"):
        plot.map(record, x="width")
    with pytest.raises(ValueError, match="size is 'layer'; there are entropy"):
        plot.map(record, size="layer")
    plot.map(record, color="layer")


def test_a_ranking_has_the_highest_first(record: AttentionRecord) -> None:
    [axes] = axes_of(record, view="model", ranking=True, sort="previous")
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == sorted(widths, reverse=True)
    assert len(widths) == sum(record.num_heads(n) for n in range(record.num_layers()))


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.findobj(plt.Text)]


def picture_of(axes: Axes, at: int = 0) -> NDArray[np.floating[Any]]:
    return np.asarray(axes.images[at].get_array())


def ticks(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def named(record: AttentionRecord, most: float = 20) -> list[list[str]]:
    """The labels of queries and keys as plots shorten them."""
    return [[shorten(label, most) for label in labels] for labels in record.tokens()]


def test_each_plot_composes_into_a_figure_of_the_reader(record: AttentionRecord) -> None:
    figure, axes = plt.subplots(2, 2, layout="constrained", facecolor="black")
    for each in axes.flat:
        each.set_facecolor("black")
    drawn = [
        plot.head(record, 0, [1, 3], query=2, ax=axes[0, 0]),
        plot.matrix(record, 0, 1, ax=axes[0, 1]),
        plot.model(record, ax=axes[1, 0]),
        plot.neuron(record, 0, 1, 2, ax=axes[1, 1]),
    ]
    assert drawn == list(axes.flat)
    assert all(palette_of(each).dark for each in drawn)
    figure.canvas.draw()
    assert len(figure.axes) == 4
    assert plt.get_fignums() == [figure.number]


def test_lines_lead_from_query_to_key_as_strong_as_the_weight(record: AttentionRecord) -> None:
    axes = plot.head(record, 0, [1])
    weights = record.weights(0, 1).astype(np.float64)
    lines = axes.collections[0]
    drawn = np.argwhere(weights >= 0.0005)
    ends = [(path.vertices[0, 1] - 0.5, path.vertices[-1, 1] - 0.5) for path in lines.get_paths()]
    assert ends == [tuple(pair) for pair in drawn.tolist()]
    found = weights[tuple(drawn.T)]
    assert np.asarray(lines.get_linewidths()) == pytest.approx(0.7 + 1.2 * found)
    colors = np.asarray(lines.get_edgecolors())
    assert np.ptp(colors[:, 3] / found) < 1e-5
    assert colors[0, :3] == pytest.approx(to_rgb(head_colors(8, False)[1]))
    assert [ticks(axes.yaxis), ticks(axes.child_axes[0].yaxis)] == named(record)
    assert axes.get_title() == "Layer 0 · Head 1"


def test_of_a_locked_query_only_its_lines_are_drawn_with_strips(record: AttentionRecord) -> None:
    axes = plot.head(record, 0, [1, 3], query=2)
    lines, strips = axes.collections
    weights = np.stack([record.weights(0, head)[2] for head in (1, 3)])
    assert {path.vertices[0, 1] for path in lines.get_paths()} == {2.5}
    assert len(lines.get_paths()) == np.count_nonzero(weights >= 0.0005)
    alphas = np.asarray(strips.get_facecolors())[:, 3]
    faint = np.flatnonzero(np.isclose(alphas, 0.05))
    assert alphas[faint[0] + 1 : faint[1]] == pytest.approx(
        weights[0][weights[0] >= 0.0005] ** 0.75
    )
    bold = [label for label in axes.get_yticklabels() if label.get_fontweight() == "bold"]
    assert [label.get_text() for label in bold] == [record.tokens()[0][2]]
    assert [text.strip() for text in ticks(axes.xaxis)] == ["1", "3"]


@pytest.mark.parametrize("heads", [[1], [1, 3]])
def test_several_locked_queries_have_lines_of_their_own(
    record: AttentionRecord, heads: list[int]
) -> None:
    queries = [2, 0]
    axes, _ = axes_of(record, heads=heads, query=queries[0], also=queries[1:])
    lines = axes.collections[0]
    weights = np.stack([record.weights(0, head)[query] for head in heads for query in queries])
    assert isinstance(lines, PathCollection)
    starts = [path.vertices[0, 1] - 0.5 for path in lines.get_paths()]
    expected = [
        query
        for row, query in zip(weights, queries * len(heads), strict=True)
        for _ in row[row >= 0.0005]
    ]
    assert starts == pytest.approx(expected)
    drawn = weights[weights >= 0.0005]
    colors = np.asarray(lines.get_edgecolors())
    assert colors[:, 3] == pytest.approx(drawn**0.75, abs=1e-6)
    # By query where a single head is drawn, else by head.
    inks = {tuple(color[:3]) for color in colors[: np.count_nonzero(weights[:2] >= 0.0005)]}
    assert len(inks) == (2 if len(heads) == 1 else 1)


def test_what_is_left_out_is_said() -> None:
    count = 90
    record = AttentionRecord.from_arrays(
        np.full((1, 1, count, count), 1 / count), [f"t{n}" for n in range(count)]
    )
    said = plot.head(record, 0).get_xlabel()
    assert "% of attention drawn" in said
    assert "each line of up to 2 × 2 tokens" in said
    axes = plot.head(record, 0, query=70, ax=plt.subplots(figsize=(3, 3))[1])
    assert "t70" in ticks(axes.yaxis)
    assert f"of {count} queries are named" in axes.get_xlabel().replace("\n", " ")
    # A sum of everything leaves nothing to say.
    full = AttentionRecord.from_arrays(np.eye(3)[None, None], ["a", "b", "c"])
    assert plot.head(full, 0).get_xlabel() == ""


def test_a_matrix_has_the_weights_of_what_is_shown(record: AttentionRecord) -> None:
    axes = plot.matrix(record, 0, 1)
    assert picture_of(axes) == pytest.approx(record.weights(0, 1))
    assert [ticks(axes.yaxis), ticks(axes.xaxis)] == named(record, 14)
    lines, matrix = axes_of(record, layer=0, head=1, segments="ba", query=None, key=1)
    split = record.stack().queries.split
    assert picture_of(matrix) == pytest.approx(record.weights(0, 1)[split:, :split])
    assert ticks(lines.yaxis) == named(record)[0][split:]
    long = AttentionRecord.from_arrays([np.eye(500)[None]], [str(n) for n in range(500)])
    axes = plot.matrix(long, 0, 0)
    assert max(picture_of(axes).shape) <= 400
    assert picture_of(axes).max() == 1
    assert "each cell the largest of up to 2 × 2" in axes.get_xlabel()


@pytest.mark.parametrize("orientation", ["vertical", "horizontal"])
def test_words_and_heads_are_combined_as_in_the_widget(
    record: AttentionRecord, orientation: str
) -> None:
    choices: dict[str, Any] = {"layer": 1, "words": True, "combine": "mean", "query": 3}
    lines, matrix = axes_of(record, orientation=orientation, **choices)
    shown = Shown(record, layer=1, words=True)
    of = np.array(shown.token_axes.key.unit_of)
    mean = np.mean([record.weights(1, head) for head in range(record.num_heads(1))], axis=0)
    summed = np.stack([mean[:, of == unit].sum(axis=1) for unit in range(of.max() + 1)], axis=1)
    averaged = np.stack([summed[of == unit].mean(axis=0) for unit in range(of.max() + 1)])
    assert picture_of(matrix) == pytest.approx(averaged, abs=1e-6)
    assert matrix.get_title() == f"Layer 1 · Mean of {record.num_heads(1)} heads"
    axis = lines.xaxis if orientation == "horizontal" else lines.yaxis
    words = zip(ticks(axis), shown.token_axes.query.labels, strict=True)
    # Long ones are shortened in the middle.
    assert all(word.startswith(name.split("…")[0]) for name, word in words)
    _, matrix = axes_of(record, layer=1, combine="layers_max")
    assert matrix.get_title().startswith("Largest of all ")


def test_the_model_view_sorts_colours_and_chooses(record: AttentionRecord) -> None:
    widget = AttentionWidget(record, view="model", layer=0, sort="entropy", color="layer")
    widget.include_layers = [0, 1]
    overview = widget._manifest, widget._overview
    [axes] = draw_figure(Shown(record, **choice_values(widget), overview=overview)).axes
    [entropy] = [each for each in widget._manifest["metrics"] if each["name"] == "entropy"]
    values = entropy["values"]["self"][0]
    order = sorted(range(len(values)), key=lambda head: -values[head])
    assert ticks(axes.yaxis) == ["0", "1"]
    assert texts(axes)[: len(order)] == [f"{head}" for head in order]
    assert axes.get_title() == "entropy, highest to lowest from left to right"
    # Without the overview the same picture is made of the record.
    [again] = draw_figure(Shown(record, **choice_values(widget))).axes
    assert picture_of(again) == pytest.approx(picture_of(axes), abs=1e-6)
    assert len(axes_of(record, view="model", layer=0, opened=True)) == 3
    [lines] = axes_of(record, view="model", thumbnails="lines", segments="ab")
    legend = lines.get_legend()
    assert legend is not None
    assert "numbers are of whole heads" in legend.get_title().get_text().replace("\n", " ")


def test_the_model_view_sorts_by_the_weight_of_the_locked_pair(record: AttentionRecord) -> None:
    [axes] = axes_of(record, view="model", sort="pair", query=4, key=2)
    weights = [record.weights(0, head)[4, 2] for head in range(record.num_heads(0))]
    order = sorted(range(len(weights)), key=lambda head: (-weights[head], head))
    assert texts(axes)[: len(order)] == [f"{head}" for head in order]
    queries, keys = record.tokens()
    assert axes.get_title().startswith(f"weight {queries[4]}")
    assert f" → {keys[2]}" in axes.get_title()
    # Without a pair, heads are as in the model.
    [axes] = axes_of(record, view="model", sort="pair", query=4)
    assert axes.get_title() == ""


def test_a_metric_is_a_heat_map(record: AttentionRecord) -> None:
    layers = record.stack().layers
    heads = max(layer.num_heads for layer in layers)
    axes = plot.model(record, metric="distance")
    [image] = axes.images
    assert image.get_array().shape == (len(layers), heads)
    assert image.norm.vmin == -image.norm.vmax
    assert axes.figure.axes[1].get_ylabel() == "distance (tokens)"
    shares = np.full((len(layers), heads), 0.25)
    shares[0, 0], shares[1, 1] = 0.75, np.nan
    image = plot.model(record, metric=shares).images[0]
    assert (image.norm.vmin, image.norm.vmax) == (0.25, 0.75)
    assert image.get_array().mask[1, 1]
    with pytest.raises(ValueError, match=r"no metric 'fame'; there are entropy, "):
        plot.model(record, metric="fame")
    with pytest.raises(ValueError, match=r"shape \[2, 2\]; expected \[layers, heads\]"):
        plot.model(record, metric=np.ones((2, 2)))


def test_the_neuron_view_shows_vectors_products_and_numbers(record: AttentionRecord) -> None:
    query, key, head = 4, 1, 1
    [axes] = axes_of(record, view="neuron", layer=0, head=head, query=query, neurons="sum")
    queries, keys, products = (picture_of(axes, at) for at in range(3))
    q, k = record.queries(0, head), record.keys(0, head)
    order = np.argsort(-np.abs(q[query] * k).sum(axis=0), kind="stable")
    assert queries == pytest.approx(q[:, order])
    assert keys == pytest.approx(k[:, order])
    assert products == pytest.approx((q[query] * k)[:, order])
    assert f"{record.weights(0, head)[query, key]:.3f}" in texts(axes)
    assert any(text.startswith("q·k ÷ √") for text in ticks(axes.xaxis))
    [axes] = axes_of(record, view="neuron", layer=0, query=query, also=[1], muted=[2])
    assert len(picture_of(axes, 2)) == 2 * len(k)
    legend = axes.get_legend()
    assert legend is not None
    said = legend.get_title().get_text().replace("\n", " ")
    assert "hatched: muted, outlined: the model’s own" in said
    assert "hatched bars: compared query" in said


def test_every_score_program_can_be_drawn() -> None:
    for name, program in PROGRAMS.items():
        record = record_of(layer_of(program))
        for expanded in (True, False):
            axes_of(record, view="neuron", query=2, also=[4], muted=[1], expanded=expanded)
        if name == "an explicit mask per head":
            # Nothing is left out of a query that sees no key.
            assert plot.head(record, 0, [0], query=2).get_xlabel() == ""
    layer = layer_of(PROGRAMS["sinks"])
    shares = [1 - float(layer.head_weights(head)[3].sum()) for head in range(layer.num_heads)]
    head = int(np.argmax(shares))
    assert {"sink", f"{shares[head]:.3f}"} <= set(texts(plot.neuron(record_of(layer), 0, head, 3)))


def test_what_is_not_there_is_an_error(record: AttentionRecord) -> None:
    for call, match in (
        (lambda: plot.head(record, 9), "layer 9 does not exist"),
        (lambda: plot.head(record, 0, [99]), "head 99 does not exist: layer 0 has"),
        (lambda: plot.matrix(record, 0, -1), "head -1 does not exist"),
        (lambda: plot.neuron(record, 0, 0, 99), "query 99 does not exist: there are"),
    ):
        with pytest.raises(IndexError, match=match):
            call()
    with pytest.raises(KeyError, match="no stack 'cross'"):
        plot.matrix(record, 0, 0, stack="cross")
    with pytest.raises(ValueError, match="heads is empty"):
        plot.head(record, 0, [])
    alone = AttentionRecord.from_arrays([some_weights()], [f"t{n}" for n in range(7)])
    with pytest.raises(ValueError, match="recorded as weights alone"):
        plot.neuron(alone, 0, 0, 0)
    [axes] = axes_of(alone, view="neuron")
    assert "recorded as attention weights alone" in " ".join(texts(axes))


def test_importing_needs_no_matplotlib() -> None:
    code = (
        "import sys; import attnwidget as aw; assert 'matplotlib' not in sys.modules; "
        "sys.modules['matplotlib'] = None; "
        "r = aw.AttentionRecord.from_arrays([[[[1.0]]]], ['a']); "
        "aw.plot.head(r, 0)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: plots need matplotlib" in run.stderr
    assert "pip install 'attnwidget[figures]'" in run.stderr


def test_lenses_are_drawn_and_named() -> None:
    record = capture(gpt2(), None, {"input_ids": token_ids(6)}, values=True)
    layer = record.layer(1)
    drawn = plot.matrix(record, 1, 2, lens="values")
    assert drawn.get_title() == "Layer 1 · Head 2, value-weighted"
    np.testing.assert_allclose(
        drawn.images[0].get_array(), row_shares(value_weighted(layer, 2)), atol=1e-6
    )
    drawn = plot.matrix(record, 1, 2, lens="scores")
    assert drawn.get_title() == "Layer 1 · Head 2, scores"
    scores = layer.head_scores(2)
    # A masked key has no score.
    np.testing.assert_array_equal(
        drawn.images[0].get_array(), np.where(np.isneginf(scores), 0, scores)
    )
    drawn = plot.matrix(record, 1, 2, lens="rollout")
    assert drawn.get_title() == "Rollout of layers 0–1"
    np.testing.assert_allclose(drawn.images[0].get_array(), rollout(record.stack())[1], atol=1e-6)
    assert plot.head(record, 1, [2], lens="values").get_title().endswith("weighted")
    plain, weighted, scored = (
        np.asarray(plot.model(record, lens=lens).images[0].get_array())
        for lens in ("attention", "values", "scores")
    )
    assert plain.shape == weighted.shape == scored.shape
    assert (plain != weighted).any()
    assert (plain != scored).any()
    bare = AttentionRecord.from_arrays([some_weights(2, 4, 4)], list("abcd"))
    for draw in (
        lambda: plot.matrix(bare, 0, 1, lens="scores"),
        lambda: plot.model(bare, lens="scores"),
        lambda: AttentionWidget(bare, lens="scores"),
    ):
        with pytest.raises(Exception, match=r"lens 'scores' is not known: layer 0 was recorded as"):
            draw()
    without = capture(gpt2(), None, {"input_ids": token_ids(6)})
    for draw in (
        lambda: plot.head(without, 1, lens="values"),
        lambda: plot.model(without, lens="values"),
    ):
        with pytest.raises(ValueError, match=r"lens 'values' is not known: layer \d has no values"):
            draw()


def test_matrices_of_several_records_share_their_scale() -> None:
    program = PROGRAMS["causal"]
    records = {name: record_of(layer_of(program, seed)) for seed, name in enumerate("abcde")}
    axes = plot.matrices(records, 0, 1)
    assert [ax.get_title() for ax in axes] == list(records)
    most = max(float(each.weights(0, 1).max()) for each in records.values())
    for ax, record in zip(axes, records.values(), strict=True):
        [image] = ax.images
        assert (np.asarray(image.get_array()) == record.weights(0, 1)).all()
        assert image.get_clim() == (0, most)
    for none in ({}, list(records.values())):
        with pytest.raises(ValueError, match="expected records by the titles of their panels"):
            plot.matrices(none, 0, 1)  # type: ignore[arg-type]


def test_matrices_of_scores_share_a_scale_on_both_sides_of_zero() -> None:
    layers = [layer_of(PROGRAMS["causal"], seed) for seed in range(2)]
    records = {name: record_of(layer) for name, layer in zip("ab", layers, strict=True)}
    axes = plot.matrices(records, 0, 1, lens="scores")
    scores = np.concatenate([each.scores(0, 1) for each in records.values()])
    most = np.abs(scores[np.isfinite(scores)]).max()
    assert all(ax.images[0].get_clim() == (-most, most) for ax in axes)


def test_a_named_segment_is_drawn_alone() -> None:
    record = AttentionRecord.from_arrays([some_weights(2, 4, 4)], list("abcd"))
    widget = AttentionWidget(record, named_segments=[(1, 3, "middle")], segments="from:middle")
    assert widget.segments == "from:1-3"
    [image] = draw_figure(Shown(record, segments=widget.segments), "matrix").axes[0].images
    matrix = image.get_array()
    np.testing.assert_allclose(matrix, record.weights(0, 0)[1:3])
    # Of 40 tokens, the fourth cell of a picture holds 3 and 4.
    long = AttentionRecord.from_arrays([some_weights(1, 40, 40)], [f"{n}" for n in range(40)])
    for of, segments, shared in (
        (record, "to:1-3", False), (long, "from:0-5", False), (long, "from:0-4", True),
    ):  # fmt: skip
        [axes] = draw_figure(Shown(of, view="model", segments=segments)).axes
        legend = axes.get_legend().get_title().get_text().replace("\n", " ")
        assert "numbers are of whole heads" in legend
        assert "pictures and numbers" not in legend
        assert ("edges hold other tokens" in legend) == shared
    for wrong, message in (
        ({"segments": "from:nobody"}, r"there are 'all', .*; named segments are a list"),
        (
            {"segments": [(1, 9, "late")]},
            r"of the tokens 1 to 8, but there are 4",
        ),
        ({"segments": [(2, 1, "none")]}, r"expected \(start, end, name\)"),
    ):
        with pytest.raises(TraitError, match=message):
            AttentionWidget(record, **wrong)
