"""The few numbers that say what is masked and added give the softmax of the whole matrices."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from attnwidget.capture.terms import terms
from attnwidget.record import ScoreProgram

T = 12
ROWS, COLUMNS = np.arange(T)[:, None], np.arange(T)[None, :]
CAUSAL = COLUMNS <= ROWS
RANDOM = np.random.default_rng(0)


def _chunks(size: int) -> np.ndarray:
    return CAUSAL & (COLUMNS // size == ROWS // size)


def _fields(found: ScoreProgram) -> dict[str, Any]:
    """The fields that are set, without the scale."""
    fields = {name: value for name, value in vars(found).items() if value is not None}
    return {name: value for name, value in fields.items() if name != "scale"}


def _normal(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


HOLE = CAUSAL & (COLUMNS != 3)

MASKS: dict[str, tuple[Any, dict[str, Any]]] = {
    "nothing": (None, {"mask": "none"}),
    "all true": (CAUSAL | True, {"mask": "none"}),
    "causal": (CAUSAL, {"mask": "causal"}),
    "sliding window": (CAUSAL & (ROWS - COLUMNS < 4), {"mask": "window", "window": (3, 0)}),
    "all but one corner": (
        CAUSAL & (ROWS - COLUMNS < T - 1),
        {"mask": "window", "window": (T - 2, 0)},
    ),
    "to both sides": (abs(ROWS - COLUMNS) <= 2, {"mask": "window", "window": (2, 2)}),
    "one side is wider": (
        (COLUMNS - ROWS <= 5) & (ROWS - COLUMNS <= 1),
        {"mask": "window", "window": (1, 5)},
    ),
    "itself alone": (ROWS == COLUMNS, {"mask": "window", "window": (0, 0)}),
    "chunks": (_chunks(4), {"mask": "causal", "blocks": (4, 4)}),
    "chunks, the last one cut short": (_chunks(5), {"mask": "causal", "blocks": (5, 5)}),
    "chunks from the middle of one": (
        CAUSAL & ((COLUMNS + 2) // 4 == (ROWS + 2) // 4),
        {"mask": "explicit"},
    ),
    "a hole": (HOLE, {"mask": "explicit"}),
    "a row that sees nothing": (CAUSAL & (ROWS != 5), {"mask": "explicit"}),
    "the first row sees nothing": (CAUSAL & (ROWS > 0), {"mask": "explicit"}),
}


@pytest.mark.parametrize(("seen", "expected"), MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("heads", [1, 3])
def test_masks(seen: Any, expected: dict[str, Any], heads: int) -> None:
    if seen is not None:
        seen = np.repeat(seen[None], heads, axis=0)
    fields = _fields(terms(seen, None, 1, (T, T)))
    visible = fields.pop("visible", None)
    assert fields == expected
    assert (visible is not None) == (expected["mask"] == "explicit")
    if visible is not None:
        assert visible.shape == (1, T, T), "heads that are alike are kept once"
        assert np.array_equal(visible, seen[:1])


def test_a_mask_of_each_head() -> None:
    seen = np.stack([CAUSAL, abs(ROWS - COLUMNS) <= 2])
    found = terms(seen, None, 1, (T, T))
    assert found.mask == "explicit"
    assert np.array_equal(found.visible, seen)


@pytest.mark.parametrize("columns", [1, 7, 40])
def test_causal_masks_are_square_and_others_are_as_they_are(columns: int) -> None:
    seen = np.arange(columns)[None, :] <= ROWS
    found = terms(seen[None], None, 1, (T, columns))
    again = ScoreProgram(1.0, **_fields(found)).added(0, np.arange(T), T, columns)
    assert np.array_equal(again == 0, seen)


BIASES: dict[str, tuple[np.ndarray, str | None, tuple[int, ...]]] = {
    "none": (np.zeros((1, T, T), np.float32), None, ()),
    "of each row": (np.broadcast_to(_normal(2, T, 1), (2, T, T)), None, ()),
    "of keys": (np.broadcast_to(_normal(2, 1, T), (2, T, T)), "bias", (2, 1, T)),
    "of keys, heads alike": (np.broadcast_to(_normal(1, 1, T), (3, T, T)), "bias", (1, 1, T)),
    "of distances": (_normal(2, 2 * T - 1)[:, COLUMNS - ROWS + T - 1], "relative", (2, 2 * T - 1)),
    "of everything": (_normal(2, T, T), "bias", (2, T, T)),
    "of one cell": (((ROWS == 7) & (COLUMNS == 2))[None].astype(np.float32), "bias", (1, T, T)),
}


@pytest.mark.parametrize(("bias", "field", "shape"), BIASES.values(), ids=BIASES)
@pytest.mark.parametrize("seen", [None, CAUSAL, HOLE], ids=["all", "causal", "hole"])
def test_biases(bias: np.ndarray, field: str | None, shape: tuple[int, ...], seen: Any) -> None:
    """A bias does not matter where nothing is seen."""
    if seen is not None:
        bias = np.where(seen, bias, 1e4 * _normal(*bias.shape))
    found = terms(None if seen is None else seen[None], bias.astype(np.float32), 1, (T, T))
    kept = {name: getattr(found, name) for name in ("bias", "relative")}
    for name, array in kept.items():
        assert (array is not None) == (name == field)
        assert array is None or array.shape == shape


def test_alibi_is_kept_as_one_number_for_each_key() -> None:
    """Under a causal mask, slope * j and slope * (j - i) give the same softmax."""
    slopes = np.array([0.5, 0.25], np.float32)[:, None, None]
    found = terms(CAUSAL[None], slopes * COLUMNS.astype(np.float32), 1, (T, T))
    assert found.mask == "causal"
    assert found.bias is not None
    assert found.bias.shape == (2, 1, T)


def test_differences_within_the_noise_do_not_count() -> None:
    bias = np.broadcast_to(_normal(1, 1, T), (1, T, T))
    noisy = bias + 1e-6 * _normal(1, T, T)
    assert terms(None, noisy, 1, (T, T)).bias.shape == (1, T, T)  # type: ignore[union-attr]
    assert terms(None, noisy, 1, (T, T), 1e-5).bias.shape == (1, 1, T)  # type: ignore[union-attr]
    assert terms(None, 1e-6 * _normal(1, T, T), 1, (T, T), 1e-5).bias is None


@pytest.mark.parametrize("alike", [True, False])
def test_blocks(alike: bool) -> None:
    """Windows beside each other, each with a mask and a bias, or all with the same."""
    seen, bias = RANDOM.random((1, 3 * T, T)) < 0.7, _normal(2, 3 * T, T)
    if alike:
        seen, bias = np.tile(seen[:, :T], (1, 3, 1)), np.tile(bias[:, :T], (1, 3, 1))
    found = terms(seen, bias, 3, (T, T))
    rows = T if alike else 3 * T
    assert found.blocks == (T, T)
    assert found.visible is not None
    assert found.bias is not None
    assert (found.visible.shape, found.bias.shape) == ((1, rows, T), (2, rows, T))
    assert found.relative is None


def _softmax(scores: np.ndarray) -> np.ndarray:
    """By torch; a row that sees nothing gives zero."""
    return torch.from_numpy(scores).double().softmax(-1).nan_to_num(0).numpy()


SEEN = [None, CAUSAL, HOLE, CAUSAL & (ROWS - COLUMNS < 3), _chunks(4), CAUSAL & (ROWS != 5)]
CASES = [*itertools.product(range(len(SEEN)), BIASES, (1, 3))]


@pytest.mark.parametrize(("which", "bias", "groups"), CASES)
def test_the_program_gives_the_softmax_of_the_whole_matrices(
    which: int, bias: str, groups: int
) -> None:
    heads, size = 6, groups * T
    seen, added = SEEN[which], BIASES[bias][0]
    added = np.tile(added, (heads // len(added), groups, 1)).astype(np.float32)
    queries, keys = _normal(heads, size, 4), _normal(heads, size, 4)
    whole = np.full((heads, size, size), -np.inf, np.float32)
    for group in range(groups):
        own = slice(group * T, (group + 1) * T)
        cells = added[:, own] if seen is None else np.where(seen, added[:, own], -np.inf)
        whole[:, own, own] = 0.5 * queries[:, own] @ keys[:, own].swapaxes(1, 2) + cells
    tiled = None if seen is None else np.tile(seen[None], (1, groups, 1))
    program = replace(terms(tiled, added, groups, (T, T)), scale=0.5)
    program.check(heads, size, size)
    for head in range(heads):
        given = program.softmax(program.scores(queries[head], keys[head], head), head)
        np.testing.assert_allclose(given, _softmax(whole[head]), rtol=0, atol=1e-6)
