"""The places of a sound's tokens on its pictures."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image

from attnwidget import capture
from attnwidget.record import Picture
from tests.unit.tiny import build, token_ids

RATE = 16000


def _pixels(picture: Picture) -> Any:
    from io import BytesIO

    return np.asarray(Image.open(BytesIO(picture.data)).convert("L"), np.float32)


def _wav2vec2() -> Any:
    config = transformers.Wav2Vec2Config(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
        conv_dim=(8,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
    )  # fmt: skip
    return build(transformers.Wav2Vec2Model, config, "sdpa")


def test_a_token_of_samples_begins_where_it_begins_to_read() -> None:
    model = _wav2vec2()
    extractor = SimpleNamespace(sampling_rate=RATE)
    samples = torch.randn(1, RATE, generator=torch.Generator().manual_seed(0))
    record = capture(model, extractor, {"input_values": samples})
    tokens = record.stack().keys
    assert tokens.patches is not None
    assert tokens.patches.soft
    [grid] = tokens.patches.grids
    assert (grid.rows, grid.columns, grid.name) == (1, 49, "")
    assert (tokens.labels[1], tokens.labels[-1]) == ("0.02 s", "0.96 s")
    # The normalization over time would let each token read all.
    layers = [layer.conv for layer in model.feature_extractor.conv_layers]
    for token in (0, 7, 48):
        own = samples.clone().requires_grad_()
        torch.nn.Sequential(*layers)(own[:, None])[..., token].sum().backward()
        assert own.grad is not None
        read = own.grad[0].nonzero()[:, 0]
        assert read[0] / RATE == token * 0.02
        image, (left, _, right, _) = record.region(token)
        assert image == 0
        # The picture ends with the last token, as if that read no more than its place.
        assert np.allclose((left * 49, right * 49), (token, token + 1))


def test_a_rising_tone_rises_in_its_picture() -> None:
    """From left to right, and from the bottom."""
    times = torch.arange(RATE) / RATE
    tone = (2 * torch.pi * (200 + 3000 * times) * times).sin()[None]
    record = capture(_wav2vec2(), SimpleNamespace(sampling_rate=RATE), {"input_values": tone})
    [picture] = record.images
    assert picture.size == (480, 160)
    pixels = _pixels(picture)
    early, late = (pixels[:, at : at + 40].mean(axis=1).argmax() for at in (40, 400))
    assert 0 < late < early - 40


def test_silence_at_the_end_has_a_picture_of_its_own() -> None:
    """Sounds are padded to the length of a window, and the tokens of that are keys, too."""
    config = transformers.WhisperConfig(
        vocab_size=64, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_mel_bins=8,
        max_source_positions=1000, max_target_positions=32, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    model = build(transformers.WhisperModel, config, "sdpa")
    frames = torch.randn(1, 8, 2000, generator=torch.Generator().manual_seed(0))
    frames[:, 0] += 4
    frames[..., 1401:] = -4
    inputs = {"input_features": frames, "decoder_input_ids": token_ids(5)}
    extractor = SimpleNamespace(sampling_rate=RATE, hop_length=160)
    record = capture(model, extractor, inputs)
    tokens = record.stack("cross").keys
    assert record.stack("encoder").keys.patches == tokens.patches
    assert tokens.patches is not None
    assert [(grid.columns, grid.image, grid.name) for grid in tokens.patches.grids] == [
        (351, 0, "0.00–7.02 s"),
        (350, 1, "7.02–14.02 s"),
        (299, 2, "silence"),
    ]
    assert tokens.labels[701] == "14.02 s"
    first, _, last = map(_pixels, record.images)
    assert first[-10:].mean() > first[:10].mean() + 20
    assert last.std() < 1
    without = capture(model, extractor, inputs, image=False)
    assert not without.images
    assert without.stack("cross").keys.labels == tokens.labels


def test_tokens_without_a_known_length_have_no_places() -> None:
    """A convolution for positions strides here, and reads far more than a token stands for."""
    config = transformers.SEWConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
        conv_dim=(8,) * 13, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
    )  # fmt: skip
    model = build(transformers.SEWModel, config, "sdpa")
    extractor = SimpleNamespace(sampling_rate=RATE)
    record = capture(model, extractor, {"input_values": torch.randn(1, RATE)})
    assert not record.images
    assert record.stack().keys.patches is None
