"""The effect of heads that are off: predictions, states and attention before and after."""

from pathlib import Path
from typing import Any

import accelerate
import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.interventions.effect import Effect
from tests.unit.tiny import bert, llama, t5, tiny, token_ids

INPUTS = {"input_ids": token_ids(7)}


def test_predictions_of_a_language_model() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    effect = aw.ablate(model, None, INPUTS, heads=[(0, 1), (1, 3)])
    with torch.no_grad():
        before = model(**INPUTS).logits[0].double()
    with aw.intervene(model, aw.Ablate(0, 1), aw.Ablate(1, 3)), torch.no_grad():
        after = model(**INPUTS).logits[0].double()
    p, q = before.softmax(-1), after.softmax(-1)
    expected = (p * (p / q).log()).sum(-1)
    assert np.allclose(effect.divergence, expected, atol=1e-6)
    assert effect.tokens == tuple("0123456")
    changes = {int(change.label): change for change in effect.changes(position=3, count=4)}
    assert set(changes) == {*p[3].topk(4).indices.tolist(), *q[3].topk(4).indices.tolist()}
    for number, change in changes.items():
        assert change.before == pytest.approx(float(p[3, number]), abs=1e-6)
        assert change.after == pytest.approx(float(q[3, number]), abs=1e-6)
        assert change.rank_before == int((p[3] > p[3, number]).sum()) + 1
        assert change.rank_after == int((q[3] > q[3, number]).sum()) + 1
    assert list(changes.values()) == sorted(
        changes.values(), key=lambda change: -max(change.before, change.after)
    )


def test_a_model_that_accelerate_places(tmp_path: Path) -> None:
    """One layer in memory and one on disk, or all moved to the processor when they run."""
    places = {"model.embed_tokens": "cpu", "model.rotary_emb": "cpu", "model.norm": "cpu",
              "model.layers.0": "cpu", "model.layers.1": "disk", "lm_head": "cpu"}  # fmt: skip
    whole = tiny("LlamaForCausalLM")
    expected = aw.ablate(whole, None, INPUTS, heads=[(0, 1), (1, 3)])
    split = accelerate.dispatch_model(
        tiny("LlamaForCausalLM"), places, main_device="cpu", offload_dir=tmp_path, force_hooks=True
    )
    moved = accelerate.cpu_offload(tiny("LlamaForCausalLM"), execution_device=torch.device("cpu"))
    for model in (split, moved):
        effect = aw.ablate(model, None, INPUTS, heads=[(0, 1), (1, 3)])
        assert np.array_equal(effect.divergence, expected.divergence)
        texts = [INPUTS, {"input_ids": token_ids(9)}]
        found = aw.profile(model, None, texts, metrics=["previous"], null="position")
        own = aw.profile(whole, None, texts, metrics=["previous"], null="position")
        assert found.table().equals(own.table())


def test_an_effect_says_its_main_number_in_one_line() -> None:
    logits = np.log(np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.8, 0.2]]], np.float32))
    words = ["yes", "no"]
    pair = (logits[0], logits[1])
    effect = Effect(("a", "dog"), pair, None, None, None, words.__getitem__)
    assert repr(effect) == (
        "<Effect: KL divergence 0.112 nats, the mean of 2 positions; most at 1 'dog': 0.223, "
        "'yes' 0.5 → 0.8>"
    )
    of_class = Effect(("",), (pair[0][1:], pair[1][1:]), None, None, None, words.__getitem__)
    assert repr(of_class) == "<Effect: KL divergence 0.223 nats, 'yes' 0.5 → 0.8>"
    turned = (np.eye(2, dtype=np.float32), np.ones((2, 2), np.float32))
    moved = Effect(("a", "dog"), None, turned, None, None, str)
    assert repr(moved).startswith("<Effect: moved 0.293, the mean of 2 positions; most at ")
    own = Effect(("a", "dog"), pair, None, (2.0, 1.5), None, words.__getitem__)
    assert repr(own) == "<Effect: 2 → 1.5, a change of -0.5>"


def test_later_layers_attend_elsewhere() -> None:
    effect = aw.ablate(llama(), None, INPUTS, heads=[(0, 0)])
    assert effect.record is not None
    before, after = effect.record
    assert after.model == f"{before.model} without 0-0"
    names = aw.show(aw.compare(before, after))._manifest["compared"]["names"]
    assert names[1] == ["without 0-0"]
    assert np.array_equal(before.weights(0, 0), after.weights(0, 0))
    assert not np.allclose(before.weights(1, 0), after.weights(1, 0), atol=1e-3)
    assert aw.ablate(llama(), None, INPUTS, heads=[(0, 0)], record=False).record is None


def test_a_changed_record_is_named_after_the_stack() -> None:
    model = t5()
    target = {**INPUTS, "decoder_input_ids": token_ids(4)}
    for stack in ("encoder", "decoder"):
        effect = aw.ablate(model, None, target, heads=[(0, 1), (1, 0)], stack=stack)
        assert effect.record is not None
        assert effect.record[1].model == f"{effect.record[0].model} without 0-1, 1-0 ({stack})"


