"""Grouping of layers into stacks, their names and numbers."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import transformers

from attnwidget import capture
from tests.unit.tiny import (
    Model,
    assert_attention,
    assert_weights,
    bart,
    build,
    eager_attentions,
    gpt2,
    llama,
    references,
    t5,
    tiny,
    token_ids,
)


class Names:
    """A tokenizer that only names tokens."""

    all_special_ids = ()

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [f"w{token}" for token in ids]

    def decode(self, ids: list[int], **_: object) -> str:
        return f"w{ids[0]}"


PIXELS = torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(0))

VISION = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 2,
    "image_size": 16, "patch_size": 4, "initializer_factor": 8.0,
}  # fmt: skip
TEXT = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 64,
}  # fmt: skip


def _unequal(source: int, target: int) -> dict[str, torch.Tensor]:
    return {"input_ids": token_ids(source), "decoder_input_ids": token_ids(target, seed=1)}


class Two(NamedTuple):
    """An encoder-decoder, and the layers and heads of either side."""

    build: Callable[[str], Model]
    encoder: tuple[int, int]
    decoder: tuple[int, int]


def _marian(attention: str) -> Model:
    sizes = {"encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 2,
             "decoder_attention_heads": 4, "num_hidden_layers": 3,
             "num_attention_heads": 2, "scale_embedding": True}  # fmt: skip
    return bart("Marian", attention, **sizes)


def _pair_of_berts(attention: str) -> Model:
    encoder = transformers.BertConfig(**TEXT, initializer_range=0.4)
    sizes = {**TEXT, "num_hidden_layers": 3, "num_attention_heads": 2, "initializer_range": 0.4}
    decoder = transformers.BertConfig(**sizes, is_decoder=True, add_cross_attention=True)
    config = transformers.EncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    return build(transformers.EncoderDecoderModel, config, attention)


PAIRS = {
    "Bart": Two(lambda a: bart(attention=a), (2, 4), (3, 2)),
    "T5": Two(lambda a: t5(attention=a, num_decoder_layers=3), (2, 4), (3, 4)),
    "Marian": Two(_marian, (3, 2), (1, 4)),
    "two BERTs": Two(_pair_of_berts, (2, 4), (3, 2)),
}


@pytest.mark.parametrize("lengths", [(9, 5), (6, 8), (7, 7)])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_encoder_decoder_and_cross(pair: Two, lengths: tuple[int, int]) -> None:
    inputs = _unequal(*lengths)
    record = capture(pair.build("sdpa"), None, inputs)
    assert record.stacks == ("encoder", "decoder", "cross")
    own = references(pair.build("eager"), **inputs)
    for stack in record.stacks:
        layers, heads = pair.encoder if stack == "encoder" else pair.decoder
        assert record.stack(stack).numbers == tuple(range(layers))
        assert record.num_heads(0, stack) == heads
        assert_attention(record, [a[0] for a in own[f"{stack}_attentions"]], stack)


@pytest.mark.parametrize("length", [4, 9])
def test_cross_attention_of_a_decoder_alone(length: int) -> None:
    """GPT-2 attends to what it is given, also if that is as long as its text."""
    states = torch.randn(1, length, 32, generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": token_ids(9), "encoder_hidden_states": states}
    record = capture(gpt2(add_cross_attention=True), Names(), inputs)
    assert record.stacks == ("self", "cross")
    words = [f"w{token}" for token in inputs["input_ids"][0].tolist()]
    assert record.tokens("cross") == (words, [str(n) for n in range(length)])
    own = references(gpt2("eager", add_cross_attention=True), **inputs)
    assert_attention(record, [a[0] for a in own["attentions"]], "self")
    assert_attention(record, [a[0] for a in own["cross_attentions"]], "cross")


def _blip(attention: str) -> Model:
    config = transformers.BlipConfig(
        text_config={**TEXT, "encoder_hidden_size": 32, "initializer_range": 0.4},
        vision_config=VISION,
    )
    return build(transformers.BlipForConditionalGeneration, config, attention)


def _bridgetower(attention: str) -> Model:
    text, vision = (
        {**sizes, "hidden_size": 64, "num_hidden_layers": 3} for sizes in (TEXT, VISION)
    )
    config = transformers.BridgeTowerConfig(
        text_config=text, vision_config=vision, hidden_size=64, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=48,
    )  # fmt: skip
    return build(transformers.BridgeTowerModel, config, attention)


@pytest.mark.parametrize("model", [_blip, _bridgetower], ids=lambda f: f.__name__)
def test_a_text_as_long_as_the_image(model: Callable[[str], Model]) -> None:
    """Seventeen tokens, and sixteen patches with a class token."""
    ids = token_ids(17)
    record = capture(model("eager"), Names(), {"input_ids": ids, "pixel_values": PIXELS})
    words, grid = [f"w{token}" for token in ids[0].tolist()], record.tokens("vision")[0]
    assert grid[:3] == ["[CLS]", "0,0", "0,1"]
    crosses = [record.tokens(name) for name in record.stacks if "cross" in name]
    assert crosses == [(words, grid), (grid, words)][: len(crosses)]
    assert all(record.tokens(name) == (words, words) for name in ("text",))


@pytest.mark.parametrize("length", [4, 9])
def test_a_text_that_mixes_with_boxes_keeps_its_words(length: int) -> None:
    """LXMERT's text is shorter than what it sees, or as long."""
    config = transformers.LxmertConfig(
        vocab_size=64, hidden_size=32, num_attention_heads=4, intermediate_size=48, l_layers=1,
        x_layers=2, r_layers=1, visual_feat_dim=8, visual_pos_dim=4,
    )  # fmt: skip
    random = torch.Generator().manual_seed(0)
    seen = {name: torch.rand(1, 9, n, generator=random) for name, n in
            (("visual_feats", 8), ("visual_pos", 4))}  # fmt: skip
    ids = token_ids(length)
    model = build(transformers.LxmertModel, config, "eager")
    record = capture(model, Names(), {"input_ids": ids, **seen})
    words, boxes = [f"w{token}" for token in ids[0].tolist()], [str(n) for n in range(9)]
    found = {
        layer.fidelity.module: record.tokens(name)
        for name in record.stacks
        if "cross" not in name
        for layer in record.stack(name).layers
    }
    assert found == {
        "encoder.layer.0.attention.self": (words, words),
        "encoder.r_layers.0.attention.self": (boxes, boxes),
        **{f"encoder.x_layers.{n}.lang_self_att.self": (words, words) for n in range(2)},
        **{f"encoder.x_layers.{n}.visn_self_att.self": (boxes, boxes) for n in range(2)},
    }


