"""The picture beside a widget: what it shows, and that no display needs matplotlib for it."""

import subprocess
import sys
import warnings
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import attnwidget as aw
from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.plot.colors import DARK, LIGHT, head_colors, rgb
from tests.hostile import TEXTS
from tests.unit.records import PROGRAMS, layer_of, record_of
from tests.unit.wire.test_vectors import read
from tests.unit.wire.test_vectors import record_of as record_of_vectors


def pixels(widget: AttentionWidget) -> NDArray[np.float64]:
    with Image.open(BytesIO(widget._preview())) as picture:
        assert picture.format == "PNG"
        return np.asarray(picture.convert("RGB")) / 255


def has(found: NDArray[np.float64], color: str) -> bool:
    """True if some pixel has this colour, or nearly."""
    return bool((np.abs(found - rgb(color)).max(axis=-1) < 0.06).any())


def test_a_display_imports_no_matplotlib() -> None:
    code = (
        "import sys, numpy as np, attnwidget as aw\n"
        "record = aw.AttentionRecord.from_arrays(np.full((1, 2, 3, 3), 1 / 3), ['a', 'b', 'c'])\n"
        "for view in ('head', 'model', 'map'):\n"
        "    data, _ = aw.show(record, view=view)._repr_mimebundle_()\n"
        "    assert 'image/png' in data, data\n"
        "assert 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_lines_lead_to_where_a_head_attends() -> None:
    weights = np.zeros((1, 2, 4, 4))
    weights[0, 0, :, 0] = weights[0, 1, :, 3] = 1
    record = AttentionRecord.from_arrays(weights, list("abcd"))
    found = pixels(AttentionWidget(record, query=1))
    inks = [np.abs(found - rgb(color)).max(axis=-1) < 0.02 for color in head_colors(2, dark=False)]
    # Each line begins in the query's row, the second of four, and ends in its key's.
    for ink, row in zip(inks, (0, 3), strict=True):
        rows, columns = np.nonzero(ink[30:355])
        quarter = 325 / 4
        assert set((rows[columns == columns.min()] // quarter).astype(int)) == {1}
        assert set((rows[columns == columns.max()] // quarter).astype(int)) == {row}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_has_the_colours_of_the_theme(theme: Any) -> None:
    record = record_of_vectors(read("record.json"))
    palette = DARK if theme == "dark" else LIGHT
    for view in ("head", "model", "neuron", "map"):
        found = pixels(AttentionWidget(record, view=view, theme=theme))
        assert found[0, 0] == pytest.approx(rgb(palette.background))
    signed = pixels(AttentionWidget(record, lens="scores", heads=[1], theme=theme))
    assert has(signed, palette.positive)
    assert has(signed, palette.negative)
    # The neuron view is of one head.
    one = pixels(AttentionWidget(record, view="neuron", head=1, theme=theme))
    assert (one == pixels(AttentionWidget(record, heads=[1], theme=theme))).all()


def test_numbers_of_heads_and_their_colours_are_seen() -> None:
    record = record_of_vectors(read("record.json"))
    counts = [record.num_heads(layer) for layer in range(record.num_layers())]
    own = {"mine": [np.linspace(-1, 1, count) for count in counts]}
    for view in ("model", "map"):
        widget = AttentionWidget(record, view=view, metrics=own, map_x="mine")
        patterns = pixels(widget)
        for color in ("mine", "layer"):
            widget.color = color
            assert (pixels(widget) != patterns).any()
    assert (pixels(AttentionWidget(record, view="model", include_layers=[1])) != patterns).any()


def test_a_difference_has_both_signs_or_says_that_it_is_not_drawn() -> None:
    a, b = (record_of(layer_of(PROGRAMS["causal"], seed)) for seed in range(2))
    widget = aw.show([a, b], static=False)
    assert isinstance(widget, AttentionWidget)
    found = pixels(widget)
    assert has(found, LIGHT.positive)
    assert has(found, LIGHT.negative)
    widget.view = "model"
    with pytest.raises(ValueError, match="model view of a difference is drawn in the browser"):
        widget._preview()
    with pytest.raises(ValueError, match="model view of a difference is drawn in the browser"):
        widget.figure(panel="model")
    widget.compared = "b"
    pixels(widget)


def test_a_long_text_has_the_thumbnails_of_its_layer() -> None:
    count = 2100
    weights = np.eye(count, dtype=np.float32)[None, None]
    record = AttentionRecord.from_arrays(weights, ["t"] * count)
    found = pixels(AttentionWidget(record))
    # One thumbnail, of a head that looks at the same token, fills the view.
    ink = np.abs(found[30:355, 40:532] - 1).max(axis=-1) > 0.3
    rows, columns = np.nonzero(ink)
    assert np.corrcoef(rows, columns)[0, 1] > 0.99
    both = aw.show([record, record], static=False)
    with pytest.raises(ValueError, match=r"difference of 2,100 x 2,100 tokens would take long"):
        both._preview()  # type: ignore[union-attr]


@pytest.mark.parametrize("view", ["head", "neuron"])
def test_any_label_can_be_drawn(view: Any) -> None:
    queries = np.ones((1, 1, len(TEXTS), 2))
    weights = np.full((1, 1, len(TEXTS), len(TEXTS)), 1 / len(TEXTS))
    record = AttentionRecord.from_arrays(
        weights, TEXTS, queries=queries, keys=queries, model=TEXTS[0]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pixels(AttentionWidget(record, view=view))


def test_on_an_image_a_patch_is_as_bright_as_its_attention() -> None:
    import torch

    from tests.unit.tiny import tiny

    white = torch.ones(1, 3, 8, 16)
    white[..., 0, 0] = 0  # the range of an image's colours is stretched
    model = tiny("ViT", image_size=(8, 16), patch_size=4)
    record = aw.capture(model, None, {"pixel_values": white})
    found = pixels(AttentionWidget(record, view="head", layer=1, head=3, theme="dark"))
    weights = record.weights(1, 3)[0, 1:].reshape(2, 4)
    # Of each patch, the pixel in its middle.
    middle = found[30:292, 8:532].mean(axis=-1)[66::131, 65::131]
    order = np.argsort(weights.ravel())
    assert (np.diff(middle.ravel()[order]) >= -0.02).all()
    assert np.ptp(middle) > 0.1
