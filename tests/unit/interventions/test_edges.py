"""Edges between heads are the first order of what a slow loop changes."""

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import Model, tiny, token_ids

LENGTH = 5
CLEAN, CORRUPT = ({"input_ids": token_ids(LENGTH, seed=seed)} for seed in (0, 1))
D = 8


def llama() -> Model:
    return tiny("LlamaForCausalLM", num_key_value_heads=2, num_hidden_layers=3)


def granite() -> Model:
    options = {"residual_multiplier": 0.5, "num_key_value_heads": 2}
    return tiny("GraniteForCausalLM", num_hidden_layers=3, **options)


def gemma() -> Model:
    """A norm stands between the output projection and the stream."""
    options = {"num_key_value_heads": 2, "head_dim": D, "initializer_range": 0.1}
    return tiny("Gemma2ForCausalLM", "eager", num_hidden_layers=3, **options)


def gpt2() -> Model:
    return tiny("GPT2LMHeadModel", n_embd=32, n_head=4, num_hidden_layers=3)


def falcon() -> Model:
    """All heads share keys, and attention and MLP stand side by side."""
    return tiny("FalconForCausalLM", num_hidden_layers=3)


def metric(output: Any) -> Any:
    return output.logits[0, -1, 7] - output.logits[0, -1, 9]


class ByHooks:
    """A model's modules, and the columns in which a head's numbers are."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.is_fused = hasattr(model, "transformer")
        self.layers = model.transformer.h if self.is_fused else model.model.layers
        self.factor = getattr(model.config, "residual_multiplier", 1.0)

    def output(self, layer: int) -> Any:
        names = ("attn.c_proj", "self_attn.o_proj", "self_attention.dense")
        return self._first(layer, names)

    def norm(self, layer: int) -> Any:
        return self._first(layer, ("ln_1", "input_layernorm"))

    def projection(self, layer: int, into: str, head: int) -> tuple[Any, slice]:
        number = ["queries", "keys", "values"].index(into)
        first = head * D
        if self.is_fused:
            key_heads = 1 if hasattr(self.layers[0], "self_attention") else 4
            first += [0, 4, 4 + key_heads][number] * D
        names = ("attn.c_attn", f"self_attn.{into[0]}_proj", "self_attention.query_key_value")
        return self._first(layer, names), slice(first, first + D)

    def _first(self, layer: int, names: tuple[str, ...]) -> Any:
        known = dict(self.layers[layer].named_modules())
        return next(known[name] for name in names if name in known)

    def inputs(self, ids: Any) -> dict[int, torch.Tensor]:
        """What the output projections receive."""
        found: dict[int, torch.Tensor] = {}
        with ExitStack() as undo, torch.no_grad():
            for layer in range(3):
                hook = self.output(layer).register_forward_pre_hook(
                    lambda _module, args, layer=layer: found.update({layer: args[0]})
                )
                undo.callback(hook.remove)
            self.model(**ids)
        return found

    def written(self, layer: int, change: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """What a small change of heads' outputs writes, as a whole one."""
        block = self.layers[layer]
        normed = hasattr(block, "post_feedforward_layernorm")
        after = block.post_attention_layernorm if normed else None
        ends = []
        for share in (1e-3, -1e-3):
            end = self.output(layer).forward(at + share * change)
            ends.append(end if after is None else after.forward(end))
        return self.factor * (ends[0] - ends[1]) / 2e-3

    def slope(self, written: torch.Tensor, layer: int, into: str, head: int, way: float) -> float:
        """How fast the metric changes if what one head reads alone sees the stream changed."""
        module, columns = self.projection(layer, into, head)
        numbers = []
        for share in (way, -way):
            stream: list[torch.Tensor] = []
            keep = self.layers[layer].register_forward_pre_hook(
                lambda _module, args, stream=stream: stream.append(args[0])
            )

            def change(
                module: Any, _args: Any, output: Any, own: Any = stream, share: float = share
            ) -> Any:
                seen = self.norm(layer).forward(own[0] + share * written)
                changed = output.clone()
                changed[..., columns] = module.forward(seen)[..., columns]
                return changed

            put = module.register_forward_hook(change)
            with torch.no_grad():
                numbers.append(float(metric(self.model(**CORRUPT))))
            keep.remove()
            put.remove()
        return (numbers[0] - numbers[1]) / (2 * way)


@pytest.mark.parametrize("build", [llama, gpt2, granite, gemma, falcon])
def test_edges_equal_a_slow_loop(build: Any) -> None:
    model = build().double()
    snapshot = Snapshot(model)
    scores = aw.edge_attribution(model, None, CLEAN, CORRUPT, metric=metric)
    hooks = ByHooks(model)
    clean, corrupt = hooks.inputs(CLEAN), hooks.inputs(CORRUPT)
    with torch.no_grad():
        before, after = (float(metric(model(**each))) for each in (CORRUPT, CLEAN))
    expected = np.full(scores.values.shape, np.nan)
    assert scores.senders == tuple((layer, head) for layer in range(3) for head in range(4))
    shared = {gpt2: 4, falcon: 1}.get(build, 2)
    assert len(scores.receivers) == 3 * (4 + 2 * shared)
    for row, (layer, head) in enumerate(scores.senders):
        change = torch.zeros_like(clean[layer])
        of_head = slice(head * D, (head + 1) * D)
        change[..., of_head] = (clean[layer] - corrupt[layer])[..., of_head]
        with torch.no_grad():
            written = hooks.written(layer, change, corrupt[layer])
        for column, reader in enumerate(scores.receivers):
            if reader.layer > layer:
                slope = hooks.slope(written, reader.layer, reader.into, reader.head, 2e-3)
                expected[row, column] = slope / (after - before)
    np.testing.assert_allclose(scores.values, expected, atol=1e-3 * np.nanmax(np.abs(expected)))
    assert scores.null is not None
    assert np.isnan(scores.null).tolist() == np.isnan(expected).tolist()
    snapshot.assert_unchanged()
    first, second = scores.top(2)
    assert abs(first.score) == np.nanmax(np.abs(scores.values))
    assert abs(second.score) <= abs(first.score)
    table = scores.table()
    assert len(table) == (~np.isnan(expected)).sum()
    assert [*table] == ["layer", "head", "to_layer", "into", "to_head", "score", "null"]


def test_integrated_gradients_and_no_null() -> None:
    model = llama().double()
    options: dict[str, Any] = {"metric": metric, "null": False}
    plain = aw.edge_attribution(model, None, CLEAN, CORRUPT, **options)
    found = aw.edge_attribution(model, None, CLEAN, CORRUPT, steps=3, **options)
    assert not np.allclose(found.values, plain.values, atol=1e-3, equal_nan=True)
    assert plain.null is None
    assert "null" not in plain.table()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tiny("BertForMaskedLM"), "layer 0 of stack 'self' returns another sum"),
        (
            lambda: tiny("BloomForCausalLM", "eager", n_head=4, n_layer=2),
            "scores by code of its own",
        ),
    ],
)
def test_other_layers_are_refused(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        aw.edge_attribution(build(), None, CLEAN, CORRUPT, metric=metric)