def _clip(attention: str) -> Model:
    config = transformers.CLIPConfig(
        text_config={**TEXT, "initializer_factor": 8.0, "eos_token_id": 2},
        vision_config=VISION,
        projection_dim=16,
    )
    return build(transformers.CLIPModel, config, attention)


def test_two_towers() -> None:
    inputs = {"input_ids": token_ids(9), "pixel_values": PIXELS}
    record = capture(_clip("sdpa"), None, inputs)
    assert record.stacks == ("text", "vision")
    eager = _clip("eager")
    text = references(eager.text_model, inputs["input_ids"])["attentions"]
    vision = references(eager.vision_model, PIXELS)["attentions"]
    assert_attention(record, [a[0] for a in text], "text")
    assert_attention(record, [a[0] for a in vision], "vision")


def llava(attention: str) -> Model:
    config = transformers.LlavaConfig(
        text_config=transformers.LlamaConfig(**TEXT, initializer_range=0.2),
        vision_config=transformers.CLIPVisionConfig(**VISION),
        image_token_id=3,
        vision_feature_layer=-1,
    )
    return build(transformers.LlavaForConditionalGeneration, config, attention)


# A text that begins with the sixteen patches of an image.
SEEN = torch.cat([torch.tensor([[1] + [3] * 16]), token_ids(5).clamp(min=4)], dim=1)


def test_a_language_model_that_sees() -> None:
    inputs = {"input_ids": SEEN, "pixel_values": PIXELS}
    record = capture(llava("sdpa"), None, inputs)
    assert record.stacks == ("text", "vision")
    eager = llava("eager")
    text = references(eager, **inputs)["attentions"]
    vision = references(eager.model.vision_tower, PIXELS)["attentions"]
    assert_attention(record, [a[0] for a in text], "text")
    assert_attention(record, [a[0] for a in vision], "vision")


def _jamba(attention: str) -> Model:
    sizes = {"num_hidden_layers": 6, "num_key_value_heads": 2, "attn_layer_period": 3,
             "attn_layer_offset": 1, "num_experts": 1, "use_mamba_kernels": False,
             "mamba_d_state": 4, "mamba_dt_rank": 4}  # fmt: skip
    return tiny("Jamba", attention, **sizes)


def test_a_hybrid_keeps_the_numbers_of_its_attention() -> None:
    """Two of six layers attend."""
    record = capture(_jamba("sdpa"), None, {"input_ids": token_ids(9)})
    assert record.stack().numbers == (1, 4)
    own = eager_attentions(_jamba("eager"), {"input_ids": token_ids(9)})
    assert_attention(record, [a[0] for a in own])
    with pytest.raises(IndexError, match=r"layer 0 .*layers 1, 4"):
        record.weights(0, 0)


