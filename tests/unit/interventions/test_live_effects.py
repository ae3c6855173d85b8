"""Replies of the kernel to a view that switches heads off."""

import gc
import json
import re
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget import AttentionRecord
from attnwidget.analysis import LENSES, Lens, own_lenses
from attnwidget.capture import captured_pass
from attnwidget.interventions.effect import Effect, Predicts
from attnwidget.interventions.off import Off
from attnwidget.interventions.rerun import Rerun
from attnwidget.running.inputs import prepare
from attnwidget.widget import StaticView
from attnwidget.wire import Replies, encode_block, encode_overview
from benchmarks import zoo
from tests.support import PATIENCE_SECONDS
from tests.unit.records import PROGRAMS, layer_of, record_of
from tests.unit.tiny import Model, bert, gpt2, llama, tiny, token_ids

INPUTS = {"input_ids": token_ids(7)}


class Conversation:
    """A kernel's replies to one view."""

    def __init__(
        self, record: AttentionRecord, rerun: Rerun | None = None, lenses: Sequence[Lens] = LENSES
    ) -> None:
        self._arrived = threading.Condition()
        self._by_id: dict[str, Any] = {}
        self.buffers: dict[str, list[bytes]] = {}
        self._record = record
        self.replies = Replies(self._receive, lenses)
        if rerun is not None:
            self.replies.measure_with(rerun)

    def _receive(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        with self._arrived:
            assert content["id"] not in self._by_id
            self._by_id[content["id"]] = json.loads(json.dumps(content, allow_nan=False))
            self.buffers[content["id"]] = buffers
            self._arrived.notify_all()

    def send(self, **request: Any) -> None:
        self.replies.to(self._record, request)

    def ask(self, id_: str, *heads: Sequence[int], query: int | None = None, cut: Any = ()) -> None:
        off = {"heads": [list(head) for head in heads], "cut": list(cut)}
        self.send(id=id_, op="effect", stack="self", query=query, **off)

    def reply(self, id_: str) -> Any:
        """The one reply to a request, as soon as it is there."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: id_ in self._by_id, PATIENCE_SECONDS)
        return self._by_id[id_]


def shown(model: Model, **inputs: Any) -> Conversation:
    rerun = Rerun(model, None, prepare(model, None, {**INPUTS, **inputs}, None, None, 0))
    return Conversation(aw.capture(model, None, INPUTS), rerun)


def test_the_next_token() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    view = shown(model)
    view.ask("a", (1, 3), (0, 2))
    effect = view.reply("a")["effect"]
    expected = aw.ablate(model, None, INPUTS, heads=[(0, 2), (1, 3)], record=False)
    most = int(expected.divergence.argmax())
    assert most != 6
    assert (effect["predicts"], effect["position"], effect["positions"]) == ("next", most, 7)
    assert effect["divergence"] == pytest.approx(expected.divergence.max())
    assert effect["mean"] == pytest.approx(expected.divergence.mean())
    changes = expected.changes(most, count=8)
    assert [tuple(change.values()) for change in effect["changes"]] == changes
    view.ask("b", (1, 3), (0, 2), query=4)
    effect = view.reply("b")["effect"]
    assert (effect["position"], effect["label"]) == (4, "4")
    assert effect["divergence"] == pytest.approx(expected.divergence[4])


def test_other_heads_of_the_layer_beside_one() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    view = shown(model)

    def others(id_: str, heads: Any, cut: Any = ()) -> list[float]:
        view.send(id=id_, op="others", stack="self", heads=heads, cut=list(cut))
        found: list[float] = view.reply(id_)["others"]
        return found

    def mean(*heads: tuple[int, int]) -> float:
        effect = aw.ablate(model, None, INPUTS, heads=heads, record=False)
        return float(effect.divergence.mean())

    rest = [mean((1, head)) for head in (0, 1, 3)]
    assert sorted(others("a", [[1, 2]])) == pytest.approx(sorted(rest))
    pairs = [mean((0, a), (1, b)) for a in (1, 2, 3) for b in (0, 1, 3)]
    found = others("b", [[0, 0], [1, 2]])
    assert len(found) == 6
    assert all(min(abs(each - pair) for pair in pairs) < 1e-6 for each in found)
    assert others("c", [[1, 0], [1, 1], [1, 2]]) == []
    assert others("d", [[1, 2]], [[[5], [2], None, None]]) == []


def test_the_masked_token_that_changes_most() -> None:
    model = tiny("BertForMaskedLM")
    view = shown(model)
    view.ask("a", (0, 1))
    effect = view.reply("a")["effect"]
    expected = aw.ablate(model, None, INPUTS, heads=[(0, 1)], record=False)
    assert effect["predicts"] == "token"
    assert effect["position"] == expected.divergence.argmax()


def test_classes() -> None:
    view = shown(tiny("BertForSequenceClassification", id2label={0: "bad", 1: "good"}))
    view.ask("a", (0, 1))
    effect = view.reply("a")["effect"]
    assert (effect["predicts"], effect["positions"]) == ("class", 1)
    assert {change["label"] for change in effect["changes"]} == {"bad", "good"}


def test_hidden_states_of_a_bare_encoder() -> None:
    model = bert()
    view = shown(model)
    view.ask("a", (0, 1))
    effect = view.reply("a")["effect"]
    expected = aw.ablate(model, None, INPUTS, heads=[(0, 1)], record=False).moved
    assert effect["predicts"] is None
    assert [each["position"] for each in effect["moved"]] == list(range(7))
    assert [each["moved"] for each in effect["moved"]] == pytest.approx(expected)
    assert effect["mean"] == pytest.approx(expected.mean())


def test_the_attention_without_heads() -> None:
    model = llama()
    record = aw.capture(model, None, INPUTS)
    rerun = Rerun(model, None, prepare(model, None, INPUTS, None, None, 0))
    ones = [np.ones(layer.shape) for layer in record.stack().layers]
    lenses = (*LENSES, *own_lenses(record, {"mine": ones}, LENSES))
    view = Conversation(record, rerun, lenses)
    off = {"stack": "self", "heads": [[0, 1], [0, 3]]}
    block = {"op": "block", "stack": "self", "layer": 1, "without": off}
    view.send(id="early", **block)
    assert "has been switched off since" in view.reply("early")["error"]
    view.send(id="a", op="changed", **off)
    # A request for the effect of the same heads drops none for their attention.
    view.ask("b", (0, 1), (0, 3))
    effect = aw.ablate(model, None, INPUTS, heads=[(0, 1), (0, 3)])
    assert effect.record is not None
    _, after = effect.record
    manifest, overview = encode_overview(after, lenses=lenses)
    [reason] = manifest["lenses"][-1]["why_not"]["self"]
    assert reason["brief"] == "of the whole model", "the menu still has the user's own"
    assert view.reply("a")["manifest"] == json.loads(json.dumps(manifest))
    assert view.buffers["a"] == [overview]
    assert "effect" in view.reply("b")
    view.send(id="c", **block)
    assert view.reply("c")["parts"]
    assert view.buffers["c"] == encode_block(after.layer(1)).buffers
    view.send(id="d", **(block | {"without": {"stack": "self", "heads": [[0, 2]]}}))
    assert "has been switched off since" in view.reply("d")["error"]


def test_links_that_are_cut() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    view = shown(model)
    cut, off = aw.KnockOut([4, 5], [1, 2], layers=1, heads=[0, 3]), aw.Ablate(0, 2)
    link = [[4, 5], [1, 2], [1], [0, 3]]
    with aw.intervene(model, cut), torch.no_grad():
        expected = model(**INPUTS).logits[0, 5].softmax(-1)
    view.ask("cut", query=5, cut=[link])
    effect = view.reply("cut")["effect"]
    changes = {int(each["label"]): each["after"] for each in effect["changes"]}
    assert changes == pytest.approx({n: float(expected[n]) for n in changes}, abs=1e-6)
    # Together with a head of a layer below, in the attention that the views show.
    view.send(id="changed", op="changed", stack="self", heads=[[0, 2]], cut=[link])
    assert "manifest" in view.reply("changed")
    with aw.intervene(model, off, cut):
        layer = aw.capture(model, None, INPUTS).layer(1)
    without = {"stack": "self", "heads": [[0, 2]], "cut": [link]}
    view.send(id="block", op="block", stack="self", layer=1, without=without)
    assert view.reply("block")["parts"] == encode_block(layer).parts
    view.ask("alone", cut=[[[0], [0], None, None]])
    assert "query 0 is left without a key" in view.reply("alone")["error"]


def test_links_within_windows_are_not_cut() -> None:
    built = zoo.build("swin")
    inputs = dict(built.inputs)
    record = aw.capture(built.model, None, inputs)
    rerun = Rerun(built.model, None, prepare(built.model, None, inputs, None, None, 0))
    view, stack = Conversation(record, rerun), record.stacks[0]
    view.send(id="a", op="effect", stack=stack, heads=[], cut=[[[1], [0], None, None]])
    assert "the model attends over" in view.reply("a")["error"]


def test_the_model_is_as_it_was() -> None:
    model = llama().train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    view = shown(model)
    view.ask("a", (0, 1))
    assert "effect" in view.reply("a")
    assert model.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


class Slow(Rerun):
    """Measures when the test says so, and notes what it measured."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Semaphore(0), threading.Semaphore(0)
        self.measured: list[Any] = []

    def effect(self, off: Off) -> tuple[Effect, Predicts]:
        self.measured.append(list(off.heads))
        self.begun.release()
        assert self.go.acquire(timeout=PATIENCE_SECONDS)
        raise ValueError(f"no output without {off.heads}")


@pytest.fixture
def record() -> AttentionRecord:
    return record_of(layer_of(PROGRAMS["causal"]), layer_of(PROGRAMS["everything"]))


def test_the_newest_request_drops_the_others(record: AttentionRecord) -> None:
    slow = Slow()
    view = Conversation(record, slow)
    view.ask("0", (0, 0))
    assert slow.begun.acquire(timeout=PATIENCE_SECONDS)
    for count in range(1, 200):
        view.ask(f"{count}", (count % 2, count % 3))
    # Another view of the same widget.
    view.ask("other", (1, 1))
    for count in range(199):
        assert view.reply(f"{count}") == {"id": f"{count}", "aborted": True}
    slow.go.release(2)
    for id_ in ("199", "other"):
        assert "no output without ((1, 1),)" in view.reply(id_)["error"]
    assert slow.measured == [[(0, 0)], [(1, 1)]]


def test_a_request_that_nobody_waits_for_is_not_measured(record: AttentionRecord) -> None:
    slow = Slow()
    view = Conversation(record, slow)
    view.ask("a", (0, 0))
    assert slow.begun.acquire(timeout=PATIENCE_SECONDS)
    view.replies.to(record, {"op": "abort", "of": ["a"]})
    assert view.reply("a")["aborted"]
    slow.go.release(2)
    view.ask("b", (0, 1))
    assert "((0, 1),)" in view.reply("b")["error"]
    view.replies.close()
    assert len(slow.measured) == 2


class Broken(torch.nn.Module):
    def forward(self, *_: Any) -> Any:
        raise RuntimeError("out of memory")


def test_what_fails_in_the_model_is_said() -> None:
    model = gpt2()
    view = shown(model)
    model.ln_f = Broken()
    view.ask("a", (0, 0))
    assert view.reply("a")["error"] == "RuntimeError: out of memory"
    # The next one finds a thread again.
    model.ln_f = torch.nn.Identity()
    view.ask("b", (0, 0))
    assert "effect" in view.reply("b")


def test_no_number_that_is_none() -> None:
    model = bert()
    view = shown(model)
    with torch.no_grad():
        model.embeddings.LayerNorm.weight.fill_(torch.nan)
    view.ask("a", (0, 0))
    assert "no finite numbers" in view.reply("a")["error"]


def test_a_widget_keeps_no_model() -> None:
    model = bert()
    widget = aw.show(model, None, INPUTS, off=[(0, 1)])
    assert isinstance(widget, aw.AttentionWidget)
    rerun = widget._replies._effects.rerun
    view = Conversation(widget.record, rerun)
    view.ask("a", (0, 1))
    assert "effect" in view.reply("a")
    del model
    gc.collect()
    view.ask("b", (0, 1))
    assert "was deleted: keep it in a variable" in view.reply("b")["error"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({}, r"a record, but not its model.*aw\.show\(model, tokenizer, text\)"),
        ({"heads": []}, "is told by stack"),
        ({"cut": [[[70], [0], None, None]]}, "query position 70 does not exist"),
        ({"cut": [[[1], [], None, None]]}, "keys is empty"),
        ({"cut": [[[1], [0], [7], None]]}, "layer 7 does not exist"),
        ({"cut": [[[1], [0], [0], [9]]]}, "layer 0 has no head 9"),
        ({"cut": ["1-2"]}, "'1-2' is no link"),
        ({"heads": [[0, 9]]}, "layer 0 has no head 9"),
        ({"heads": [[7, 0]]}, "layer 7 does not exist"),
        ({"query": 70}, "query position 70 does not exist"),
        ({"stack": "decoder"}, "no stack 'decoder'"),
    ],
)
def test_what_cannot_be_measured(record: AttentionRecord, change: Any, error: str) -> None:
    view = Conversation(record)
    request = {"id": "a", "op": "effect", "stack": "self", "heads": [[0, 1]], "query": None}
    view.replies.to(record, request | change)
    assert re.search(error, view.reply("a")["error"])


