"""Grids of patches on images, and what they refuse."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnwidget.record import AttentionRecord, Grid, Patches

WHOLE = Grid(2, 2, name="whole")
CROP = Grid(1, 2, 0, (0.5, -0.5, 1.0, 0.5), "crop 1")
PATCHES = Patches((WHOLE, CROP), (None, 5, 0, None, 3))


def test_patches_count_through_all_grids() -> None:
    assert PATCHES.starts == (0, 4)
    assert PATCHES.on_grid(0) == (None, None, 0, None, 3)
    assert PATCHES.on_grid(1) == (None, 1, None, None, None)
    assert PATCHES.grid_of(1) == (CROP, 1)
    assert PATCHES.grid_of(4) == (WHOLE, 3)
    assert PATCHES.grid_of(0) is None
    assert WHOLE.box_of(3) == (0.5, 0.5, 1, 1)
    assert CROP.box_of(0) == (0.5, -0.5, 0.75, 0.5)


def test_a_record_says_where_a_token_is() -> None:
    made = AttentionRecord.from_arrays([np.full((1, 5, 5), 0.2)], list("abcde"))
    stack = made.stack()
    tokens = replace(stack.queries, patches=PATCHES)
    record = AttentionRecord({"self": replace(stack, queries=tokens, keys=tokens)})
    # The padding is cut off.
    assert record.region(1) == (0, (0.75, 0, 1, 0.5))
    assert record.region(0) is None
    with pytest.raises(IndexError, match="there are 5 tokens"):
        record.region(5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 0}, "at least one row"),
        ({"columns": 2.0}, "at least one row"),
        ({"rows": 10**6, "columns": 2}, "at most"),
        ({"image": -1}, "a number from 0"),
        ({"name": None}, "its name is a string"),
        ({"box": (0.0, 0.0, 1.0)}, "left, top, right, bottom"),
        ({"box": (0, 0, 1, 1)}, "each a float"),
        ({"box": (0.0, 0.0, 1.0, float("nan"))}, "each a float"),
        ({"box": (0.0, 0.5, 1.0, 0.5)}, "its right after its left"),
    ],
)
def test_grids_that_cannot_be(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(WHOLE, **change)


@pytest.mark.parametrize(
    ("grids", "of", "message"),
    [
        ((), (0,), "1 to 4096 grids"),
        ((WHOLE, CROP), (0, 6), "0 to 5"),
        ((WHOLE,), (0, True), "0 to 3"),
        ((WHOLE,), (1, 1), "no two"),
        ((WHOLE,), (None, None), "some token has a patch"),
        ((Grid(1000, 1000), Grid(1000, 1000)), (0,), "at most"),
    ],
)
def test_places_that_cannot_be(
    grids: tuple[Grid, ...], of: tuple[int | None, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Patches(grids, of)
