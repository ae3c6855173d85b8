"""The running text of an answer as a plot, and as the picture beside a widget."""

import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from PIL import Image
from traitlets import TraitError

import attnwidget as aw
from attnwidget.analysis import counted_keys, running_text, text_shares
from attnwidget.record import AttentionRecord, Replay, Written
from tests.unit.analysis.test_running_text import _stack
from tests.unit.pictured_chat import AFTER, IMAGE, pictured_chat


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """A chat of two sentences, "A cat. It sat.", and an answer of nine times "Cat"."""
    stack = _stack(answer=8)
    written = tuple(Written("Cat", "Cat", 0.5, (("Cat", 0.5),)) for _ in range(9))
    return AttentionRecord({"self": stack}, replay=Replay(0, 1e-4, written=written))


def test_shades_are_of_the_rows_that_wrote_the_tokens(record: AttentionRecord) -> None:
    ax = aw.plot.text(record, answer=(2, 4))
    shades = [patch for patch in ax.patches if patch.get_fill()]
    outlined = [patch for patch in ax.patches if not patch.get_fill()]
    assert len(outlined) == 2
    stack = record.stack()
    text = running_text(stack)
    assert text is not None
    shares = text_shares(stack, text)
    weights = shares.mean[2:4].mean(axis=0)[counted_keys(text, shares.sinks)]
    even, largest = weights.mean(), weights.max()
    expected = [np.sqrt((w - even) / (largest - even)) for w in weights if w > even]
    assert [patch.get_alpha() / 0.5 for patch in shades] == pytest.approx(expected)
    written = "".join(each.get_text() for each in ax.texts if each.get_gid() != "caption")
    assert written == "userAcat.Itsat.assistant" + 9 * "Cat"


def test_lines_end_within_the_axes(record: AttentionRecord) -> None:
    ax = aw.plot.text(record)
    right = max(
        patch.get_x() + patch.get_width() for patch in ax.patches if isinstance(patch, Rectangle)
    )
    assert right <= ax.get_xlim()[1]
    assert not [patch for patch in ax.patches if not patch.get_fill()]


def test_the_picture_beside_a_text_view_is_of_its_text(record: AttentionRecord) -> None:
    def picture(**choices: object) -> np.ndarray:
        widget = aw.AttentionWidget(record, view="text", **choices)
        return np.asarray(Image.open(io.BytesIO(widget._preview())).convert("RGB"))

    whole, some = picture(), picture(query=7, also=[8])
    assert (whole != some).any()
    head = aw.AttentionWidget(record, view="head")
    assert head._preview() != aw.AttentionWidget(record, view="text")._preview()


def test_the_figure_of_a_text_view_has_its_words(record: AttentionRecord, tmp_path: Path) -> None:
    widget = aw.AttentionWidget(record, view="text", query=7, also=[8])
    widget.save_figure(tmp_path / "text.svg")
    words = (tmp_path / "text.svg").read_text(encoding="utf-8")
    assert words.count(">Cat</text>") == 9
    with pytest.raises(ValueError, match="drawn in the browser alone"):
        aw.AttentionWidget(AttentionRecord({"self": record.stack()}), view="text").figure()


def test_named_segments_are_underlined_and_their_shares_said(
    record: AttentionRecord, tmp_path: Path
) -> None:
    text = running_text(record.stack())
    assert text is not None
    named = [(*span, f"part {n}") for n, span in enumerate(text.sentences, 1)]
    ax = aw.plot.text(aw.answer(record, segments=named), answer=(2, 4))
    plain = aw.plot.text(record, answer=(2, 4))
    tokens = sum(end - start for start, end, _ in named)
    assert len(ax.patches) == len(plain.patches) + tokens
    [caption] = (each.get_text() for each in ax.texts if each.get_gid() == "caption")
    first = aw.answer(record).table((2, 4)).loc[1]
    said = f"part 1: {first['share']:.1%}, even {first['even']:.1%}"
    assert said in caption.replace("\n", " ")
    choices = {"query": 7, "also": [8], "named_segments": named, "parts": "named"}
    aw.AttentionWidget(record, view="text", **choices).save_figure(tmp_path / "named.svg")
    assert "part 1: " in (tmp_path / "named.svg").read_text(encoding="utf-8")


def test_what_has_no_answer(record: AttentionRecord) -> None:
    with pytest.raises(ValueError, match="no tokens of the answer"):
        aw.plot.text(record, answer=(7, 99))
    plain = AttentionRecord({"self": record.stack()})
    with pytest.raises(ValueError, match="has no answer with its text"):
        aw.plot.text(plain)


def test_a_part_of_the_text_is_a_choice(record: AttentionRecord) -> None:
    widget = aw.AttentionWidget(record, view="text", parts="messages", part=1, cut_part=1)
    assert (widget.parts, widget.part, widget.cut_part) == ("messages", 1, 1)
    widget.parts = "sentences"
    assert (widget.part, widget.cut_part) == (None, None)
    with pytest.raises(TraitError, match="part 3 does not exist: there are 1 to 2"):
        widget.part = 3
    with pytest.raises(TraitError, match="needs segments with names"):
        widget.parts = "named"
    named = [(1, 2, "a"), (2, 3, "b"), (1, 3, "both")]
    widget = aw.AttentionWidget(record, view="text", segments=named, parts="named", part=3)
    assert (widget.parts, widget.part) == ("named", 3)


def test_an_image_stands_in_its_place_with_a_veil() -> None:
    record = pictured_chat()
    ax = aw.plot.text(record, answer=(2, 4))
    assert "<image>" not in "".join(each.get_text() for each in ax.texts)
    picture, veil = ax.images
    assert picture.get_extent() == veil.get_extent()
    text = running_text(record.stack())
    assert text is not None
    shares = text_shares(record.stack(), text)
    weights = shares.mean[2:4].mean(axis=0) * counted_keys(text, shares.sinks)
    grid = veil.get_array()
    assert grid is not None
    # The sink is left out, and the scale is of all grids.
    np.testing.assert_allclose(np.ravel(grid), weights[IMAGE : IMAGE + 6], atol=1e-6)
    assert grid[1, 0] == 0
    largest = weights[IMAGE:AFTER].max()
    assert veil.norm.vmax == pytest.approx(largest, rel=1e-5)
    left, right, bottom, top = picture.get_extent()
    assert (right - left) / (bottom - top) == pytest.approx(60 / 40, rel=0.01)
    heights = {each.get_text(): each.get_position()[1] for each in ax.texts}
    assert heights["Look:"] < top < bottom < heights["What"]


def test_without_its_pixels_an_image_is_a_word() -> None:
    record = pictured_chat()
    bare = AttentionRecord({"self": record.stack()}, replay=record.replay)
    ax = aw.plot.text(bare)
    assert not ax.images
    assert [each.get_text() for each in ax.texts].count("image") == 1
    assert aw.AttentionWidget(record, view="text")._preview()
