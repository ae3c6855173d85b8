"""Figures of a widget as files: what they hold, which panels they have, and errors."""

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
from matplotlib.font_manager import fontManager
from matplotlib.text import Text
from PIL import Image

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.plot import fonts
from attnwidget.plot.colors import DARK
from attnwidget.plot.figure import FigureKind, draw_figure
from tests.hostile import TEXTS
from tests.unit.records import some_weights
from tests.unit.wire.test_vectors import read, record_of

# A machine may have no font with a smiling face.
pytestmark = pytest.mark.filterwarnings("ignore:Glyph")

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


def test_labels_stay_text_in_svg() -> None:
    weights = [some_weights(2, len(HOSTILE), len(HOSTILE))] * 2
    record = AttentionRecord.from_arrays(weights, list(HOSTILE), model="<b>&\x07")
    svg = figure(record, "svg", query=1)
    assert b"<script" not in svg
    found = {element.text or "" for element in ElementTree.fromstring(svg).iter()}
    assert {*HOSTILE.values(), "<b>&"} <= found


@pytest.mark.filterwarnings("error", "ignore:Glyph")
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


def test_characters_that_no_font_has_are_warned_of_but_in_svg(tmp_path: Path) -> None:
    widget = _labelled(PRIVATE)
    with pytest.warns(UserWarning, match="Glyph 1114109 .* missing from font"):
        widget.save_figure(tmp_path / "figure.png")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        widget.save_figure(tmp_path / "figure.svg")


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


def test_a_figure_follows_the_session_and_a_dark_theme(record: AttentionRecord) -> None:
    def corner(**choices: Any) -> Any:
        with Image.open(BytesIO(figure(record, "png", **choices))) as picture:
            return picture.convert("RGB").getpixel((0, 0))

    inside = dict(matplotlib.rcParams)
    assert corner() == (255, 255, 255)
    assert corner(theme="dark") == tuple(bytes.fromhex(DARK.background[1:]))
    assert dict(matplotlib.rcParams) == inside
    usual = figure(record, "svg")
    assert figure(record, "svg") == usual
    with matplotlib.rc_context({"font.family": "monospace", "figure.facecolor": "#ff0000"}):
        assert corner() == (255, 0, 0)
        assert b"DejaVu Sans Mono" in figure(record, "svg")


@pytest.mark.parametrize("view", ["head", "model", "neuron", "map"])
def test_a_caption_can_be_off(view: Any) -> None:
    weights = np.full((1, 2, 90, 90), 1 / 90)
    vectors = np.ones((1, 2, 90, 4))
    labels = [f"t{n}" for n in range(90)]
    record = AttentionRecord.from_arrays(
        weights, labels, queries=vectors, keys=vectors, model="a model"
    )
    widget = AttentionWidget(record, view=view, segments="to:few", named_segments=[(0, 9, "few")])

    def small_print(caption: bool) -> list[str]:
        drawn = draw_figure(widget._plotted(), caption=caption)
        found = [text.get_text().replace("\n", " ") for text in drawn.findobj(Text)]
        words = ("shown", "named", "drawn", "a model", "numbers are", "highest")
        return [text for text in found if any(word in text for word in words)]

    assert small_print(caption=False) == []
    assert small_print(caption=True)
    # As a file, too.
    assert widget._drawn("svg", None, None, None, False) != widget._drawn("svg", None, None, None)


def test_sizes_of_fonts_are_those_of_the_session(record: AttentionRecord) -> None:
    sizes = {
        "axes.titlesize": 21.0,
        "axes.labelsize": 17.0,
        "legend.fontsize": 13.0,
        "xtick.labelsize": 10.0,
        "ytick.labelsize": 10.0,
    }

    def found(view: Any) -> set[float]:
        shown = AttentionWidget(record, view=view)._plotted()
        texts = draw_figure(shown, size=(20, 20), caption=False).findobj(Text)
        return {float(text.get_fontsize()) for text in texts if text.get_text()}

    with matplotlib.rc_context(sizes):
        # The ticks of narrow columns, and numbers within the plot, are smaller.
        small = {"model": {5.79}, "neuron": {7.0}, "map": {8.33}}
        for view in ("head", "model", "neuron", "map"):
            assert found(view) <= {*sizes.values(), *small.get(view, set())}
        assert 21.0 in found("head")
        assert 13.0 in found("model")


