"""Every grid of TransformerLens' patching module: against hooks, and it, where it is installed."""

import copy
from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from tests.unit.tiny import Model, tiny, token_ids

LENGTH = 7
CLEAN, CORRUPT = token_ids(LENGTH), token_ids(LENGTH, seed=1)

MODELS = {
    "GPT-2": lambda: tiny("GPT2LMHeadModel", n_embd=32, n_head=4, n_layer=2, n_positions=64),
    "Llama": lambda: tiny("LlamaForCausalLM", num_key_value_heads=2),
}

# TransformerLens' names of grids, by ours.
POSITIONS = {
    "resid_pre": "residual pre",
    "resid_mid": "residual mid",
    "attn_out": "attention",
    "mlp_out": "mlp",
}
HEADS = {"out": "head", "q": "queries", "k": "keys", "v": "values", "pattern": "weights"}


def metric(logits: torch.Tensor) -> torch.Tensor:
    return logits[0, -1, 7] - logits[0, -1, 9]


def of_output(output: Any) -> float:
    return float(metric(output.logits))


def bridged(model: Model) -> tuple[Any, Any]:
    """(the model in TransformerLens' bridge, its patching module)."""
    pytest.importorskip("transformer_lens")
    from transformer_lens import patching
    from transformer_lens.model_bridge.sources.transformers import boot

    inner = copy.deepcopy(model)
    inner.set_attn_implementation("eager")
    bridge = boot("tiny", hf_model=inner, tokenizer=aw.default_model()[1])
    return bridge.eval(), patching


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS)
def test_every_grid(build: Any) -> None:
    model = build()
    bridge, patching = bridged(model)
    with torch.no_grad():
        _, cache = bridge.run_with_cache(CLEAN)
        before, after = (metric(model(ids).logits) for ids in (CORRUPT, CLEAN))

        def theirs(name: str) -> np.ndarray:
            grid = getattr(patching, f"get_act_patch_{name}")(bridge, CORRUPT, cache, metric)
            shares: np.ndarray = ((grid - before) / (after - before)).numpy()
            return shares

        def ours(at: str, by: str) -> np.ndarray:
            values: np.ndarray = aw.patch_scan(
                model,
                None,
                {"input_ids": CLEAN},
                {"input_ids": CORRUPT},
                metric=of_output,
                at=at,
                by=by,
                null=False,
            ).values
            return values

        for name, at in POSITIONS.items():
            np.testing.assert_allclose(ours(at, "layer×position"), theirs(name), atol=1e-5)
        for name, at in HEADS.items():
            expected = theirs(f"attn_head_{name}_all_pos")
            np.testing.assert_allclose(ours(at, "head"), expected, atol=1e-5)
            by_position = theirs(f"attn_head_{name}_by_pos")
            if by_position.shape[1] == LENGTH:  # by layer, position and head
                by_position = by_position.transpose(0, 2, 1)
            grid = ours(at, "head×position").reshape(by_position.shape)
            np.testing.assert_allclose(grid, by_position, atol=1e-5)


# By model, the module that returns queries, keys or values, the width before them in its output,
# and that of one head; and the output projection.
VECTORS = {
    "GPT-2": {
        at: ("h.{}.attn.c_attn", 32 * n) for n, at in enumerate(("queries", "keys", "values"))
    }
    | {"head": ("h.{}.attn.c_proj", 0)},
    "Llama": {
        "queries": ("layers.{}.self_attn.q_proj", 0),
        "keys": ("layers.{}.self_attn.k_proj", 0),
        "values": ("layers.{}.self_attn.v_proj", 0),
        "head": ("layers.{}.self_attn.o_proj", 0),
    },
}
ATTENTION = {"GPT-2": "h.{}.attn", "Llama": "layers.{}.self_attn"}
WIDTH = 8


class Hooked:
    """A model in which what one head has at a place is kept, or replaced at some positions."""

    def __init__(self, name: str) -> None:
        self.model = MODELS[name]()
        self.model.set_attn_implementation("eager")
        self._name = name
        self._base = "transformer." if name == "GPT-2" else "model."

    def run(self, ids: torch.Tensor, at: str, layer: int, change: Any) -> torch.Tensor:
        """The metric, with `change` of what is at a place, [items, heads, tokens, width]."""
        if at == "weights":
            return self._with_weights(ids, layer, change)
        path, start = VECTORS[self._name][at]
        module = self.model.get_submodule(self._base + path.format(layer))

        def changed(given: torch.Tensor) -> torch.Tensor:
            count = 4 if at in ("head", "queries") or self._name == "GPT-2" else 2
            new, part = given.clone(), slice(start, start + count * WIDTH)
            heads = given[..., part].unflatten(-1, (count, WIDTH)).transpose(1, 2)
            new[..., part] = change(heads).transpose(1, 2).flatten(2)
            return new

        hook = (
            module.register_forward_pre_hook(lambda _m, args: (changed(args[0]), *args[1:]))
            if at == "head"
            else module.register_forward_hook(lambda _m, _args, output: changed(output))
        )
        try:
            return metric(self.model(ids).logits)
        finally:
            hook.remove()

    def _with_weights(self, ids: torch.Tensor, layer: int, change: Any) -> torch.Tensor:
        attention = self.model.get_submodule(self._base + ATTENTION[self._name].format(layer))
        softmax, inside = torch.nn.functional.softmax, []

        def changed(*args: Any, **options: Any) -> torch.Tensor:
            weights = softmax(*args, **options)
            return change(weights) if inside else weights

        hooks = [
            attention.register_forward_pre_hook(lambda _m, _args: inside.append(True)),
            attention.register_forward_hook(lambda _m, _args, _output: inside.clear()),
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.nn.functional, "softmax", changed)
            found = metric(self.model(ids).logits)
        for hook in hooks:
            hook.remove()
        return found


@pytest.mark.parametrize("at", HEADS.values())
@pytest.mark.parametrize("name", MODELS)
def test_heads_equal_hooks(name: str, at: Any) -> None:
    hooked = Hooked(name)
    whole, grids = list(range(LENGTH)), []
    with torch.no_grad():
        before, after = (metric(hooked.model(ids).logits) for ids in (CORRUPT, CLEAN))
        for layer in range(2):
            kept: list[torch.Tensor] = []
            hooked.run(CLEAN, at, layer, lambda own, kept=kept: kept.append(own.clone()) or own)
            [clean] = kept

            def share(
                head: int, positions: list[int], layer: int = layer, clean: Any = clean
            ) -> float:
                def put(own: torch.Tensor) -> torch.Tensor:
                    new = own.clone()
                    new[:, head, positions] = clean[:, head, positions]
                    return new

                return float((hooked.run(CORRUPT, at, layer, put) - before) / (after - before))

            grids += [
                [share(head, each) for each in [[n] for n in whole] + [whole]]
                for head in range(clean.shape[1])
            ]
    expected = np.array(grids)
    scan = {"metric": of_output, "at": at, "null": False}
    texts = {"input_ids": CLEAN}, {"input_ids": CORRUPT}
    by_position = aw.patch_scan(MODELS[name](), None, *texts, by="head×position", **scan)
    np.testing.assert_allclose(by_position.values, expected[:, :-1], atol=1e-5)
    by_head = aw.patch_scan(MODELS[name](), None, *texts, by="head", **scan)
    np.testing.assert_allclose(by_head.values.ravel(), expected[:, -1], atol=1e-5)
