"""A scan of all heads equals heads that are switched off one by one."""

from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import bert, llama, t5, tiny, token_ids
from tests.unit.tracing.test_outputs import HEADS, MODELS

INPUTS = {"input_ids": token_ids(9)}
ENCODER_DECODER = {"input_ids": token_ids(7), "decoder_input_ids": token_ids(5, seed=3)}
CASES: dict[str, tuple[Any, Any]] = {
    "decoder": (lambda: tiny("LlamaForCausalLM", num_key_value_heads=2), INPUTS),
    "encoder and decoder": (lambda: t5("T5ForConditionalGeneration"), ENCODER_DECODER),
    "classes": (lambda: tiny("BertForSequenceClassification"), INPUTS),
    "one module for all layers": (lambda: tiny("Albert"), INPUTS),
    **{name: (case[0], INPUTS) for name, case in MODELS.items()},
}


def one_by_one(model: Any, inputs: Any, stack: str, layer: int, head: int) -> float:
    effect = aw.ablate(model, None, inputs, heads=[(layer, head)], stack=stack, record=False)
    numbers = effect.moved if effect.logits is None else effect.divergence
    return float(numbers.mean())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_equals_one_by_one(case: Any) -> None:
    build, inputs = case
    model = build()
    snapshot = Snapshot(model)
    scores = aw.ablation_scan(model, None, inputs, batch_size=3)
    snapshot.assert_unchanged()
    assert not scores.missing
    for stack, rows in scores.rows.items():
        assert {len(row) for row in rows.values()} == {HEADS}
        for row, layer in enumerate(scores.layers(stack)):
            for head in range(HEADS):
                expected = one_by_one(model, inputs, stack, layer, head)
                found = scores.values(stack)[row, head]
                assert found == pytest.approx(expected, rel=1e-4, abs=1e-6)
        assert (scores.values(stack) > 1e-6).any()
        low, high = scores.band(stack)
        assert 0 <= low < high


def test_a_number_of_your_own_as_soon_as_it_is_known() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)

    def answer(output: Any) -> float:
        return float(output.logits[0, -1, 7])

    arrived: list[tuple[str, int, int, float]] = []
    scores = aw.ablation_scan(
        model,
        None,
        INPUTS,
        metric=answer,
        layers=[1],
        on_score=lambda *score: arrived.append(score),
    )
    assert scores.name == "answer"
    assert scores.layers() == (1,)
    assert [score[:3] for score in arrived] == [("self", 1, head) for head in range(HEADS)]
    for _, layer, head, number in arrived:
        effect = aw.ablate(model, None, INPUTS, heads=[(layer, head)], metric=answer, record=False)
        assert effect.metric is not None
        assert number == pytest.approx(effect.metric[1] - effect.metric[0], abs=1e-5)
        assert scores.values()[0, head] == number
    assert list(scores.table().columns) == ["stack", "layer", "head", "answer", "null"]
    record = aw.capture(model, None, INPUTS, layers=[1])
    widget = aw.show(record, view="model", metrics={"answer": scores}, color="answer")
    widget.close()


def test_random_directions_of_a_layer_with_one_head_are_that_head() -> None:
    model = tiny("Llama", num_attention_heads=1, num_key_value_heads=1)
    scores = aw.ablation_scan(model, None, INPUTS)
    assert np.allclose(scores.null_values(), scores.values(), rtol=1e-3)


def test_what_cannot_be_scanned_and_an_interruption() -> None:
    model = llama()
    snapshot = Snapshot(model)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        aw.ablation_scan(model, None, INPUTS, on_score=interrupt)
    snapshot.assert_unchanged()
    with pytest.raises(ValueError, match="no layer 5; there are 2 layers, 0 to 1"):
        aw.ablation_scan(model, None, INPUTS, layers=[0, 5])
    with pytest.raises(ValueError, match="mode is 'off'; expected one of 'zero'"):
        aw.ablation_scan(model, None, INPUTS, mode="off")  # type: ignore[arg-type]
    record = aw.capture(model, None, INPUTS)
    with pytest.raises(TypeError, match=r"source is AttentionRecord; .*attnwidget.head_outputs"):
        aw.ablation_scan(model, None, INPUTS, source=record)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no stack 'cross'; the model has 'self'"):
        aw.ablation_scan(model, None, INPUTS, stack="cross")
    with pytest.raises(ValueError, match="batch_size is 0"):
        aw.ablation_scan(model, None, INPUTS, batch_size=0)
    with pytest.raises(ValueError, match="these numbers have no null"):
        aw.ablation_scan(bert(), None, INPUTS, null=False).band()


def test_layers_that_need_not_run_again_do_not() -> None:
    model = llama()
    runs = [0, 0]
    for number, layer in enumerate(model.layers):

        def count(_module: Any, _args: Any, number: int = number) -> None:
            runs[number] += 1

        layer.mlp.register_forward_pre_hook(count)
    aw.ablation_scan(model, None, INPUTS, null=False, batch_size=1)
    # A plain pass, one without the first layer, and one for each head: of the first layer, or both.
    assert runs == [1 + HEADS, 2 + 2 * HEADS]
    with torch.no_grad():
        model(**INPUTS)
    assert runs == [2 + HEADS, 3 + 2 * HEADS]


def test_random_heads_in_place_of_a_layer_are_of_all_layers() -> None:
    scores = aw.ablation_scan(llama(), None, INPUTS, by="layer", layers=[1])
    assert scores.band()[0] != scores.values()[0, 0]


@pytest.mark.parametrize("by", ["group", "layer"])
def test_groups_and_layers(by: Any) -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    arrived: list[tuple[str, int, int, float]] = []
    scores = aw.ablation_scan(
        model, None, INPUTS, by=by, batch_size=3, on_score=lambda *score: arrived.append(score)
    )
    size = {"group": HEADS // 2, "layer": HEADS}[by]
    for layer in range(2):
        for first in range(0, HEADS, size):
            heads = [(layer, head) for head in range(first, first + size)]
            effect = aw.ablate(model, None, INPUTS, heads=heads, record=False)
            expected = pytest.approx(effect.divergence.mean(), rel=1e-4, abs=1e-6)
            assert [scores.values()[place] for place in heads] == [expected] * size
    assert [score[1:3] for score in arrived] == [(n, h) for n in range(2) for h in range(HEADS)]
    assert scores.null_label == {"group": "random directions", "layer": "random heads"}[by]
    low, high = scores.band()
    assert 0 < low <= high
    with pytest.raises(ValueError, match="by is 'token'; expected one of 'head', 'group', 'layer'"):
        aw.ablation_scan(model, None, INPUTS, by="token")  # type: ignore[arg-type]
