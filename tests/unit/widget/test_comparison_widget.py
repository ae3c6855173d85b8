"""The widget of a comparison: both records on common axes, and their difference."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from ipywidgets import link
from matplotlib import figure, text
from traitlets import TraitError

import attnwidget as aw
from attnwidget.plot.head_plot import draw_head
from tests.unit.tiny import llama, token_ids

LABELS = ["the", "cat", "is", "too", "big"]
OTHERS = ["the", "cat", "is", "too", "small"]


def _record(
    labels: list[str], *, seed: int = 0, heads: tuple[int, ...] = (3, 2)
) -> aw.AttentionRecord:
    generator = np.random.default_rng(seed)
    size = len(labels)
    weights = [generator.dirichlet(np.ones(size), (n, size)).astype(np.float32) for n in heads]
    return aw.AttentionRecord.from_arrays(weights, labels)


@pytest.fixture(scope="module")
def comparison() -> aw.Comparison:
    return aw.compare(_record(LABELS), _record(OTHERS, seed=1))


def test_records_on_common_axes_have_the_compared_weights() -> None:
    """One token has no partner, two are compared as one, and layers are paired the other way."""
    a = _record(["the", "big", "old", "cat", "is", "here"], heads=(3, 3))
    b = _record(["the", "small", "cat", "is"], seed=1, heads=(3, 3))
    found = aw.compare(a, b, layers={0: 1, 1: 0})
    own, other = found.records
    assert own.tokens() == other.tokens()
    assert own.tokens()[1] == ["the", "big old | small", "cat", "is"]
    for layer in range(2):
        for head in range(3):
            weights = found.weights(layer, head)
            assert (own.weights(layer, head) == weights[0]).all()
            assert (other.weights(layer, head) == weights[1]).all()


def test_heads_of_several_layers_have_the_largest_error_of_these() -> None:
    stack = _record(LABELS, heads=(1, 1)).stack()
    layers = [
        replace(layer, fidelity=replace(layer.fidelity, weights_error=error, tolerance=1.0))
        for layer, error in zip(stack.layers, (0.0, 0.25), strict=True)
    ]
    b = aw.AttentionRecord({"self": replace(stack, layers=tuple(layers))})
    matches = [SimpleNamespace(a=(0, head), b=(head, 0)) for head in range(2)]
    found = aw.compare(_record(LABELS, heads=(2,)), b, heads=matches)
    [fidelity] = found.records[1].fidelity["self"]
    assert fidelity.weights_error == 0.25


def test_a_layer_with_some_partners_cannot_be_shown() -> None:
    a, b = _record(LABELS), _record(OTHERS)

    class Match:
        a, b = (0, 1), (0, 2)

    with pytest.raises(ValueError, match="1 of the 3 heads of layer 0 have a partner"):
        aw.show(aw.compare(a, b, heads=[Match()]))


def test_it_opens_with_the_difference(comparison: aw.Comparison) -> None:
    widget = aw.show(comparison, layer=1)
    assert widget.comparison is comparison
    assert (widget.compared, widget.color, widget.stack, widget.layer) == (
        "difference",
        "moved",
        "self",
        1,
    )
    sent = widget._manifest["compared"]
    assert sent["names"] == [["the cat is too", "big"], ["the cat is too", "small"]]
    assert sent["remark"] == "1 of 5 tokens differs"
    [peaks] = [each["peaks"] for each in sent["stacks"]]
    for layer, heads in enumerate(peaks):
        for head, peak in enumerate(heads):
            largest = np.abs(comparison.difference(layer, head)).max()
            assert 0 <= peak - largest <= 1.1e-5


def test_it_opens_at_the_head_whose_attention_moves_most(comparison: aw.Comparison) -> None:
    heads = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    moved = {head: np.abs(comparison.difference(*head)).sum(axis=1).mean() for head in heads}
    widget = aw.show(comparison)
    assert (widget.layer, widget.head) == max(moved, key=moved.__getitem__) != (0, 0)
    for named in ({"layer": 0}, {"head": 0}):
        widget = aw.show(comparison, **named)
        assert (widget.layer, widget.head) == (0, 0)


def test_words_that_differ_are_marked_in_a_long_text() -> None:
    labels = [f"w{n}" for n in range(100)]
    a, b = (_record([*labels[:50], word, *labels[51:]], heads=(1,)) for word in ("big", "small"))
    names = aw.show(aw.compare(a, b))._manifest["compared"]["names"]
    before, after = " ".join(["…", *labels[45:50]]), " ".join([*labels[51:85], "…"])
    assert names == [[before, "big", after], [before, "small", after]]


@pytest.mark.parametrize(
    ("options", "names", "title"),
    [
        ({"layers": "depth"}, ["0-0", "A 1-0 ↔ B 3-0"], "Layer A 1 ↔ B 3 · Head 0"),
        ({"heads": [(3, 1), (2, 1)]}, ["A 1-0 ↔ B 3-1"], "Layer 1 · Head A 0 ↔ B 3-1"),
        ({"heads": [(1, 1), (1, 0)]}, ["A 1-0 ↔ B 1-1"], "Layer 1 · Head A 0 ↔ B 1"),
    ],
)
def test_heads_of_other_numbers_stand_beside_each_other(
    options: dict[str, Any], names: list[str], title: str
) -> None:
    a, b = _record(LABELS, heads=(2, 2)), _record(LABELS, seed=1, heads=(2, 2, 2, 2))
    if "heads" in options:
        pairs = zip([(1, 0), (1, 1)], options["heads"], strict=True)
        options = {"heads": [SimpleNamespace(a=own, b=other) for own, other in pairs]}
    b.model = "another"
    widget = aw.show(aw.compare(a, b, **options), layer=1)
    remark = widget._manifest["compared"]["remark"]
    assert remark == "none of 5 tokens differ; heads of two trainings need not correspond"
    for compared in ("a", "b", "difference"):
        widget.compared = compared
        shown = widget._plotted()
        assert shown.heads.names[::2] == names
        assert shown.attention.title(0).removesuffix(" · B − A") == title


def test_thumbnails_of_the_difference_have_its_sign_and_shade(comparison: aw.Comparison) -> None:
    size = (len(LABELS) ** 2 + 1) // 2
    packed = np.frombuffer(aw.show(comparison)._overview, np.uint8)[-5 * size :].reshape(5, size)
    levels = np.stack([packed >> 4, packed & 15], axis=2).reshape(5, -1)[:, : len(LABELS) ** 2]
    for cells, head in zip(levels, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)], strict=True):
        difference = comparison.difference(*head).ravel()
        shade = np.sqrt(np.abs(difference) / np.abs(difference).max())
        assert (cells.astype(int) - 8 == np.round(np.sign(difference) * shade * 7)).all()


def test_what_is_shown_follows_a_link_and_python(comparison: aw.Comparison) -> None:
    one, other = aw.show(comparison, layer=0), aw.show(comparison, compared="a", layer=0)
    link((one, "compared"), (other, "compared"))
    one.compared = "b"
    assert other.compared == "b"
    assert (other.selection.weights == comparison.b.weights(0, 0)).all()
    one.compared = "a"
    assert (other.selection.weights == comparison.a.weights(0, 0)).all()
    one.compared = "difference"
    with pytest.raises(ValueError, match=r"comparison\.difference"):
        _ = other.selection


def test_metrics_stand_beside_those_of_the_comparison(comparison: aw.Comparison) -> None:
    scores = [[1.0, 2.0, 3.0], [4.0, 5.0]]
    widget = aw.show(comparison, metrics={"mine": {"self": scores, "self of B": scores}})
    assert [metric["name"] for metric in widget._metrics] == [*comparison.metrics(), "mine"]
    with pytest.raises(TypeError, match="head_names is list; expected a dict of words by"):
        aw.show(comparison, head_names=["x"])


def test_thumbnails_are_of_all_queries_of_a_long_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest difference is in a row that a sample would not have."""
    monkeypatch.setattr("attnwidget.analysis.thumbnails._BATCH_NUMBERS", 700)
    monkeypatch.setattr("attnwidget.analysis.head_summaries._ALL_ROWS", 0)
    monkeypatch.setattr("attnwidget.analysis.head_summaries._SAMPLED_ROWS", (2, 2))
    weights = np.full((1, 1, 300, 300), 1 / 300, np.float32)
    other = weights.copy()
    other[..., 151, :] = np.eye(300, dtype=np.float32)[0]
    labels = ["x"] * 300
    a, b = (aw.AttentionRecord.from_arrays(list(each), labels) for each in (weights, other))
    [stack] = aw.show(aw.compare(a, b))._manifest["compared"]["stacks"]
    assert stack["peaks"] == [[pytest.approx(1 - 1 / 300, abs=1.1e-5)]]


