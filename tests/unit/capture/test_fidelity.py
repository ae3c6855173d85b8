"""The record says so if the score program is not what the model computes."""

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import flash_attention_mask, sdpa_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.llama import modeling_llama

from attnwidget import capture
from tests.unit.tiny import (
    Model,
    assert_attention,
    assert_weights,
    eager_attentions,
    gpt2,
    llama,
    token_ids,
)

TEXT = {"input_ids": token_ids(9)}


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Registers an attention function "ours", and the function that builds its masks."""

    def register(function: Any, mask: Any = sdpa_mask) -> None:
        monkeypatch.setitem(AttentionInterface._global_mapping, "ours", function)
        monkeypatch.setitem(AttentionMaskInterface._global_mapping, "ours", mask)

    return register


def test_a_function_that_scales_differently_is_found_out(register: Callable[..., None]) -> None:
    """It returns no weights, and its output is not what the model's own explicit function gives."""

    def attention(*args: Any, scaling: float, **kwargs: Any) -> Any:
        return sdpa_attention_forward(*args, scaling=2 * scaling, **kwargs)

    register(attention)
    record = capture(llama("ours"), None, TEXT)
    for fidelity in record.fidelity["self"]:
        assert fidelity.exact is False
        assert fidelity.output_error is not None
        assert fidelity.output_error > 1e-2


def test_a_function_that_ignores_the_mask_is_found_out(register: Callable[..., None]) -> None:
    def attention(module: Any, query: Any, key: Any, value: Any, mask: Any, **kwargs: Any) -> Any:
        return sdpa_attention_forward(
            module, query, key, value, None, **{**kwargs, "is_causal": False}
        )

    register(attention)
    record = capture(llama("ours"), None, TEXT)
    assert [fidelity.exact for fidelity in record.fidelity["self"]] == [False, False]


def test_a_function_of_someone_elses_that_is_right_is_exact(register: Callable[..., None]) -> None:
    register(lambda *args, **kwargs: sdpa_attention_forward(*args, **kwargs))
    record = capture(llama("ours"), None, TEXT)
    expected = capture(llama(), None, TEXT)
    assert [fidelity.exact for fidelity in record.fidelity["self"]] == [True, True]
    assert np.array_equal(record.weights(1, 2), expected.weights(1, 2))


def test_a_function_that_looks_up_another_is_one_attention(register: Callable[..., None]) -> None:
    def attention(*args: Any, **kwargs: Any) -> Any:
        return ALL_ATTENTION_FUNCTIONS["sdpa"](*args, **kwargs)

    register(attention)
    record = capture(llama("ours"), None, TEXT)
    assert record.num_layers() == 2
    assert [fidelity.exact for fidelity in record.fidelity["self"]] == [True, True]


def test_weights_of_the_models_own_function_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """An eager function with a twist that no score program expresses."""
    original = modeling_llama.eager_attention_forward

    def eager_attention_forward(module: Any, *args: Any, **kwargs: Any) -> Any:
        _, weights = original(module, *args, **kwargs)
        weights = weights**2 / (weights**2).sum(dim=-1, keepdim=True)
        value = modeling_llama.repeat_kv(args[2], module.num_key_value_groups)
        return (weights @ value).transpose(1, 2).contiguous(), weights

    monkeypatch.setattr(modeling_llama, "eager_attention_forward", eager_attention_forward)
    model = llama("eager")
    record = capture(model, None, TEXT)
    for layer, own in enumerate(eager_attentions(model, TEXT)):
        fidelity = record.fidelity["self"][layer]
        assert fidelity.kept == "weights"
        assert fidelity.exact is True
        for head in range(4):
            assert_weights(record.weights(layer, head), own[0, head])
            assert record.queries(layer, head).shape == (9, 8)
    with pytest.raises(ValueError, match="weights alone"):
        record.scores(0, 0)
    # Not so with the plain function: the twist matters.
    monkeypatch.undo()
    plain = capture(model, None, TEXT)
    assert not np.allclose(plain.weights(0, 0), record.weights(0, 0), atol=1e-2)


