"""Head outputs of another run in place of a run's own."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.interventions.by_layer import HeadOutputs
from attnwidget.interventions.edits import Intervention
from attnwidget.interventions.replacements import patched
from tests.unit.interventions.test_intervene import BY_NAME, by_hand, layer_of, plain, run
from tests.unit.tiny import Model, llama, t5, tiny, token_ids
from tests.unit.tracing.test_outputs import HEADS

OTHER = torch.cat([token_ids(9, seed=5), token_ids(9, seed=6)])


def test_outputs_of_another_text() -> None:
    model = llama()
    other = copy.deepcopy(model)
    source = aw.head_outputs(other, None, {"input_ids": OTHER})
    assert not source.missing
    # Outputs of the last layer depend on nothing that the patch changes.
    patched = run(model, aw.Patch(source, layers=1, heads=3))
    with torch.no_grad():
        layers = []
        hook = other.layers[1].self_attn.o_proj.register_forward_pre_hook(
            lambda _module, args: layers.append(args[0])
        )
        other(input_ids=OTHER)
        hook.remove()
    outputs = layers[0].unflatten(-1, (HEADS, -1))[:, :, 3]
    assert np.array_equal(source.layer(1)[:, 3], outputs.numpy())
    assert torch.equal(patched, by_hand(model, 1, 3, outputs))
    assert not torch.allclose(patched, plain(model), atol=1e-3)


def test_own_outputs_change_nothing_and_all_outputs_of_a_text_bring_its_predictions() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    own, other = token_ids(9), token_ids(9, seed=1)
    with torch.no_grad():
        expected = model(own).logits
        with aw.intervene(model, aw.Patch(aw.head_outputs(model, None, {"input_ids": own}))):
            assert torch.equal(model(own).logits, expected)
        source = aw.head_outputs(model, None, {"input_ids": other})
        with aw.intervene(model, aw.Patch(source)):
            both = model(torch.cat([own, other])).logits
        # One text's outputs serve every row; the other row is as it was.
        assert torch.allclose(both[1], model(other).logits[0], atol=1e-5)
        assert not torch.allclose(both[0], expected[0], atol=1e-2)


def test_a_stack_of_an_encoder_decoder() -> None:
    model = t5("T5ForConditionalGeneration")
    inputs = {"input_ids": token_ids(7), "decoder_input_ids": token_ids(5, seed=3)}
    changed = {**inputs, "input_ids": token_ids(7, seed=9)}
    source = aw.head_outputs(model, None, inputs)
    assert source.stacks == ("encoder", "decoder", "cross")
    with torch.no_grad(), aw.intervene(model, aw.Patch(source, stack="cross")):
        patched = model(**changed).logits
    with torch.no_grad():
        # The decoder learns of the text through its cross-attention alone.
        assert torch.allclose(patched, model(**inputs).logits, atol=1e-5)
        assert not torch.allclose(patched, model(**changed).logits, atol=1e-3)


def test_every_head_patched_in_turn() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    inputs = {"input_ids": token_ids(9)}
    source = aw.head_outputs(model, None, {"input_ids": token_ids(9, seed=1)})

    def answer(output: Any) -> float:
        return float(output.logits[0, -1, 7])

    with torch.no_grad():
        before = answer(model(**inputs))
    scores = aw.ablation_scan(model, None, inputs, source=source, metric=answer, batch_size=3)
    for layer in range(2):
        for head in range(HEADS):
            with torch.no_grad(), aw.intervene(model, aw.Patch(source, layer, head)):
                after = answer(model(**inputs))
            assert scores.values()[layer, head] == pytest.approx(after - before, abs=1e-5)


def test_what_does_not_fit() -> None:
    model = llama()
    short = aw.head_outputs(model, None, {"input_ids": token_ids(6)})
    with pytest.raises(ValueError, match=r"shape \[2, 4, 9, 8\] here .*, and \[1, 4, 6, 8\] in"):
        run(model, aw.Patch(short))
    with pytest.raises(IndexError, match="layer 7 does not exist: this stack has 2 layers, 0 to 1"):
        short.layer(7)
    with pytest.raises(KeyError, match="no stack 'cross'; this pass has self"):
        short.layer(0, "cross")


def captured(model: Model, ids: torch.Tensor) -> aw.AttentionRecord:
    return aw.capture(model, None, {"input_ids": ids}, values=True)


def projected(model: Model, projection: str, *interventions: Intervention) -> np.ndarray:
    """What the output projection of a layer receives, [heads, Tq, d_v]."""
    received = []
    hook = model.get_submodule(projection).register_forward_pre_hook(
        lambda _module, args: received.append(args[0])
    )
    run(model, *interventions, ids=OWN)
    hook.remove()
    heads: np.ndarray = received[0][0].unflatten(-1, (HEADS, -1)).transpose(0, 1).numpy()
    return heads


OWN = token_ids(9)


@BY_NAME
@pytest.mark.parametrize("at", ["queries", "keys", "values", "weights"])
def test_queries_keys_values_and_weights_of_another_text(case: Any, at: Any) -> None:
    build, module, projection = case
    model, number = build(), layer_of(module)
    own, other = captured(model, OWN).layer(number), captured(model, token_ids(9, seed=5))
    # Heads 2 and 3 share a key head in the Llama, all four in the Falcon.
    heads = list(range(HEADS)) if len(own.keys) == 1 else [2, 3]
    patch = aw.Patch(other, number, heads, at=at)
    if own.fidelity.route == "softmax" and at in ("queries", "keys"):
        with pytest.raises(ValueError, match="computes scores by code of its own"):
            run(model, patch, ids=OWN)
        return
    source = other.layer(number)
    mixed = own if at == "weights" else replace(own, **{at: getattr(source, at)})
    weights = (source if at == "weights" else mixed).all_weights(np.arange(9))
    values = np.repeat(mixed.values, HEADS // len(mixed.values), axis=0)
    before = projected(model, projection)
    after = projected(model, projection, patch)
    expected = before.copy()
    expected[heads] = (weights @ values)[heads]
    np.testing.assert_allclose(after, expected, rtol=0, atol=2e-5)
    assert not np.allclose(after, before, atol=1e-3)
    rest = [head for head in range(HEADS) if head not in heads]
    assert np.array_equal(after[rest], before[rest])
    # A record within has what the model now computes.
    with aw.intervene(model, patch):
        within = captured(model, OWN).layer(number)
    assert within.fidelity.exact is not False
    np.testing.assert_allclose(within.all_weights(np.arange(9))[heads], weights[heads], atol=2e-5)
    snapshot = captured(model, OWN).layer(number)
    assert np.array_equal(snapshot.all_weights(np.arange(9)), own.all_weights(np.arange(9)))


def test_keys_of_half_a_group_and_what_a_record_lacks() -> None:
    model = llama()
    other = captured(model, token_ids(9, seed=5))
    with pytest.raises(ValueError, match=r"heads 2 to 3 of layer 1 .* their keys: change all"):
        run(model, aw.Patch(other, 1, 3, at="keys"))
    plain_record = aw.capture(model, None, {"input_ids": OWN})
    with pytest.raises(ValueError, match=r"no values of layer 0 .* capture it with values=True"):
        run(model, aw.Patch(plain_record, 0, at="values"))
    short = captured(model, token_ids(6))
    with pytest.raises(ValueError, match=r"queries of .* \[2, 4, 9, 8\] here .* \[1, 4, 6, 8\] in"):
        run(model, aw.Patch(short, 0, at="queries"))
    with pytest.raises(TypeError, match="expected the outputs of another run"):
        aw.Patch(other, 0)
    with pytest.raises(TypeError, match=r"source is str; .* as of attnwidget.head_outputs\(...\)"):
        aw.Patch("other text", layers=0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="source is of at='head', and the patch of 'queries'"):
        aw.Patch(aw.head_outputs(model, None, {"input_ids": OWN}), at="queries")
    with pytest.raises(ValueError, match="at is 'score'; expected one of 'head', 'projection'"):
        aw.Patch(other, at="score")  # type: ignore[arg-type]


def test_a_patch_and_a_head_off_in_order() -> None:
    model = llama()
    other = captured(model, token_ids(9, seed=5))
    patch = aw.Patch(other, 1, [2, 3], at="values")
    both = projected(model, "layers.1.self_attn.o_proj", patch, aw.Ablate(1, 2))
    assert np.array_equal(both[2], np.zeros_like(both[2]))
    alone = projected(model, "layers.1.self_attn.o_proj", patch)
    assert np.array_equal(both[3], alone[3])


def test_only_keys_and_values_are_shared_by_heads() -> None:
    own = torch.zeros(1, 4, 3, 5)
    for at in ("keys", "values"):
        given = HeadOutputs({"self": {0: np.ones((1, 2, 3, 5), np.float32)}}, at=at)
        assert patched(given, at, "self", 0, own).shape == own.shape
    for at in ("queries", "weights"):
        given = HeadOutputs({"self": {0: np.ones((1, 2, 3, 5), np.float32)}}, at=at)
        with pytest.raises(ValueError, match=r"of shape \[1, 4, 3, 5\] here"):
            patched(given, at, "self", 0, own)