def test_a_capture_within_a_context_is_named_after_every_change() -> None:
    model = llama()
    source = aw.head_outputs(model, None, INPUTS)
    name = aw.capture(model, None, INPUTS).model
    changes = {
        "without layer 1 and with a cut link": [aw.Ablate(1), aw.KnockOut(3, 0)],
        "with 6 cut links": [aw.KnockOut([3, 4], [0, 1, 2], 0)],
        "with cut links": [aw.KnockOut(None, 1), aw.KnockOut(2, 0)],
        "with 0.5 times 0-0, 1-0": [aw.Scale(0.5, [0, 1], 0)],
        "with patched 0-1": [aw.Patch(source, 0, 1)],
        "with the mean of 6 heads": [aw.Ablate(None, [0, 1, 2], mode="mean")],
    }
    for words, edits in changes.items():
        with aw.intervene(model, *edits):
            assert aw.capture(model, None, INPUTS).model == f"{name} {words}"
    with aw.intervene(model, aw.Ablate(0, 0)), aw.intervene(model, aw.KnockOut(3, 0)):
        record = aw.capture(model, None, INPUTS)
    assert record.model == f"{name} without 0-0 and with a cut link"
    assert aw.capture(model, None, INPUTS).model == name


def test_outputs_of_another_text_in_place_of_a_head() -> None:
    model = llama()
    source = aw.head_outputs(model, None, {"input_ids": token_ids(7, seed=5)})
    effect = aw.ablate(model, None, INPUTS, heads=[(0, 1)], source=source)
    assert effect.record is not None
    before, changed = effect.record
    assert changed.model == f"{before.model} with patched 0-1"
    with aw.intervene(model, aw.Patch(source, 0, 1)), torch.no_grad():
        after = model(**INPUTS).last_hidden_state[0]
    assert effect.states is not None
    assert np.array_equal(effect.states[1], after.numpy())


def test_states_of_an_encoder_turn() -> None:
    model = bert()
    effect = aw.ablate(model, None, INPUTS, heads=[(1, head) for head in range(4)], record=False)
    with torch.no_grad():
        before = model(**INPUTS).last_hidden_state[0]
    with aw.intervene(model, aw.Ablate(1)), torch.no_grad():
        after = model(**INPUTS).last_hidden_state[0]
    cosines = torch.cosine_similarity(before.double(), after.double())
    assert np.allclose(effect.moved, 1 - cosines, atol=1e-6)
    with pytest.raises(ValueError, match="makes no predictions: see `moved`"):
        effect.changes()


def test_classes_of_a_text() -> None:
    names = {"id2label": {0: "bad", 1: "good", 2: "fair"}}
    model = tiny("BertForSequenceClassification", **names)
    effect = aw.ablate(model, None, INPUTS, heads=[(0, 2)], record=False)
    assert effect.tokens == ("",)
    assert {change.label for change in effect.changes()} == {"bad", "good", "fair"}
    assert sum(change.after for change in effect.changes()) == pytest.approx(1)


def test_classes_of_tokens() -> None:
    """They are no tokens of the vocabulary."""
    model = tiny("BertForTokenClassification", **{"id2label": {0: "O", 1: "B", 2: "I"}})
    effect = aw.ablate(model, None, INPUTS, heads=[(0, 2)], record=False)
    assert {change.label for change in effect.changes()} == {"O", "B", "I"}


def test_the_decoder_of_a_translation_and_a_number_of_your_own() -> None:
    model = t5("T5ForConditionalGeneration")
    inputs = {**INPUTS, "decoder_input_ids": token_ids(4, seed=2)}
    effect = aw.ablate(
        model,
        None,
        inputs,
        heads=[(1, 0)],
        stack="cross",
        mode="uniform",
        metric=lambda output: output.logits.std(),
        record=False,
    )
    assert len(effect.divergence) == 4
    assert effect.metric is not None
    before, after = effect.metric
    assert before != after


@pytest.mark.parametrize("heads", [(0, 1), ["0-1"], 3])
def test_heads_that_are_no_pairs(heads: Any) -> None:
    with pytest.raises(TypeError, match=r"heads is .*; expected \(layer, head\) pairs"):
        aw.ablate(bert(), None, INPUTS, heads=heads)


def test_arguments_in_another_order() -> None:
    with pytest.raises(TypeError, match=r"model is str; .*: the order is \(model, tokenizer, text"):
        aw.ablate("a text", bert(), None, heads=[(0, 1)])  # type: ignore[arg-type]


def test_padding_is_left_out() -> None:
    ids = torch.cat([token_ids(5), torch.zeros(1, 3, dtype=torch.long)], dim=1)
    inputs = {"input_ids": ids.repeat(2, 1), "attention_mask": (ids != 0).long().repeat(2, 1)}
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    padded = aw.ablate(model, None, inputs, heads=[(0, 0)], batch_index=1, record=False)
    alone = aw.ablate(model, None, {"input_ids": token_ids(5)}, heads=[(0, 0)], record=False)
    assert np.allclose(padded.divergence, alone.divergence, atol=1e-4)
