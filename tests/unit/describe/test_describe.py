"""aw.describe: what is there and what stands out, in at most 60 lines"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.analysis import HeadScores, running_text, text_shares
from attnwidget.record import Layer, Piece, Replay, ScoreProgram, Stack, Tokens, Written
from tests.unit.analysis.test_running_text import _stack
from tests.unit.records import FIDELITY, layer_of, program
from tests.unit.signed import kept, linear, with_both

LABELS = ("[CLS]", "a", "dog", "ran", "home", "it", "[SEP]")


def planted(model: str = "planted") -> aw.AttentionRecord:
    """Two heads: one that rests on [CLS], and one with a link from "it" to "dog"."""
    weights = np.full((1, 2, 7, 7), 0.02, np.float32)
    weights[0, 0, :, 0] = 0.88
    weights[0, 1, :, 6] = 0.88
    weights[0, 1, 5] = [0.02, 0.02, 0.88, 0.02, 0.02, 0.02, 0.02]
    return aw.AttentionRecord.from_arrays(weights, LABELS, model=model)


def with_special(record: aw.AttentionRecord) -> aw.AttentionRecord:
    tokens = Tokens(LABELS, special=(0, 6))
    return record.with_stacks({"self": Stack(tokens, tokens, record.stack().layers)})


def line(text: str, start: str) -> str:
    """The entry that begins so, with its further lines."""
    found = [each for each in text.replace("\n    ", " ").splitlines() if each.startswith(start)]
    assert len(found) == 1, text
    return found[0]


def test_what_stands_out_in_a_record() -> None:
    record = with_special(planted())
    text = aw.describe(record)
    assert text.startswith("Record of planted: 1 stack (self), 1 layer, 2 heads.")
    assert text == aw.describe(record)
    assert " 5 it ·" in line(text, "Tokens:")
    assert "it (5) → dog (2) 0.88 in 0-1" in line(
        text, "Strongest weights of a head (not to sinks or the query itself):"
    )
    assert (
        line(text, "Strongest weights, mean of all heads")
        .split(": ")[1]
        .startswith("it (5) → dog (2) 0.450")
    )
    # Six of seven rows of head 0-1 rest on [SEP].
    assert "[SEP] (6) 0.39" in line(text, "Sinks by their place")
    words = line(text, "Heads by word")
    assert "rests on the first token: 1 of 2" in words
    assert "rests on special tokens: 1 of 2" in words
    assert "0-0 0.88 (even 0.14)" in words


def test_numbers_of_layers_without_a_softmax() -> None:
    record = with_both()
    text = aw.describe(record)
    section = text.split("\n\n")[2]
    assert section.startswith("Stack linear: 3 layers, 0 to 2;")
    assert "by signed coefficients, without a softmax." in section
    numbers = np.stack([[record.coefficients(n, h, "linear") for h in range(4)] for n in range(3)])
    below = -np.minimum(numbers, 0).sum(axis=-1) / np.abs(numbers).sum(axis=-1)
    means = line(section, "Mean of all heads")
    assert f"negative share {below.mean():.2f}" in means
    assert f"sum of a row {numbers.sum(axis=-1).mean():.2f}" in means
    assert "Strongest coefficients of a head" in section


def test_many_stacks_stay_within_60_lines() -> None:
    stack = with_special(planted()).stack()
    record = aw.AttentionRecord({f"tower {n}": stack for n in range(12)}, missing=["m: why"] * 9)
    lines = aw.describe(record).splitlines()
    assert len(lines) <= 60
    assert sum(each.startswith("Stack tower") for each in lines) == 12
    assert lines[-1].startswith("Left out to stay within 60 lines:")
    assert "    … 4 more" in lines


def test_labels_and_reasons_cannot_add_lines() -> None:
    tokens = Tokens(("a\nStack b: 9 layers", "\x1b[31m", "c"))
    layer = aw.AttentionRecord.from_arrays(np.full((1, 1, 3, 3), 1 / 3), ["a", "b", "c"]).layer(0)
    record = aw.AttentionRecord({"self": Stack(tokens, tokens, (layer,))}, model="m\nMissing: x")
    text = aw.describe(record)
    assert "\x1b" not in text
    assert sum(each.startswith("Stack") for each in text.splitlines()) == 1


def test_many_tokens_are_sampled() -> None:
    count = 3000
    layer = layer_of(program(mask="causal"))
    queries = np.zeros((4, count, 8), np.float32)
    long = type(layer)(queries, queries[:2], layer.program, None, FIDELITY, 0)
    tokens = Tokens(tuple(map(str, range(count))))
    text = aw.describe(aw.AttentionRecord({"self": Stack(tokens, tokens, (long,))}))
    assert "Numbers are of 1398 evenly spread queries of 3,000." in text


def test_a_comparison() -> None:
    other = planted()
    weights = np.stack([other.weights(0, head) for head in range(2)])
    weights[1, 5] = [0.88, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02]
    labels = [*LABELS[:2], "cat", *LABELS[3:]]
    b = aw.AttentionRecord.from_arrays(weights[None], labels, model="other")
    text = aw.describe(aw.compare(planted(), b))
    assert text.startswith("Comparison of A, planted, with B, other; B − A.")
    assert line(text, "Stack self").endswith("1 of them different: dog | cat")
    assert (
        line(text, "Share of attention that lies elsewhere")
        .split(": ")[1]
        .startswith("0-1 0.12 (null ")
    )
    assert "it → dog | cat 0.88 to 0.02 (-0.86)" in line(text, "Links of 0-1")


def test_a_profile_with_its_nulls(tmp_path: Path) -> None:
    model, tokenizer = aw.default_model()
    texts = ["The dog was tired because it ran.", "A bird sang in the old tree.", "Hello, world."]
    profile = aw.profile(model, tokenizer, texts, null="position")
    text = aw.describe(profile)
    assert len(text.splitlines()) <= 60
    assert text.startswith("Profile of all-MiniLM-L6-v2 over 3 texts, beside position; seed 0.")
    first = profile.values("first").mean
    layer, head = np.unravel_index(first.argmax(), first.shape)
    null = profile.null_values("first").mean
    said = line(text, "Each number")
    assert (
        f"first (share on first token): {first.mean():.2f}; {layer}-{head} {first.max():.2f}"
    ) in said
    assert f"position {null.mean():.2f}, {null[layer, head]:.2f} at {layer}-{head}" in said
    words = [pattern.words for each in profile.patterns() for pattern in each]
    count = words.count("rests on the first token")
    assert f"rests on the first token: {count} of 72" in line(text, "Heads by word")
    assert "share on first token ." in text
    file = tmp_path / "profile.safetensors"
    profile.save(file)
    assert aw.describe(file) == text


def test_a_path_and_what_has_no_words(tmp_path: Path) -> None:
    file = tmp_path / "record.safetensors"
    planted().save(file)
    assert aw.describe(str(file)) == aw.describe(planted())
    file.write_text("<!doctype html>")
    with pytest.raises(ValueError, match="expected a record or a profile"):
        aw.describe(file)
    with pytest.raises(TypeError, match="int cannot be described: describe takes a record"):
        aw.describe(3)


@pytest.fixture
def widget() -> aw.AttentionWidget:
    return aw.AttentionWidget(with_special(planted()))


def shown(widget: aw.AttentionWidget, **choices: Any) -> str:
    for name, value in choices.items():
        setattr(widget, name, value)
    return widget.describe()


def test_what_a_view_shows(widget: aw.AttentionWidget) -> None:
    text = shown(widget, head=1)
    assert text.startswith("head view of planted; stack self; layer 0, head 1; 7 x 7 tokens.")
    assert (
        "Layer 0 · Head 1, attention weight, highest without sinks: it (5) → dog (2) 0.880" in text
    )
    text = shown(widget, query=5)
    assert "Locked: query it (5)." in text
    assert "Layer 0 · Head 0, attention weight: it (5) → [CLS] (0) 0.880" in text
    text = shown(widget, key=2, heads=[1])
    assert "Layer 0 · Head 1, attention weight: it (5) → dog (2) 0.880" in text
    assert "Head 0," not in text
    assert aw.describe(widget) == text


def test_links_of_a_view_are_not_to_the_template_of_a_chat() -> None:
    tokens = Tokens(LABELS, pieces=(Piece(0, 3, "user", 0, True), Piece(3, 7, "user", 0, False)))
    record = planted().with_stacks({"self": Stack(tokens, tokens, planted().stack().layers)})
    text = aw.AttentionWidget(record, view="head", head=1).describe()
    links = line(text, "Layer 0 · Head 1, attention weight, highest without sinks:")
    assert "ran (3) → [SEP] (6) 0.880" in links
    assert "dog (2)" not in links.replace("dog (2) →", "")


def test_the_heads_of_the_model_view_and_the_map(widget: aw.AttentionWidget) -> None:
    text = shown(widget, view="model", sort="first")
    assert "2 heads, by word: rests on the first token: 1; rests on special tokens: 1" in text
    assert "share on first token, mean 0.450, highest: 0-0 0.880" in text
    assert "distance in tokens" in shown(widget, view="map")


def test_scores_are_highest_by_value_and_several_tokens_have_sums() -> None:
    queries, keys = np.full((2, 3, 1), 2, np.float32), np.float32([[[-9], [1], [3]]] * 2)
    layer = Layer(queries, keys, ScoreProgram(1.0), None, FIDELITY)
    tokens = Tokens(("a", "b", "c"))
    record = planted().with_stacks({"self": Stack(tokens, tokens, (layer,))})
    widget = aw.AttentionWidget(record, view="head", lens="scores")
    assert "highest without sinks: a (0) → c (2) 6.0" in widget.describe()
    widget.lens, widget.query, widget.also = "attention", 0, [1]
    assert "attention weight, sums: a (0), b (1) → c (2) 1.9" in widget.describe()


def test_a_difference_has_numbers_of_b_less_a() -> None:
    a = planted()
    layer = a.layer(0)
    assert layer.weights is not None
    tokens = a.stack().queries
    swapped = replace(layer, weights=layer.weights[::-1].copy())
    comparison = aw.compare(a, a.with_stacks({"self": Stack(tokens, tokens, (swapped,))}))
    text = aw.show(comparison, view="map", compared="difference", map_x="distance").describe()
    assert "2 heads, by word of A:" in text
    first, other = aw.analysis.metrics(a)["distance"]
    said = line(text, "distance, B − A in tokens, mean").replace("−", "-")
    assert f"0-0 {other - first:.1f}; 0-1 {first - other:.1f}" in said
    # Numbers of the comparison are not subtracted.
    moved = comparison.table()["moved"].mean()
    text = aw.show(comparison, view="model", compared="difference").describe()
    assert f"moved, mean {moved:.3f}" in text


def test_words_beside_the_widget(widget: aw.AttentionWidget, tmp_path: Path) -> None:
    widget.head = 1
    data, metadata = widget._repr_mimebundle_()
    assert "it (5) → dog (2) 0.880" in data["text/plain"]
    assert metadata["image/png"]["alt"].count("it (5) → dog (2) 0.880") == 1
    pytest.importorskip("matplotlib")
    widget.save_figure(tmp_path / "a.svg")
    assert "<desc>Attention of planted" in (tmp_path / "a.svg").read_text("utf-8")
    widget.save_figure(tmp_path / "a.png")
    assert b"it (5)" in (tmp_path / "a.png").read_bytes()


def test_the_one_map_of_all_channels_is_no_head() -> None:
    stack = linear(kept(np.tril(np.full((1, 5, 5), 0.2, np.float32))))
    record = aw.AttentionRecord({"linear": stack}, model="planted")
    text = shown(aw.AttentionWidget(record))
    assert "layer 0, all channels; 5 x 5 tokens." in text
    assert "Layer 0 · All channels" in text
    assert "All channels of layer 0: distance" in text
    assert "Head 0" not in text


def test_a_grid_of_scores() -> None:
    values = np.array([[0.1, -0.9, np.nan], [0.2, 0.3, 0.4]])
    null = np.array([[0, 0.02, 0], [0.01, 0, 0]])
    names = ("restored", "The share that a patch restores", "mlp", "layer×position")
    axes = (("3", "7"), ("The", "dog", "ran"))
    missing = ("layer 3: no outputs",)
    grid = aw.analysis.GridScores(
        *names, *axes, values, null, "permuted positions", "a text", missing=missing
    )
    text = aw.describe(grid)
    assert text == aw.describe(grid)
    assert text.startswith("Grid: restored at mlp, layers from top to bottom, positions from left")
    assert "2 × 3 cells; beside permuted positions." in text
    assert "    layer 3: no outputs" in text
    # The number of each cell, in the order of magnitudes, each beside its null.
    cells = line(text, "Largest of 5 cells").split("): ", 1)[1].split("; ")
    order = [(0, 1), (1, 2), (1, 1), (1, 0), (0, 0)]
    for said, (row, column) in zip(cells, order, strict=True):
        place = f"layer {axes[0][row]}, position {column} {axes[1][column]}"
        assert said == f"{place} {values[row, column]:.3f} (null {null[row, column]:.3f})"
    assert line(text, "Mean over positions, largest layers: ").endswith(
        " 3 -0.400 (null 0.007); 7 0.300 (null 0.003)"
    )
    assert line(text, "Mean over layers, largest positions: ").endswith(
        " 2 ran 0.400 (null 0.000); 1 dog -0.300 (null 0.010); 0 The 0.150 (null 0.005)"
    )
    by_layer = aw.analysis.GridScores(*names[:3], "layer", ("0", "1"), ("",), values[:, :1])
    text = aw.describe(by_layer)
    assert "no null" in text
    assert "Mean over" not in text
    many = np.arange(4000.0).reshape(40, 100)
    numbers = tuple(map(str, range(100)))
    text = aw.describe(aw.analysis.GridScores(*names, numbers[:40], numbers, many))
    assert len(text.splitlines()) <= 60
    assert "layer 39, position 99 3999.000" in text


def test_the_scores_of_heads() -> None:
    numbers = {"self": {0: np.array([0.5, -2.0]), 1: np.array([0.1, 0.3])}}
    null = {"self": {0: np.array([0.4, 0.6]), 1: np.array([0.2, 0.25])}}
    scores = HeadScores("moved", "How far.", numbers, null=null, null_label="chance")
    words = aw.describe(scores)
    assert "4 heads, 1 above and 2 below 95% of the null of their layer" in words
    assert words.index("0-1") < words.index("0-0") < words.index("1-1") < words.index("1-0")
    assert "0-0 0.500 (0.405 to 0.595)" in words


def test_an_answer() -> None:
    stack = _stack(answer=8)
    written = tuple(Written("Cat", "Cat", p, (("Cat", p),)) for p in (0.25, *[0.5] * 8))
    stacks = {"self": stack}
    record = aw.AttentionRecord(stacks, model="planted", replay=Replay(0, 1e-4, written=written))
    answer = aw.answer(record)
    text = aw.describe(answer)
    assert text == aw.describe(answer)
    assert text.startswith("Answer of planted, 9 tokens, to a prompt of 2 sentences; attention of")
    assert "Generated, 9 tokens: “CatCatCat" in text
    assert "Cat (number 0) 0.25" in line(text, "Its tokens of the lowest probability")
    # From the arrays: the rows that wrote the answer, on the keys of each sentence.
    running = running_text(stack)
    assert running is not None
    sinks = {key for sink in text_shares(stack, running).sinks for key in sink.keys}
    rows = np.concatenate([layer.weights for layer in stack.layers])[:, running.rows].mean((0, 1))
    counted = [at for at in range(running.prompt) if at not in sinks]
    for at, (start, end) in enumerate(running.sentences):
        own = [key for key in counted if start <= key < end]
        share, even = rows[own].sum() / rows[counted].sum(), len(own) / len(counted)
        said = f"    sentence {at + 1} “{answer.parts[at]}” {share:.3f} (even {even:.3f})"
        assert said in text.splitlines()
    named = aw.answer(record, segments=[(*running.sentences[0], "first")])
    assert "    segment 1 first “" in aw.describe(named)


def test_a_grid() -> None:
    values = np.zeros((1, 7))
    values[0, [2, 5]] = 0.25, -0.75
    names = ("restored", "The share that a patch restores", "mlp", "layer×position", ("0",), LABELS)
    null = np.full((1, 7), 0.01)
    grid = aw.analysis.GridScores(*names, values, null, "permuted positions", "a text")
    text = aw.show(grid, with_special(planted())).describe()
    assert "The share that a patch restores; of a text." in text
    assert line(text, "Largest of 7 cells").startswith(
        "Largest of 7 cells (95% of permuted positions: 0.010 to 0.010): "
        "layer 0, position 5 it -0.750 (null 0.010); layer 0, position 2 dog 0.250 (null 0.010);"
    )
    assert "attention weight" not in text
