"""Pairs of components of a rotary embedding are those that the model's own function rotates."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.llama import modeling_llama

from attnwidget import AttentionRecord, capture
from attnwidget.capture.explain_function import FunctionExplainer
from attnwidget.record import Rotary
from tests.unit.handwritten import TEXT
from tests.unit.tiny import Loaded, Model, bert, gpt2, llama, t5, tiny, token_ids
from tests.versions import newer

GROUPED = {"num_key_value_heads": 2}
LATENT = {
    "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 20, "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 16, "v_head_dim": 8, "n_routed_experts": 4, "n_group": 1, "topk_group": 1,
    "num_experts_per_tok": 2, "moe_intermediate_size": 16, "first_k_dense_replace": 2,
}  # fmt: skip
YARN = {
    "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip
GPTJ = {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 64}
MIXTURE = {**GROUPED, "head_dim": 8, "num_local_experts": 2, "num_experts_per_tok": 1}
_V5 = newer("5.0", "the options of its rotary embedding are named so")


def _case(name: str, rotary: Rotary, *marks: Any, attention: str = "sdpa", **options: Any) -> Any:
    return pytest.param(name, attention, options, rotary, marks=marks, id=name)


# From each model's own file: rotate_half takes x[: dims / 2] and x[dims / 2 :], or x[::2] and
# x[1::2]; complex numbers are made of neighbours.
TURNED = [
    _case("Llama", Rotary("halves", 8), **GROUPED),
    pytest.param("Llama", "eager", {"rope_parameters": YARN}, Rotary("halves", 8), marks=_V5,
                 id="Llama, with longer queries and keys"),
    _case("Mistral", Rotary("halves", 8), **GROUPED),
    _case("Gemma2", Rotary("halves", 8), attention="eager", **GROUPED, head_dim=8),
    _case("ModernBert", Rotary("halves", 8), newer("4.48", "it is in it")),
    _case("Esm", Rotary("halves", 8), position_embedding_type="rotary", mask_token_id=3),
    # A norm after the projection.
    _case("Qwen3", Rotary("halves", 16), newer("4.51", "it is in it"), **GROUPED, head_dim=16),
    _case("Gemma3Text", Rotary("halves", 8), newer("4.50", "it is in it"), **GROUPED, head_dim=8),
    _case("Olmo2", Rotary("halves", 8), **GROUPED),
    # A part of the components.
    _case("GPTNeoX", Rotary("halves", 8), hidden_size=128),
    _case("Phi", Rotary("halves", 16), hidden_size=128),
    _case("Persimmon", Rotary("halves", 16), hidden_size=128),
    # Queries, keys and values in one, each in a way of its own.
    _case("Phi3", Rotary("halves", 8), **GROUPED),
    _case("Falcon", Rotary("halves", 8)),
    # Neighbours.
    _case("GPTJ", Rotary("neighbours", 4), attention="eager", **GPTJ),
    _case("CodeGen", Rotary("neighbours", 8), attention="eager", **{**GPTJ, "rotary_dim": 8}),
    _case("Cohere", Rotary("neighbours", 8), **GROUPED),
    _case("Glm", Rotary("neighbours", 8), **GROUPED, head_dim=16),
]  # fmt: skip


def _rotary(record: AttentionRecord) -> list[Rotary | None]:
    return [layer.rotary for name in record.stacks for layer in record.stack(name).layers]


@pytest.mark.parametrize(("name", "attention", "options", "rotary"), TURNED)
def test_every_architecture_turns_pairs_of_its_own(
    name: str, attention: str, options: dict[str, Any], rotary: Rotary
) -> None:
    record = capture(tiny(name, attention, **options), None, {"input_ids": token_ids(12)})
    assert _rotary(record) == [rotary] * 2


# They write their rotation out, or rotate complex numbers.
OTHERWISE = [
    ("RoFormer", "eager", {"embedding_size": 32}),
    ("DeepseekV2", "sdpa", LATENT),
    ("DeepseekV3", "sdpa", LATENT),
]


@newer("4.54", "they are in it")
@pytest.mark.parametrize(("name", "attention", "options"), OTHERWISE)
def test_nothing_is_said_of_rotations_in_another_way(
    name: str, attention: str, options: dict[str, Any]
) -> None:
    record = capture(tiny(name, attention, **options), None, {"input_ids": token_ids(12)})
    assert _rotary(record) == [None, None]


UNTURNED: dict[str, Model] = {
    "BERT": bert(),
    "GPT-2": gpt2(),
    "T5": t5("T5Encoder"),
    "ALiBi": tiny("Bloom", "eager", n_layer=2, n_head=4),
    "queries that are scaled": tiny("OPT", ffn_dim=48, word_embed_proj_dim=32),
    "queries that are scaled by layer": gpt2(scale_attn_by_inverse_layer_idx=True),
    "content and position apart": tiny("Deberta", "eager"),
}


@pytest.mark.parametrize("model", UNTURNED.values(), ids=UNTURNED)
def test_nothing_is_said_where_nothing_is_turned(model: Model) -> None:
    assert _rotary(capture(model, None, TEXT)) == [None, None]


def test_images() -> None:
    model = tiny("ViT", image_size=16, patch_size=4)
    record = capture(model, None, {"pixel_values": torch.randn(1, 3, 16, 16)})
    assert _rotary(record) == [None, None]


@newer("4.56", "from_pretrained takes dtype")
def test_a_trained_decoder(smollm2: Loaded) -> None:
    record = capture(*smollm2, "The dog was tired because it ran.")
    assert _rotary(record) == [Rotary("halves", 64)] * 30


def test_a_trained_encoder(minilm: Loaded) -> None:
    assert _rotary(capture(*minilm, "The dog was tired because it ran.")) == [None] * 6


def test_layers_without_a_rotation_of_a_model_that_has_them() -> None:
    model = tiny("SmolLM3", num_key_value_heads=2, no_rope_layers=[1, 0])
    record = capture(model, None, {"input_ids": token_ids(12)})
    assert _rotary(record) == [Rotary("halves", 8), None]


def test_the_functions_of_the_models_file_are_put_back() -> None:
    before = modeling_llama.rotate_half
    capture(llama(), None, {"input_ids": token_ids(5)})
    model = llama()
    model.norm.register_forward_hook(_stop)
    with pytest.raises(KeyboardInterrupt):
        capture(model, None, {"input_ids": token_ids(5)})
    assert modeling_llama.rotate_half is before


def _with_options(x: torch.Tensor, interleaved: bool = False) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def _with_a_factor(x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return _with_options(x) * factor


def _of_one_shape(x: torch.Tensor) -> torch.Tensor:
    assert x.shape == (1, 4, 5, 8) or x.shape == (1, 2, 5, 8)
    return _with_options(x)


FUNCTIONS: dict[str, tuple[Any, Any, Rotary | None]] = {
    "an option, not given": (_with_options, lambda f, x: f(x), Rotary("halves", 8)),
    "by name": (_with_options, lambda f, x: f(x=x), Rotary("halves", 8)),
    "an option, given": (_with_options, lambda f, x: f(x, False), None),
    "two arguments": (_with_a_factor, lambda f, x: f(x, torch.ones(8)), None),
    "of one shape": (_of_one_shape, lambda f, x: f(x), None),
}


@pytest.mark.parametrize(("function", "call", "rotary"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_may_take_what_it_likes(
    function: Any, call: Any, rotary: Rotary | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def turned(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> Any:
        cos, sin, by = cos[:, None], sin[:, None], modeling_llama.rotate_half
        return q * cos + call(by, q) * sin, k * cos + call(by, k) * sin

    monkeypatch.setattr(modeling_llama, "rotate_half", function)
    monkeypatch.setattr(modeling_llama, "apply_rotary_pos_emb", turned)
    record = capture(llama(), None, {"input_ids": token_ids(5)})
    assert record.missing == ()
    assert _rotary(record) == [rotary] * 2


def test_a_file_that_is_no_longer_among_the_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modeling_llama.LlamaAttention, "__module__", "gone")
    assert _rotary(capture(llama(), None, {"input_ids": token_ids(5)})) == [None, None]


def test_one_layer_alone() -> None:
    record = capture(llama(), None, {"input_ids": token_ids(5)}, layers=[1])
    assert _rotary(record) == [Rotary("halves", 8)]


def test_a_layer_after_one_that_could_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    explained = FunctionExplainer.layer

    def layer(self: Any, call: Any, item: Any, module: str) -> Any:
        if ".0." in module:
            raise RuntimeError("not read")
        return explained(self, call, item, module)

    monkeypatch.setattr(FunctionExplainer, "layer", layer)
    with pytest.warns(UserWarning, match="not read"):
        record = capture(llama(), None, {"input_ids": token_ids(5)})
    assert _rotary(record) == [Rotary("halves", 8)]


def test_half_precision() -> None:
    record = capture(llama().to(torch.bfloat16), None, {"input_ids": token_ids(5)})
    assert _rotary(record) == [Rotary("halves", 8)] * 2


def _stop(*_: Any) -> None:
    raise KeyboardInterrupt


def test_a_batch_with_padding() -> None:
    mask = torch.ones(2, 12, dtype=torch.long)
    mask[0, :5] = 0
    text = {"input_ids": token_ids(24).reshape(2, 12), "attention_mask": mask}
    record = capture(llama(), None, text)
    assert _rotary(record) == [Rotary("halves", 8)] * 2


def test_a_generation() -> None:
    model = tiny("LlamaForCausalLM", **GROUPED)
    record = capture(model, None, {"input_ids": token_ids(7)}, generate={"max_new_tokens": 3})
    assert _rotary(record) == [Rotary("halves", 8)] * 2


def test_the_pairs_are_those_that_turned() -> None:
    """The turn of a repeated word is the same from each token to the next."""
    record = capture(llama(), None, {"input_ids": torch.full((1, 5), 7)})
    queries = record.queries(0, 1).astype(float)
    turned = queries[:, :4] + 1j * queries[:, 4:]
    steps = turned[1:] / turned[:-1]
    np.testing.assert_allclose(steps, steps[:1].repeat(4, axis=0), atol=1e-4)
    np.testing.assert_allclose(np.abs(steps), 1, atol=1e-4)
    assert record.layer(0).rotary == Rotary("halves", 8)
