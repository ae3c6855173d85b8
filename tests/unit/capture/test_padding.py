"""One item of a batch is recorded, without its padding."""

from typing import Any

import numpy as np
import pytest
import torch

from attnwidget import AttentionRecord, capture
from tests.unit.tiny import (
    Loaded,
    Model,
    assert_attention,
    assert_weights,
    eager_attentions,
    gpt2,
    llama,
    tiny,
    token_ids,
)

LENGTHS = (5, 9, 7)


def _batch(side: str) -> dict[str, torch.Tensor]:
    """Three texts of different lengths, padded on one side."""
    longest = max(LENGTHS)
    ids = torch.zeros(len(LENGTHS), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(LENGTHS):
        columns = slice(0, length) if side == "right" else slice(longest - length, longest)
        ids[row, columns] = token_ids(length, seed=row)
        mask[row, columns] = 1
    return {"input_ids": ids, "attention_mask": mask}


def _alone(model: Model, item: int) -> AttentionRecord:
    return capture(model, None, {"input_ids": token_ids(LENGTHS[item], seed=item)})


def _assert_alone(recorded: AttentionRecord, eager: Model, item: int) -> None:
    """The record of a batch's item equals the record of the text alone."""
    positions = [str(n) for n in range(LENGTHS[item])]
    assert recorded.tokens() == (positions, positions)
    own = eager_attentions(eager, {"input_ids": token_ids(LENGTHS[item], seed=item)})
    assert_attention(recorded, [layer[0] for layer in own])


MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "Bert": ("sdpa", {}),
    "Llama": ("sdpa", {"num_key_value_heads": 2}),
    "GPT2": ("eager", {"n_embd": 32, "n_head": 4, "n_layer": 2}),
    "Mistral": ("sdpa", {"num_key_value_heads": 2, "sliding_window": 4}),
}


@pytest.mark.parametrize("item", range(len(LENGTHS)))
@pytest.mark.parametrize("name", MODELS)
def test_right_padding_changes_nothing(name: str, item: int) -> None:
    attention, options = MODELS[name]
    model = tiny(name, attention, **options)
    recorded = capture(model, None, _batch("right"), batch_index=item)
    _assert_alone(recorded, tiny(name, "eager", **options), item)


@pytest.mark.parametrize("item", range(len(LENGTHS)))
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_left_padding_changes_nothing_where_positions_are_relative(
    attention: str, item: int
) -> None:
    """Rotary queries and keys are turned further, by the same angle: their products stay."""
    model = llama(attention)
    recorded = capture(model, None, _batch("left"), batch_index=item)
    _assert_alone(recorded, llama("eager"), item)
    if LENGTHS[item] < max(LENGTHS):
        alone = _alone(model, item)
        assert not np.allclose(recorded.queries(0, 0), alone.queries(0, 0), atol=1e-2)


@pytest.mark.parametrize("item", range(len(LENGTHS)))
def test_left_padding_changes_nothing_with_given_positions(item: int) -> None:
    model = gpt2()
    batch = _batch("left")
    batch["position_ids"] = (batch["attention_mask"].cumsum(1) - 1).clamp(min=0)
    recorded = capture(model, None, batch, batch_index=item)
    _assert_alone(recorded, gpt2("eager"), item)


def test_left_padding_that_moves_positions_is_recorded_as_it_happened() -> None:
    """Without position_ids, GPT-2 counts the padding too; what it then does is the truth."""
    batch = _batch("left")
    recorded = capture(gpt2(), None, batch, batch_index=0)
    kept = slice(max(LENGTHS) - LENGTHS[0], None)
    for layer, own in enumerate(eager_attentions(gpt2("eager"), batch)):
        for head in range(4):
            assert_weights(recorded.weights(layer, head), own[0, head, kept, kept])
    assert not np.allclose(recorded.weights(0, 0), _alone(gpt2(), 0).weights(0, 0), atol=1e-3)


def test_a_mask_with_a_hole_is_kept_as_it_is() -> None:
    """A token in the middle that nothing may see is cut like padding."""
    ids, mask = token_ids(8), torch.ones(1, 8, dtype=torch.long)
    mask[0, 3] = 0
    inputs = {"input_ids": ids, "attention_mask": mask}
    recorded = capture(llama(), None, inputs)
    kept = [0, 1, 2, 4, 5, 6, 7]
    assert recorded.layer(0).shape == (7, 7)
    for layer, own in enumerate(eager_attentions(llama("eager"), inputs)):
        for head in range(4):
            assert_weights(recorded.weights(layer, head), own[0, head][kept][:, kept])


@pytest.mark.parametrize("function", [False, True])
def test_attention_to_padding_is_not_exact(function: bool) -> None:
    """A model that ignores its mask spreads its attention over what is no token."""

    class Ignores(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embeddings = torch.nn.Embedding(64, 32)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            x = self.embeddings(input_ids)[:, None]
            if function:
                return torch.nn.functional.scaled_dot_product_attention(x, x, x, scale=0.1)
            return (x @ x.mT * 0.1).softmax(-1) @ x

    ids, mask = token_ids(8), torch.ones(1, 8, dtype=torch.long)
    mask[0, 5:] = 0
    recorded = capture(Ignores().eval(), None, {"input_ids": ids, "attention_mask": mask})
    assert recorded.layer(0).shape == (5, 5)
    assert recorded.layer(0).fidelity.exact is False


def test_padding_has_no_labels(minilm: Loaded, minilm_eager: Model) -> None:
    model, tokenizer = minilm
    texts = ["Short.", "This one is quite a bit longer."]
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    for index, text in enumerate(texts):
        recorded = capture(model, tokenizer, batch, batch_index=index)
        assert recorded.tokens() == capture(model, tokenizer, text).tokens()
        assert "[PAD]" not in recorded.tokens()[0]
        own = eager_attentions(minilm_eager, tokenizer(text, return_tensors="pt"))
        assert_attention(recorded, [layer[0] for layer in own])
