"""Plots: the numbers of a record stand in the artists, through every lens, metric and choice."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from numpy.typing import NDArray
from traitlets import TraitError

import attnwidget as aw
from attnwidget import AttentionRecord, AttentionWidget, capture, compare, plot
from attnwidget.analysis import LENSES, GridScores, by_words
from attnwidget.plot.axes import shorten
from attnwidget.plot.colors import LIGHT, head_colors, palette_of
from attnwidget.plot.figure import draw_figure
from attnwidget.plot.heads import head_inks
from attnwidget.record import Grid, Patches, ScoreProgram, Tokens
from tests.unit.records import PROGRAMS, labels, layer_of, record_of, some_weights
from tests.unit.tiny import gpt2, tiny, token_ids
from tests.unit.wire.test_vectors import read
from tests.unit.wire.test_vectors import record_of as record_of_vectors


@pytest.fixture(autouse=True)
def _closed() -> Any:
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def record() -> AttentionRecord:
    return record_of_vectors(read("record.json"))


@pytest.fixture(scope="module")
def valued() -> AttentionRecord:
    """Every lens is known of it."""
    return capture(gpt2(), None, {"input_ids": token_ids(6)}, values=True)


def axes_of(record: AttentionRecord, panel: Any = None, **choices: Any) -> Axes:
    """The Axes of what a widget shows: those of its first panel, or of another."""
    shown = AttentionWidget(record, **choices)._plotted()
    axes: Axes = draw_figure(shown, panel).axes[0]
    return axes


def numbers(axes: Axes, at: int = 0) -> NDArray[Any]:
    return np.asarray(axes.images[at].get_array())


def ticks(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def texts(axes: Axes) -> list[str]:
    return [text.get_text().replace("\n", " ") for text in axes.findobj(plt.Text)]


def lines(axes: Axes) -> NDArray[Any]:
    """(query, key) of every line, in rows."""
    ends = [path.vertices[[0, -1], 1] for path in axes.collections[0].get_paths()]
    return np.array(ends) - 0.5


def test_each_plot_composes_into_a_figure_of_the_reader(record: AttentionRecord) -> None:
    with plt.style.context("dark_background"):
        figure, axes = plt.subplots(2, 3, layout="constrained")
        drawn = [
            plot.head(record, 0, [1, 3], query=2, ax=axes[0, 0]),
            plot.matrix(record, 0, 1, ax=axes[0, 1]),
            plot.model(record, ax=axes[0, 2]),
            plot.neuron(record, 0, 1, 2, ax=axes[1, 0]),
            plot.map(record, ax=axes[1, 1]),
            plot.ranking(record, "entropy", ax=axes[1, 2]),
        ]
        figure.canvas.draw()
    assert drawn == list(axes.flat)
    assert all(palette_of(each).dark for each in drawn)
    assert plt.get_fignums() == [figure.number]


def test_a_figure_of_its_own_is_of_the_size_in_the_rcparams(record: AttentionRecord) -> None:
    with plt.rc_context({"figure.figsize": (9, 8)}):
        assert tuple(plot.map(record).figure.get_size_inches()) == (1.2 * 9, 8)
        long = AttentionRecord.from_arrays([np.eye(60)[None]], [str(n) for n in range(60)])
        assert plot.head(long, 0).figure.get_size_inches()[1] > 8


def test_lines_lead_from_query_to_key_as_strong_as_the_weight(record: AttentionRecord) -> None:
    axes = plot.head(record, 0, [1])
    weights = record.weights(0, 1).astype(np.float64)
    pairs = lines(axes).round().astype(int)
    assert sorted(map(tuple, pairs)) == sorted(map(tuple, np.argwhere(weights >= 0.0005)))
    found = weights[tuple(pairs.T)]
    assert np.all(np.diff(found) >= 0), "the strongest are on top"
    assert np.asarray(axes.collections[0].get_linewidths()) == pytest.approx(0.7 + 1.3 * found)
    colors = np.asarray(axes.collections[0].get_edgecolors())
    assert np.ptp(colors[:, 3] / found) < 1e-5
    assert colors[0, :3] == pytest.approx(to_rgb(head_colors(8, dark=False)[1]))
    right = axes.child_axes[0]
    labels = [[shorten(label) for label in side] for side in record.tokens()]
    assert [ticks(axes.yaxis), ticks(right.yaxis)] == labels
    assert axes.get_title() == "Layer 0 · Head 1"


@pytest.mark.parametrize("side", ["query", "key"])
def test_of_locked_tokens_only_their_lines_are_drawn(record: AttentionRecord, side: str) -> None:
    axes = axes_of(record, heads=[1, 3], **{side: 2, "also": [0]})
    weights = np.stack([record.weights(0, head) for head in (1, 3)])
    of_locked = weights[:, [0, 2]] if side == "query" else weights[:, :, [0, 2]]
    # The lines of both heads are side by side.
    assert set(lines(axes)[:, 0 if side == "query" else 1].round()) == {0, 2}
    alphas = np.asarray(axes.collections[0].get_edgecolors())[:, 3]
    drawn = np.sort(of_locked[of_locked >= 0.0005])
    assert alphas == pytest.approx(drawn**0.75, abs=1e-5)
    axis = axes.yaxis if side == "query" else axes.child_axes[0].yaxis
    bold = [label.get_text() for label in axis.get_ticklabels() if label.get_fontweight() == "bold"]
    assert sorted(bold) == sorted(record.tokens()[side == "key"][at] for at in (0, 2))
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["1", "3"]


def test_a_query_is_named_by_its_words() -> None:
    record = AttentionRecord.from_arrays(some_weights(1, 4, 4)[None], ["the", "dog", "ran", "ran"])
    by_words, by_position = (plot.head(record, 0, query=query) for query in ("dog", np.int64(1)))
    drawn, expected = (each.collections[0].get_linewidths() for each in (by_words, by_position))
    assert np.array_equal(drawn, expected)
    for query, error, message in [
        ("ran", ValueError, "'ran' occurs 2 times"),
        ("cat", ValueError, "no tokens are the text 'cat'"),
        ("the dog", ValueError, "'the dog' is the tokens 0 to 1: give one"),
        (1.5, TypeError, "query is 1.5; expected a position, or the words of its token"),
        (9, IndexError, "query 9 does not exist"),
    ]:
        with pytest.raises(error, match=message):
            plot.head(record, 0, query=query)


def test_what_is_left_out_is_said() -> None:
    count = 90
    uniform = np.full((1, 1, count, count), 1 / count)
    record = AttentionRecord.from_arrays(uniform, [f"t{n}" for n in range(count)])
    axes = plot.head(record, 0)
    assert len(lines(axes)) == 2000
    share = np.floor(1000 * 2000 / count**2) / 10
    assert f"{share:g}% of attention weight drawn" in " ".join(texts(axes))
    axes = plot.head(record, 0, query=70, ax=plt.subplots(figsize=(3, 3))[1])
    assert "t70" in ticks(axes.yaxis)
    assert f"of {count} queries are named" in " ".join(texts(axes))
    assert "are named" not in " ".join(texts(plot.head(record, 0, caption=False)))
    # A sum of everything leaves nothing to say, nor does a query that sees no key.
    full = AttentionRecord.from_arrays(np.eye(3)[None, None], ["a", "b", "c"])
    blind = record_of(layer_of(PROGRAMS["an explicit mask per head"]))
    for axes in (plot.head(full, 0), plot.head(blind, 0, [0], query=2)):
        assert not any("drawn" in text for text in texts(axes))


@pytest.mark.parametrize("lens", LENSES, ids=lambda lens: lens.name)
def test_every_lens_is_drawn_and_named(valued: AttentionRecord, lens: Any) -> None:
    expected = lens.matrix(valued, "self", 1, 2)
    axes = plot.matrix(valued, 1, 2, lens=lens.name)
    # A masked key has no score.
    expected = np.where(np.isneginf(expected), 0, expected)
    np.testing.assert_allclose(numbers(axes), expected, atol=1e-6)
    [bar] = axes.child_axes
    assert lens.one in bar.get_ylabel()
    # Beside the matrix, which may be lower than its Axes have room for.
    axes.figure.canvas.draw()
    assert bar.get_window_extent().y0 == pytest.approx(axes.get_window_extent().y0)
    assert bar.get_window_extent().height == pytest.approx(axes.get_window_extent().height)
    assert lens.name == "attention" or lens.label in axes.get_title()
    low, high = axes.images[0].get_clim()
    assert (low, high) == (-np.abs(expected).max() if lens.signed else 0, np.abs(expected).max())
    drawn = plot.head(valued, 1, [2], lens=lens)
    inks = {to_hex(color[:3]) for color in drawn.collections[0].get_edgecolors()}
    assert inks <= {LIGHT.positive, LIGHT.negative} or not lens.signed
    if lens.signed:
        legend = drawn.get_legend()
        assert legend is not None
        assert [t.get_text() for t in legend.get_texts()] == ["above 0", "below 0"]
    plain = numbers(plot.model(valued))
    if not lens.by_head:
        # The view of single heads keeps to attention.
        assert (numbers(axes_of(valued, view="model", lens=lens.name)) == plain).all()
        with pytest.raises(ValueError, match="a matrix of each layer, none of each head"):
            plot.model(valued, lens=lens)
        return
    axes = plot.model(valued, lens=lens.name)
    changed = lens.name != "attention"
    assert (numbers(axes) != plain).any() == changed
    assert (
        any(text == f"{lens.label}, up to each head’s largest" for text in texts(axes)) == changed
    )


@pytest.mark.parametrize("scale", [500, 1e-5])
@pytest.mark.parametrize("signed", [False, True])
def test_lines_of_numbers_of_any_size_are_drawn_up_to_the_largest(
    valued: AttentionRecord, scale: float, signed: bool
) -> None:
    shares = np.random.default_rng(0).dirichlet(np.ones(6), (2, 4, 6)) - 0.2 * signed
    mine: dict[str, Any] = {"lens": "mine", "heads": [1]}
    axes = axes_of(valued, "head", lenses={"mine": scale * shares}, **mine)
    found = np.sort(np.abs(shares[0, 1]), axis=None) / np.abs(shares[0, 1]).max()
    widths = np.asarray(axes.collections[0].get_linewidths())
    assert np.sort(widths) == pytest.approx(0.7 + 1.3 * found, abs=1e-4)
    # Nothing is left out.
    largest = scale * np.abs(shares[0, 1]).max()
    assert f"the strongest stands for {largest:.3g}" in texts(axes)


def test_a_lens_of_the_users_own_is_drawn(valued: AttentionRecord) -> None:
    own = np.arange(36.0, dtype=np.float32).reshape(6, 6) / 36
    lens = replace(LENSES[0], name="mine", label="Mine", one="number", numbers=lambda *_: own)
    assert (numbers(plot.matrix(valued, 0, 0, lens=lens)) == own).all()
    assert plot.head(valued, 0, [1], lens=lens).get_title() == "Layer 0 · Head 1 · Mine"
    plot.model(valued, lens=lens)
    given = np.stack([[own] * 4, [own + 1] * 4])
    choices: dict[str, Any] = {"lenses": {"mine": given}, "lens": "mine", "layer": 1}
    axes = axes_of(valued, "matrix", **choices)
    assert (numbers(axes) == own + 1).all()
    assert axes.child_axes[0].get_ylabel() == "mine"
    axes_of(valued, view="model", **choices)


def test_a_lens_that_is_not_known_says_why() -> None:
    bare = AttentionRecord.from_arrays([some_weights(2, 4, 4)], list("abcd"))
    for draw in (
        lambda: plot.matrix(bare, 0, 1, lens="scores"),
        lambda: plot.model(bare, lens="scores"),
    ):
        with pytest.raises(ValueError, match="lens 'scores' is not known: layer 0 was recorded as"):
            draw()
    with pytest.raises(ValueError, match="lens is 'fame'; there are 'attention', 'scores'"):
        plot.head(bare, 0, lens="fame")
    with pytest.raises(ValueError, match=r"numbers of your own: lens=.*own_lenses\(record"):
        plot.head(bare, 0, lens="mine")


def test_a_matrix_has_the_weights_of_what_is_shown(record: AttentionRecord) -> None:
    axes = plot.matrix(record, 0, 1)
    assert numbers(axes) == pytest.approx(record.weights(0, 1))
    labels = [[shorten(label) for label in side] for side in record.tokens()]
    assert [ticks(axes.yaxis), ticks(axes.xaxis)] == labels
    axes = axes_of(record, "matrix", layer=0, head=1, segments="ba", key=1)
    split = record.stack().queries.split
    assert numbers(axes) == pytest.approx(record.weights(0, 1)[split:, :split])
    assert [patch.get_xy() for patch in axes.patches] == [(1, 0)]
    assert len(plot.matrix(record, 0, 1, colorbar=False).figure.axes) == 1
    long = AttentionRecord.from_arrays([np.eye(500)[None]], [str(n) for n in range(500)])
    axes = plot.matrix(long, 0, 0)
    assert max(numbers(axes).shape) <= 400
    assert numbers(axes).max() == 1
    assert any("each cell the largest of up to 2 × 2" in text for text in texts(axes))


def test_special_tokens_are_left_out(record: AttentionRecord) -> None:
    tokens = record.stack().queries
    content = [at for at in range(len(tokens)) if at not in tokens.special]
    axes = plot.matrix(record, 0, 1, segments="content")
    assert numbers(axes) == pytest.approx(record.weights(0, 1)[np.ix_(content, content)])
    # Of the attention of the tokens that are shown, the special ones keep a part.
    shown = record.weights(0, 1)[content]
    share = 100 * shown[:, content].sum() / shown.sum()
    drawn = plot.head(record, 0, [1], segments="content")
    assert any(f"{np.floor(10 * share) / 10:g}% of attention" in text for text in texts(drawn))
    assert any(
        f"{np.floor(10 * share) / 10:g}% of attention weight shown" in t for t in texts(axes)
    )
    scores = np.abs(record.scores(0, 1)[content]).astype(np.float64)
    share = 100 * scores[:, content].sum() / scores.sum()
    drawn = plot.head(record, 0, [1], segments="content", lens="scores")
    assert any(f"{np.floor(10 * share) / 10:g}% of score drawn" in text for text in texts(drawn))
    fewer, whole = (numbers(plot.model(record, segments=chosen)) for chosen in ("content", "all"))
    assert fewer.shape != whole.shape
    for call in (
        lambda: plot.head(record, 0, segments="content:ab"),
        lambda: plot.model(record, segments="ac"),
    ):
        with pytest.raises(ValueError, match=r"segments .* does not exist: there are 'all', 'aa'"):
            call()


def test_a_named_segment_is_drawn_alone() -> None:
    record = AttentionRecord.from_arrays([some_weights(2, 4, 4)], list("abcd"))
    named: dict[str, Any] = {"named_segments": [(1, 3, "middle")]}
    axes = axes_of(record, "matrix", segments="from:middle", **named)
    np.testing.assert_allclose(numbers(axes), record.weights(0, 0)[1:3])
    axes = axes_of(record, "matrix", segments="to:middle", **named)
    np.testing.assert_allclose(numbers(axes), record.weights(0, 0)[:, 1:3])


def test_words_and_heads_are_combined_as_in_the_widget(record: AttentionRecord) -> None:
    axes = axes_of(record, "matrix", layer=1, words=True, combine="mean", query=3)
    words = by_words(record)
    mean = np.mean([words.weights(1, head) for head in range(record.num_heads(1))], axis=0)
    assert numbers(axes) == pytest.approx(mean, abs=1e-6)
    assert ticks(axes.xaxis) == [shorten(label) for label in words.tokens()[1]]
    assert axes.get_title() == f"Layer 1 · Mean of {record.num_heads(1)} heads"
    axes = axes_of(record, "matrix", combine="layers_max", words=True)
    assert axes.get_title().startswith("Largest of all ")
    everything = [
        record.weights(layer, head)
        for layer in range(record.num_layers())
        for head in range(record.num_heads(layer))
    ]
    assert numbers(axes) == pytest.approx(np.max(everything, axis=0))


@pytest.mark.parametrize("lens", ["attention", "scores"])
def test_matrices_of_several_records_share_their_scale(lens: str) -> None:
    layers = [layer_of(PROGRAMS["causal"], seed) for seed in range(5)]
    records = {name: record_of(layer) for name, layer in zip("abcde", layers, strict=True)}
    axes = plot.matrices(records, 0, 1, lens=lens)
    assert [ax.get_title() for ax in axes] == list(records)
    read = AttentionRecord.weights if lens == "attention" else AttentionRecord.scores
    found = [read(each, 0, 1) for each in records.values()]
    found = [np.where(np.isneginf(each), 0, each) for each in found]
    most = float(np.abs(found).max())
    for ax, each in zip(axes, found, strict=True):
        assert (numbers(ax) == each).all()
        assert ax.images[0].get_clim() == (-most if lens == "scores" else 0, most)
    for none in ({}, list(records.values())):
        with pytest.raises(ValueError, match="expected records by the titles of their panels"):
            plot.matrices(none, 0, 1)  # type: ignore[arg-type]


def test_the_model_plot_sorts_colours_and_chooses(record: AttentionRecord) -> None:
    axes = axes_of(record, view="model", sort="entropy", color="layer", include_layers=[0, 1])
    [entropy] = [m for m in AttentionWidget(record)._manifest["metrics"] if m["name"] == "entropy"]
    values = entropy["values"]["self"][0]
    order = sorted(range(len(values)), key=lambda head: -values[head])
    assert ticks(axes.yaxis) == ["0", "1"]
    moved = [f"{head}" for column, head in enumerate(order) if head != column]
    assert texts(axes)[: len(moved)] == moved
    assert len(draw_figure(_shown(record, view="model", opened=True)).axes) == 3
    plain = plot.model(record)
    legend = plain.get_legend()
    assert legend is not None
    counts = [int(text.get_text().split("(")[1][:-1]) for text in legend.get_texts()]
    assert sum(counts) == sum(record.num_heads(n) for n in range(record.num_layers()))


def _shown(record: AttentionRecord, **choices: Any) -> Any:
    return AttentionWidget(record, **choices)._plotted()


def test_heads_are_sorted_by_the_weight_of_the_locked_pair(record: AttentionRecord) -> None:
    shown = _shown(record, view="model", sort="pair", query=4, key=2)
    weights = [record.weights(0, head)[4, 2] for head in range(record.num_heads(0))]
    order = sorted(range(len(weights)), key=lambda head: (-weights[head], head))
    assert shown.heads.order("pair")[0] == (0, order)
    # Without a pair, heads are as in the model.
    alone = _shown(record, view="model", sort="pair", query=4)
    assert alone.heads.order("pair")[0][1] == sorted(order)


@pytest.mark.parametrize("view", ["model", "map"])
def test_heads_are_coloured_by_the_weight_of_the_locked_pair(
    record: AttentionRecord, view: str
) -> None:
    shown = _shown(record, view=view, color="pair", query=4, key=2)
    weights = [record.weights(1, head)[4, 2] for head in range(record.num_heads(1))]
    inks = head_inks(shown.heads, shown.color, LIGHT)
    assert inks.mappable is not None
    assert np.allclose(inks.mappable.to_rgba(weights), inks.rgba[1, : len(weights)])
    # Of several queries, nothing says which is meant.
    assert _shown(record, view=view, color="pair", query=4, key=2, also=[3]).color == "pattern"


def test_heads_without_a_number_are_the_last_and_grey(record: AttentionRecord) -> None:
    counts = [record.num_heads(layer) for layer in range(record.num_layers())]
    scores = [np.linspace(-1, 1, count) for count in counts]
    scores[0][1] = np.nan
    heads = _shown(record, view="model", metrics={"s": scores}).heads
    order = heads.order("s")[0][1]
    assert (order[0], order[-1]) == (counts[0] - 1, 1)
    inks = head_inks(heads, "s", LIGHT)
    assert to_hex(inks.rgba[0, 0, :3]) == LIGHT.negative
    assert to_hex(inks.rgba[0, 1, :3]) not in (LIGHT.negative, LIGHT.positive)
    assert inks.label == "s"


def test_a_metric_is_a_heat_map(record: AttentionRecord) -> None:
    layers = record.stack().layers
    heads = max(layer.num_heads for layer in layers)
    axes = plot.model(record, metric="distance")
    assert numbers(axes).shape == (len(layers), heads)
    assert axes.images[0].norm.vmin == -axes.images[0].norm.vmax
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


def test_a_colour_bar_names_its_null_on_a_line_of_its_own() -> None:
    inputs = [{"input_ids": token_ids(6)}]
    profile = aw.profile(gpt2(), None, inputs, metrics=["first"])
    axes = plt.figure(figsize=(4, 2)).subplots()
    bar = plot.model(profile, metric="first", ax=axes).figure.axes[1]
    first, *null = bar.get_ylabel().split("\n")
    assert first == "share on first token"
    assert re.fullmatch(r"95% of random weights: \S+ to \S+", " ".join(null))
    axes.figure.draw_without_rendering()
    label, height = bar.yaxis.label.get_window_extent(), axes.figure.bbox.height
    assert 0 <= label.y0 < label.y1 <= height


def test_a_map_has_a_point_per_head(record: AttentionRecord) -> None:
    counts = [record.num_heads(layer) for layer in range(record.num_layers())]
    own = [np.arange(count) / 10 for count in counts]
    metrics = {"own": {"values": own, "null": [values - 1 for values in own]}}
    axes = plot.map(record, x="own", y="own", size="own", metrics=metrics)
    points, nulls = axes.collections
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
    np.testing.assert_allclose([box.y0, box.y1], ends, atol=1e-9)
    legend = axes.get_legend()
    assert legend is not None
    assert "95% of shuffled" in [text.get_text() for text in legend.get_texts()]


def test_a_map_says_which_metrics_there_are(record: AttentionRecord) -> None:
    assert plot.map(record).get_xlabel() == "distance (tokens)\n← to the left · to the right →"
    with pytest.raises(ValueError, match="x is 'width'; there are entropy, distance"):
        plot.map(record, x="width")
    with pytest.raises(ValueError, match="size is 'layer'; there are entropy"):
        plot.map(record, size="layer")
    plot.map(record, color="layer")


def test_names_of_heads_numbers_are_text(record: AttentionRecord) -> None:
    counts = [record.num_heads(layer) for layer in range(record.num_layers())]
    own = {"$\\frac{1}$": [np.arange(count) for count in counts]}
    [name] = own
    for axes in (
        plot.map(record, x=name, size=name, color=name, metrics=own),
        axes_of(record, view="model", sort=name, color=name, metrics=own),
        axes_of(record, view="model", ranking=True, sort=name, metrics=own),
    ):
        axes.figure.canvas.draw()
        assert any(name in text.get_text() for text in axes.figure.findobj(plt.Text))
    for call in (
        lambda: plot.ranking(record, "entropy", color="fame"),
        lambda: plot.map(record, color="fame"),
        lambda: plot.model(record, sort="fame"),
    ):
        with pytest.raises(ValueError, match=r"fame.*; there are .*entropy"):
            call()


def test_a_ranking_has_the_highest_first(record: AttentionRecord) -> None:
    for axes in (
        plot.ranking(record, "previous"),
        axes_of(record, view="model", ranking=True, sort="previous"),
    ):
        widths = [patch.get_width() for patch in axes.patches]
        assert widths == sorted(widths, reverse=True)
        assert len(widths) == sum(record.num_heads(n) for n in range(record.num_layers()))


def test_a_ranking_has_as_many_heads_as_the_axes_have_room_for(record: AttentionRecord) -> None:
    count = sum(record.num_heads(n) for n in range(record.num_layers()))
    axes = plot.ranking(record, "previous", ax=plt.figure().add_axes((0.2, 0.2, 0.6, 0.1)))
    axes.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert 1 < len(boxes) == len(axes.patches) < count
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))
    assert f"the {len(boxes)} highest of {count} heads" in texts(axes)


def test_the_neuron_plot_has_vectors_products_and_numbers(record: AttentionRecord) -> None:
    query, head = 4, 1
    for axes in (
        plot.neuron(record, 0, head, query),
        axes_of(record, view="neuron", layer=0, head=head, query=query),
    ):
        keys, products, scores, weights, strip = axes.child_axes
        q, k = record.queries(0, head), record.keys(0, head)
        assert numbers(strip) == pytest.approx(q[[query]])
        assert numbers(keys) == pytest.approx(k)
        assert numbers(products) == pytest.approx(q[query] * k)
        for column, expected in (
            (scores, record.scores(0, head)[query]),
            (weights, record.weights(0, head)[query]),
        ):
            assert [bar.get_width() for bar in column.patches] == pytest.approx(expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_score_program_can_be_drawn(name: str) -> None:
    layer = layer_of(PROGRAMS[name])
    axes = plot.neuron(record_of(layer), 0, 1, 3)
    if name == "sinks":
        share = 1 - float(layer.head_weights(1)[3].sum())
        assert f"softmax, {share:.3f} in sink" in texts(axes)
        # Hidden keys are not in the sink.
        some: dict[str, Any] = {"segments": "to:few", "named_segments": [(0, 3, "few")]}
        axes = axes_of(record_of(layer), view="neuron", layer=0, head=1, query=3, **some)
        assert f"softmax, {share:.3f} in sink" in texts(axes)
        shown = 100 * layer.head_weights(1)[3][:3].sum() / layer.head_weights(1)[3].sum()
        assert f"{np.floor(10 * shown) / 10:g}% of the query’s attention shown" in texts(axes)


def test_a_widget_stands_for_its_record(record: AttentionRecord) -> None:
    widget = AttentionWidget(record)
    for drawn in (plot.matrix(record, 1, 0), plot.matrix(widget, 1, 0)):
        assert drawn.get_title() == "Layer 1 · Head 0"
    same = (plot.head(each, 1, 0).collections[0].get_linewidths() for each in (record, widget))
    assert np.array_equal(*same)
    assert plot.model(widget).images


def test_what_is_not_there_is_an_error(record: AttentionRecord) -> None:
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: plot.head(record, 9), "layer 9 does not exist"),
        (lambda: plot.head(record, 0, [99]), "head 99 does not exist: layer 0 has"),
        (lambda: plot.matrix(record, 0, -1), "head -1 does not exist"),
        (lambda: plot.neuron(record, 0, 0, 99), "query 99 does not exist: there are"),
    ]
    for call, match in calls:
        with pytest.raises(IndexError, match=match):
            call()
    with pytest.raises(KeyError, match="no stack 'cross'"):
        plot.matrix(record, 0, 0, stack="cross")
    with pytest.raises(ValueError, match="heads is empty"):
        plot.head(record, 0, [])
    with pytest.raises(TypeError, match="heads is dict; expected a number, several"):
        plot.head(record, 0, {0: 1.0})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="include_heads is '01'; expected several numbers"):
        plot.model(record, include_heads="01")  # type: ignore[arg-type]
    for head in (None, [1]):
        with pytest.raises(TypeError, match=r"head is (None|\[1\]); expected one number"):
            plot.matrix(record, 0, head)  # type: ignore[arg-type]
    alone = AttentionRecord.from_arrays([some_weights()], [f"t{n}" for n in range(7)])
    for call in (lambda: plot.neuron(alone, 0, 0, 0), lambda: axes_of(alone, view="neuron")):
        with pytest.raises(ValueError, match="recorded as weights alone"):
            call()


def test_what_is_no_record_is_named(record: AttentionRecord) -> None:
    compared: Any = compare(record, record)
    for call in (
        lambda: plot.matrix(compared, 0, 0),
        lambda: plot.matrices({"both": compared}, 0, 0),
        lambda: plot.model(compared),
        lambda: plot.text(compared),
    ):
        with pytest.raises(TypeError, match="record is Comparison; expected an AttentionRecord"):
            call()


def test_importing_needs_no_matplotlib() -> None:
    code = (
        "import sys; import attnwidget as aw; assert 'matplotlib' not in sys.modules; "
        "sys.modules['matplotlib'] = None; aw.plot.head"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: plots need matplotlib" in run.stderr
    assert "pip install 'attnwidget[figures]'" in run.stderr


# On the image of a vision model: 2 × 4 patches after [CLS].


@pytest.fixture(scope="module")
def pictured() -> AttentionRecord:
    import torch

    pixels = torch.rand(1, 3, 8, 16, generator=torch.Generator().manual_seed(0))
    model = tiny("ViT", image_size=(8, 16), patch_size=4)
    return capture(model, None, {"pixel_values": pixels})


def test_an_image_is_bright_where_a_patch_looks(pictured: AttentionRecord) -> None:
    axes = plot.head(pictured, 1, [2], query=6)
    weights = pictured.weights(1, 2)[6]
    assert numbers(axes).shape == (56, 112, 3)
    np.testing.assert_allclose(numbers(axes, 1), weights[1:].reshape(2, 4))
    # The attention of the patch to itself does not count.
    assert axes.images[1].get_clim() == (0, np.delete(weights[1:], 5).max())
    assert [patch.get_xy() for patch in axes.patches] == [(28, 28)]
    assert any(f"[CLS] {weights[0]:.3f}" in text for text in texts(axes))
    for lined in (
        plot.head(pictured, 1, [2], query=6, picture=False),
        plot.head(pictured, 1, query=6),
        plot.head(pictured, 1, [2]),
    ):
        assert lined.collections


def test_a_predicted_box_is_framed(pictured: AttentionRecord) -> None:
    stack = pictured.stack()
    boxes = ((0, (0.25, 0.5, 1.25, 0.75)), *[None] * 8)
    tokens = replace(stack.queries, boxes=boxes)
    found = AttentionRecord(
        {"self": replace(stack, queries=tokens, keys=tokens)}, images=pictured.images
    )
    axes = plot.head(found, 1, [2], query=0)
    [frame] = axes.patches
    assert frame.get_bbox().bounds == pytest.approx((28, 28, 112, 14))
    assert axes.get_xlim() == (0, 112)


def test_figures_have_matrices_of_heads_that_the_view_shows_on_the_image(
    pictured: AttentionRecord,
) -> None:
    on_image = axes_of(pictured, "model", view="model", thumbnails="image")
    matrices = axes_of(pictured, "model", view="model")
    np.testing.assert_array_equal(numbers(on_image), numbers(matrices))
    # As `picture`, it is no mistake where there is no image.
    without = AttentionRecord.from_arrays([some_weights()], labels())
    assert AttentionWidget(without, thumbnails="image").thumbnails == "image"
    with pytest.raises(TraitError, match="thumbnails"):
        AttentionWidget(pictured, thumbnails="picture")


def test_the_first_patch_of_an_image_and_its_key(pictured: AttentionRecord) -> None:
    def seen(**choices: Any) -> NDArray[Any]:
        return numbers(axes_of(pictured, "head", **choices), 1).ravel()

    weights = pictured.weights(1, 3)
    assert seen(layer=1, head=3) == pytest.approx(weights[0, 1:]), "[CLS] looks"
    assert seen(layer=1, head=3, key=4) == pytest.approx(weights[1:, 4])
    # Without [CLS], it is the patch in the middle.
    axes = axes_of(pictured, "head", layer=1, head=3, segments="content")
    middle = pictured.stack().queries.patches
    assert middle is not None
    at = middle.of.index(4 + 2)
    assert numbers(axes, 1).ravel() == pytest.approx(weights[at, 1:])
    [caption] = [text for text in texts(axes) if "attention weight from" in text]
    share = np.floor(1000 * weights[at, 1:].sum() / weights[at].sum()) / 10
    assert f"{share:g}% of it shown" in caption
    assert "[CLS]" not in caption
    both = pictured.weights(0, 0) + pictured.weights(0, 1)
    assert seen(query=0, combine="mean", heads=[0, 1]) == pytest.approx(both[0, 1:] / 2)
    # Within windows, a token without a patch is padding.
    stack, windows = pictured.stack(), ScoreProgram(scale=0.3, blocks=(3, 3))
    layers = tuple(replace(layer, program=windows) for layer in stack.layers)
    cut = AttentionRecord({"self": replace(stack, layers=layers)}, images=pictured.images)
    drawn = numbers(axes_of(cut, "head", heads=[0]), 1).ravel()
    assert drawn == pytest.approx(cut.weights(0, 0)[at, 1:])
    # With a causal mask, no token but the last sees the whole image.
    stack, causal = pictured.stack(), ScoreProgram(scale=0.3, mask="causal")
    layers = tuple(replace(layer, program=causal) for layer in stack.layers)
    text = AttentionRecord({"self": replace(stack, layers=layers)}, images=pictured.images)
    drawn = numbers(axes_of(text, "head", heads=[0]), 1).ravel()
    assert drawn == pytest.approx(text.weights(0, 0)[8, 1:])


def test_on_an_image_words_are_not_joined(pictured: AttentionRecord) -> None:
    queries = pictured.stack().queries
    assert queries.patches is not None
    count = len(queries)
    given = np.full((2, count + 2, count + 2), 1 / (count + 2))
    record = AttentionRecord.from_arrays([given], [*queries.labels, "un", "##do"])
    patches = replace(queries.patches, of=(*queries.patches.of, None, None))
    both = replace(
        record.stack().queries, words=(*range(count), count, count), patches=patches, special=(0,)
    )
    stack = replace(record.stack(), queries=both, keys=both)
    record = AttentionRecord({"self": stack}, images=pictured.images)
    for query in (None, count + 1):
        axes = axes_of(record, "head", heads=[0], words=True, query=query)
        assert len(numbers(axes, 1).ravel()) == len(patches.grids[0])


def on_crops(pictured: AttentionRecord) -> AttentionRecord:
    """[CLS], four patches of the whole image, and three of its padded left half; a word."""
    queries = pictured.stack().queries
    grids = Grid(2, 2, 0, name="whole"), Grid(2, 2, 0, (0.0, -1.0, 0.5, 1.0), "crop 1")
    patches = Patches(grids, (None, 0, 1, 2, 3, 4, 5, 6, None))
    tokens = replace(queries, patches=patches, special=(0,))
    stack = replace(pictured.stack(), queries=tokens, keys=tokens)
    return AttentionRecord({"self": stack}, images=pictured.images)


def test_of_several_grids_one_is_drawn(pictured: AttentionRecord) -> None:
    record = on_crops(pictured)
    weights = record.weights(1, 2)
    # A text's last token looks, and shades are as strong as the strongest on any grid.
    axes = axes_of(record, "head", layer=1, head=2)
    assert numbers(axes, 1).ravel() == pytest.approx(weights[8, 1:5])
    assert axes.images[1].get_clim() == (0, pytest.approx(weights[8, 1:8].max()))
    share = 100 * weights[8, 1:5].sum() / weights[8].sum()
    assert any(f"whole, {share:.1f}% of it" in text for text in texts(axes))
    axes = plot.head(record, 1, [2], query=6, grid=1)
    assert numbers(axes, 1).ravel() == pytest.approx([*weights[6, 5:8], 0])
    assert axes.images[1].get_clim() == (0, pytest.approx(np.delete(weights[6, 1:8], 5).max()))
    assert numbers(axes).shape == (112, 56, 3)
    assert (numbers(axes)[:56] == 128).all(), "the padding"
    assert (numbers(axes)[56:] != 128).any()
    assert [patch.get_xy() for patch in axes.patches] == [(28, 0)]
    assert numbers(axes_of(record, "head", layer=1, head=2, query=6, grid=1), 1)[0, 1] > 0
    with pytest.raises(IndexError, match="grid 2 does not exist: there are 2"):
        plot.head(record, 1, [2], query=6, grid=2)
    with pytest.raises(TraitError, match="grid 2 does not exist"):
        AttentionWidget(record, grid=2)


def test_words_are_drawn_by_what_they_look_at(pictured: AttentionRecord) -> None:
    stack = on_crops(pictured).stack()
    words = Tokens(tuple(f"word{n}" for n in range(9)))
    cross = replace(stack, queries=words)
    record = AttentionRecord({"cross": cross}, images=pictured.images)
    weights = record.weights(0, 1)
    drawn = axes_of(record, "head", head=1)
    assert numbers(drawn, 1).ravel() == pytest.approx(weights[8, 1:5])
    assert not drawn.patches
    assert axes_of(record, "head", head=1, key=3).collections, "words have no place"


def test_a_grid_of_patches() -> None:
    values = np.array([[0.0, 1.0], [np.nan, -0.5]])
    scores = GridScores(
        "restored", "The share that a patch restores", "mlp", "layer×position", ("0", "1"),
        ("The", "law_$yer"), values, values / 4, "permuted positions",
    )  # fmt: skip
    axes = plot.grid(scores)
    assert np.array_equal(np.ma.filled(numbers(axes), np.nan), values, equal_nan=True)
    assert ticks(axes.xaxis) == ["The", "law_$yer"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("position", "layer")
    caption = next(each for each in axes.texts if each.get_gid() == "caption")
    assert "95% of permuted positions lie from" in caption.get_text().replace("\n", " ")
    assert not plot.grid(scores, caption=False, ax=plt.figure().subplots()).texts
