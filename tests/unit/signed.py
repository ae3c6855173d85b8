"""Records of layers without a softmax, whose coefficients have signs, without a model."""

from dataclasses import replace

import numpy as np

from attnwidget import AttentionRecord
from attnwidget.record import Fidelity, Floats, Layer, Recurrence, Stack, Tokens
from tests.unit.records import DIM, HEADS, KEY_HEADS, LENGTH, floats, labels, layer_of, program

SIGNED = Fidelity("recurrence", "m", "queries and keys", None, 1e-7, 1e-5, LENGTH)


def recurrent(number: int = 0, length: int = LENGTH, heads: int = HEADS) -> Layer:
    """A gated delta rule, with fewer queries and keys than heads."""
    unit = np.random.default_rng(number).uniform(size=(heads, length)).astype(np.float32)
    keys = floats(KEY_HEADS, length, DIM, seed=number + 1)
    keys /= np.linalg.norm(keys, axis=2, keepdims=True)
    program = Recurrence(
        0.5, decay=-np.abs(floats(heads, length, 1, seed=number)) / 10, write=unit, erase=unit
    )
    queries = floats(KEY_HEADS, length, DIM, seed=number)
    values = floats(heads, length, DIM, seed=number + 2)
    return Layer(queries, keys, program, None, SIGNED, number, values)


def kept(coefficients: Floats, number: int = 0) -> Layer:
    """Contributions of channels, [heads, Tq, Tk]."""
    fidelity = replace(SIGNED, route="contributions of channels", kept="coefficients")
    return Layer(None, None, None, None, fidelity, number, coefficients=coefficients)


def linear(*layers: Layer) -> Stack:
    tokens = Tokens(tuple(labels(layers[0].shape[0])), special=(0,))
    return Stack(tokens, tokens, layers)


def with_both(length: int = LENGTH) -> AttentionRecord:
    """Layers 0 to 2 without a softmax, and layer 3 with one."""
    softmax = Layer(
        floats(HEADS, length, DIM), floats(KEY_HEADS, length, DIM), program(mask="causal"), None,
        layer_of(program()).fidelity, 3,
    )  # fmt: skip
    return AttentionRecord(
        {
            "self": linear(softmax),
            "linear": linear(*(recurrent(number, length) for number in range(3))),
        },
        model="a hybrid",
    )
