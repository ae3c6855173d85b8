"""Figures of a widget as files: what they hold, and errors."""

import sys
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.font_manager import fontManager
from PIL import Image

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.plot import fonts
from attnwidget.plot.colors import head_colors
from attnwidget.plot.figure import FigureKind, draw_figure
from attnwidget.plot.fonts import advice
from attnwidget.plot.shown import Shown
from tests.hostile import TEXTS
from tests.unit.records import some_weights
from tests.unit.wire.test_vectors import read, record_of

BEGINS = {"svg": b"<?xml ", "pdf": b"%PDF-", "png": b"\x89PNG\r\n\x1a\n"}

# Text that must stay text, and the same without what no XML can hold.
HOSTILE = {
    "</text><script>": "</text><script>",
    "&amp;]]>": "&amp;]]>",
    "a\x00\x1b\ufffeb": "ab",
    "half \ud83d": "half \ufffd",
    "tab\tline\n": "tab line ",
    "$\\frac{1}{0}$": "$\\frac{1}{0}$",
    "שלום": "שלום",
    "\u202eabc": "\u202eabc",
    "🙂": "🙂",
    "": "",
}


@pytest.fixture
def record() -> AttentionRecord:
    return record_of(read("record.json"))


def figure(record: AttentionRecord, kind: FigureKind, **choices: Any) -> bytes:
    return AttentionWidget(record, **choices)._drawn(kind, None, None, None)


@pytest.mark.parametrize("kind", BEGINS)
@pytest.mark.parametrize("view", ["head", "model", "neuron", "map"])
def test_every_view_becomes_a_file_of_every_kind(
    record: AttentionRecord, tmp_path: Path, view: Any, kind: FigureKind
) -> None:
    widget = AttentionWidget(record, view=view, layer=2, query=3)
    path = tmp_path / f"figure.{kind.upper()}"
    widget.save_figure(str(path))
    assert path.read_bytes().startswith(BEGINS[kind])
    if kind == "png":
        assert len(widget._preview()) < min(150_000, path.stat().st_size)


def test_labels_stay_text_in_svg() -> None:
    weights = [some_weights(2, len(HOSTILE), len(HOSTILE))] * 2
    record = AttentionRecord.from_arrays(weights, list(HOSTILE), model="<b>&\x07")
    svg = figure(record, "svg", query=1)
    assert b"<script" not in svg
    found = {element.text or "" for element in ElementTree.fromstring(svg).iter()}
    assert {*HOSTILE.values(), "<b>&"} <= found


@pytest.mark.filterwarnings("error", "ignore:no font on this machine")
@pytest.mark.parametrize("kind", ["pdf", "png"])
def test_any_label_can_be_drawn(kind: FigureKind) -> None:
    # Alone, too: some signs are another thing at the beginning of a text.
    signs = list(dict.fromkeys(sign for text in TEXTS for sign in text[:1]))
    labels = [*HOSTILE, *signs, "\ufeff"]
    weights = np.ones((1, 1, len(labels), len(labels))) / len(labels)
    record = AttentionRecord.from_arrays(weights, labels, model=labels[-1])
    for each in (record, AttentionRecord.from_arrays(np.ones((1, 1, 1, 1)), [""])):
        assert figure(each, kind).startswith(BEGINS[kind])


def test_fonts_of_a_pdf_are_embedded_as_truetype(record: AttentionRecord) -> None:
    pdf = figure(record, "pdf")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


# No font has a character of this plane, which is for private use.
PRIVATE = "\U0010fffd"


def _labelled(label: str) -> AttentionWidget:
    weights = np.ones((1, 1, 2, 2)) / 2
    return AttentionWidget(AttentionRecord.from_arrays(weights, ["a", label]))