def test_a_comparison_of_translations_names_them() -> None:
    source = ["the", "cat", "sleeps"]

    def translated(target: list[str]) -> aw.AttentionRecord:
        cross = np.full((1, 1, len(target), len(source)), 1 / len(source), np.float32)
        own = aw.AttentionRecord.from_arrays(np.eye(len(source))[None, None], source)
        read = aw.AttentionRecord.from_arrays(cross, target, key_tokens=source)
        return aw.AttentionRecord({"encoder": own.stack(), "cross": read.stack()})

    a, b = translated(["le", "chat", "dort"]), translated(["le", "chien", "dort", "bien"])
    sent = aw.show(aw.compare(a, b))._manifest["compared"]
    assert sent["names"] == [["le", "chat", "dort"], ["le", "chien", "dort", "bien"]]
    assert sent["remark"] == (
        "keys: none of 3 tokens differ; queries: 1 of 3 tokens differs; 1 token only in B, left out"
    )
    same = aw.show(aw.compare(a, a))._manifest["compared"]
    assert same["names"][0] == ["the cat sleeps → le chat dort, first record"]


def test_layers_of_both_records_are_saved_together(comparison: aw.Comparison) -> None:
    assert list(aw.show(comparison).embed(layers=[1])._blocks) == ["self.1", "self of B.1"]
    whole = aw.show(comparison, layer=1).embed(quality="draft")
    assert list(whole._blocks) == ["self.1", "self of B.1", "self.0", "self of B.0"]
    assert len(aw.show(comparison).static(layers=[0]).html) > 0


