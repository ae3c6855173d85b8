"""Head outputs of another run in place of a run's own."""

import copy

import numpy as np
import pytest
import torch

import attnwidget as aw
from tests.unit.test_intervene import by_hand, plain, run
from tests.unit.test_tracing_outputs import HEADS
from tests.unit.tiny import llama, t5, tiny, token_ids

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


def test_what_does_not_fit() -> None:
    model = llama()
    short = aw.head_outputs(model, None, {"input_ids": token_ids(6)})
    with pytest.raises(ValueError, match=r"shape \[2, 4, 9, 8\] here .*, and \[1, 4, 6, 8\] in"):
        run(model, aw.Patch(short))
    with pytest.raises(IndexError, match="layer 7 does not exist: this stack has 2 layers, 0 to 1"):
        short.layer(7)
    with pytest.raises(KeyError, match="no stack 'cross'; there are self"):
        short.layer(0, "cross")