def test_a_mask_of_an_unknown_form_is_a_clear_error(register: Callable[..., None]) -> None:
    def attention(module: Any, query: Any, key: Any, value: Any, mask: Any, **kwargs: Any) -> Any:
        return sdpa_attention_forward(module, query, key, value, mask.tensor, **kwargs)

    def boxed(*args: Any, **kwargs: Any) -> Any:
        return SimpleNamespace(tensor=sdpa_mask(*args, **kwargs))

    register(attention, boxed)
    with pytest.raises(ValueError, match=r"layers\.0\.self_attn: its mask, a SimpleNamespace"):
        capture(llama("ours"), None, TEXT)


def test_flash_attention_is_causal_beside_its_mask(register: Callable[..., None]) -> None:
    """It is told which keys are padding, and is causal because its module says so."""

    def flash_attention(
        module: Any, query: Any, key: Any, value: Any, mask: Any, **kwargs: Any
    ) -> Any:
        assert module.is_causal
        seen = mask[:, None, None].bool() & torch.ones(9, 9, dtype=torch.bool).tril()
        seen |= torch.eye(9, dtype=torch.bool)  # what padding sees does not matter
        return sdpa_attention_forward(module, query, key, value, seen, **kwargs)

    register(flash_attention, flash_attention_mask)
    padded = {"input_ids": token_ids(9), "attention_mask": torch.tensor([[0, 0] + [1] * 7])}
    reference = [own[0, :, 2:, 2:] for own in eager_attentions(llama("eager"), padded)]
    assert_attention(capture(llama("ours"), None, padded), reference)


NOT_FINITE = pytest.mark.parametrize(
    ("name", "value"), [("q_proj", torch.nan), ("k_proj", torch.inf)]
)


def _spoil(model: Model, layer: int, name: str, value: float) -> None:
    with torch.no_grad():
        getattr(model.layers[layer].self_attn, name).weight[0] = value


@NOT_FINITE
def test_a_layer_that_is_not_finite_is_named_and_the_rest_recorded(name: str, value: float) -> None:
    model, expected = llama(), capture(llama(), None, TEXT)
    _spoil(model, 1, name, value)
    with pytest.warns(UserWarning, match=r"not in this record.*layers\.1\.self_attn") as caught:
        record = capture(model, None, TEXT)
    assert caught[0].filename == __file__
    assert record.stack().numbers == (0,)
    assert np.array_equal(record.weights(0, 3), expected.weights(0, 3))
    [missing] = record.missing
    assert re.match(r"layers\.1\.self_attn: (queries|keys) hold NaN or infinity", missing)


@NOT_FINITE
def test_a_model_of_which_no_layer_is_finite(name: str, value: float) -> None:
    model = llama()
    for layer in range(2):
        _spoil(model, layer, name, value)
    with pytest.raises(ValueError, match=r"layers\.0\.self_attn: \w+ hold NaN or infinity"):
        capture(model, None, TEXT)


def test_values_that_are_not_finite_are_not_exact() -> None:
    """They cannot be compared, and what was not compared must not count as right."""
    model = llama()
    with torch.no_grad():
        model.layers[1].self_attn.v_proj.weight[0] = torch.nan
    first, second = capture(model, None, TEXT).fidelity["self"]
    assert first.exact is True
    assert second.exact is False


def test_attention_modules_that_did_not_run_are_not_missing(recwarn: Any) -> None:
    """GPT-2's cross-attention does not run without an encoder's output."""
    record = capture(gpt2(add_cross_attention=True), None, TEXT)
    assert record.stacks == ("self",)
    assert record.missing == ()
    assert not recwarn.list


def test_attention_modules_that_ran_unseen_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two layers has an attention that is no softmax over scores."""
    model = llama()

    class MeanAttention(torch.nn.Module):
        def forward(self, hidden_states: torch.Tensor, **_: Any) -> tuple[torch.Tensor, None]:
            return hidden_states.mean(dim=1, keepdim=True).expand_as(hidden_states), None

    model.layers[0].self_attn = MeanAttention()
    with pytest.warns(UserWarning, match=r"not in this record.*layers\.0\.self_attn") as caught:
        record = capture(model, None, TEXT)
    assert caught[0].filename == __file__
    [missing] = record.missing
    assert missing.startswith("layers.0.self_attn: MeanAttention ")
    assert record.stack().numbers == (1,)
