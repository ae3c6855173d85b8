"""Sums over texts: the same however texts are divided, in memory that does not grow."""

import numpy as np
import pytest

from attnwidget.analysis import ALL_METRICS
from attnwidget.corpus.accumulators import REPLICATES, Extremes, Means, keep_sample
from attnwidget.corpus.measurement import Measurement
from attnwidget.corpus.meter import Meter, MetricSet
from attnwidget.record import Tokens
from attnwidget.tracing import CallId
from tests.unit.records import some_weights

TEXTS = 60


def values(index: int) -> np.ndarray:
    """Numbers [3, 2] of a text; every fifth text lacks one."""
    found = np.random.default_rng(index).normal(size=(3, 2)) * 1e3
    if index % 5 == 0:
        found[1, 0] = np.nan
    return found


PARTITIONS = {
    "one": [range(TEXTS)],
    "two, interleaved": [range(0, TEXTS, 2), range(1, TEXTS, 2)],
    "five, backwards": [range(start, start + 12)[::-1] for start in range(0, TEXTS, 12)],
}


def means_of(parts: list[range]) -> Means:
    whole = Means.empty((3, 2), seed=7)
    for part in parts:
        one = Means.empty((3, 2), seed=7)
        one.add({index: values(index) for index in part})
        whole.merge(one)
    return whole


@pytest.mark.parametrize("name", PARTITIONS)
def test_means_do_not_depend_on_the_partition(name: str) -> None:
    expected = means_of(PARTITIONS["one"]).estimate()
    found = means_of(PARTITIONS[name]).estimate()
    for field in ("mean", "low", "high", "count"):
        np.testing.assert_allclose(getattr(found, field), getattr(expected, field), rtol=1e-9)


def test_the_mean_and_its_interval() -> None:
    every = np.stack([values(index) for index in range(TEXTS)])
    found = means_of(PARTITIONS["one"]).estimate()
    np.testing.assert_allclose(found.mean, np.nanmean(every, axis=0), rtol=1e-12)
    assert found.count.tolist() == np.isfinite(every).sum(axis=0).tolist()
    # The interval of a normal distribution, which the bootstrap approaches.
    half = 1.96 * np.nanstd(every, axis=0) / np.sqrt(found.count)
    np.testing.assert_allclose(found.mean - found.low, half, rtol=0.35)
    np.testing.assert_allclose(found.high - found.mean, half, rtol=0.35)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    covered = 0
    for trial in range(200):
        means, random = Means.empty((), seed=trial), np.random.default_rng(trial)
        means.add({index: np.asarray(random.normal()) for index in range(40)})
        found = means.estimate()
        covered += found.low <= 0 <= found.high
    assert 0.89 < covered / 200 < 0.99


def test_numbers_of_one_text_have_no_interval_and_those_of_none_no_mean() -> None:
    means = Means.empty((2,), seed=0)
    means.add({3: np.array([5.0, np.nan])})
    found = means.estimate()
    assert found.mean[0] == 5
    assert np.isnan([found.mean[1], *found.low, *found.high]).all()
    assert found.count.tolist() == [1, 0]
    assert REPLICATES == 200


@pytest.mark.parametrize("name", PARTITIONS)
def test_the_sample_and_the_extremes_do_not_depend_on_the_partition(name: str) -> None:
    sample: dict[int, int] = {}
    extremes = Extremes.empty((3, 2), 4)
    for part in PARTITIONS[name]:
        found = Extremes.empty((3, 2), 4)
        found.add({n: values(n) for n in part[1:]}, {n: np.array([n, 2 * n]) for n in part[1:]})
        found.add({part[0]: values(part[0])}, {part[0]: np.array([part[0], 2 * part[0]])})
        of_part = {n: n for n in part}
        keep_sample(of_part, 10, seed=1)
        sample |= of_part
        keep_sample(sample, 10, seed=1)
        extremes.merge(found)
    whole = {n: n for n in range(TEXTS)}
    keep_sample(whole, 10, seed=1)
    assert sample == whole
    assert len(whole) == 10
    every = np.stack([values(index) for index in range(TEXTS)])
    for row, column in np.ndindex(3, 2):
        order = np.argsort(every[:, row, column])
        order = order[np.isfinite(every[order, row, column])]
        assert extremes.texts[0, row, column].tolist() == order[::-1][:4].tolist()
        assert extremes.texts[1, row, column].tolist() == order[:4].tolist()
        assert extremes.marks[1, row, column].tolist() == ((1 + column) * order[:4]).tolist()


def test_of_equal_numbers_the_earlier_text_is_kept() -> None:
    extremes = Extremes.empty((), 2)
    for index in (5, 2, 9):
        extremes.add({index: np.asarray(1.0)}, {index: np.asarray(0)})
    assert extremes.texts.tolist() == [[2, 5], [2, 5]]


def measured(indices: list[int], layers: list[str]) -> Measurement:
    """Weights of some texts in layers that come in this order."""
    rows = {name: ALL_METRICS[name] for name in ("previous", "entropy")}
    metrics = MetricSet(rows, {})
    measurement = Measurement(metrics.names, seed=0)
    meter = Meter(metrics, measurement, offsets=False)
    for index in indices:
        tokens = Tokens(tuple(f"token{n}" for n in range(5 + index)))
        for name in layers:
            weights = some_weights(3, len(tokens), len(tokens)) ** (1 + int(name))
            weights /= weights.sum(axis=2, keepdims=True)
            meter.add(
                CallId(name, 0), ("self", False, "", "softmax"), index, weights, tokens, tokens
            )
        meter.finish()
    return measurement


def test_measurements_do_not_depend_on_the_partition_or_on_the_order_of_layers() -> None:
    whole = measured(list(range(9)), ["0", "1"])
    merged = measured([7, 0, 5], ["1", "0"])
    merged.merge(measured([8, 1], ["0", "1"]))
    merged.merge(measured([2, 3, 4, 6], ["1", "0"]))
    for place, layer in whole.layers.items():
        other = merged.layers[place]
        assert other.texts == layer.texts == 9
        assert other.shape == layer.shape == (5, 5)
        expected, found = layer.means.estimate(), other.means.estimate()
        for field in ("mean", "low", "high", "count"):
            np.testing.assert_allclose(getattr(found, field), getattr(expected, field), rtol=1e-9)
        for name in ("values", "texts", "marks"):
            assert np.array_equal(getattr(other.extremes, name), getattr(layer.extremes, name))
        np.testing.assert_allclose(other.thumbnails, layer.thumbnails, rtol=1e-9)
    assert merged.sample.keys() == whole.sample.keys()
