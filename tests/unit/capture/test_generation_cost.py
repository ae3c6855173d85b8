"""A generation is kept as each token once, and explained once: what may cost time is counted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from attnwidget import AttentionRecord, capture
from attnwidget.capture import check, join_functions, recorder, steps
from attnwidget.capture.generation import Generation
from attnwidget.capture.steps import FunctionPass, LayerPass, Steps
from tests.unit.tiny import Model, t5, tiny, token_ids
from tests.versions import newer

PROMPT = 9
HEADS, KEY_HEADS, DIM, LAYERS = 4, 2, 8, 2


def _llama(attention: str = "sdpa") -> Model:
    return tiny("LlamaForCausalLM", attention, num_key_value_heads=KEY_HEADS)


def _bloom() -> Model:
    return tiny("BloomForCausalLM", "eager", n_layer=2, n_head=4)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[Steps]:
    """Arrays that a generation has kept at its end, before its passes are joined."""
    ends: list[Steps] = []
    original = Generation.calls

    def calls(self: Generation, steps: Steps, *, values: bool) -> Any:
        ends.append(_copy(steps))
        return original(self, steps, values=values)

    monkeypatch.setattr(Generation, "calls", calls)
    return ends


def _copy(original: Steps) -> Steps:
    copied = Steps(lambda _: False, 1, slice(0, 1))
    copied.passes.update(original.passes)
    return copied


def _generated(model: Model, new: int, **options: Any) -> AttentionRecord:
    """A record of a prompt and `new` tokens, the last of which is not read."""
    options = {"max_new_tokens": new, "eos_token_id": None, "do_sample": False, **options}
    return capture(model, None, {"input_ids": token_ids(PROMPT)}, generate=options)


def _numbers(passes: Steps) -> int:
    """The numbers in all arrays and tensors that are kept, a mask that layers share once."""
    arrays: dict[int, int] = {}

    def add(*found: Any) -> None:
        arrays.update({id(a): int(np.prod(a.shape)) for a in found if a is not None})

    for entries in passes.passes.values():
        for each in entries:
            if isinstance(each, FunctionPass):
                add(each.query, each.key, each.value, each.output, each.mask.seen, each.mask.bias)
                if each.first is not None:
                    add(each.first.call.query, each.first.call.key, each.first.call.mask)
            else:
                assert isinstance(each, LayerPass)
                for rows in each.beams:
                    add(rows.queries, rows.keys, rows.values)
    return sum(arrays.values())


@pytest.mark.parametrize("new", [2, 5, 20])
def test_every_token_is_kept_once(kept: list[Steps], new: int) -> None:
    """Queries, keys, values and outputs for the check, and of the prompt's mask nothing else."""
    _generated(_llama(), new)
    tokens = PROMPT + new - 1
    assert _numbers(kept[0]) == LAYERS * tokens * DIM * (2 * HEADS + 2 * KEY_HEADS) + PROMPT**2


@pytest.mark.parametrize("new", [2, 5, 20])
def test_so_it_is_where_a_model_writes_its_attention_out(kept: list[Steps], new: int) -> None:
    _generated(_bloom(), new)
    assert _numbers(kept[0]) == LAYERS * (PROMPT + new - 1) * DIM * 2 * HEADS


def test_without_a_cache_only_the_last_pass_is_kept(kept: list[Steps]) -> None:
    _generated(_llama(), 6, use_cache=False)
    for passes in kept[0].passes.values():
        assert [each.step for each in passes] == [5]


def test_a_text_is_read_by_an_encoder_once(kept: list[Steps]) -> None:
    """And the keys of cross-attention are those of the first pass."""
    _generated(t5("T5ForConditionalGeneration"), 6, min_new_tokens=6)
    lengths = {
        module: [each.key.shape[2] for each in passes if isinstance(each, FunctionPass)]
        for (module, _), passes in kept[0].passes.items()
        if "EncDecAttention" in module
    }
    assert list(lengths.values()) == [[PROMPT, 0, 0, 0, 0, 0]] * LAYERS


