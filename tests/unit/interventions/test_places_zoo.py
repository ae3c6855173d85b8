"""Places of streams in many architectures equal hooks of the modules that return them."""

from typing import Any

import pytest
import torch

import attnwidget as aw
from attnwidget.interventions.edits import Intervention
from attnwidget.tracing import undisturbed
from benchmarks import zoo
from tests.unit.interventions.test_places import at_positions, changing
from tests.unit.snapshot import Snapshot

_ALBERT = "albert_layers.0"

# By architecture, its layers, and within one the modules that return what attention and the MLP
# add.
ARCHITECTURES = {
    "albert": f"encoder.albert_layer_groups {_ALBERT}.attention.dense {_ALBERT}.ffn_output",
    "apertus": "layers self_attn mlp",
    "bert": "encoder.layer attention.output.dense output.dense",
    "bloom": "h self_attention.dense mlp.dense_4h_to_h",
    "codegen": "h attn mlp",
    "cohere": "layers self_attn mlp",
    "cohere2": "layers self_attn mlp",
    "dbrx": "blocks norm_attn_norm.attn ffn",
    "deberta-v2": "encoder.layer attention.output.dense output.dense",
    "deepseek_v2": "layers self_attn mlp",
    "deepseek_v3": "layers self_attn mlp",
    "distilbert": "transformer.layer attention ffn",
    "electra": "encoder.layer attention.output.dense output.dense",
    "ernie": "encoder.layer attention.output.dense output.dense",
    "eurobert": "layers self_attn mlp",
    "exaone_moe": "layers self_attn mlp",
    "falcon": "h self_attention mlp",
    "gemma": "layers self_attn mlp",
    "gemma2": "layers post_attention_layernorm post_feedforward_layernorm",
    "gemma3_text": "layers post_attention_layernorm post_feedforward_layernorm",
    "glm": "layers self_attn mlp",
    "gpt2": "h attn mlp",
    "gpt_bigcode": "h attn mlp",
    "gpt_neo": "h attn mlp",
    "gpt_neox": "layers attention mlp",
    "gptj": "h attn mlp",
    "granite": "layers self_attn mlp",
    "helium": "layers self_attn mlp",
    "ibert": "encoder.layer attention.output.dense output.dense",
    "jetmoe": "layers self_attention mlp",
    "llama": "layers self_attn mlp",
    "mistral": "layers self_attn mlp",
    "mixtral": "layers self_attn mlp",
    "modernbert": "layers attn mlp",
    "mpnet": "encoder.layer attention.attn.o output.dense",
    "nemotron": "layers self_attn mlp",
    "olmo": "layers self_attn mlp",
    "olmo2": "layers post_attention_layernorm post_feedforward_layernorm",
    "opt": "decoder.layers self_attn fc2",
    "phi": "layers self_attn mlp",
    "phi3": "layers self_attn mlp",
    "qwen2": "layers self_attn mlp",
    "qwen2_moe": "layers self_attn mlp",
    "qwen3": "layers self_attn mlp",
    "roberta": "encoder.layer attention.output.dense output.dense",
    "stablelm": "layers self_attn mlp",
    "starcoder2": "layers self_attn mlp",
}

# Attention and MLP read the same stream, so that there is none between them.
PARALLEL = {"codegen", "cohere", "cohere2", "falcon", "gpt_neox", "gptj", "phi"}

POSITIONS = [1, 3]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_places(name: str) -> None:
    built = zoo.build(name)
    model, inputs = built.model, built.inputs
    layers, attention, mlp = ARCHITECTURES[name].split()
    last = model.config.num_hidden_layers - 1
    own = f"{layers}.{0 if name == 'albert' else last}"
    items, tokens = inputs["input_ids"].shape
    snapshot = Snapshot(model)

    def states(*edits: Intervention, **given: Any) -> torch.Tensor:
        with undisturbed(model), aw.intervene(model, *edits):
            found: torch.Tensor = model(**{**inputs, **given})[0]
        return found

    def minus(stream: torch.Tensor) -> torch.Tensor:
        return -stream

    def shaped(stream: torch.Tensor) -> torch.Tensor:
        rows = stream.reshape(items, tokens, -1)
        return at_positions(minus, POSITIONS)(rows).reshape(stream.shape)

    plain = states()
    places = {"attention": (f"{own}.{attention}", False), "mlp": (f"{own}.{mlp}", False)}
    if name != "albert":  # whose layers are one module
        places |= {"residual pre": (own, True), "residual post": (f"{layers}.{last - 1}", False)}
    for at, (module, received) in places.items():
        numbers = None if name == "albert" else last - (at == "residual post")
        changed = states(aw.Scale(-1, numbers, at=at, positions=POSITIONS))  # type: ignore[arg-type]
        with changing(model, module, shaped, received=received):
            expected = states()
        largest = float(expected.abs().max())
        assert torch.allclose(changed, expected, atol=1e-5 * max(1, largest)), at
        assert not torch.allclose(changed, plain, atol=1e-4), at
    other = {"input_ids": inputs["input_ids"].flip(1)}
    if name in PARALLEL:
        with pytest.raises(ValueError, match=r"no 'residual mid'"):
            states(aw.Scale(2, at="residual mid"))
    else:
        # All that follows depends on it alone.
        source = aw.head_outputs(model, None, {**inputs, **other}, at="residual mid")
        patched, expected = states(aw.Patch(source, last, at="residual mid")), states(**other)
        assert torch.allclose(patched, expected, atol=1e-4 * float(expected.abs().max()))
        assert not torch.allclose(patched, plain, atol=1e-3)
    snapshot.assert_unchanged()
