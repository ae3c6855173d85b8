"""A record as of an encoder-decoder model: three stacks that differ in all that they can."""

import numpy as np

import attnwidget as aw
from attnwidget.record import Fidelity, Layer, ScoreProgram, Stack, Tokens

SOURCE = ("The", "dog", "was", "tired", ".", "It", "ran", ".")
TARGET = ("<pad>", "Der", "Hund", "war", "müde")

MISSING = (
    "decoder.block.2.self_attn: it was called where no call can be followed",
    "decoder.block.2.cross_attn: its output fits no <b>attention</b>",
)

DIM = 8


def stacked() -> aw.AttentionRecord:
    """Encoder layers 0 to 2; decoder layers 0 and 1, unconfirmed; cross layers 3, 7 and 11.

    Their heads are 4, 4 and 2; 3 and 3; 2, 5 and, as weights alone, 3.
    """
    segments = (0,) * 5 + (1,) * 3
    source, target = Tokens(SOURCE, segments, special=(4, 7)), Tokens(TARGET, special=(0,))
    encoder = [_layer(number, heads, source, source) for number, heads in ((0, 4), (1, 4), (2, 2))]
    decoder = [
        _layer(number, 3, target, target, causal=True, exact=number == 0) for number in range(2)
    ]
    cross = [_layer(3, 2, target, source), _layer(7, 5, target, source), _weights(11, 3)]
    return aw.AttentionRecord(
        {
            "encoder": Stack(source, source, tuple(encoder)),
            "decoder": Stack(target, target, tuple(decoder)),
            "cross": Stack(target, source, tuple(cross)),
        },
        model="a translator",
        missing=MISSING,
    )


def _layer(
    number: int,
    heads: int,
    queries: Tokens,
    keys: Tokens,
    *,
    causal: bool = False,
    exact: bool = True,
) -> Layer:
    rng = np.random.default_rng([number, heads, len(queries)])
    q, k = (
        rng.normal(size=(heads, len(tokens), DIM)).astype(np.float32) for tokens in (queries, keys)
    )
    program = ScoreProgram(0.5, "causal" if causal else "none")
    error = 1e-7 if exact else 0.1
    kept = Fidelity("attention interface", "", "queries and keys", error, error, 1e-5, 8)
    return Layer(q, k, program, None, kept, number)


def _weights(number: int, heads: int) -> Layer:
    rng = np.random.default_rng(number)
    shares = rng.dirichlet(np.ones(len(SOURCE)), (heads, len(TARGET))).astype(np.float32)
    kept = Fidelity("attention interface", "", "weights", None, None, 1e-5, 8)
    return Layer(None, None, None, shares, kept, number)