def test_characters_that_no_font_has_are_warned_of_once(tmp_path: Path) -> None:
    widget = _labelled(PRIVATE)
    for kind in ("pdf", "png"):
        with pytest.warns(UserWarning, match=f"^no font on this machine has {PRIVATE}: ") as warned:
            widget.save_figure(tmp_path / f"figure.{kind}")
        assert [each.filename for each in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        widget.save_figure(tmp_path / "figure.svg")
        widget._preview()
    assert "fonts-noto-cjk" in advice("中")


def test_a_font_that_has_them_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    font = FontBuilder(1000)
    font.setupGlyphOrder([".notdef", "sign"])
    font.setupCharacterMap({ord(PRIVATE): "sign"})
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in (0, 500), (500, 500), (500, 0):
        pen.lineTo(corner)
    pen.closePath()
    font.setupGlyf(dict.fromkeys((".notdef", "sign"), pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys((".notdef", "sign"), (600, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Signs", "styleName": "Regular", "psName": "Signs"})
    font.setupOS2()
    font.setupPost()
    font.save(tmp_path / "signs.ttf")
    monkeypatch.setattr(fontManager, "ttflist", fontManager.ttflist.copy())
    fontManager.addfont(tmp_path / "signs.ttf")
    fonts._files.cache_clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _labelled(PRIVATE).save_figure(tmp_path / "figure.pdf")
    finally:
        fonts._files.cache_clear()
    assert b"Signs" in (tmp_path / "figure.pdf").read_bytes()


def test_a_light_figure_is_on_white_and_a_dark_one_on_its_own_ground(
    record: AttentionRecord,
) -> None:
    for theme, color in (("auto", (255,) * 3), ("dark", (22, 24, 28))):
        png = AttentionWidget(record, theme=theme)._preview()
        with Image.open(BytesIO(png)) as picture:
            assert picture.convert("RGB").getpixel((0, 0)) == color


def test_the_heads_keep_their_colors_in_the_picture_beside_a_widget() -> None:
    tokens = [str(number) for number in range(150)]
    record = AttentionRecord.from_arrays([some_weights(9, 150, 150)], tokens)
    with Image.open(BytesIO(AttentionWidget(record)._preview())) as picture:
        pixels = np.asarray(picture.convert("RGB"), np.float32).reshape(-1, 3)
    for color in head_colors(9, dark=False):
        distances = np.abs(pixels - 255 * np.array(to_rgb(color))).max(axis=1)
        # A swatch has hundreds of pixels.
        assert (distances < 12).sum() > 100, color


def test_other_names_say_which_there_are(record: AttentionRecord, tmp_path: Path) -> None:
    for name in ("figure.jpg", "figure"):
        with pytest.raises(ValueError, match=r"\.svg, \.pdf, \.png"):
            AttentionWidget(record).save_figure(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_there_is_no_half_file(
    record: AttentionRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"attnwidget\[figures\]"):
        AttentionWidget(record).save_figure(tmp_path / "figure.svg")
    assert list(tmp_path.iterdir()) == []


def test_matplotlib_stays_as_the_reader_has_set_it(record: AttentionRecord) -> None:
    usual = figure(record, "svg")
    with matplotlib.rc_context({"font.size": 40, "lines.linewidth": 9}):
        inside = dict(matplotlib.rcParams)
        assert figure(record, "svg") == usual
        assert dict(matplotlib.rcParams) == inside


def test_a_notebook_displays_the_figure(record: AttentionRecord) -> None:
    png, size = AttentionWidget(record).figure()._repr_png_()
    with Image.open(BytesIO(png)) as picture:
        wanted = [2.5 * size[side] for side in ("width", "height")]
        assert list(picture.size) == pytest.approx(wanted, abs=2)


@pytest.mark.parametrize(
    ("choices", "panel", "titles"),
    [
        ({"view": "head"}, None, ["Layer 0", "Layer 0 · Head 1", ""]),
        ({"view": "head"}, "head", ["Layer 0"]),
        ({"view": "head"}, "matrix", ["Layer 0 · Head 1", ""]),
        ({"view": "model"}, "model", [""]),
        ({"view": "model", "opened": True}, "matrix", ["Layer 0 · Head 1", ""]),
        ({"view": "neuron"}, "neuron", ["Layer 0 · Head 1"]),
    ],
)
def test_a_panel_is_drawn_alone(
    record: AttentionRecord, choices: Any, panel: Any, titles: list[str]
) -> None:
    """The scale of a matrix is an Axes of its own."""
    figure = draw_figure(Shown(record, head=1, **choices), panel)
    drawn = [axes for axes in figure.findobj(Axes) if isinstance(axes, Axes)]
    found = [axes.get_title() or axes.get_title("left") for axes in drawn]
    assert [title for title in found if title] == [title for title in titles if title]
    scales = [axes for axes in drawn if axes.get_ylabel() == "weight"]
    assert len(scales) == ((panel != "head" and "head" in choices["view"]) or panel == "matrix")


def test_the_scale_says_the_weight_of_each_shade(record: AttentionRecord) -> None:
    figure = draw_figure(Shown(record, head=1), "matrix")
    [axes] = figure.axes
    [scale] = [child for child in axes.child_axes if child.get_ylabel() == "weight"]
    figure.draw_without_rendering()
    largest = record.weights(0, 1).max()
    said = [f"{share * largest:.3f}" for share in (0, 0.1, 0.25, 0.5, 1)]
    assert [label.get_text() for label in scale.get_yticklabels()] == said
    [image] = axes.images
    assert image.cmap(image.norm(largest / 4)) == pytest.approx(image.cmap(0.5), abs=0.01)


def test_a_size_in_inches_and_a_resolution(record: AttentionRecord, tmp_path: Path) -> None:
    widget = AttentionWidget(record)
    widget.save_figure(tmp_path / "a.png", panel="matrix", size=(5, 4), dpi=100)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (500, 400)
    widget.save_figure(tmp_path / "a.svg", panel="head", size=(5, 4))
    svg = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert (svg.get("width"), svg.get("height")) == ("360pt", "288pt")
    _, displayed = widget.figure(panel="head", size=(5, 4), dpi=50)._repr_png_()
    assert displayed == {"width": 480, "height": 384}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"panel": "model"}, ValueError, "the head view has no panel 'model'; it has 'head' and"),
        ({"panel": "left"}, ValueError, "the head view has no panel 'left'"),
        ({"size": 5}, TypeError, r"size is 5; expected width and height in inches"),
        ({"size": (5, 4, 3)}, TypeError, "expected width and height"),
        ({"size": (5, 0)}, ValueError, r"size is \(5, 0\); expected two numbers of inches above 0"),
        ({"size": (0.4, 0.4)}, ValueError, "0.4 x 0.4 inches have no room for the labels"),
        ({"size": (500, 4)}, ValueError, "120,000 x 960 pixels is too large for a PNG"),
        ({"dpi": "300"}, TypeError, "dpi is '300'; expected pixels per inch, as 300"),
        ({"dpi": -1}, ValueError, "dpi is -1; expected pixels per inch above 0"),
    ],
)
def test_a_figure_that_cannot_be(
    record: AttentionRecord, tmp_path: Path, options: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        AttentionWidget(record).save_figure(tmp_path / "a.png", **options)
    assert list(tmp_path.iterdir()) == []


def test_an_opened_head_is_needed_for_its_panels(record: AttentionRecord) -> None:
    with pytest.raises(ValueError, match="it has 'model', and 'head' and 'matrix' with an opened"):
        AttentionWidget(record, view="model").figure(panel="matrix")
