"""Importance of heads and gradients of attention equal autograd's own, and finite differences."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import attnwidget as aw
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import bert, llama, t5, tiny, token_ids
from tests.unit.tracing.test_outputs import HEADS, MODELS

BY_NAME = pytest.mark.parametrize("build", [case[0] for case in MODELS.values()], ids=MODELS)
INPUTS = {"input_ids": torch.cat([token_ids(9), token_ids(9, seed=1)])}
ONE = {"input_ids": token_ids(9)}
TEXTS = [{"input_ids": token_ids(length, seed=length)} for length in (6, 9, 9)]


def decoder() -> Any:
    return tiny("LlamaForCausalLM", num_key_value_heads=2)


def states(output: Any, _inputs: Any) -> torch.Tensor:
    """A loss of models without predictions, [texts]."""
    return output.last_hidden_state.sin().mean(dim=(1, 2))


@BY_NAME
def test_importance_is_the_slope_of_the_loss_and_the_sum_of_products(build: Any) -> None:
    model = build()
    snapshot = Snapshot(model)
    scores = aw.head_importance(model, None, ONE, loss=states)
    gradients = aw.attention_gradients(model, None, ONE, loss=states)
    snapshot.assert_unchanged()
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not scores.missing
    assert not gradients.missing
    for row, layer in enumerate(scores.layers()):
        of_head = gradients.layer(layer).products.astype(np.float64).sum(axis=(1, 2))
        assert np.allclose(np.abs(of_head), scores.values()[row], rtol=1e-4, atol=1e-7)
        for head in range(HEADS):
            losses = []
            for factor in (1.02, 0.98):
                with torch.no_grad(), aw.intervene(model, aw.Scale(factor, layer, head)):
                    losses.append(float(states(model(**ONE), ONE)[0].double()))
            slope = (losses[0] - losses[1]) / 0.04
            assert slope == pytest.approx(of_head[head], rel=2e-2, abs=2e-5)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_gradients_are_those_of_the_models_own_weights(attention: str) -> None:
    expected_model = tiny("LlamaForCausalLM", "eager", num_key_value_heads=2)
    output = expected_model(**ONE, output_attentions=True)
    loss = F.cross_entropy(output.logits[0, :-1], ONE["input_ids"][0, 1:])
    expected = torch.autograd.grad(loss, output.attentions)
    model = tiny("LlamaForCausalLM", attention, num_key_value_heads=2)
    found = aw.attention_gradients(model, None, ONE)
    assert found.loss == pytest.approx(float(loss.detach()), rel=1e-5)
    for layer, (weights, gradient) in enumerate(zip(output.attentions, expected, strict=True)):
        for head in range(HEADS):
            own = weights[0, head].detach().numpy()
            assert np.allclose(found.weights(layer, head), own, atol=1e-5)
            slopes = gradient[0, head].numpy()
            assert np.allclose(found.gradients(layer, head), slopes, atol=1e-5)


def test_a_batch_equals_text_by_text() -> None:
    model = decoder()
    ids = torch.zeros(3, 9, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, text in enumerate(TEXTS):
        length = text["input_ids"].shape[1]
        ids[row, :length], mask[row, :length] = text["input_ids"][0], 1
    batch = {"input_ids": ids, "attention_mask": mask}
    by_text = [aw.head_importance(model, None, text).values() for text in TEXTS]
    together = aw.head_importance(model, None, batch).values()
    assert np.allclose(together, np.mean(by_text, axis=0), rtol=1e-3, atol=1e-6)
    by_token = [aw.head_importance(model, None, text, per="token").values() for text in TEXTS]
    expected = np.mean(by_token, axis=0)
    tokens = aw.head_importance(model, None, batch, per="token").values()
    assert np.allclose(tokens, expected, rtol=1e-3, atol=1e-6)
    of_batch = aw.head_importance(model, None, batch, per="batch").values()
    assert (of_batch <= together + 1e-6).all()
    assert (together <= tokens + 1e-6).all()
    assert (of_batch < 0.9 * together).any()
    signed = [aw.attention_gradients(model, None, batch, batch_index=row) for row in range(3)]
    products = [
        [each.layer(layer).products.sum(axis=(1, 2)) for layer in range(2)] for each in signed
    ]
    assert np.allclose(np.abs(np.mean(products, axis=0)), of_batch, rtol=1e-3, atol=1e-6)
    normalized = aw.head_importance(model, None, batch, normalize=True).values()
    assert np.allclose(np.linalg.norm(normalized, axis=1), 1)


def test_an_encoder_decoder_and_what_its_result_offers() -> None:
    model = t5("T5ForConditionalGeneration")
    inputs = {"input_ids": token_ids(7), "decoder_input_ids": token_ids(5, seed=3)}
    scores = aw.head_importance(model, None, inputs)
    assert set(scores.stacks) == {"encoder", "decoder", "cross"}
    table = scores.table()
    assert len(table) == 6 * HEADS
    largest = scores.ranking("cross")[0]
    assert largest.value == scores.values("cross").max()
    assert scores.values("cross")[largest.layer, largest.head] == largest.value
    record = aw.capture(model, None, inputs)
    widget = aw.show(record, view="model", metrics={scores.name: scores})
    widget.close()
    with pytest.raises(KeyError, match="no stack 'self'; this result has encoder, decoder, cross"):
        scores.values("self")


def test_training_with_checkpoints_and_frozen_parameters() -> None:
    model = decoder()
    expected = aw.head_importance(model, None, ONE).values()
    model.gradient_checkpointing_enable()
    model.train()
    assert np.array_equal(aw.head_importance(model, None, ONE).values(), expected)
    assert model.training
    with pytest.raises(ValueError, match="gradient checkpointing"), aw.intervene(model):
        pass
    frozen = decoder().requires_grad_(False)
    with torch.no_grad():
        assert np.array_equal(aw.head_importance(frozen, None, ONE).values(), expected)


def test_what_has_no_gradient() -> None:
    model = decoder()
    with torch.inference_mode(), pytest.raises(ValueError, match=r"within torch.inference_mode\("):
        aw.head_importance(model, None, ONE)
    with torch.inference_mode():
        loaded = decoder()
    with pytest.raises(ValueError, match=r"was loaded within torch.inference_mode\("):
        aw.head_importance(loaded, None, ONE)
    with pytest.raises(ValueError, match="predicts no next token"):
        aw.head_importance(bert(), None, ONE)
    with pytest.raises(ValueError, match="expected one number per text"):
        aw.head_importance(bert(), None, INPUTS, loss=lambda out, _: out.last_hidden_state.mean())
    with pytest.raises(ValueError, match="does not depend on the model's attention"):
        aw.head_importance(bert(), None, ONE, loss=lambda *_: torch.ones(1))
    with pytest.raises(TypeError, match="loss returned float"):
        aw.head_importance(bert(), None, ONE, loss=lambda *_: 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="per is 'head'; expected one of 'text'"):
        aw.head_importance(llama(), None, ONE, per="head")  # type: ignore[arg-type]
