"""Nulls of position, by their definitions, entry by entry."""

import math

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.corpus.accumulators import FARTHEST, OffsetMeans
from attnwidget.corpus.repeated import repeated_tokens
from attnwidget.record import Tokens
from tests.unit.corpus import oracle
from tests.unit.corpus.planted import Planted
from tests.unit.tiny import Model, bert, llama, token_ids

LENGTHS = (30, 7, 18)
TEXTS = [{"input_ids": token_ids(length, seed=length)} for length in LENGTHS]
METRICS = ["previous", "entropy", "distance", "first", "rest_previous"]


def mean_weights(texts: list[np.ndarray]) -> dict[int, float]:
    """The mean weight at each offset over all queries of all texts with such a key."""
    found: dict[int, list[float]] = {}
    for weights in texts:
        for i in range(len(weights)):
            for j in range(len(weights)):
                found.setdefault(j - i, []).append(float(weights[i, j]))
    return {offset: sum(values) / len(values) for offset, values in found.items()}


def by_position(means: dict[int, float], length: int) -> np.ndarray:
    """Weights that depend on relative position alone."""
    farthest = max(means)
    weights = np.zeros((length, length))
    for i in range(length):
        row = [means[max(-farthest, min(farthest, j - i))] for j in range(length)]
        weights[i] = [weight / sum(row) for weight in row]
    return weights


def on_offset(offset: int, length: int) -> np.ndarray:
    return np.eye(length, k=offset)


def labelled(ids: torch.Tensor, special: tuple[int, ...] = ()) -> Tokens:
    return Tokens(tuple(map(str, ids.flatten().tolist())), special=special)


@pytest.mark.parametrize("build", [bert, llama])
def test_the_null_of_position(build: type[Model]) -> None:
    model = build()
    found = aw.profile(model, None, TEXTS, metrics=[*METRICS, "duplicate"], null="position")
    records = [aw.capture(model, None, text) for text in TEXTS]
    repeated = [labelled(row, (0,)) for row in repeated_tokens(model, None, 0).tensors["input_ids"]]
    for layer, head in ((0, 1), (1, 3)):
        means = mean_weights([record.weights(layer, head) for record in records])
        numbers = [
            oracle.metrics(by_position(means, length), labelled(text["input_ids"]))
            for length, text in zip(LENGTHS, TEXTS, strict=True)
        ]
        for name in METRICS:
            got = found.null_values(name)
            assert got.mean[layer, head] == pytest.approx(
                np.mean([number[name] for number in numbers]), abs=1e-5
            ), name
            assert got.count[layer, head] == 3
        # Repeated tokens are read with the mean weights of the texts.
        duplicates = [
            oracle.metrics(by_position(means, len(tokens)), tokens)["duplicate"]
            for tokens in repeated[:3]
        ]
        got = found.null_values("duplicate")
        assert got.count[layer, head] == 10
        assert got.mean[layer, head] == pytest.approx(np.mean(duplicates), abs=1e-5)


@pytest.mark.parametrize("build", [bert, llama])
def test_the_best_offset(build: type[Model]) -> None:
    """The best offset of a decoder is among those that it sees."""
    found = aw.profile(build(), None, TEXTS, metrics=METRICS, null="best offset")
    offsets = range(-5, 1 if build is llama else 6)
    for name in METRICS:
        numbers = [
            np.mean(
                [
                    oracle.metrics(on_offset(offset, length), Tokens(("a",) * length))[name]
                    for length in LENGTHS
                ]
            )
            for offset in offsets
        ]
        expected = max(numbers, key=abs)
        assert np.unique(np.abs(found.null_values(name).mean)).tolist() == pytest.approx(
            [abs(expected)], abs=1e-6
        ), name


def test_position_explains_neighbours_but_no_repeats() -> None:
    """The planted heads: previous token and first token, induction and same token."""
    texts = [{"input_ids": token_ids(length, seed=length)} for length in (90, 60, 70)]
    found = aw.profile(Planted(), None, texts, null=("position", "best offset"))

    def nulls(name: str, layer: int, head: int) -> list[float]:
        return [float(found.null_values(name, null=n).mean[layer, head]) for n in found.nulls]

    assert nulls("previous", 0, 0) == pytest.approx([1, 1], abs=0.05)
    assert nulls("same", 1, 1) == pytest.approx([1, 1])
    by_position, by_offset = nulls("induction", 1, 0)
    assert by_position < 0.2
    assert by_offset == 0
    assert nulls("first", 0, 1)[0] < 0.3
    assert found.patterns()[0][0].reasons == ("previous 1.00 > .5",)
    assert [head.words for layer in found.patterns() for head in layer] == [
        "looks at the previous token", "rests on the first token",
        "follows repeats", "looks at the token itself",
    ]  # fmt: skip


def test_offsets_beyond_the_farthest_count_as_one() -> None:
    length = FARTHEST + 40
    weights = np.random.default_rng(0).random((2, length, length), np.float32)
    whole, again = OffsetMeans.empty(2), OffsetMeans.empty(2)
    for part in (whole, again):
        part.add(weights)
    again.merge(whole)
    whole_means = whole.means()
    offsets = np.subtract.outer(np.arange(length), np.arange(length)).T
    for offset in (-FARTHEST, -FARTHEST + 1, 0, 3, FARTHEST):
        picked = (
            offsets == offset if abs(offset) < FARTHEST else offsets * np.sign(offset) >= FARTHEST
        )
        assert math.isclose(
            whole_means[1, FARTHEST + offset], weights[1][picked].mean(dtype=float), rel_tol=1e-9
        )
    np.testing.assert_allclose(again.means(), whole_means, rtol=1e-12)
