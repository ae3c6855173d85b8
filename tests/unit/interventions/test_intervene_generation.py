"""Generation under an intervention equals that of a model that was changed by hand."""

import copy
from typing import Any

import pytest
import torch

from attnwidget.interventions.editor import intervene
from attnwidget.interventions.edits import Ablate, KnockOut
from tests.unit.tiny import Model, tiny, token_ids
from tests.unit.tracing.test_outputs import HEADS

PROMPT = torch.cat([token_ids(6), token_ids(6, seed=1)])
LENGTH = 8
OPTIONS: dict[str, dict[str, Any]] = {
    "greedy": {"do_sample": False},
    "beams": {"do_sample": False, "num_beams": 3},
    "sampling": {"do_sample": True, "top_k": 0},
}
CACHES: dict[str, dict[str, Any]] = {
    "cache": {},
    "static cache": {"cache_implementation": "static"},
    "no cache": {"use_cache": False},
}


def generated(model: Model, **options: Any) -> torch.Tensor:
    torch.manual_seed(0)
    tokens: torch.Tensor = model.generate(
        input_ids=PROMPT,
        attention_mask=torch.ones_like(PROMPT),
        max_new_tokens=LENGTH,
        min_new_tokens=LENGTH,
        **options,
    )
    return tokens


@pytest.mark.parametrize("cache", CACHES.values(), ids=CACHES)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_heads_off(options: dict[str, Any], cache: dict[str, Any]) -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    changed = copy.deepcopy(model)
    with torch.no_grad():
        changed.model.layers[1].self_attn.o_proj.weight.unflatten(1, (HEADS, -1))[:, :3] = 0
    expected = generated(changed, **options, **cache)
    assert not torch.equal(expected, generated(model, **options, **cache))
    with intervene(model, Ablate(1, [0, 1, 2])):
        assert torch.equal(generated(model, **options, **cache), expected)


def hiding(model: Model, queries: range, key: int) -> Model:
    """The model without a cache and with eager attention, where these queries do not see a key."""
    changed = copy.deepcopy(model)
    changed.set_attn_implementation("eager")
    for layer in changed.model.layers:
        layer.self_attn.forward = _hidden(layer.self_attn.forward, queries, key)
    return changed


def _hidden(forward: Any, queries: range, key: int) -> Any:
    def with_mask(hidden_states: Any, *args: Any, attention_mask: Any, **kwargs: Any) -> Any:
        mask = attention_mask.clone()
        mask[:, :, queries.start : queries.stop, key] = -torch.inf
        return forward(hidden_states, *args, attention_mask=mask, **kwargs)

    return with_mask


@pytest.mark.parametrize("cache", CACHES.values(), ids=CACHES)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_positions_count_the_prompt_and_what_follows(
    options: dict[str, Any], cache: dict[str, Any]
) -> None:
    """A token of the prompt is hidden from some of the tokens that are generated after it."""
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    queries, key = range(7, 10), 2
    expected = generated(hiding(model, queries, key), **options, use_cache=False)
    plain = generated(model, **options)
    assert not torch.equal(expected, plain)
    # The token after position 7 is the first one that can differ.
    assert torch.equal(expected[:, :8], plain[:, :8]) or "num_beams" in options
    with intervene(model, KnockOut(queries, key)):
        assert torch.equal(generated(model, **options, **cache), expected)


def test_a_cache_that_forgets_keys() -> None:
    model = tiny("MistralForCausalLM", num_key_value_heads=2, sliding_window=7)
    with (
        pytest.raises(ValueError, match="no longer has all keys"),
        intervene(model, KnockOut(range(7, 14), 2)),
    ):
        generated(model, do_sample=False)
    with intervene(model, KnockOut(range(7, 9), 5)):
        generated(model, do_sample=False, use_cache=False)


def test_several_tokens_after_those_in_a_cache() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    tokens = torch.cat([PROMPT, token_ids(3).repeat(2, 1)], dim=1)
    edge = KnockOut([6, 8], 2)
    with torch.no_grad(), intervene(model, edge):
        whole = model(tokens).logits[:, 6:]
        cache = model(PROMPT, use_cache=True).past_key_values
        after = model(tokens[:, 6:], past_key_values=cache).logits
    assert torch.allclose(after, whole, atol=1e-5)
    with torch.no_grad():
        assert not torch.allclose(model(tokens).logits[:, 6:], whole, atol=1e-3)
