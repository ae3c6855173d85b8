"""What workers have measured, each of its own heads, is joined to the sums of all heads."""

from __future__ import annotations

import numpy as np
from safetensors.numpy import load, save

from attnwidget.corpus.measurement import Measurement
from attnwidget.corpus.meter import Meter
from attnwidget.corpus.packed import as_arrays, of_arrays
from attnwidget.corpus.settings import metrics_of_rows
from attnwidget.corpus.vllm_engine import SENT, joined_sums
from attnwidget.record import Tokens
from attnwidget.tracing import CallId

NAMES = ("entropy", "same", "first")
CALLS = [CallId(f"model.layers.{n}.self_attn.attn", 0) for n in range(3)]


def measured(heads: slice, calls: list[CallId]) -> Measurement:
    """Some heads and layers of six, over eight texts."""
    found = Measurement(NAMES, 0)
    meter = Meter(metrics_of_rows(NAMES), found, offsets=True)
    for index in range(8):
        tokens = Tokens(tuple(map(str, range(5 + index))))
        for call in calls:
            random = np.random.default_rng([index, CALLS.index(call)])
            weights = np.tril(random.random((6, len(tokens), len(tokens)), np.float32))
            weights /= weights.sum(2, keepdims=True)
            meter.add(call, ("self", False, "", "softmax"), index, weights[heads], tokens, tokens)
        meter.finish()
    return found


def joined(*parts: Measurement) -> Measurement:
    """Joined after they were sent."""
    sent = [save(as_arrays(("0", part))) for part in parts]
    return joined_sums(
        [of_arrays(SENT, load(each)) for each in sent], Measurement(NAMES, 0), ["b: why"]
    )[1]


def assert_equal(found: Measurement, expected: Measurement) -> None:
    a, b = as_arrays(found), as_arrays(expected)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_heads_are_joined() -> None:
    found = joined(*(measured(slice(n, n + 2), CALLS) for n in (0, 2, 4)))
    assert found.missing == ["b: why"]
    found.missing = []
    assert_equal(found, measured(slice(0, 6), CALLS))


def test_layers_are_joined() -> None:
    """Of workers that have other layers each."""
    found = joined(*(measured(slice(0, 6), calls) for calls in (CALLS[:1], CALLS[1:])))
    found.missing = []
    assert_equal(found, measured(slice(0, 6), CALLS))


def test_a_layer_that_fails_in_one_worker_is_left_out() -> None:
    failed = measured(slice(0, 3), [CALLS[0], CALLS[2]])
    failed.missing = [f"{CALLS[1].module}: why"]
    found = joined(failed, measured(slice(3, 6), CALLS))
    assert found.missing == ["b: why", f"{CALLS[1].module}: why"]
    found.missing = []
    assert_equal(found, measured(slice(0, 6), [CALLS[0], CALLS[2]]))
