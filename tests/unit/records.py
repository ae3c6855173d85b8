"""Small records with every kind of score program, without a model."""

from dataclasses import replace
from typing import Any

import numpy as np

from attnwidget import AttentionRecord
from attnwidget.record import Fidelity, Floats, Layer, ScoreProgram, Stack, Tokens

HEADS, KEY_HEADS, LENGTH, DIM = 4, 2, 7, 8

FIDELITY = Fidelity(
    "attention interface", "layers.0", "queries and keys", 1e-7, 2e-7, 1e-5, LENGTH, "checked"
)


def floats(*shape: int, seed: int = 0, scale: float = 1.0) -> Floats:
    """Normally distributed; no two of them equal, so that a mix-up shows."""
    values = np.random.default_rng([seed, *shape]).normal(size=shape) * scale
    return values.astype(np.float32)


def some_weights(heads: int = HEADS, rows: int = LENGTH, columns: int = LENGTH) -> Floats:
    """Rows that sum to one, [heads, rows, columns]."""
    exponentials = np.exp(floats(heads, rows, columns, scale=2))
    weights: Floats = exponentials / exponentials.sum(axis=2, keepdims=True)
    return weights


def weights_of(record: AttentionRecord) -> Floats:
    """Every weight of the first stack: [layers, heads, Tq, Tk]."""
    layers = record.stack().layers
    return np.stack(
        [[layer.head_weights(head) for head in range(layer.num_heads)] for layer in layers]
    )


def labels(count: int = LENGTH) -> list[str]:
    return [f"token{n}" for n in range(count)]


def _visible(heads: int) -> np.ndarray:
    """Random, with a row that sees no key and one that sees all."""
    visible = np.random.default_rng(heads).random((heads, LENGTH, LENGTH)) < 0.5
    visible[:, 2] = False
    visible[:, 4] = True
    return visible


def program(**options: Any) -> ScoreProgram:
    return ScoreProgram(**{"scale": DIM**-0.5, **options})


PROGRAMS = {
    "no mask": program(),
    "causal": program(mask="causal"),
    "window to the left": program(mask="window", window=(2, 0)),
    "window to both sides": program(mask="window", window=(1, 3)),
    "one explicit mask": program(mask="explicit", visible=_visible(1)),
    "an explicit mask per head": program(mask="explicit", visible=_visible(HEADS)),
    "one bias": program(bias=floats(1, LENGTH, LENGTH)),
    "a bias per head": program(mask="causal", bias=floats(HEADS, LENGTH, LENGTH)),
    "bias of one row": program(bias=floats(HEADS, 1, LENGTH)),
    "a relative bias": program(mask="causal", relative=floats(1, 2 * LENGTH - 1)),
    "a relative bias per head": program(relative=floats(HEADS, 2 * LENGTH - 1)),
    "a scale per head": program(scale=(0.25, 1.0, 0.5, -0.125)),
    "blocks": program(blocks=(3, 3)),
    "causal blocks": program(mask="causal", blocks=(3, 2)),
    "a bias for every block": program(blocks=(3, 2), bias=floats(HEADS, 3, 2)),
    "a mask for every query of a block": program(
        blocks=(4, 4),
        mask="explicit",
        visible=np.random.default_rng(5).random((1, LENGTH, 4)) < 0.6,
    ),
    "softcap": program(softcap=1.5),
    "sinks": program(mask="causal", sinks=floats(HEADS)),
    "everything": program(
        scale=0.7,
        mask="explicit",
        visible=_visible(HEADS),
        bias=floats(HEADS, LENGTH, LENGTH),
        softcap=2.0,
        sinks=floats(HEADS),
    ),
}


def layer_of(program: ScoreProgram, seed: int = 0) -> Layer:
    queries = floats(HEADS, LENGTH, DIM, seed=seed, scale=2)
    keys = floats(KEY_HEADS, LENGTH, DIM, seed=seed + 1, scale=2)
    return Layer(queries, keys, program, None, FIDELITY)


def numbered(*layers: Layer) -> tuple[Layer, ...]:
    """The layers as 0, 1, ..."""
    return tuple(replace(layer, number=number) for number, layer in enumerate(layers))


def hybrid() -> Stack:
    """Layers 3, 7 and 11 of a model, the others of which have no attention; unequal heads."""
    tokens = Tokens(tuple(labels()))
    layers = tuple(
        Layer(
            floats(heads, LENGTH, DIM, seed=number),
            floats(2, LENGTH, DIM, seed=number + 1),
            program(mask="causal"),
            None,
            FIDELITY,
            number,
        )
        for number, heads in ((3, 4), (7, 2), (11, 6))
    )
    return Stack(tokens, tokens, layers)


def record_of(*layers: Layer, **tokens: Any) -> AttentionRecord:
    rows, columns = layers[0].shape
    queries = Tokens(tuple(labels(rows)), **tokens)
    keys = queries if rows == columns else Tokens(tuple(labels(columns)))
    return AttentionRecord({"self": Stack(queries, keys, numbered(*layers))}, model="a model")


def record_with_every_program() -> AttentionRecord:
    """One layer per program of PROGRAMS, then two that are weights alone and weights with q, k."""
    layers = [layer_of(program, seed) for seed, program in enumerate(PROGRAMS.values())]
    given = Fidelity("given", "", "weights", None, None, 1e-4, 0)
    queries, keys = floats(HEADS, LENGTH, DIM), floats(KEY_HEADS, LENGTH, DIM)
    layers.append(Layer(None, None, None, some_weights(), given))
    layers.append(Layer(queries, keys, None, some_weights(), given))
    return record_of(*layers, segments=(0, 0, 0, 0, 1, 1, 1), special=(0, 3, 6))
