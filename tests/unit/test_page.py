"""The self-contained page: everything is in it, and nothing of a text can act in it."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.wire import encode_block, encode_combined, encode_overview
from tests.unit.elements import Elements
from tests.unit.records import (
    LENGTH,
    PROGRAMS,
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
    # The other record has one layer more, which is one script; what combines layers, each has once.
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
    [stack] = json.loads(content)["manifest"]["stacks"]
    assert stack["queries"]["labels"] == [HOSTILE] * LENGTH
    assert stack["name"] == "<b>&\"'"
    blocks = [attributes["data-block"] for attributes, _ in elements.all("script", "data-block")]
    assert blocks == ["<b>&\"'.0", "<b>&\"'.combined"]
    [(_, title)] = elements.all("title")
    assert title == f"Attention of <b>{HOSTILE}"


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    for _, attributes, _ in Elements(page).found:
        assert not {"src", "href", "srcset", "action", "data", "poster"} & set(attributes)
        for value in attributes.values():
            assert not re.search(r"https?:|//", value or "")


def test_the_policy_allows_the_one_script_and_no_request(page: str) -> None:
    elements = Elements(page)
    [(meta, _)] = elements.all("meta", "http-equiv")
    assert meta["http-equiv"] == "Content-Security-Policy"
    policy = dict(part.split(maxsplit=1) for part in (meta["content"] or "").split(";"))
    [(attributes, script)] = [(a, t) for a, t in elements.all("script") if "type" not in a]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert attributes == {}
    assert policy.pop("script-src") == f"'sha256-{digest}'"
    assert policy.pop("style-src") == "'unsafe-inline'"
    assert policy.pop("default-src") == "'none'"
    assert set(policy.values()) <= {"'none'"}
    # The policy counts from where it stands.
    assert page.index("Content-Security-Policy") < page.index("<script")
    assert page.index("Content-Security-Policy") < page.index("<style")


def test_the_script_cannot_be_ended_or_hidden_by_what_is_in_it(page: str) -> None:
    """`<!--` before `<script` would make a parser look for two closing tags."""
    [(_, script)] = [(a, t) for a, t in Elements(page).all("script") if "type" not in a]
    assert len(script) > 10_000
    assert "</script" not in script.lower()
    assert "<!--" not in script


def test_every_layer_is_in_it(record: AttentionRecord) -> None:
    blocks = Elements(AttentionWidget(record).to_html()).all("script", "data-block")
    keys = ["self.0", "self.1", "self.combined"]
    assert [attributes["data-block"] for attributes, _ in blocks] == keys
    stack = record.stack()
    contents = [*map(encode_block, stack.layers), encode_combined(stack)]
    for expected, (attributes, text) in zip(contents, blocks, strict=True):
        content = json.loads(text)
        assert attributes["type"] == "application/json"
        assert content["parts"] == expected.parts
        assert base64.b64decode(content["data"]) == b"".join(expected.buffers)


def test_layers_go_by_their_number() -> None:
    record = AttentionRecord({"self": hybrid(), "other": record_of(layer_of(program())).stack()})
    blocks = Elements(AttentionWidget(record).to_html()).all("script", "data-block")
    keys = [attributes["data-block"] for attributes, _ in blocks]
    expected = ["self.3", "self.7", "self.11", "self.combined", "other.0", "other.combined"]
    assert keys == expected


def test_it_opens_with_the_choices_of_the_widget(record: AttentionRecord) -> None:
    choices: dict[str, Any] = {
        "view": "neuron",
        "stack": "self",
        "layer": 1,
        "head": 2,
        "heads": [1, 2],
        "query": 3,
        "key": None,
        "also": [5, 0],
        "segments": "all",
        "combine": "layers_max",
        "words": True,
        "orientation": "horizontal",
        "thumbnails": "lines",
        "sort": "distance",
        "color": "layer",
        "opened": True,
        "include_layers": [1],
        "include_heads": [0, 2],
        "neurons": "pair",
        "muted": [4],
        "expanded": False,
        "theme": "dark",
    }
    page = AttentionWidget(record, **choices).to_html()
    [(_, text)] = Elements(page).all("script", "data-content")
    content = json.loads(text)
    manifest, overview = encode_overview(record)
    assert content["choices"] == choices
    assert content["manifest"] == manifest
    assert base64.b64decode(content["overview"]) == overview


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
    assert json.loads(text)["manifest"]["stacks"][0]["queries"]["labels"] == halves


def test_a_record_without_a_name_has_a_title(tmp_path: Path) -> None:
    record = AttentionRecord.from_arrays([some_weights()], ["t"] * LENGTH)
    [(_, title)] = Elements(AttentionWidget(record).to_html()).all("title")
    assert title == "Attention"
