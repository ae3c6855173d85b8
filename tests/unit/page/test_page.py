"""The self-contained page: everything is in it, and nothing of a text can act in it."""

import base64
import hashlib
import json
import re
import zlib
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pytest

import attnwidget
from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.record import Layer
from attnwidget.wire import encode_overview
from attnwidget.wire.compression import COMPACT, FINE, LIMITS, Quality, pack_layer
from tests.decoding import from_base85, to_base85
from tests.unit.elements import Elements
from tests.unit.records import (
    FIDELITY,
    HEADS,
    LENGTH,
    PROGRAMS,
    floats,
    hybrid,
    layer_of,
    program,
    record_of,
    some_weights,
)

HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>&amp;\u2028'\"`{0}"


@pytest.fixture(scope="module")
def hostile() -> AttentionRecord:
    record = AttentionRecord.from_arrays([some_weights()], [HOSTILE] * LENGTH)
    return AttentionRecord({"<b>&\"'": record.stack()}, model=f"<b>{HOSTILE}")


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    return record_of(layer_of(PROGRAMS["causal"]), layer_of(PROGRAMS["everything"]))


@pytest.fixture(params=["record", "hostile"])
def page(request: pytest.FixtureRequest) -> str:
    return AttentionWidget(request.getfixturevalue(request.param)).to_html()


def test_no_text_becomes_a_tag(record: AttentionRecord, hostile: AttentionRecord) -> None:
    ordinary = Elements(AttentionWidget(record).to_html())
    tags = [tag for tag, _, _ in Elements(AttentionWidget(hostile).to_html()).found]
    # The other record has one layer more, which is one script.
    expected = [tag for tag, _, _ in ordinary.found]
    expected.remove("script")
    assert tags == expected


def test_no_angle_bracket_of_a_text_is_left(hostile: AttentionRecord) -> None:
    page = AttentionWidget(hostile).to_html()
    assert "<b>" not in page
    assert "<img" not in page
    assert "<script>alert" not in page
    for _, text in Elements(page).all("script", "type"):
        assert "<" not in text


def test_the_text_is_in_it_unchanged(hostile: AttentionRecord) -> None:
    elements = Elements(AttentionWidget(hostile).to_html())
    [(_, content)] = elements.all("script", "data-content")
    [stack] = json.loads(content)["records"][0]["manifest"]["stacks"]
    assert stack["queries"]["labels"] == [HOSTILE] * LENGTH
    assert stack["name"] == "<b>&\"'"
    blocks = [attributes["data-block"] for attributes, _ in elements.all("script", "data-block")]
    assert blocks == ["<b>&\"'.0"]
    [(_, title)] = elements.all("title")
    assert title == f"Attention of <b>{HOSTILE}"


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    for _, attributes, _ in Elements(page).found:
        assert not {"src", "href", "srcset", "action", "data", "poster"} & set(attributes)
        for value in attributes.values():
            # In base64, a digest may have two slashes.
            text = re.sub(r"'sha256-[^']*'", "", value or "")
            assert not re.search(r"https?:|//", text)


def _scripts(elements: Elements) -> tuple[str, str]:
    """The loader, and the program, which is compressed."""
    [(attributes, start)] = [(a, t) for a, t in elements.all("script") if "type" not in a]
    assert attributes == {}
    [(_, packed)] = elements.all("script", "data-program")
    return start, zlib.decompress(from_base85(packed)).decode()


def test_the_policy_allows_its_two_scripts_and_no_request(page: str) -> None:
    elements = Elements(page)
    [(meta, _)] = elements.all("meta", "http-equiv")
    assert meta["http-equiv"] == "Content-Security-Policy"
    policy = dict(part.split(maxsplit=1) for part in (meta["content"] or "").split(";"))
    start, program = (
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in _scripts(elements)
    )
    assert policy.pop("script-src") == f"{start} {program} 'wasm-unsafe-eval'"
    assert policy.pop("worker-src") == "blob:"
    assert policy.pop("style-src") == "'unsafe-inline'"
    assert policy.pop("default-src") == "'none'"
    assert set(policy.values()) <= {"'none'"}
    # The policy counts from where it stands.
    assert page.index("Content-Security-Policy") < page.index("<script")
    assert page.index("Content-Security-Policy") < page.index("<style")


def test_its_scripts_are_those_that_were_built(page: str) -> None:
    for script, name in zip(_scripts(Elements(page)), ("start.js", "page.js"), strict=True):
        built = Path(attnwidget.__file__).parent / "static" / name
        assert script == built.read_text(encoding="utf-8")


@pytest.mark.parametrize("quality", get_args(Quality))
def test_every_layer_is_in_it(quality: Quality) -> None:
    layers = [_long_layer(0), _long_layer(1)]
    page = AttentionWidget(record_of(*layers)).to_html(quality=quality)
    blocks = Elements(page).all("script", "data-block")
    assert [attributes["data-block"] for attributes, _ in blocks] == ["self.0", "self.1"]
    for layer, (attributes, text) in zip(layers, blocks, strict=True):
        content = json.loads(text)
        limits = FINE if quality == "default" else LIMITS[quality]
        expected, data = pack_layer(layer, limits)
        assert attributes["type"] == "application/json"
        assert content == expected | {"data": to_base85(data)}


