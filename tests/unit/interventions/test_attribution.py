"""Parts of a logit that heads write, and losses without more and more heads."""

from typing import Any

import numpy as np
import peft
import pytest
import torch
import torch.nn.functional as F

import attnwidget as aw
from benchmarks import zoo
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import bert, t5, tiny, token_ids
from tests.unit.tracing.test_outputs import HEADS

INPUTS = {"input_ids": token_ids(9)}
DECODERS: dict[str, dict[str, Any]] = {
    "LlamaForCausalLM": {"num_key_value_heads": 2},
    "GPT2LMHeadModel": {"n_embd": 32, "n_head": HEADS, "n_layer": 2},
    "GPTJForCausalLM": {"n_embd": 32, "n_head": HEADS, "n_layer": 2, "rotary_dim": 4},
    "OPTForCausalLM": {"ffn_dim": 48, "word_embed_proj_dim": 32},
    "GPTNeoXForCausalLM": {},
    "FalconForCausalLM": {"new_decoder_architecture": False, "multi_query": True},
    "MixtralForCausalLM": {"num_key_value_heads": 2, "num_local_experts": 4},
}


@pytest.mark.parametrize("name", DECODERS)
def test_parts_sum_to_the_logit(name: str) -> None:
    model = tiny(name, "eager" if name == "GPTJForCausalLM" else "sdpa", **DECODERS[name])
    snapshot = Snapshot(model)
    found = aw.logit_attribution(model, None, INPUTS, token=7, against=11, total=False)
    snapshot.assert_unchanged()
    with torch.no_grad():
        logits = model(**INPUTS).logits[0, -1]
    assert found.logit == pytest.approx(float(logits[7] - logits[11]), abs=1e-5)
    assert found.sum == pytest.approx(found.logit, abs=1e-3)
    assert np.abs(found.direct.values()).max() > 1e-3
    with pytest.raises(ValueError, match="give total=True"):
        _ = found.repair


# Norms before, after and around the stream, parallel blocks, soft caps, factors of logits, and
# other modules that write: shared experts, recurrences, linear attention, side branches.
MODULES = {
    "bart": {"fc2"},
    "bloom": {"mlp.dense_4h_to_h"},
    "cohere2": {"mlp"},
    "ctrl": {"ffn"},
    "deepseek_v3": {"mlp"},
    "diffllama": {"mlp"},
    "exaone4": {"mlp"},
    "falcon_h1": {"mamba", "feed_forward"},
    "gemma2": {"mlp"},
    "gemma3_text": {"mlp"},
    "gemma3n_text": {"mlp", "laurel.linear_right", "per_layer_projection"},
    "glm4": {"mlp"},
    "gpt_oss": {"mlp"},
    "granite": {"mlp"},
    "granitemoehybrid": {"mamba", "block_sparse_moe", "shared_mlp"},
    "jamba": {"mamba", "feed_forward"},
    "minimax": {"self_attn", "mlp"},
    "mpt": {"ffn.down_proj"},
    "nanochat": {"mlp"},
    "olmo": {"mlp"},
    "olmo2": {"mlp"},
    "phi3": {"mlp"},
    "qwen2_moe": {"mlp.experts", "mlp.shared_expert"},
    "qwen3_next": {"linear_attn", "mlp.experts", "mlp.shared_expert"},
    "xlnet": {"ff.layer_2"},
}


@pytest.mark.parametrize("name", MODULES)
def test_parts_in_every_kind_of_decoder(name: str) -> None:
    built = zoo.build_decoder(name)
    snapshot = Snapshot(built.model)
    found = aw.logit_attribution(built.model, None, built.inputs, token=7, total=False)
    snapshot.assert_unchanged()
    with torch.no_grad():
        own = float(built.model(**built.inputs).logits[0, -1, 7])
    assert found.capped == pytest.approx(own, abs=1e-5)
    bent = found.logit if found.cap is None else found.cap * np.tanh(found.logit / found.cap)
    assert bent == pytest.approx(own, abs=1e-5)
    assert found.sum == pytest.approx(found.logit, abs=1e-6)
    assert abs(found.rounding) < 1e-5
    assert set(found.modules) == MODULES[name]
    assert np.abs(found.direct.values()).max() > 1e-5
    assert found.table()["direct"].sum() == pytest.approx(found.logit, abs=1e-6)


