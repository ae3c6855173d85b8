"""Models of sound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from benchmarks.zoo.ids import ids

from .detail import Detail, each, given, normal, ones, tokens

# One channel of samples.
_WAVEFORM = Detail(inputs=normal(input_values=(1, 1, 3840)))
_CODEC = {"upsample_groups": 64, "vector_quantization_hidden_dimension": 64, "codebook_dim": 64}
_TEXT_ALONE = Detail(inputs=given(input_features=None))
_MUSICGEN = Detail(
    model="MusicgenModel",
    part="decoder",
    inputs=lambda model: {"input_ids": ids(12).repeat(4, 1), "attention_mask": None},
)


# Samples, and what a second tower takes of them.
_CODEC_PAIR = Detail(
    {"quantization_dim": 128},
    each(
        normal(input_values=(1, 1, 3840), input_features=(1, 12, 64)),
        ones(input_features_mask=(1, 12)),
    ),
)


def _latents(model: Any) -> dict[str, torch.Tensor]:
    return {"latents": torch.randn(1, model.config.hidden_size, 12)}


SOUND = {
    "audio-spectrogram-transformer": Detail(
        {"max_length": 32, "num_mel_bins": 16, "frequency_stride": 4, "time_stride": 4},
        normal(input_values=(1, 32, 16)),
    ),
    "bark": Detail(model="BarkSemanticModel", part="semantic_config"),
    "clap": Detail(
        {
            "audio_config": {
                "spec_size": 128,
                "num_mel_bins": 32,
                "window_size": 4,
                "depths": [1, 1, 1, 1],
                "patch_embeds_hidden_size": 32,
                "num_attention_heads": [2, 2, 4, 4],
                "hidden_size": 256,
            }
        },
        normal(input_features=(1, 1, 512, 32)),
    ),
    "dac": _WAVEFORM,
    "dia": Detail(inputs=lambda model: {"decoder_input_ids": torch.randint(5, 30, (1, 7, 9))}),
    "encodec": _WAVEFORM,
    "fastspeech2_conformer": Detail(inputs=tokens(input_ids=12)),
    "fastspeech2_conformer_with_hifigan": Detail(
        {"vocoder_config": {"model_in_dim": 80}}, tokens(input_ids=12)
    ),
    "fun_asr_nano_encoder": Detail(
        inputs=each(normal(input_features=(1, 24, 560)), ones(input_features_mask=(1, 24)))
    ),
    "gemma3n_audio": Detail(
        {"sscp_conv_channel_size": [16, 32], "input_feat_size": 128},
        lambda model: {
            "audio_mel": torch.randn(1, 48, 128),
            "audio_mel_mask": torch.zeros(1, 48, dtype=torch.bool),
        },
    ),
    "gemma4_audio": Detail(
        {"subsampling_conv_channels": [128, 32]}, normal(input_features=(1, 48, 128))
    ),
    "glmasr_encoder": Detail(inputs=normal(input_features=(1, 128, 48))),
    "granite_speech5_ctc": Detail(inputs=normal(input_features=(1, 48, 320))),
    "granite_speech5_encoder": Detail(inputs=normal(input_features=(1, 48, 320))),
    "kyutai_speech_to_text": Detail(
        inputs=lambda model: {
            "input_ids": torch.randint(5, 30, (1, 12, 33)),
            "attention_mask": None,
        }
    ),
    "mimi": replace(_WAVEFORM, config=_CODEC),
    "mimi_decoder": Detail(_CODEC, _latents),
    "mimi_encoder": replace(_WAVEFORM, config=_CODEC),
    "moonshine": Detail({"encoder_num_key_value_heads": 4, "decoder_num_key_value_heads": 4}),
    "moonshine_streaming": Detail({"num_key_value_heads": 4}),
    "muse_spark_audio": Detail(
        {"hidden_sizes": [16, 32, 64, 64], "out_hidden_size": 64}, normal(input_values=(1, 3840))
    ),
    "musicgen": _MUSICGEN,
    "musicgen_melody": replace(_MUSICGEN, model="MusicgenMelodyModel"),
    "neucodec": _CODEC_PAIR,
    "nemo_speechlm": _TEXT_ALONE,
    "nemotron3_5_transcribe_audio": Detail(
        inputs=lambda model: {
            "input_features": torch.randn(1, 64, 128),
            "input_features_mask": torch.ones(1, 64, dtype=torch.bool),
        }
    ),
    "pe_audio": _WAVEFORM,
    "pe_audio_encoder": _WAVEFORM,
    "pocket_tts_audio_tokenizer": replace(_WAVEFORM, config=_CODEC),
    "pocket_tts_audio_tokenizer_decoder": Detail(_CODEC, _latents),
    "pocket_tts_audio_tokenizer_encoder": replace(_WAVEFORM, config=_CODEC),
    "pop2piano": Detail(
        inputs=each(normal(input_features=(1, 12, 64)), given(input_ids=None, attention_mask=None))
    ),
    "qwen3_asr_encoder": Detail(
        inputs=each(normal(input_features=(1, 128, 200)), ones(input_features_mask=(1, 200)))
    ),
    "seamless_m4t": _TEXT_ALONE,
    "seamless_m4t_v2": _TEXT_ALONE,
    "speech-encoder-decoder": Detail(
        inputs=each(normal(input_values=(1, 2000)), given(input_features=None))
    ),
    "speecht5": Detail(
        model="SpeechT5ForSpeechToText",
        inputs=each(normal(input_values=(1, 4000)), tokens(decoder_input_ids=7)),
    ),
    "vits": Detail({"use_stochastic_duration_prediction": False, "speaking_rate": 1e3}),
    "voxtral_realtime_encoder": Detail(inputs=normal(input_features=(1, 128, 48))),
    "xcodec2": _CODEC_PAIR,
    "wav2vec2-bert": Detail(inputs=normal(input_features=(1, 24, 64))),
}