def test_the_default_quality(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is as exact as its size allows: right to three decimals, less, or "compact"."""
    widget = AttentionWidget(record_of(*(_long_layer(seed) for seed in range(8))))
    fine, compact = widget.to_html(), widget.to_html(quality="compact")
    assert fine == widget.to_html(quality="default")
    assert max(error["largest"] for error in _errors(fine)) <= FINE.largest
    size = (len(fine) + len(compact)) // 2
    monkeypatch.setattr("attnwidget.page.assemble.PAGE_SIZE", size)
    between = widget.to_html()
    assert 0.9 * size < len(between) <= size
    largest = [error["largest"] for error in _errors(between)]
    assert FINE.largest < max(largest) < max(error["largest"] for error in _errors(compact))
    assert max(error["variation"] for error in _errors(between)) <= COMPACT.variation
    monkeypatch.setattr("attnwidget.page.assemble.PAGE_SIZE", len(compact))
    assert widget.to_html() == compact


def _errors(page: str) -> list[dict[str, float]]:
    blocks = Elements(page).all("script", "data-block")
    return [json.loads(text)["error"] for _, text in blocks]


def test_an_unknown_quality(record: AttentionRecord, tmp_path: Path) -> None:
    widget = AttentionWidget(record)
    best: Any = "best"
    for write in (widget.to_html, partial(widget.save_html, tmp_path / "page.html")):
        with pytest.raises(
            ValueError, match="expected one of 'draft', 'compact', 'default', 'exact'"
        ):
            write(quality=best)
    assert list(tmp_path.iterdir()) == []


def _long_layer(seed: int) -> Layer:
    """Long enough to be worth rounding."""
    queries, keys = floats(HEADS, 90, 8, seed=seed), floats(2, 90, 8, seed=seed)
    return Layer(queries, keys, program(), None, FIDELITY)


def test_layers_go_by_their_number() -> None:
    record = AttentionRecord({"self": hybrid(), "other": record_of(layer_of(program())).stack()})
    blocks = Elements(AttentionWidget(record).to_html()).all("script", "data-block")
    keys = [attributes["data-block"] for attributes, _ in blocks]
    assert keys == ["self.3", "self.7", "self.11", "other.0"]


def test_it_opens_with_the_choices_of_the_widget(record: AttentionRecord) -> None:
    choices: dict[str, Any] = {
        "view": "neuron",
        "stack": "self",
        "compared": "a",
        "layer": 1,
        "head": 2,
        "heads": [1, 2],
        "query": 3,
        "key": None,
        "also": [5, 0],
        "off": [],
        "cut": [],
        "named_segments": [],
        "segments": "all",
        "combine": "layers_max",
        "lens": "rollout",
        "words": True,
        "arcs_shown": False,
        "orientation": "horizontal",
        "picture": False,
        "thumbnails": "lines",
        "sort": "distance",
        "color": "layer",
        "opened": True,
        "ranking": True,
        "include_layers": [1],
        "include_heads": [0, 2],
        "neurons": "pair",
        "muted": [4],
        "expanded": False,
        "parts": "messages",
        "part": None,
        "grid": None,
        "cut_part": None,
        "map_x": "first",
        "map_y": "special",
        "map_size": "entropy",
        "shown_grid": 0,
        "theme": "dark",
    }
    page = AttentionWidget(record, **choices).to_html()
    [(_, text)] = Elements(page).all("script", "data-content")
    content = json.loads(text)
    manifest, overview = encode_overview(record)
    assert content["widgets"] == [
        {"record": 0, "choices": choices, "metrics": [], "similarity": None, "note": ""}
        | {"examples": None, "arcs": [], "effects": []}
    ]
    [recorded] = content["records"]
    assert recorded["manifest"] == manifest
    assert recorded["overview"]["bytes"] == len(overview)
    assert zlib.decompress(from_base85(recorded["overview"]["data"])) == overview


def test_saved_as_utf8(record: AttentionRecord, tmp_path: Path) -> None:
    widget = AttentionWidget(AttentionRecord.from_arrays([some_weights()], ["é🦜⏎"] * LENGTH))
    for path in (tmp_path / "page.html", str(tmp_path / "other.html")):
        widget.save_html(path)
        assert Path(path).read_bytes().decode("utf-8") == widget.to_html()


def test_half_of_a_character_is_still_a_label(tmp_path: Path) -> None:
    """A label cut within a surrogate pair has no UTF-8 of its own."""
    halves = ["\ud83d"] * LENGTH
    record = AttentionRecord.from_arrays([some_weights()], halves, model="\ud83d")
    path = tmp_path / "page.html"
    AttentionWidget(record).save_html(path)
    [(_, text)] = Elements(path.read_text(encoding="utf-8")).all("script", "data-content")
    [shown] = json.loads(text)["records"]
    assert shown["manifest"]["stacks"][0]["queries"]["labels"] == ["\ufffd"] * LENGTH


def test_a_record_without_a_name_has_a_title(tmp_path: Path) -> None:
    record = AttentionRecord.from_arrays([some_weights()], ["t"] * LENGTH)
    [(_, title)] = Elements(AttentionWidget(record).to_html()).all("title")
    assert title == "Attention"
