"""Whisper (tiny.en): an encoder of sound, and a decoder of words."""

import shutil
import subprocess
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attnwidget import capture
from tests.models.conftest import Agree
from tests.models.trained import Load, Trained
from tests.unit.tiny import references_by_stack

RATE = 16_000
GENERATE = {"max_new_tokens": 20}


@pytest.fixture(scope="module")
def whisper(load: Load) -> Trained:
    # Processing of sounds takes seconds to import.
    from transformers import AutoProcessor, WhisperForConditionalGeneration

    return load("whisper_tiny_en", WhisperForConditionalGeneration, AutoProcessor)


@pytest.fixture
def speech(tmp_path: Path) -> np.ndarray:
    """Three seconds of it, from the synthesizer eSpeak NG."""
    espeak = shutil.which("espeak-ng")
    if espeak is None:
        pytest.skip("espeak-ng, which speaks for this test, is not installed")
    path = tmp_path / "speech.wav"
    text = "The dog was tired because it ran all day."
    subprocess.run([espeak, "-v", "en-us", "-s", "150", "-w", path, text], check=True)
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16) / 2**15
        rate = file.getframerate()
    times = np.arange(0, len(samples) / rate, 1 / RATE)
    return np.interp(times, np.arange(len(samples)) / rate, samples).astype(np.float32)


def _features(whisper: Trained, sound: np.ndarray, **options: Any) -> Any:
    return whisper.processor(sound, sampling_rate=RATE, return_tensors="pt", **options)


def _chord() -> np.ndarray:
    times = np.arange(2 * RATE) / RATE
    sound = sum(np.sin(2 * np.pi * pitch * times) for pitch in (220, 277, 330))
    return (np.asarray(sound) / 6).astype(np.float32)


def test_every_weight_is_the_models_own(whisper: Trained, agree: Agree) -> None:
    features = _features(whisper, _chord())
    start = whisper.model.config.decoder_start_token_id
    inputs = {**features, "decoder_input_ids": torch.tensor([[start, 383, 3290, 373]])}
    record = capture(whisper.model, whisper.processor, inputs)
    agree(record, **references_by_stack(whisper.eager, **inputs))
    seconds, _ = record.tokens("encoder")
    assert len(seconds) == 1500
    assert (seconds[0], seconds[50], seconds[-1]) == ("0.00 s", "1.00 s", "29.98 s")
    assert record.tokens("cross") == (record.tokens("decoder")[0], seconds)


def test_every_weight_of_a_generation(whisper: Trained, agree: Agree, speech: np.ndarray) -> None:
    features = _features(whisper, speech)
    record = capture(whisper.model, whisper.processor, features, generate=GENERATE)
    with torch.no_grad():
        result = whisper.model.generate(**features, **GENERATE, return_dict_in_generate=True)
    # The last generated token has not been read.
    ids = result["sequences"][:, : len(record.tokens("decoder")[0])]
    agree(record, **references_by_stack(whisper.eager, **features, decoder_input_ids=ids))


START = "<|startoftranscript|>"


@pytest.mark.parametrize(
    ("option", "before"),
    [("timestamps", [START]), ("prompt", ["<|startofprev|>", "A", "chord", ".", START])],
)
def test_a_decoder_that_starts_with_several_tokens(
    whisper: Trained, option: str, before: list[str]
) -> None:
    """As published generation configs, a prompt and timestamps let it."""
    prompt = whisper.processor.get_prompt_ids("A chord.", return_tensors="pt")
    options = {"timestamps": {"return_timestamps": True}, "prompt": {"prompt_ids": prompt}}[option]
    config = whisper.model.generation_config.to_dict()
    features = _features(whisper, _chord())
    record = capture(whisper.model, whisper.processor, features, generate={**GENERATE, **options})
    assert record.stacks == ("encoder", "decoder", "cross")
    labels = record.tokens("decoder")[0]
    assert labels[: len(before)] == before
    assert (labels[len(before)] == "<|notimestamps|>") is (option == "prompt")
    assert record.replay is not None
    assert record.replay.difference < 1e-4
    assert whisper.model.generation_config.to_dict() == config


@pytest.mark.parametrize(
    ("option", "seconds", "message"),
    [
        ({"num_beams": 3}, 2, "num_beams does not return the logits"),
        ({"return_timestamps": True}, 32, "one window at a time"),
    ],
)
def test_what_generate_does_not_return_is_said(
    whisper: Trained, option: dict[str, Any], seconds: int, message: str
) -> None:
    sound = np.tile(_chord(), seconds // 2)
    features = _features(whisper, sound, truncation=seconds <= 30)
    with pytest.raises(ValueError, match=message):
        capture(whisper.model, whisper.processor, features, generate={**GENERATE, **option})


def test_head_2_4_of_the_cross_attention_follows_the_speech(
    whisper: Trained, speech: np.ndarray
) -> None:
    """Times at which the ten tokens after the first two were spoken, in seconds."""
    features = _features(whisper, speech)
    record = capture(whisper.model, whisper.processor, features, generate=GENERATE)
    heard = record.weights(2, 4, "cross").argmax(axis=1)[2:11] * 0.02
    assert (np.diff(heard) > 0).all()
    assert heard[0] < 0.5
    assert heard[-1] > 2.0
