"""Plots of layers without a softmax: coefficients in the colours of signs, around zero."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from attnwidget import AttentionRecord, plot
from attnwidget.plot.colors import LIGHT
from tests.unit.records import LENGTH, floats
from tests.unit.signed import kept, linear, with_both


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    plt.close("all")
    yield
    plt.close("all")


def alone() -> AttentionRecord:
    """Two layers of three heads that are kept as coefficients."""
    layers = (kept(np.tril(floats(3, LENGTH, LENGTH, seed=n)), n) for n in range(2))
    return AttentionRecord({"linear": linear(*layers)})


def test_a_matrix_has_signs_around_zero() -> None:
    record = with_both()
    image = plot.matrix(record, 1, 2, stack="linear").images[0]
    coefficients = record.coefficients(1, 2, "linear")
    np.testing.assert_array_equal(image.get_array(), coefficients)
    most = np.abs(coefficients).max()
    assert image.get_clim() == pytest.approx((-most, most))
    assert image.colorbar is not None
    assert image.colorbar.ax.get_ylabel() == "coefficient"
    axes = plot.matrix(record, 1, 2, stack="linear", lens="attention")
    assert axes.get_title() == "linear · Layer 1 · Head 2 · Coefficients"


def test_lines_have_the_colours_of_signs() -> None:
    record = with_both()
    axes = plot.head(record, 1, 2, stack="linear")
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["above 0", "below 0"]
    colors = axes.collections[0].get_edgecolor()  # type: ignore[attr-defined]
    found = {tuple(np.round(color[:3], 3)) for color in colors}
    inks = (LIGHT.positive, LIGHT.negative)
    assert found == {tuple(np.round(to_rgb(color), 3)) for color in inks}


def test_a_neuron_plot_has_the_query_walked_back() -> None:
    record, query = with_both(), 4
    columns = plot.neuron(record, 1, 2, query, stack="linear").child_axes
    _, products, scores, weights = (
        next(each for each in columns if each.get_title().startswith(title))
        for title in ("q, and k", "p × k", "p·k", "coefficient")
    )
    coefficients = record.coefficients(1, 2, "linear")[query]
    sums = np.asarray(products.images[0].get_array()).sum(axis=1)
    program = record.layer(1, "linear").program
    np.testing.assert_allclose(sums * program.write[2], coefficients, atol=1e-6)  # type: ignore[union-attr, index]
    widths = [bar.get_width() for bar in scores.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(widths, sums, atol=1e-6)
    widths = [bar.get_width() for bar in weights.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(widths, coefficients, atol=1e-6)
    with pytest.raises(ValueError, match="recorded as coefficients alone"):
        plot.neuron(alone(), 0, 0, 1)


def test_all_heads_are_drawn_with_signs_and_by_magnitudes() -> None:
    record = alone()
    axes = plot.model(record)
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["above 0", "below 0"]
    pixels = np.asarray(axes.images[0].get_array())
    zoom = 32 // LENGTH
    first = pixels[: zoom * LENGTH : zoom, : zoom * LENGTH : zoom].astype(int)
    blue = first[..., 2] > first[..., 0]
    signs = record.coefficients(0, 0) > 0
    strong = np.abs(record.coefficients(0, 0)) > 0.5
    np.testing.assert_array_equal(blue[strong], signs[strong])
    notes = [text.get_text() for text in plot.ranking(record, "previous").texts]
    assert "of the magnitudes of coefficients" in notes
    points = plot.map(record).collections[0].get_offsets()
    assert len(points) == 6  # type: ignore[arg-type]


def test_lenses_of_weights_say_that_there_is_no_softmax() -> None:
    with pytest.raises(ValueError, match="layer 1 has no softmax"):
        plot.matrix(with_both(), 1, 0, stack="linear", lens="scores")
    with pytest.raises(ValueError, match="layer 0 has no softmax"):
        plot.model(alone(), lens="values")
