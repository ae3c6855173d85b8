"""The pairing of vectors that were turned by hand."""

import numpy as np
import pytest

from attnwidget.capture.rotary_pairs import Doubles, turned_pairs
from attnwidget.record import Rotary

WIDTH, TOKENS, HEADS = 16, 9, 4
EPS = float(np.finfo(np.float32).eps)

VECTORS: Doubles = (
    np.random.default_rng(0).normal(size=(TOKENS, HEADS, WIDTH)).astype(np.float32).astype(float)
)


def _turned(vectors: Doubles, rotary: Rotary, base: float = 100.0) -> Doubles:
    """[tokens, heads, width], by an angle that grows with the token and falls with the pair."""
    half = rotary.dims // 2
    steps, places = (1, half) if rotary.pairs == "halves" else (2, 1)
    first = rotary.start + steps * np.arange(half)
    second = first + places
    angle = np.arange(len(vectors))[:, None, None] * base ** -(np.arange(half) / half)
    out = vectors.copy()
    out[..., first] = vectors[..., first] * np.cos(angle) - vectors[..., second] * np.sin(angle)
    out[..., second] = vectors[..., second] * np.cos(angle) + vectors[..., first] * np.sin(angle)
    return out


def _found(after: Doubles, dtype: type = np.float32, eps: float = EPS) -> Rotary | None:
    rounded = after.astype(dtype).astype(float)
    flat = VECTORS.reshape(-1, WIDTH), rounded.reshape(-1, WIDTH)
    return turned_pairs(*flat, tokens=TOKENS, eps=eps)


ROTATIONS = [
    Rotary(pairs, dims, start)
    for pairs in ("halves", "neighbours")
    for dims, start in ((16, 0), (8, 0), (8, 8), (4, 6))
]


@pytest.mark.parametrize("rotary", ROTATIONS, ids=str)
def test_turned(rotary: Rotary) -> None:
    assert _found(_turned(VECTORS, rotary)) == rotary


@pytest.mark.parametrize("rotary", ROTATIONS, ids=str)
def test_turned_the_other_way(rotary: Rotary) -> None:
    back = _turned(VECTORS[::-1], rotary)[::-1]
    flat = VECTORS.reshape(-1, WIDTH), back.reshape(-1, WIDTH)
    assert turned_pairs(*flat, tokens=TOKENS, eps=1e-12) == rotary


@pytest.mark.parametrize("rotary", ROTATIONS, ids=str)
def test_turned_and_scaled_with_the_token(rotary: Rotary) -> None:
    scale = 1 + np.arange(TOKENS)[:, None, None] / 10
    assert _found(_turned(VECTORS, rotary) * scale) == rotary


@pytest.mark.parametrize("rotary", ROTATIONS, ids=str)
def test_what_is_turned_may_be_scaled_alone(rotary: Rotary) -> None:
    after, turned = _turned(VECTORS, rotary), slice(rotary.start, rotary.start + rotary.dims)
    after[..., turned] *= 1.25
    assert _found(after) == rotary


def test_neighbours_that_are_moved_apart() -> None:
    after = _turned(VECTORS, Rotary("neighbours", 8, 4))
    after[..., 4:12] = np.concatenate([after[..., 4:12:2], after[..., 5:12:2]], axis=-1)
    assert _found(after) == Rotary("halves", 8, 4)


@pytest.mark.parametrize(
    "after",
    [
        VECTORS,
        VECTORS * 0.3,
        VECTORS * np.linspace(0.5, 2, WIDTH),
        VECTORS + 1,
        np.maximum(VECTORS, 0),
        VECTORS[::-1],
        VECTORS[..., ::-1],
        np.full_like(VECTORS, np.nan),
        np.zeros_like(VECTORS),
        # Two rotations, each of a part.
        _turned(_turned(VECTORS, Rotary("halves", 8)), Rotary("halves", 8, 8)),
        _turned(_turned(VECTORS, Rotary("halves", 16)), Rotary("neighbours", 16)),
        # All of it is turned, but a component has become longer.
        _turned(VECTORS, Rotary("halves", 16)) * (1 + 0.01 * (np.arange(WIDTH) == 5)),
    ],
)
def test_not_turned_in_pairs_of_one_kind(after: Doubles) -> None:
    assert _found(after) is None


def test_where_neighbours_end_is_not_said_where_the_next_could_have_turned_unseen() -> None:
    """In half precision, the slow ones of all pairs look like those that are not turned."""
    eps = float(np.finfo(np.float16).eps)
    vectors = VECTORS.astype(np.float16).astype(float)
    after = _turned(vectors, Rotary("neighbours", 16), base=1e12)
    flat = vectors.reshape(-1, WIDTH), after.astype(np.float16).astype(float).reshape(-1, WIDTH)
    assert (flat[0] == flat[1])[:, -4:].all()
    assert turned_pairs(*flat, tokens=TOKENS, eps=eps) is None
