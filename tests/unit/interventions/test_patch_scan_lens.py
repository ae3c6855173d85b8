"""Every grid of TransformerLens' patching module, where it is installed."""

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