def test_a_layer_that_is_called_several_times_is_several_layers() -> None:
    options = {"embedding_size": 16, "num_hidden_layers": 4}
    record = capture(tiny("Albert", **options), None, {"input_ids": token_ids(9)})
    assert record.stack().numbers == (0, 1, 2, 3)
    own = eager_attentions(tiny("Albert", "eager", **options), {"input_ids": token_ids(9)})
    assert_attention(record, [a[0] for a in own])
    assert len({f.module for f in record.fidelity["self"]}) == 1


SWIN = {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4],
        "window_size": 4, "initializer_range": 0.4}  # fmt: skip


@pytest.mark.parametrize("name", ["Swin", "Swinv2"])
def test_windows_are_blocks_and_stages_are_stacks(name: str) -> None:
    """The patches of the second of two images; of two layers, the last is the one that shifts."""
    config = getattr(transformers, f"{name}Config")(**SWIN)
    model_class = getattr(transformers, f"{name}Model")
    pixels = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    inputs = {"pixel_values": pixels}
    fast = build(model_class, config, "sdpa" if name == "Swin" else "eager")
    record = capture(fast, None, inputs, batch_index=1)
    assert record.stacks == ("self 1", "self shifted 1", "self 2", "self shifted 2")
    own = eager_attentions(build(model_class, config, "eager"), inputs)
    for stack, windows in zip(record.stacks[1::2], own, strict=True):
        count = len(windows) // 2
        assert record.stack(stack).numbers == (1,)
        assert record.layer(1, stack).shape == (count * 16, count * 16)
        last = record.stack(stack).layers[-1]  # the one that a stage returns
        assert last.fidelity.exact is True
        assert last.program is not None
        assert last.program.blocks == (16, 16)
        for head in range(last.num_heads):
            blocks = last.head_weights(head).reshape(count, 16, count, 16)
            for window in range(count):
                assert_weights(blocks[window, :, window], windows[count + window, head])
            assert blocks.sum() == pytest.approx(count * 16, rel=1e-5), "nothing between windows"


@pytest.mark.parametrize("chosen", [[0], [2], [1, 3], range(1, 4), {3}])
def test_chosen_layers_keep_their_numbers(chosen: Any) -> None:
    model = llama(num_hidden_layers=4)
    whole = capture(model, None, {"input_ids": token_ids(9)})
    record = capture(model, None, {"input_ids": token_ids(9)}, layers=chosen)
    assert record.stack().numbers == tuple(sorted(chosen))
    assert record.missing == ()
    for number in chosen:
        assert np.array_equal(record.weights(number, 3), whole.weights(number, 3))
        assert record.layer(number).fidelity == whole.layer(number).fidelity


@pytest.mark.parametrize("chosen", [[4], [1, 4], [-1]])
def test_a_layer_that_does_not_exist(chosen: list[int]) -> None:
    with pytest.raises(IndexError, match=rf"layers \[{chosen[-1]}\]; it has 4 layers, 0 to 3"):
        capture(llama(num_hidden_layers=4), None, {"input_ids": token_ids(9)}, layers=chosen)


def test_a_layer_that_neither_tower_has() -> None:
    inputs = {"input_ids": token_ids(9), "decoder_input_ids": token_ids(5)}
    with pytest.raises(IndexError, match=r"layers \[9\]; it has 2 layers, 0 to 1"):
        capture(t5("T5ForConditionalGeneration"), None, inputs, layers=[1, 9])


@pytest.mark.parametrize("chosen", [[1], [4]])
def test_chosen_layers_of_a_hybrid(chosen: list[int]) -> None:
    record = capture(_jamba("sdpa"), None, {"input_ids": token_ids(9)}, layers=chosen)
    assert record.stack().numbers == tuple(chosen)
    both = capture(_jamba("sdpa"), None, {"input_ids": token_ids(9)}, layers=[0, 1])
    assert {name: both.stack(name).numbers for name in both.stacks} == {
        "self": (1,),
        "linear": (0,),
    }


def test_chosen_layers_of_several_stacks() -> None:
    """The decoder has a third layer, the encoder has none."""
    record = capture(bart(), None, _unequal(9, 5), layers=[2])
    assert record.stacks == ("decoder", "cross")
    assert [record.stack(stack).numbers for stack in record.stacks] == [(2,), (2,)]


def test_chosen_layers_of_one_that_is_called_several_times() -> None:
    model = tiny("Albert", embedding_size=16, num_hidden_layers=4)
    whole = capture(model, None, {"input_ids": token_ids(9)})
    record = capture(model, None, {"input_ids": token_ids(9)}, layers=[2])
    assert record.stack().numbers == (2,)
    assert np.array_equal(record.weights(2, 1), whole.weights(2, 1))
