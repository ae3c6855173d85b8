"""Inputs of a capture: texts, targets, pixels, sound, and batches of them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attnwidget import capture
from tests.unit.tiny import (
    Loaded,
    Model,
    assert_attention,
    bart,
    build,
    eager_attentions,
    llama,
    references,
    t5,
    tiny,
    token_ids,
)


class Words:
    """A tokenizer of the words w3 to w63, and of what a target needs."""

    all_special_ids = (0, 1, 2)
    is_fast = False

    def __call__(
        self, text: str | None = None, pair: str | None = None, *, text_target: str | None = None,
        return_tensors: str = "pt",
    ) -> dict[str, torch.Tensor]:  # fmt: skip
        assert pair is None
        words = (text if text_target is None else text_target or "") or ""
        ids = [int(word.removeprefix("w")) for word in words.split()]
        return {"input_ids": torch.tensor([[*ids, 2]])}

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [{0: "<pad>", 1: "<s>", 2: "</s>"}.get(number, f"w{number}") for number in ids]

    def decode(self, ids: list[int], **_: Any) -> str:
        return " ".join(self.convert_ids_to_tokens(ids))


SOURCE, TARGET = "w7 w8 w9", "w20 w21"


@pytest.mark.parametrize(("build", "start"), [(t5, "<pad>"), (bart, "</s>")], ids=["T5", "Bart"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_target_is_what_the_decoder_reads(build: Any, start: str, wrapped: bool) -> None:
    """Shifted by one, as in training; a processor's tokenizer does as well."""
    words: Any = SimpleNamespace(tokenizer=Words()) if wrapped else Words()
    record = capture(build(), words, SOURCE, target=TARGET)
    source, target = ["w7", "w8", "w9", "</s>"], [start, "w20", "w21"]
    assert record.tokens("encoder") == (source, source)
    assert record.tokens("decoder") == (target, target)
    assert record.tokens("cross") == (target, source)
    assert record.stack("decoder").queries.special == (0,)
    ids = {"input_ids": torch.tensor([[7, 8, 9, 2]])}
    ids["decoder_input_ids"] = torch.tensor([[0 if start == "<pad>" else 2, 20, 21]])
    own = references(build(attention="eager"), **ids)
    assert_attention(record, [a[0] for a in own["decoder_attentions"]], "decoder")
    assert_attention(record, [a[0] for a in own["cross_attentions"]], "cross")


def test_a_target_for_a_model_that_takes_none() -> None:
    with pytest.raises(TypeError, match=r"LlamaModel is no encoder-decoder: it takes no target"):
        capture(llama(), Words(), SOURCE, target=TARGET)


def test_a_target_without_a_tokenizer() -> None:
    with pytest.raises(TypeError, match="target is a string, so a tokenizer is needed"):
        capture(t5(), None, {"input_ids": token_ids(4)}, target=TARGET)


def test_a_target_where_no_start_is_known() -> None:
    model = t5(decoder_start_token_id=None)
    with pytest.raises(ValueError, match=r"decoder_start_token_id.*decoder_input_ids"):
        capture(model, Words(), SOURCE, target=TARGET)


def test_an_encoder_decoder_that_cannot_generate_says_what_it_needs() -> None:
    with pytest.raises(ValueError, match=r"target|decoder_input_ids"):
        capture(t5(), Words(), SOURCE)


def test_a_tokenizer_in_the_place_of_the_text() -> None:
    with pytest.raises(TypeError, match=r"tokenizer is a string: the order is"):
        capture(llama(), SOURCE, Words())  # type: ignore[arg-type]


