"""Numbers of all heads: arrays, ranking and table, of layers that have other numbers of heads."""

import re

import numpy as np
import pytest

from attnwidget.analysis import HeadScore, HeadScores

ROWS = {"self": {1: np.array([0.5, -2.0]), 4: np.array([1.0, np.nan, 0.25])}}
NULL = {"self": {1: np.array([0.0, 0.1]), 4: np.array([0.2, 0.3, 0.4])}}


def test_arrays_are_filled_where_a_layer_has_fewer_heads() -> None:
    scores = HeadScores("effect", "The effect", ROWS, null=NULL, null_label="random")
    assert scores.layers() == (1, 4)
    nan = np.nan
    assert np.array_equal(scores.values(), [[0.5, -2, nan], [1, nan, 0.25]], equal_nan=True)
    assert np.array_equal(scores.null_values(), [[0, 0.1, nan], [0.2, 0.3, 0.4]], equal_nan=True)
    assert scores.band(layer=4) == (pytest.approx(0.205), pytest.approx(0.395))
    with pytest.raises(IndexError, match="no numbers of layer 2; there are layers 1, 4"):
        scores.band(layer=2)
    with pytest.raises(KeyError, match="no stack 'cross'; this result has self"):
        scores.values("cross")


def test_ranking_leaves_out_heads_without_a_number() -> None:
    scores = HeadScores("effect", "The effect", ROWS, measured_on="3 texts")
    ranking = [HeadScore(1, 1, -2.0), HeadScore(4, 0, 1.0), HeadScore(1, 0, 0.5)]
    assert scores.ranking() == [*ranking, HeadScore(4, 2, 0.25)]
    assert repr(scores) == "<HeadScores, effect of 3 texts (self: 4 heads, most in 1-1: -2)>"


def test_table_has_what_is_known_beside_each_number() -> None:
    ends = {"low": ROWS, "high": ROWS}
    table = HeadScores("effect", "The effect", ROWS, null=NULL, null_label="random", **ends).table()
    assert list(table.columns) == ["stack", "layer", "head", "effect", "low", "high", "null"]
    assert table[["layer", "head"]].values.tolist() == [[1, 0], [1, 1], [4, 0], [4, 1], [4, 2]]
    assert table["null"].tolist() == [0.0, 0.1, 0.2, 0.3, 0.4]


def test_a_notebook_shows_the_heads_with_the_largest_numbers() -> None:
    numbers = np.append(np.arange(-25, 4), np.nan) / 8
    shown = HeadScores("effect", "The effect", {"self": {2: numbers}})._repr_html_()
    assert shown is not None
    assert "20 of 30 heads" in shown
    cells = re.findall("<td>(.*)</td>", shown)
    assert cells[:4] == ["self", "2", "0", "-3.12"]
    assert [int(head) for head in cells[2::4]] == list(range(20))
