"""A grid as a plot: its numbers, labels, and the cells outside of its null."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attnwidget import plot
from attnwidget.analysis import GridScores

VALUES = np.array([[0.0, 0.9, np.nan], [-0.4, 0.1, 0.05]])


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    plt.close("all")


def grid_of(null: Any = None, by: Any = "layer×position", columns: Any = "abc") -> GridScores:
    label = None if null is None else "permuted positions"
    style: dict[str, Any] = {"null": null, "null_label": label, "measured_on": "a text"}
    names = ("restored", "What is restored", "mlp")
    return GridScores(*names, by, ("3", "7"), tuple(columns), VALUES, **style)


def test_numbers_labels_and_the_null() -> None:
    axes = plot.grid(grid_of(np.linspace(-0.2, 0.2, 6).reshape(2, 3)))
    np.testing.assert_array_equal(axes.images[0].get_array(), np.ma.masked_invalid(VALUES))
    assert axes.images[0].norm(0) == 0.5
    assert [each.get_text() for each in axes.get_yticklabels()] == ["3", "7"]
    assert [each.get_text() for each in axes.get_xticklabels()] == ["a", "b", "c"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("position", "layer")
    [dots] = axes.collections
    assert sorted(np.asarray(dots.get_offsets()).tolist()) == [[0.5, 1.5], [1.5, 0.5]]
    [caption] = [each for each in axes.texts if each.get_gid() == "caption"]
    said = caption.get_text().replace("\n", " ")
    assert "95% of permuted positions lie from −0.19 to 0.19: dots are outside" in said


def test_heads_in_axes_of_a_figure() -> None:
    _, ax = plt.subplots()
    axes = plot.grid(grid_of(by="head", columns="012"), colorbar=False, caption=False, ax=ax)
    assert axes is ax
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("head", "layer")
    assert not axes.collections
    assert not axes.texts
    assert len(axes.figure.axes) == 1


def test_other_scores_are_refused() -> None:
    with pytest.raises(TypeError, match="scores is ndarray; expected GridScores"):
        plot.grid(VALUES)  # type: ignore[arg-type]