def test_parts_behind_a_norm_and_before_a_cap() -> None:
    """Gemma 2 by hand: a norm after the attention, and logits that a soft cap bends."""
    model = tiny("Gemma2ForCausalLM", "eager", head_dim=8, final_logit_softcapping=5.0)
    found = aw.logit_attribution(model, None, INPUTS, token=7)
    assert found.cap == 5
    assert abs(found.capped) < abs(found.logit)
    kept: dict[Any, torch.Tensor] = {}
    layer = model.model.layers[0]
    followed = (layer.self_attn.o_proj, layer.post_attention_layernorm, model.model.norm)
    hooks = [
        module.register_forward_hook(lambda module, args, _: kept.update({module: args[0]}))
        for module in followed
    ]
    with torch.no_grad():
        logits = model(**INPUTS).logits[0, -1].double()
    for hook in hooks:
        hook.remove()
    toward = model.lm_head.weight[7].double()
    for norm in (model.model.norm, layer.post_attention_layernorm):
        scale = (kept[norm][0, -1].double().square().mean() + norm.eps).rsqrt()
        toward = toward * scale * (1 + norm.weight.double())
    for head in range(HEADS):
        columns = layer.self_attn.o_proj.weight.unflatten(1, (HEADS, -1))[:, head].double()
        outputs = kept[layer.self_attn.o_proj][0, -1].unflatten(-1, (HEADS, -1))[head].double()
        direct = float((columns @ outputs @ toward).detach())
        assert found.direct.values()[0, head] == pytest.approx(direct, abs=1e-5)
    assert found.total is not None
    with torch.no_grad(), aw.intervene(model, aw.Ablate(0, 1)):
        without = model(**INPUTS).logits[0, -1].double()
    change = 5 * (torch.atanh(logits[7] / 5) - torch.atanh(without[7] / 5))
    assert found.total.values()[0, 1] == pytest.approx(float(change), abs=1e-4)


def test_parts_of_a_decoder_beside_an_encoder() -> None:
    model = t5("T5ForConditionalGeneration")
    inputs = {**INPUTS, "decoder_input_ids": token_ids(4)}
    found = aw.logit_attribution(model, None, inputs, token=3)
    assert found.sum == pytest.approx(found.logit, abs=1e-6)
    assert list(found.direct.rows) == ["decoder", "cross"]
    assert set(found.table()["part"]) >= {"head of decoder", "head of cross"}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
# The router of Mixtral sends tokens to other experts in half precision.
@pytest.mark.parametrize("name", sorted(DECODERS.keys() - {"MixtralForCausalLM"}))
def test_parts_in_half_precision(name: str, dtype: torch.dtype) -> None:
    """The same numbers as those of the float32 model, within the type's rounding."""
    model = tiny(name, "eager" if name == "GPTJForCausalLM" else "sdpa", **DECODERS[name])
    model.to(dtype).to(torch.float32)  # weights that both types have
    whole = aw.logit_attribution(model, None, INPUTS, token=7, total=False)
    half = aw.logit_attribution(model.to(dtype), None, INPUTS, token=7, total=False)
    limit = 20 * torch.finfo(dtype).eps
    assert half.sum == pytest.approx(half.logit, abs=limit)
    assert np.allclose(half.direct.values(), whole.direct.values(), atol=limit)


def test_unembeddings_that_are_no_plain_matrix() -> None:
    """Under an adapter, and with inputs that are quantised."""
    model = tiny("LlamaForCausalLM", num_key_value_heads=2, tie_word_embeddings=False)
    config = peft.LoraConfig(r=2, target_modules=["lm_head"], init_lora_weights=False)
    adapted = peft.get_peft_model(model, config)
    found = aw.logit_attribution(adapted, None, INPUTS, token=7, total=False)
    with torch.no_grad():
        expected = float(adapted(**INPUTS).logits[0, -1, 7])
    assert found.sum == pytest.approx(expected, abs=1e-4)


def test_direct_and_total_effects() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    found = aw.logit_attribution(model, None, INPUTS, token=7, position=4)
    assert found.total is not None
    kept: dict[Any, torch.Tensor] = {}
    hooks = [
        module.register_forward_pre_hook(lambda module, args: kept.update({module: args[0]}))
        for module in (*(layer.self_attn.o_proj for layer in model.model.layers), model.model.norm)
    ]
    with torch.no_grad():
        plain = model(**INPUTS).logits[0, 4, 7].double()
    for hook in hooks:
        hook.remove()
    stream = kept[model.model.norm][0, 4].double()
    scale = (stream.square().mean() + model.config.rms_norm_eps).rsqrt()
    direction = scale * model.model.norm.weight.double() * model.lm_head.weight[7].double()
    for layer in range(2):
        projection = model.model.layers[layer].self_attn.o_proj
        outputs = kept[projection][0, 4].unflatten(-1, (HEADS, -1))
        for head in range(HEADS):
            columns = projection.weight.unflatten(1, (HEADS, -1))[:, head]
            direct = float(((columns @ outputs[head]).double() @ direction).detach())
            assert found.direct.values()[layer, head] == pytest.approx(direct, abs=1e-5)
            with torch.no_grad(), aw.intervene(model, aw.Ablate(layer, head)):
                without = float(model(**INPUTS).logits[0, 4, 7])
            expected = float(plain) - without
            assert found.total.values()[layer, head] == pytest.approx(expected, abs=1e-5)
    assert np.allclose(found.repair, found.direct.values() - found.total.values())
    table = found.table()
    assert table["direct"].sum() == pytest.approx(found.logit, abs=1e-4)
    assert list(table["part"].unique()) == [
        "embeddings",
        "head",
        "bias",
        "mlp",
        "constant",
        "rounding",
    ]