def test_effects_on_a_generated_text() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    read = captured_pass(model, None, INPUTS, generate={"max_new_tokens": 3, "do_sample": False})
    view = Conversation(read.record, Rerun(model, None, read.inputs, read.generation))
    view.ask("a", (0, 1), query=8)
    effect = view.reply("a")["effect"]
    ids = read.inputs.tensors["input_ids"]
    expected = aw.ablate(model, None, {"input_ids": ids}, heads=[(0, 1)], record=False)
    assert (ids.shape[1], effect["position"]) == (9, 8)
    assert effect["divergence"] == pytest.approx(expected.divergence[8])


def test_a_page_with_the_effect_of_some_heads() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    widget = aw.show(model, None, INPUTS, query=4, off=[(0, 2), (1, 3)])
    # It opens with what is off, named or not, at the first of it.
    assert (widget.layer, widget.head) == (0, 2)
    assert aw.show(model, None, INPUTS, head=1, off=[(0, 2)]).head == 1
    shown = widget.shown_record([(1, 0), [(1, 3), (0, 2)]])
    assert [effect["heads"] for effect in shown.effects] == [[[0, 2], [1, 3]], [[1, 0]]]
    assert shown.choices["off"] == [[0, 2], [1, 3]]
    assert "&quot;replies&quot;:[{&quot;query&quot;:null" in widget.static().html
    expected = aw.ablate(model, None, INPUTS, heads=[(0, 2), (1, 3)], record=False)
    most, locked = shown.effects[0]["replies"]
    assert (most["query"], most["effect"]["position"]) == (None, expected.divergence.argmax())
    assert (locked["query"], locked["effect"]["position"]) == (4, 4)
    assert locked["effect"]["divergence"] == pytest.approx(expected.divergence[4])
    cut = aw.KnockOut(5, [1, 2], 1)
    widget.cut = [cut]
    shown = widget.shown_record([[(0, 2), (1, 3), cut], cut])
    assert [each["cut"] for each in shown.effects] == [[[[5], [1, 2], [1], None]]] * 2
    assert shown.choices["cut"] == [[[5], [1, 2], [1], None]]
    assert shown.choices["off"] == [[0, 2], [1, 3]]
    assert shown.effects[0]["replies"][0] != shown.effects[1]["replies"][0]
    widget.off, widget.cut = [], []
    assert widget.shown_record([(1, 0)]).choices["off"] == [[1, 0]]
    for sets, error, message in (
        ([(1, 9)], ValueError, "layer 1 has no head 9"),
        ([5], TypeError, r"effects has 5; expected \(layer, head\)"),
        ([(1.5, 0)], TypeError, r"effects has \(1.5, 0\); expected"),
        ([[]], TypeError, r"effects has \[\]; expected"),
        ([aw.KnockOut(5, 1, stack="cross")], ValueError, "stack 'self' is shown: choose stack="),
    ):
        with pytest.raises(error, match=message):
            widget.to_html(effects=sets)
    with pytest.raises(ValueError, match=r"which this view does not have: make it by show\(model"):
        aw.to_html(aw.AttentionWidget(widget.record), effects=[(1, 0)])
    widget.off = [(1, 0)]
    del model
    gc.collect()
    with pytest.warns(UserWarning, match="what is off is not saved: The model was deleted"):
        assert widget.shown_record().choices["off"] == []
    widget.off = []
    with pytest.raises(ReferenceError, match="was deleted"):
        widget.to_html(effects=[(1, 0)])


def test_a_page_has_all_heads_on(record: AttentionRecord) -> None:
    for kind in (aw.AttentionWidget, StaticView):
        widget = kind(record, off=[(1, 0)])
        with pytest.warns(UserWarning, match="what is off is not saved: .* this view does not"):
            assert widget.shown_record().choices["off"] == []
        assert widget.off == [(1, 0)]