def test_a_notebook_displays_the_figure_at_its_size(record: AttentionRecord) -> None:
    shown = AttentionWidget(record).figure(panel="head", size=(5, 4), dpi=50)
    assert shown.width == 480
    with Image.open(BytesIO(shown.data)) as picture:
        assert picture.size == (250, 200)


@pytest.mark.parametrize(
    ("choices", "panel", "titles"),
    [
        ({"view": "head"}, None, ["Layer 0", "Layer 0 · Head 1"]),
        ({"view": "head"}, "head", ["Layer 0"]),
        ({"view": "head"}, "matrix", ["Layer 0 · Head 1"]),
        ({"view": "model"}, "model", []),
        ({"view": "model", "opened": True}, None, ["Layer 0 · Head 1"] * 2),
        ({"view": "model", "opened": True}, "matrix", ["Layer 0 · Head 1"]),
        ({"view": "neuron"}, "neuron", ["Layer 0 · Head 1 · Query"]),
    ],
)
def test_a_panel_is_drawn_alone(
    record: AttentionRecord, choices: Any, panel: Any, titles: list[str]
) -> None:
    drawn = draw_figure(AttentionWidget(record, head=1, **choices)._plotted(), panel)
    found = [axes.get_title() for axes in drawn.axes if axes.get_title()]
    assert len(found) == len(titles)
    assert all(each.startswith(title) for each, title in zip(found, titles, strict=True))


def test_a_size_in_inches_and_a_resolution(record: AttentionRecord, tmp_path: Path) -> None:
    widget = AttentionWidget(record)
    widget.save_figure(tmp_path / "a.png", panel="matrix", size=(5, 4), dpi=100)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (500, 400)
    widget.save_figure(tmp_path / "a.svg", panel="head", size=(5, 4))
    svg = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert (svg.get("width"), svg.get("height")) == ("360pt", "288pt")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"panel": "model"}, ValueError, "the head view has no panel 'model'; it has 'head' and"),
        ({"panel": "left"}, ValueError, "the head view has no panel 'left'"),
        ({"size": 5}, TypeError, r"size is 5; expected width and height in inches"),
        ({"size": (5, 4, 3)}, TypeError, "expected width and height"),
        ({"size": (5, 0)}, ValueError, r"size is \(5, 0\); expected two numbers of inches above 0"),
        ({"size": (500, 4)}, ValueError, "120,000 x 960 pixels is too large for a PNG"),
        ({"dpi": "300"}, TypeError, "dpi is '300'; expected pixels per inch above 0, as 300"),
        ({"dpi": -1}, ValueError, "dpi is -1; expected pixels per inch above 0"),
    ],
)
def test_a_figure_that_cannot_be(
    record: AttentionRecord, tmp_path: Path, options: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        AttentionWidget(record).save_figure(tmp_path / "a.png", **options)
    assert list(tmp_path.iterdir()) == []


def test_other_names_say_which_there_are(
    record: AttentionRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("figure.jpg", "figure"):
        with pytest.raises(ValueError, match=r"\.svg, \.pdf, \.png"):
            AttentionWidget(record).save_figure(tmp_path / name)
    with pytest.raises(ValueError, match="it has 'model', and 'head' and 'matrix' with an opened"):
        AttentionWidget(record, view="model").figure(panel="matrix")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"attnwidget\[figures\]"):
        AttentionWidget(record).save_figure(tmp_path / "figure.svg")
    assert list(tmp_path.iterdir()) == []