def test_a_single_record_has_no_difference() -> None:
    widget = aw.show(_record(LABELS))
    with pytest.raises(TraitError, match="there is one record"):
        widget.compared = "b"
    assert widget.compared == "a"


def test_the_stacks_of_b_are_not_chosen(comparison: aw.Comparison) -> None:
    with pytest.raises(TraitError, match=r"no stack 'self of B'; this record has self$"):
        aw.show(comparison).stack = "self of B"


def test_identical_records_have_no_difference_to_draw(tmp_path: Path) -> None:
    record = _record(LABELS)
    widget = aw.show(aw.compare(record, record), query=1)
    [stack] = widget._manifest["compared"]["stacks"]
    assert not np.any(np.concatenate(stack["peaks"]))
    widget.save_figure(tmp_path / "same.svg")


def test_figures_of_the_head_view_alone(comparison: aw.Comparison, tmp_path: Path) -> None:
    widget = aw.show(comparison)
    for choices in ({}, {"query": 1}, {"combine": "mean"}, {"combine": "layers_mean"}):
        aw.show(comparison, **choices).save_figure(tmp_path / "figure.svg")
    widget.view = "model"
    with pytest.raises(ValueError, match="drawn in the browser alone"):
        widget.save_figure(tmp_path / "model.svg")
    widget.compared = "b"
    widget.save_figure(tmp_path / "model.svg")
    with pytest.raises(ValueError, match="not of maxima"):
        aw.show(comparison, combine="max").save_figure(tmp_path / "max.svg")


def test_figures_of_scores_are_blank_where_a_key_is_masked(tmp_path: Path) -> None:
    a, b = (aw.capture(llama(), None, {"input_ids": token_ids(5, seed=n)}) for n in range(2))
    widget = aw.show(aw.compare(a, b), lens="scores", query=3)
    found = widget._plotted().attention.numbers(1)
    visible = np.tri(5, dtype=bool)
    assert np.array_equal(found[visible], b.scores(0, 1)[visible] - a.scores(0, 1)[visible])
    assert not found[~visible].any()
    widget.save_figure(tmp_path / "figure.svg")
    widget.combine = "mean"
    widget.save_figure(tmp_path / "figure.svg")


def test_words_for_heads_are_of_both_records(comparison: aw.Comparison) -> None:
    words = aw.show(comparison, head_names={(1, 0): "finds cats"})._manifest["patterns"]["words"]
    assert words["self"][1][0] == words["self of B"][1][0] == "finds cats"


def test_arcs_are_drawn_in_both_records_and_not_counted_in_the_difference(
    comparison: aw.Comparison,
) -> None:
    widget = aw.show(comparison, arcs=[aw.Arc(1, 2, "obj")])
    for compared, counted in (("a", True), ("b", True), ("difference", False)):
        widget.compared = compared
        axes, shown = figure.Figure(figsize=(5, 5)).add_subplot(), widget._plotted()
        draw_head(axes, shown.attention, shown.stack_arcs)
        texts = [each.get_text() for each in axes.findobj(text.Text)]
        assert "obj" in texts
        assert ("1 of 1 links found" in texts) == counted or "1 of 1 links" in texts


def test_the_words_beside_it_name_no_stack_where_there_is_no_choice(
    comparison: aw.Comparison,
) -> None:
    data, _ = aw.show(comparison, layer=0)._repr_mimebundle_()
    assert ": head view, layer 0, head 0." in data["text/plain"]
