"""Runs that go on after an interruption: nothing is measured or counted twice."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import attnwidget as aw
from attnwidget.record import Floats, Tokens
from tests.unit.corpus.same import assert_same
from tests.unit.tiny import Loaded, bert, llama, token_ids

COUNT = 150
OPTIONS: dict[str, Any] = {"batch_size": 1, "null": ["shuffled", "position"]}


def texts(count: int = COUNT, *, fails: bool = False) -> Iterator[dict[str, torch.Tensor]]:
    for number in range(count):
        yield {"input_ids": token_ids(5 + number % 9, seed=number)}
    if fails:
        raise KeyboardInterrupt


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    measured = 0

    def counted(weights: Floats, tokens: Tokens) -> float:
        nonlocal measured
        measured += 1
        return float(weights[0, 0])

    def profile(source: Any, folder: Path | None = tmp_path / "run") -> aw.HeadProfile:
        metrics = ["previous", "induction", "variability", counted]
        return aw.profile(llama(), None, source, metrics=metrics, resume=folder, **OPTIONS)

    with pytest.raises(
        KeyboardInterrupt, match=r"the 128 texts .* are kept in .*run: the same call"
    ):
        profile(texts(140, fails=True))  # two shards of 64 texts are whole
    before, measured = measured, 0
    found = profile(texts())
    heads, sample = 8, 64
    assert before == 2 * 128 * heads, "by the model, and on shuffled text"
    assert measured == (2 * (COUNT - 128) + sample) * heads
    assert_same(found, profile(texts(), None))
    # The run is whole: only the null of position and repeated tokens are measured anew.
    measured = 0
    assert_same(profile(texts()), found)
    assert measured == sample * heads


def test_an_interrupted_run_that_keeps_nothing_names_resume() -> None:
    with pytest.raises(KeyboardInterrupt, match=r"the 64 texts .* are lost: with resume="):
        aw.profile(llama(), None, texts(70, fails=True), metrics=["first"], **OPTIONS)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "other texts": (
        {"texts": [{"input_ids": token_ids(6)}]},
        "the texts from 0 to 0 are not those",
    ),
    "another seed": ({"seed": 1}, "was made with seed=0, and now seed is 1"),
    "other metrics": ({"metrics": ["same"]}, r"was made with metrics=\('first',\), and now"),
    "another model": ({"model": bert()}, "read by LlamaModel, and others by another"),
    "other weights": ({"model": llama(initializer_range=0.3)}, "or by one with other weights"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_folder_of_another_run(tmp_path: Path, name: str) -> None:
    options: dict[str, Any] = {
        "model": llama(),
        "tokenizer": None,
        "texts": texts(64),
        "metrics": ["first"],
        "null": None,
        "batch_size": 1,
        "resume": tmp_path,
    }
    aw.profile(**options)
    changed, message = WRONG[name]
    for count in (64, 65):  # the run is whole, or has a shard more
        with pytest.raises(ValueError, match=message):
            aw.profile(**{**options, "texts": texts(count), **changed})


def test_a_metric_of_the_same_name_and_other_code(tmp_path: Path) -> None:
    def first() -> Any:
        def peak(weights: Floats, tokens: Tokens) -> float:
            return float(weights.max())

        return peak

    def second() -> Any:
        def peak(weights: Floats, tokens: Tokens) -> float:
            return float(weights.min())

        return peak

    options: dict[str, Any] = {"null": None, "batch_size": 1, "resume": tmp_path}
    aw.profile(llama(), None, texts(1), metrics=[first()], **options)
    aw.profile(llama(), None, texts(1), metrics=[first()], **options)
    with pytest.raises(ValueError, match="another function peak: its code was not this"):
        aw.profile(llama(), None, texts(1), metrics=[second()], **options)


def test_a_damaged_file_or_one_of_an_earlier_version(tmp_path: Path) -> None:
    options: dict[str, Any] = {"metrics": ["first"], "null": None, "resume": tmp_path}
    aw.profile(llama(), None, texts(1), **options)
    file = tmp_path / "profile.checkpoint"
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[-100] ^= 1
    earlier = whole.replace(b'"version\\": 4', b'"version\\": 3')
    assert earlier != whole
    for content, message in (
        (whole[:-1], "is not a readable safetensors file"),
        (bytes(flipped), "is a damaged attnwidget checkpoint: its arrays are not those"),
        (
            pickle.dumps(["measured"]),
            "a pickle of an earlier attnwidget.*: delete it to",
        ),
        (earlier, "of an earlier attnwidget, which kept other numbers: delete it to"),
    ):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            aw.profile(llama(), None, texts(1), **options)


def test_texts_of_a_resumed_run_are_those_that_examples_name(
    tmp_path: Path, minilm: Loaded
) -> None:
    model, tokenizer = minilm
    source = [f"Number {n}, the {'very ' * (n % 4)}last." for n in range(80)]
    options: dict[str, Any] = {"metrics": ["first"], "null": None, "batch_size": 1}
    aw.profile(model, tokenizer, source[:64], resume=tmp_path, **options)
    found = aw.profile(model, tokenizer, source, resume=tmp_path, **options)
    for head in range(12):
        for example in found.examples("first", 3, head).highest:
            assert example.text == source[example.index]
