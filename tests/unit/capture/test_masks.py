"""Masks that a caller gives, and what a missing one means."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from attnwidget import capture
from tests.unit.tiny import (
    assert_weights,
    eager_attentions,
    llama,
    token_ids,
)
from tests.versions import newer

LENGTH = 6
CAUSAL = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()


def test_a_mask_per_query_and_key_is_kept_explicitly() -> None:
    """E.g. of two texts packed into one row."""
    seen = torch.zeros(LENGTH, LENGTH, dtype=torch.bool)
    seen[:2, :2] = seen[2:, 2:] = True
    seen &= CAUSAL
    inputs = {"input_ids": token_ids(LENGTH), "attention_mask": seen[None, None]}
    recorded = capture(llama(), None, inputs)
    program = recorded.layer(0).program
    assert program is not None
    assert program.mask == "explicit"
    assert all(fidelity.exact for fidelity in recorded.fidelity["self"])
    for head in range(4):
        assert np.array_equal(recorded.weights(1, head) > 0, seen.numpy())


def test_numbers_in_a_mask_are_a_bias() -> None:
    """A bias that is added to the scores may have any value."""
    numbers = torch.randn(1, 1, LENGTH, LENGTH, generator=torch.Generator().manual_seed(0))
    mask = torch.where(CAUSAL, numbers, torch.finfo(torch.float32).min)
    inputs = {"input_ids": token_ids(LENGTH), "attention_mask": mask}
    recorded = capture(llama(), None, inputs)
    program = recorded.layer(0).program
    assert program is not None
    assert program.mask == "causal"
    assert program.bias is not None
    assert np.array_equal(program.bias[0], np.where(CAUSAL, numbers[0, 0], 0))
    assert all(fidelity.exact for fidelity in recorded.fidelity["self"])
    for layer, own in enumerate(eager_attentions(llama("eager"), inputs)):
        for head in range(4):
            assert_weights(recorded.weights(layer, head), own[0, head])


def test_a_boolean_mask_that_eager_attention_adds() -> None:
    """transformers' eager functions add it as 0 and 1, which hides nothing: so does the record."""
    inputs = {"input_ids": token_ids(LENGTH), "attention_mask": CAUSAL[None, None]}
    recorded = capture(llama("eager"), None, inputs)
    assert all(fidelity.exact for fidelity in recorded.fidelity["self"])
    for layer, own in enumerate(eager_attentions(llama("eager"), inputs)):
        for head in range(4):
            assert own[0, head, 0, -1] > 0
            assert_weights(recorded.weights(layer, head), own[0, head])


def eager_attention_forward(
    module: Any, query: Any, key: Any, value: Any, mask: Any, **_: Any
) -> tuple[Any, Any]:
    """Causality is in the mask or nowhere, as in every modeling file."""
    scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    weights = (scores if mask is None else scores + mask).softmax(dim=-1)
    return (weights @ value).transpose(1, 2), weights


class SparingAttention(torch.nn.Module):
    """A hand-written model that gives its attention function no mask and no scale.

    With "by index", it looks the function up as some models do.
    """

    def __init__(self, implementation: str, is_causal: bool | None) -> None:
        super().__init__()
        self.implementation = implementation
        if is_causal is not None:
            self.is_causal = is_causal
        torch.manual_seed(0)
        self.embeddings = torch.nn.Embedding(64, 3 * 4 * 8)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        heads = self.embeddings(input_ids).unflatten(-1, (3, 4, 8)).permute(2, 0, 3, 1, 4)
        if self.implementation == "by index":
            function = ALL_ATTENTION_FUNCTIONS["sdpa"]
        else:
            function = ALL_ATTENTION_FUNCTIONS.get_interface(
                self.implementation, eager_attention_forward
            )
        return function(self, *heads, None)[0]


@newer("5.3", "the model looks its function up with get_interface")
@pytest.mark.parametrize(
    ("implementation", "is_causal", "mask"),
    [
        ("sdpa", None, "causal"),
        ("sdpa", True, "causal"),
        ("sdpa", False, "none"),
        ("by index", True, "causal"),
        ("eager", None, "none"),
        ("eager", True, "none"),
        ("eager", False, "none"),
    ],
)
def test_what_a_missing_mask_and_scale_mean(
    implementation: str, is_causal: bool | None, mask: str
) -> None:
    """transformers' sdpa function is causal unless it is told otherwise, its eager ones never."""
    model = SparingAttention(implementation, is_causal)
    recorded = capture(model, None, {"input_ids": token_ids(LENGTH)})
    program = recorded.layer(0).program
    assert program is not None
    assert program.mask == mask
    assert program.scale == pytest.approx(8**-0.5)
    [fidelity] = recorded.fidelity["self"]
    assert fidelity.exact is True
    assert fidelity.output_error is not None


@newer("5.3", "the model looks its function up with get_interface")
def test_a_mask_that_is_wider_than_the_keys() -> None:
    """The last columns of a static cache that is not full belong to no key."""

    class Wide(SparingAttention):
        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            heads = self.embeddings(input_ids).unflatten(-1, (3, 4, 8)).permute(2, 0, 3, 1, 4)
            return wide(self, *heads, torch.cat([CAUSAL, ~CAUSAL], dim=1)[None, None])[0]

    def sliced(module: Any, query: Any, key: Any, value: Any, mask: Any, **_: Any) -> Any:
        mask = torch.where(mask[..., : key.shape[2]], 0.0, float("-inf"))
        return eager_attention_forward(module, query, key, value, mask)

    def wide(*args: Any) -> Any:
        return ALL_ATTENTION_FUNCTIONS.get_interface("eager", sliced)(*args)

    recorded = capture(Wide("eager", False), None, {"input_ids": token_ids(LENGTH)})
    program = recorded.layer(0).program
    assert program is not None
    assert program.mask == "causal"
    assert recorded.fidelity["self"][0].exact is True