def test_models_whose_logits_have_no_parts() -> None:
    with pytest.raises(ValueError, match="BertModel has no unembedding"):
        aw.logit_attribution(bert(), None, INPUTS, token=3)
    with pytest.raises(ValueError, match="GELUActivation, which parts of the logit go through"):
        aw.logit_attribution(tiny("BertForMaskedLM"), None, INPUTS, token=3)
    biased = zoo.build_decoder("gpt_neox_japanese")  # adds a bias that is in no module
    with pytest.raises(ValueError, match=r"layers\.1 does more to its stream than to add parts"):
        aw.logit_attribution(biased.model, None, biased.inputs, token=3)
    heads = zoo.build_decoder("prophetnet")
    with pytest.raises(ValueError, match="other positions in its logits"):
        aw.logit_attribution(heads.model, None, heads.inputs, token=3)
    model = tiny("LlamaForCausalLM")
    with pytest.raises(IndexError, match="position 9 does not exist: the text has 9 tokens"):
        aw.logit_attribution(model, None, INPUTS, token=3, position=9)
    with pytest.raises(TypeError, match="a tokenizer is needed"):
        aw.logit_attribution(model, None, INPUTS, token=" Mary")


def mean_loss(model: Any, heads: Any) -> float:
    edits = [aw.Ablate(layer, head) for _, layer, head in heads]
    losses = []
    for text in TEXTS:
        with torch.no_grad(), aw.intervene(model, *edits):
            logits = model(**text).logits[0]
        losses.append(float(F.cross_entropy(logits[:-1], text["input_ids"][0, 1:])))
    return float(np.mean(losses))


TEXTS = [{"input_ids": token_ids(length, seed=length)} for length in (6, 9, 9)]


def test_a_curve_of_losses_without_heads() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    scores = aw.head_importance(model, None, TEXTS)
    curve = aw.prune_curve(model, None, TEXTS, scores, points=4, random_orders=2)
    assert [(h.layer, h.head) for h in curve.order] == [
        (score.layer, score.head) for score in reversed(scores.ranking())
    ]
    assert curve.counts == (0, 3, 5, 8)
    assert curve.shares[-1] == 1
    expected = [mean_loss(model, curve.order[:count]) for count in curve.counts]
    assert np.allclose(curve.losses, expected, atol=1e-5)
    # All orders begin and end with the same heads off.
    assert np.allclose(curve.random[:, [0, -1]], curve.losses[[0, -1]], atol=1e-6)
    assert curve.removable(0) <= curve.removable(1e9) == 8
    table = curve.table()
    assert list(table["heads"]) == [0, 3, 5, 8]
    listed = aw.prune_curve(model, None, TEXTS, [(1, 2), (0, 1)], random_orders=0)
    assert listed.counts == (0, 1, 2)
    assert listed.losses[1] == pytest.approx(mean_loss(model, [("self", 1, 2)]), abs=1e-5)
    assert list(listed.table().columns) == ["heads", "share", "loss"]
    with pytest.raises(ValueError, match="no head 4 in layer 1 of stack 'self'"):
        aw.prune_curve(model, None, TEXTS, [(1, 4)])
    with pytest.raises(ValueError, match="a head twice"):
        aw.prune_curve(model, None, TEXTS, [(1, 3), (1, 3)])
    for order in ((1, 3), None, "least", [(1, 3, "self")], [1, 3], scores.ranking()):
        with pytest.raises(TypeError, match=r"order is .*; expected .* \(layer, head\) pairs"):
            aw.prune_curve(model, None, TEXTS, order)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="points is '5'; expected a number from 2"):
        aw.prune_curve(model, None, TEXTS, scores, points="5")  # type: ignore[arg-type]
