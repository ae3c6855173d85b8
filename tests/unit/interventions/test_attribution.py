"""Parts of a logit that heads write, and losses without more and more heads."""

from typing import Any

import numpy as np
import peft
import pytest
import torch
import torch.nn.functional as F

import attnwidget as aw
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
    assert list(table["part"].unique()) == ["embeddings", "head", "bias", "mlp", "constant"]


def test_models_whose_logits_have_no_parts() -> None:
    with pytest.raises(ValueError, match="a norm or a factor lies between"):
        aw.logit_attribution(tiny("Gemma2ForCausalLM", "eager", head_dim=8), None, INPUTS, token=3)
    with pytest.raises(ValueError, match="BertModel has no unembedding"):
        aw.logit_attribution(bert(), None, INPUTS, token=3)
    with pytest.raises(ValueError, match="one stack of layers alone"):
        aw.logit_attribution(
            t5("T5ForConditionalGeneration"),
            None,
            {**INPUTS, "decoder_input_ids": token_ids(4)},
            token=3,
        )
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