def _padded(lengths: tuple[int, ...], side: str, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    ids, mask = torch.zeros(2, len(lengths), max(lengths), dtype=torch.long)
    for row, length in enumerate(lengths):
        columns = slice(length) if side == "right" else slice(max(lengths) - length, None)
        ids[row, columns] = token_ids(length, seed=seed + row)
        mask[row, columns] = 1
    return ids, mask


@pytest.mark.parametrize("item", range(3))
@pytest.mark.parametrize("target", [(4, 3, 6), (4, 8, 6)], ids=["shorter", "equally long"])
@pytest.mark.parametrize("sides", [("right", "right"), ("left", "right"), ("right", "left")])
@pytest.mark.parametrize("build", [t5, bart])
def test_both_sides_are_padded(
    build: Any, sides: tuple[str, str], target: tuple[int, ...], item: int
) -> None:
    """Each by its own mask, also where both are padded to one length."""
    ids, mask = _padded((5, 8, 7), sides[0], 0)
    target_ids, target_mask = _padded(target, sides[1], 10)
    inputs = {
        "input_ids": ids, "attention_mask": mask,
        "decoder_input_ids": target_ids, "decoder_attention_mask": target_mask,
    }  # fmt: skip
    record = capture(build(), None, inputs, batch_index=item)
    own = references(build(attention="eager"), **inputs)
    rows, columns = (m[item].nonzero()[:, 0] for m in (target_mask, mask))
    for stack, (a, b) in {
        "encoder": (columns, columns), "decoder": (rows, rows), "cross": (rows, columns),
    }.items():  # fmt: skip
        attentions = own[f"{stack}_attentions"]
        assert_attention(record, [x[item][:, a][:, :, b] for x in attentions], stack)


def _vit(attention: str = "sdpa", **options: Any) -> Model:
    sizes = {"image_size": 16, "patch_size": 4, **options}
    return tiny("ViT", attention, **sizes)


def _pixels(batch: int, rows: int = 16, columns: int = 16) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(batch, 3, rows, columns, generator=generator)


@pytest.mark.parametrize("item", [0, 1])
def test_pixels(item: int) -> None:
    inputs = {"pixel_values": _pixels(2)}
    record = capture(_vit(), None, inputs, batch_index=item)
    own = eager_attentions(_vit("eager"), inputs)
    assert_attention(record, [a[item] for a in own])
    labels = ["[CLS]", *(f"{row},{column}" for row in range(4) for column in range(4))]
    assert record.tokens() == (labels, labels)
    assert record.stack().queries.special == (0,)


def test_patches_of_an_image_that_is_no_square() -> None:
    record = capture(_vit(image_size=(8, 16)), None, {"pixel_values": _pixels(1, 8, 16)})
    labels = ["[CLS]", *(f"{row},{column}" for row in range(2) for column in range(4))]
    assert record.tokens()[0] == labels


def test_what_is_no_patch_comes_first() -> None:
    """DeiT has a second token of its own, for distillation."""
    model = tiny("DeiT", image_size=16, patch_size=4)
    record = capture(model, None, {"pixel_values": _pixels(1)})
    assert record.tokens()[0][:4] == ["[CLS]", "[DIST]", "0,0", "0,1"]
    assert record.stack().queries.special == (0, 1)


def _whisper(attention: str = "sdpa") -> Model:
    config = transformers.WhisperConfig(
        vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_mel_bins=8,
        max_source_positions=10, max_target_positions=32, init_std=0.3, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    return build(transformers.WhisperModel, config, attention)


def test_sound() -> None:
    """Twenty frames of ten milliseconds, of which the encoder makes ten positions."""
    frames = torch.randn(1, 8, 20, generator=torch.Generator().manual_seed(0))
    inputs = {"input_features": frames, "decoder_input_ids": token_ids(5)}
    extractor = SimpleNamespace(sampling_rate=16000, hop_length=160)
    processor = SimpleNamespace(tokenizer=Words(), feature_extractor=extractor)
    record = capture(_whisper(), processor, inputs)
    own = references(_whisper("eager"), **inputs)
    for stack in ("encoder", "decoder", "cross"):
        assert_attention(record, [a[0] for a in own[f"{stack}_attentions"]], stack)
    words, seconds = record.tokens("cross")
    assert words == [f"w{token}" for token in inputs["decoder_input_ids"][0].tolist()]
    assert seconds == [f"{n * 0.02:.2f} s" for n in range(10)]
    assert record.tokens("encoder") == (seconds, seconds)


def test_padded_sound_is_recorded_without_its_padding() -> None:
    config = transformers.Speech2TextConfig(
        vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, init_std=0.3,
        input_feat_per_channel=8, max_source_positions=40, max_target_positions=32,
    )  # fmt: skip
    frames = torch.randn(2, 32, 8, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(2, 32, dtype=torch.long)
    mask[0, 16:] = 0
    inputs = {"input_features": frames, "attention_mask": mask}
    inputs["decoder_input_ids"] = token_ids(5).repeat(2, 1)
    extractor = SimpleNamespace(sampling_rate=16000, hop_length=160)
    processor = SimpleNamespace(tokenizer=Words(), feature_extractor=extractor)
    model = build(transformers.Speech2TextModel, config, "eager")
    own = references(model, **inputs)
    for item, count in ((0, 4), (1, 8)):
        record = capture(model, processor, inputs, batch_index=item)
        assert record.tokens("encoder")[0] == [f"{n * 0.04:.2f} s" for n in range(count)]
        encoder = [a[item, :, :count, :count] for a in own["encoder_attentions"]]
        assert_attention(record, encoder, "encoder")
        assert_attention(record, [a[item, :, :, :count] for a in own["cross_attentions"]], "cross")


def test_patches_of_a_spectrogram_are_no_times() -> None:
    config = transformers.ASTConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
        patch_size=4, frequency_stride=2, time_stride=2, max_length=16, num_mel_bins=8,
    )  # fmt: skip
    model = build(transformers.ASTModel, config, "sdpa")
    extractor = SimpleNamespace(sampling_rate=16000, hop_length=160)
    record = capture(model, extractor, {"input_values": torch.randn(1, 16, 8)})
    assert record.tokens()[0] == [str(n) for n in range(23)]


def test_sound_of_which_nothing_is_known_has_positions() -> None:
    frames = torch.randn(1, 8, 20, generator=torch.Generator().manual_seed(0))
    inputs = {"input_features": frames, "decoder_input_ids": token_ids(5)}
    record = capture(_whisper(), None, inputs)
    assert record.tokens("encoder")[0] == [str(n) for n in range(10)]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_real_numbers_are_given_in_the_models_own_precision(dtype: torch.dtype) -> None:
    """A processor returns float32, whatever the model computes in; token ids stay integers."""
    frames = torch.randn(1, 8, 20, generator=torch.Generator().manual_seed(0))
    inputs = {"input_features": frames, "decoder_input_ids": token_ids(5)}
    record = capture(_whisper().to(dtype), None, inputs)
    assert frames.dtype == torch.float32
    expected = capture(_whisper().to(dtype), None, {**inputs, "input_features": frames.to(dtype)})
    assert np.array_equal(record.weights(1, 2), expected.weights(1, 2))
    assert all(fidelity.exact for fidelity in record.fidelity["encoder"])


def test_a_mapping_is_not_changed() -> None:
    inputs = {"input_ids": token_ids(5), "attention_mask": torch.ones(1, 5)}
    before = {name: value.clone() for name, value in inputs.items()}
    capture(llama(), None, inputs)
    assert inputs.keys() == before.keys()
    assert all(torch.equal(inputs[name], value) for name, value in before.items())


@pytest.mark.parametrize("mask", [torch.long, torch.bool, torch.float32])
def test_masks_of_any_type(mask: torch.dtype) -> None:
    ids, given = _padded((9, 6), "right", 0)
    inputs = {"input_ids": ids, "attention_mask": given.to(mask)}
    record = capture(llama(), None, inputs, batch_index=1)
    alone = eager_attentions(llama("eager"), {"input_ids": ids[1:, :6]})
    assert_attention(record, [layer[0] for layer in alone])


def test_embeddings_instead_of_tokens() -> None:
    """Nothing is known of them but their number."""
    model, ids = llama(), token_ids(6)
    with torch.no_grad():
        embedded = model.embed_tokens(ids)
    record = capture(model, None, {"inputs_embeds": embedded})
    assert record.tokens()[0] == [str(n) for n in range(6)]
    assert np.array_equal(
        record.weights(1, 3), capture(model, None, {"input_ids": ids}).weights(1, 3)
    )


def test_a_target_is_read_by_every_item_of_a_batch() -> None:
    """Each item has the encoder's output of its own."""
    ids, mask = torch.zeros(2, 2, 8, dtype=torch.long)
    ids[0, :5], mask[0, :5] = token_ids(5), 1
    ids[1], mask[1] = token_ids(8, seed=1), 1
    batch = {"input_ids": ids, "attention_mask": mask}
    alone = {"input_ids": ids[:1, :5]}
    record = capture(t5(), Words(), batch, target=TARGET)
    assert record.tokens("cross")[0] == ["<pad>", "w20", "w21"]
    target = torch.tensor([[0, 20, 21]])
    own = references(t5(attention="eager"), **alone, decoder_input_ids=target)
    assert_attention(record, [layer[0] for layer in own["cross_attentions"]], "cross")


def test_tokens_that_the_tokenizer_cut_off_are_counted(minilm: Loaded, recwarn: Any) -> None:
    """With a stride, the pieces that were cut off repeat tokens."""
    model, tokenizer = minilm
    inputs = tokenizer(
        "The dog ran home again.", truncation=True, max_length=5, stride=1, return_tensors="pt"
    )
    expected = "text: its tokenizer cut off 3 of 6 tokens"
    assert capture(model, tokenizer, inputs).missing == (expected,)
    assert expected in str(recwarn.pop(UserWarning).message)
    whole = tokenizer("The dog ran.", truncation=True, max_length=9, return_tensors="pt")
    assert capture(model, tokenizer, whole).missing == ()
