"""Attention inside marked regions, on heads that are planted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.record import AttentionRecord, Grid, Patches
from tests.unit.signed import kept


def record() -> AttentionRecord:
    """[CLS] and 2 x 3 patches. Head 0 is even, head 1 looks at patches 1 and 2, head 2 at [CLS]."""
    weights = np.zeros((3, 7, 7), np.float32)
    weights[0] = 1 / 7
    weights[1, :, 2:4] = 0.5
    weights[2, :, 0], weights[2, :, 6] = 0.9, 0.1
    made = AttentionRecord.from_arrays([weights], ["[CLS]", *map(str, range(6))])
    stack = made.stack()
    tokens = replace(stack.queries, patches=Patches((Grid(2, 3),), (None, *range(6))), special=(0,))
    return AttentionRecord({"self": replace(stack, queries=tokens, keys=tokens)})


@pytest.mark.parametrize(
    ("region", "area", "expected"),
    [
        ((1 / 3, 0, 1, 0.5), 1 / 3, [1 / 3, 1, 0]),
        ((0, 0, 0.5, 1), 1 / 2, [1 / 2, 1 / 4, 0]),
        (np.array([[0, 1, 1], [0, 0, 0]]), 1 / 3, [1 / 3, 1, 0]),
        (np.kron([[0, 0, 0], [0, 0, 1]], np.ones((4, 4))), 1 / 6, [1 / 6, 0, 1]),
        (np.array([[1], [0]]), 1 / 2, [1 / 2, 1, 0]),
    ],
)
def test_shares_inside_a_region(region: Any, area: float, expected: list[float]) -> None:
    found = aw.probe.regions([(record(), region)] * 3)
    scores = found.heads["regions"]
    assert scores.values()[0] == pytest.approx(expected, abs=1e-6)
    assert found.area == pytest.approx(area)
    assert (found.num_texts, scores.stacks) == ((0, 3), ("self",))
    assert scores.null_values() == pytest.approx(np.full((1, 3), area))
    assert found.table()["attends to regions"][0] == pytest.approx(max(expected), abs=1e-6)


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ((0.5, 0, 0.5, 1), "expected \\(left, top, right, bottom\\)"),
        ((0, 0, 2, 1), "from 0 to 1"),
        ([1, 2, 3], "nor a mask"),
        (np.zeros((2, 2)), "marks no region"),
        (np.full((2, 2), np.nan), "nor a mask"),
    ],
)
def test_what_is_no_region_is_refused(region: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        aw.probe.regions([(record(), region)])
    with pytest.raises(ValueError, match="there are no images"):
        aw.probe.regions([])
    bare = AttentionRecord.from_arrays([np.full((1, 2, 2), 0.5)], ["a", "b"])
    with pytest.raises(ValueError, match="places of the tokens on the image are not known"):
        aw.probe.regions([(bare, (0, 0, 1, 1))])


def test_images_of_other_heads_are_refused() -> None:
    stack = record().stack()
    later = replace(stack.layers[0], number=1)
    twice = AttentionRecord({"self": replace(stack, layers=(*stack.layers, later))})
    region = (0, 0, 0.5, 1)
    with pytest.raises(ValueError, match="its layers or heads are others"):
        aw.probe.regions([(record(), region), (twice, region)])
    with pytest.raises(ValueError, match="seed is -1; expected a number from 0"):
        aw.probe.regions([(record(), region)], seed=-1)


def test_layers_without_a_softmax_are_left_out() -> None:
    stack = record().stack()
    coefficients = -stack.layers[0].head_weights(1)[None]
    signed = replace(stack, layers=(kept(coefficients),))
    found = aw.probe.regions(
        [(AttentionRecord({"linear": signed, "self": stack}), (0, 0, 0.5, 1))] * 3
    )
    assert found.heads["regions"].stacks == ("self",)
    with pytest.raises(ValueError, match="not known"):
        aw.probe.regions([(AttentionRecord({"linear": signed}), (0, 0, 0.5, 1))])


def test_the_grids_of_an_image_count_together() -> None:
    """The whole image, its left half without its last patch, and another image."""
    grids = Grid(1, 2, name="whole"), Grid(1, 2, 0, (0.0, 0.0, 0.5, 1.0)), Grid(1, 2, 1)
    stack = record().stack()
    tokens = replace(stack.queries, patches=Patches(grids, (None, 0, 1, 2, None, 4, 5)))
    found = aw.probe.regions(
        [(AttentionRecord({"self": replace(stack, queries=tokens, keys=tokens)}), (0, 0, 0.25, 1))]
    )
    # Of three patches the first lies half inside, and the third as a whole.
    assert found.area == pytest.approx(1 / 2)
    assert found.heads["regions"].values()[0] == pytest.approx([1 / 2, 1 / 2, np.nan], nan_ok=True)