@pytest.mark.parametrize("new", [3, 12])
def test_masks_are_read_once_per_pass_and_layers_explained_once(
    monkeypatch: pytest.MonkeyPatch, new: int
) -> None:
    counts = {"masks": 0, "joined masks": 0, "layers": 0}

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(steps, "read_mask", counted("masks", steps.read_mask))
    monkeypatch.setattr(join_functions, "terms", counted("joined masks", join_functions.terms))
    explained = counted("layers", check.CallCheck.fidelity)
    monkeypatch.setattr(check.CallCheck, "fidelity", explained)
    _generated(_llama(), new)
    assert counts == {"masks": new, "joined masks": 1, "layers": LAYERS}


def test_modules_are_followed_in_the_first_pass_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[Any] = []
    original = recorder._Recorder.module_entered

    def module_entered(self: Any, module: Any, args: Any) -> None:
        entered.append(module)
        original(self, module, args)

    monkeypatch.setattr(recorder._Recorder, "module_entered", module_entered)
    model = _llama()
    _generated(model, 4)
    assert entered[-3:] == [model] * 3
    assert sum(module is model for module in entered) == 4
    assert model.lm_head in entered


def test_every_generated_token_is_checked() -> None:
    record = _generated(_llama(), 20)
    assert [fidelity.rows for fidelity in record.fidelity["self"]] == [PROMPT + 19] * LAYERS


@newer("4.56", "a function of one's own has a mask of its own")
@pytest.mark.parametrize("wrong", [PROMPT + 1, PROMPT + 17])
def test_a_single_pass_that_is_not_what_the_record_says_is_found_out(
    wrong: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its function scales differently while it reads one token."""

    def attention(module: Any, query: Any, key: Any, *args: Any, **kwargs: Any) -> Any:
        if key.shape[2] == wrong:
            kwargs = {**kwargs, "scaling": kwargs["scaling"] / 3}
        return sdpa_attention_forward(module, query, key, *args, **kwargs)

    monkeypatch.setitem(AttentionInterface._global_mapping, "ours", attention)
    monkeypatch.setitem(AttentionMaskInterface._global_mapping, "ours", sdpa_mask)
    model = _llama("ours")
    fidelities = _generated(model, 20).fidelity["self"]
    # A token that sees one key alone is exact in the first layer, whatever the scale.
    assert fidelities[1].exact is False
    assert fidelities[1].output_error is not None
    assert fidelities[1].output_error > 1e-3


def test_values_and_projections_of_a_generation_are_those_of_one_pass() -> None:
    model = _llama()
    ids = model.generate(token_ids(PROMPT), max_new_tokens=5, eos_token_id=None, do_sample=False)
    options = {"max_new_tokens": 5, "eos_token_id": None, "do_sample": False}
    inputs = {"input_ids": token_ids(PROMPT)}
    record = capture(model, None, inputs, generate=options, values=True)
    whole = capture(model, None, {"input_ids": ids[:, :-1]}, values=True)
    for layer, expected in zip(record.stack().layers, whole.stack().layers, strict=True):
        assert layer.values is not None
        assert expected.values is not None
        np.testing.assert_allclose(layer.values, expected.values, atol=1e-5)
        assert layer.projection is not None
        assert expected.projection is not None
        np.testing.assert_allclose(layer.projection, expected.projection, atol=1e-5)


def test_half_precision_is_kept_as_it_is(kept: list[Steps]) -> None:
    record = _generated(_llama().to(torch.bfloat16), 4)
    entries = [each for passes in kept[0].passes.values() for each in passes]
    assert {each.key.dtype for each in entries if isinstance(each, FunctionPass)} == {
        torch.bfloat16
    }
    assert [fidelity.exact for fidelity in record.fidelity["self"]] == [True] * LAYERS
