"""Steps of transformers' `generate` are joined into one matrix per head."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attnwidget import AttentionRecord
from tests.unit.records import labels, some_weights, weights_of
from tests.unit.tiny import SIZES, build, token_ids


@pytest.fixture(scope="module")
def model() -> Any:
    sizes = {**SIZES, "n_embd": 32, "n_head": 4, "n_layer": 2}
    return build(transformers.GPT2LMHeadModel, transformers.GPT2Config(**sizes), "eager")


@pytest.mark.parametrize("use_cache", [True, False])
def test_of_a_decoder(model: Any, use_cache: bool) -> None:
    output = _generate(model, use_cache=use_cache)
    read = output.sequences[:, :-1]
    record = AttentionRecord.from_arrays(output.attentions, labels(read.shape[1]))
    own = torch.stack(model(read, output_attentions=True).attentions)[:, 0].detach().numpy()
    np.testing.assert_allclose(weights_of(record), own, rtol=0, atol=1e-6)


def test_the_last_token_has_not_been_read(model: Any) -> None:
    output = _generate(model)
    with pytest.raises(ValueError, match="without the last token of a generation"):
        AttentionRecord.from_arrays(output.attentions, labels(output.sequences.shape[1]))


def test_several_beams_are_refused(model: Any) -> None:
    output = _generate(model, num_beams=2)
    with pytest.raises(ValueError, match="2 sequences, or beams"):
        AttentionRecord.from_arrays(output.attentions, labels(7))


def test_without_the_prompt(model: Any) -> None:
    output = _generate(model)
    with pytest.raises(ValueError, match="prompt is missing"):
        AttentionRecord.from_arrays(output.attentions[1:], labels(3))


def test_of_an_encoder_decoder() -> None:
    sizes = {"d_model": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 2,
             "encoder_layers": 2, "decoder_layers": 3, "encoder_ffn_dim": 48,
             "decoder_ffn_dim": 48, "init_std": 0.4, "decoder_start_token_id": 2}  # fmt: skip
    config = transformers.BartConfig(**{**SIZES, **sizes})
    model = build(transformers.BartForConditionalGeneration, config, "eager")
    output = _generate(model)
    read = output.sequences[:, :-1]
    own = model(token_ids(5), decoder_input_ids=read, output_attentions=True)
    texts = {"tokens": labels(read.shape[1])}
    decoder = AttentionRecord.from_arrays(output.decoder_attentions, **texts)
    cross = AttentionRecord.from_arrays(output.cross_attentions, **texts, key_tokens=labels(5))
    for record, expected in (
        (decoder, own.decoder_attentions),
        (cross, own.cross_attentions),
    ):
        stacked = torch.stack(expected)[:, 0].detach().numpy()
        np.testing.assert_allclose(weights_of(record), stacked, rtol=0, atol=1e-5)


def test_of_a_sliding_window() -> None:
    """Its cache holds the latest keys only, here two of them."""
    whole = np.tril(some_weights(2, 5, 5))
    whole *= np.triu(np.ones((5, 5), np.float32), -1)
    steps = [(torch.from_numpy(whole[None, :, :3, :3].copy()),)]
    steps += [(torch.from_numpy(whole[None, :, [at], at - 1 : at + 1].copy()),) for at in (3, 4)]
    # A step of fewer keys than the one before is no list of layers either.
    record = AttentionRecord.from_arrays(steps, labels(5))
    assert np.array_equal(weights_of(record)[0], whole)


def test_layers_over_one_token_are_no_steps() -> None:
    weights = torch.ones(1, 2, 1, 1)
    assert AttentionRecord.from_arrays([(weights,)] * 3, ["only"]).num_layers() == 3
    # The same number of tokens as steps.
    cross = AttentionRecord.from_arrays([(weights,)] * 3, labels(3), key_tokens=["only"])
    assert weights_of(cross).shape == (1, 2, 3, 1)


def _generate(model: Any, **options: Any) -> Any:
    return model.generate(
        token_ids(5),
        **{"num_beams": 1, **options},
        max_new_tokens=3,
        min_new_tokens=3,
        do_sample=False,
        output_attentions=True,
        return_dict_in_generate=True,
    )
