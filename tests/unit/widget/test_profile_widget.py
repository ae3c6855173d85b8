"""Profiles as widgets, atlases and plots."""

import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets

import attnwidget as aw
from attnwidget.analysis import PATTERNS
from attnwidget.widget import ProfileWidget
from tests.unit.elements import Elements
from tests.unit.pages import content_of
from tests.unit.tiny import Loaded, llama, token_ids

TEXTS = [
    "The dog slept.",
    "A cat, too, was tired.",
    "Nobody knew why the lamp was lit.",
    ("A pair", "of texts."),
]


@pytest.fixture(scope="module")
def found(minilm: Loaded) -> aw.HeadProfile:
    return aw.profile(*minilm, TEXTS)


@pytest.fixture(scope="module")
def widget(found: aw.HeadProfile) -> ProfileWidget:
    return aw.show(found)


def test_the_map_has_the_numbers_of_the_profile(
    found: aw.HeadProfile, widget: ProfileWidget
) -> None:
    manifest = widget._manifest
    assert (widget.view, manifest["texts"]) == ("map", 4)
    sent = {metric["name"]: metric for metric in manifest["metrics"]}
    # MiniLM has no unembedding.
    assert found.metrics.keys() - sent.keys() == {"copying", "copying_weights"}
    previous, values = sent["previous"], found.values("previous")
    for place, expected in (
        (previous["values"], values.mean),
        (previous["interval"]["low"], values.low),
        (previous["interval"]["high"], values.high),
        (previous["null"]["values"], found.null_values("previous").mean),
    ):
        np.testing.assert_allclose(place["self"], expected, rtol=1e-4)
    assert previous["null"]["label"] == "random weights"
    widget.sort = widget.map_x = "induction"


def test_words_stand_beside_their_rules(found: aw.HeadProfile, widget: ProfileWidget) -> None:
    patterns = widget._manifest["patterns"]
    for layer, heads in enumerate(found.patterns()):
        for head, pattern in enumerate(heads):
            assert patterns["words"]["self"][layer][head] == pattern.words
            assert patterns["reasons"]["self"][layer][head] == ", ".join(pattern.reasons)
            kind = PATTERNS[patterns["values"]["self"][layer][head]]
            assert pattern.words.endswith(kind)


def test_an_example_is_read_when_it_is_asked_for(
    found: aw.HeadProfile, minilm: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    widget = aw.show(found, layer=1, query=2)
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(widget.comm, "send", lambda data, buffers=None, **_: sent.append(data))
    examples = found.examples("previous", 4, 7).highest
    example = next(each for each in examples if each.index != widget._texts[0])
    place = widget._texts.index(example.index)
    asked = {"text": place, "stack": "self", "layer": 4, "head": 7, "query": example.pair[0]}
    _receive(widget, {"op": "open", **asked})
    # One message, so that a view never shows one text with the choices of another.
    [message] = sent
    assert message["state"]["layer"] == 4
    choices = widget.view, widget.layer, widget.head, widget.heads, widget.query, widget.key
    assert choices == ("head", 4, 7, [7], example.pair[0], None)
    text = example.text if isinstance(example.text, tuple) else (example.text,)
    weights = aw.capture(*minilm, *text).weights(4, 7)
    np.testing.assert_allclose(widget.record.weights(4, 7), weights, atol=1e-6)
    assert message["state"]["_manifest"]["texts"] == 4


def test_a_request_for_no_example_says_so(
    found: aw.HeadProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    widget = aw.show(found)
    sent: list[Any] = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))
    before = widget.record
    asked = {"text": 0, "stack": "self", "layer": 99, "head": 0, "query": 0}
    for wrong in ({"text": 4000}, {"text": None}, {}):
        _receive(widget, {"op": "open", **asked, **wrong})
    assert len(sent) == 3
    assert "layer 99 does not exist" in sent[2]["error"]
    assert widget.record is before


def test_another_text_has_the_words_for_heads_and_neither_arcs_nor_cuts(
    found: aw.HeadProfile,
) -> None:
    widget = aw.show(
        found,
        arcs=[aw.Arc(1, 2, "obj")],
        head_names={(0, 3): "finds nouns"},
        cut=[aw.KnockOut(2, 1)],
    )
    _receive(widget, {"op": "open", "text": 1, "stack": "self", "layer": 0, "head": 3, "query": 0})
    assert widget._text == widget._texts[1]
    assert widget._manifest["patterns"]["words"]["self"][0][3] == "finds nouns"
    assert (widget.arcs, widget._arcs, widget.cut) == ((), [], [])


NEEDS = {
    "a file": r"show\(profile, model, tokenizer\)",
    "encoded texts": "from strings",
    "no examples": "repeated tokens",
}


@pytest.mark.parametrize("why", NEEDS)
def test_without_a_text_there_are_heads_alone(
    found: aw.HeadProfile, tmp_path: Path, why: str
) -> None:
    """Map and model view need no model: a note says what the others need."""
    needs = NEEDS[why]
    shown: Any = tmp_path / "heads.safetensors"
    found.save(shown)
    if why != "a file":
        metric = "first" if why == "encoded texts" else "induction"
        texts = [{"input_ids": token_ids(5, seed=0)}]
        shown = aw.profile(llama(), None, texts, metrics=[metric], null=None)
    widget = aw.show(shown)
    assert widget.view == "map"
    assert widget.profile.metrics.keys() >= {m["name"] for m in widget._manifest["metrics"]}
    assert re.search(needs, widget._note)
    with pytest.raises(traitlets.TraitError, match=needs):
        widget.view = "head"
    page = aw.to_html(shown, view="model")
    assert '"views":["model","map"]' in page
    assert content_of(page)["note"] == widget._note
    assert widget._note[:30] in aw.show(shown, static=True)._repr_html_()


def _receive(widget: ProfileWidget, content: dict[str, Any]) -> None:
    widget._handle_msg(
        {"content": {"data": {"method": "custom", "content": content}}, "buffers": []}
    )


def test_places_by_similarity(found: aw.HeadProfile) -> None:
    widget = aw.show(found, similarity=True, map_x="similarity")
    sent, similarity = widget._similarity, found.similarity()
    layer, head, distance = sent["nearest"]["self"][3][5][0]
    assert (layer, head) == similarity.nearest(3, 5)[0].head
    assert distance == similarity.nearest(3, 5)[0].distance
    assert np.allclose(np.concatenate(sent["places"]["self"]), similarity.positions())
    assert widget.figure().data


def test_an_atlas_has_as_many_texts_as_there_is_room_for(
    found: aw.HeadProfile, tmp_path: Path
) -> None:
    path = tmp_path / "atlas.html"
    counts = []
    aw.save_html(path, found)
    whole = path.stat().st_size
    for size in (whole + 10_000, whole - 1, 1):
        aw.save_html(path, found, size=size)
        [(_, text)] = Elements(path.read_text("utf-8")).all("script", "data-content")
        content = json.loads(text)
        [widget] = content["widgets"]
        assert widget["examples"]["records"] == list(range(len(content["records"])))
        assert len(content["records"]) == len(widget["examples"]["texts"])
        assert "metrics" in content["records"][0]["manifest"]
        counts.append(len(content["records"]))
        assert counts[-1] == 1 or path.stat().st_size <= size
    assert counts[0] == len(TEXTS)
    assert counts[0] > counts[1] >= counts[2] == 1


def test_a_profile_of_a_file_with_its_model(
    found: aw.HeadProfile, minilm: Loaded, tmp_path: Path
) -> None:
    path = tmp_path / "profile.safetensors"
    found.save(path)
    loaded = aw.HeadProfile.load(path)
    for copy in (loaded, pickle.loads(pickle.dumps(found))):
        assert "need the profile's model" in aw.show(copy)._note
    for opened in (loaded, path, str(path)):
        for static in (False, True):
            shown = aw.show(opened, *minilm, static=static)
            assert shown._manifest == aw.show(found)._manifest
            assert shown.view == "map"
    model, tokenizer = minilm
    page = aw.to_html(path, model=model, tokenizer=tokenizer, size=1)
    assert page == aw.to_html(found, size=1)
    with pytest.raises(TypeError, match="an atlas has whole texts"):
        aw.to_html(found, layers=[0])
    with pytest.raises(ValueError, match="heads in 'self' differ; give the model of the profile"):
        aw.show(loaded, llama(vocab_size=40000), minilm[1])


def test_a_profile_without_the_usual_metrics(minilm: Loaded) -> None:
    few = aw.profile(*minilm, TEXTS[:2], metrics=["first", "special"], null=None, max_tokens=4)
    widget = aw.show(few, metrics={"own": np.zeros((6, 12))}, map_y="own")
    assert (widget.map_x, widget.map_y) == ("first", "own")
    # The text is cut off as the profile had it.
    assert len(widget.record.stack().queries) == 4
    widget.metrics = {}
    assert widget.map_y == "special"
    assert aw.show(few).map_y == "special"
    with pytest.raises(Exception, match="map_x 'entropy' does not exist: there are 'first'"):
        widget.map_x = "entropy"


def test_plots_take_profiles(found: aw.HeadProfile) -> None:
    axes = aw.plot.map(found, x="induction", y="previous")
    points = np.ma.getdata(axes.collections[0].get_offsets())
    expected = np.sort(found.values("previous").mean.ravel())
    np.testing.assert_allclose(np.sort(points[:, 1]), expected, rtol=1e-4)
    bars = aw.plot.ranking(found, "previous").patches
    assert bars[0].get_width() == pytest.approx(expected[-1], rel=1e-4)
    numbers = aw.plot.model(found, metric="previous").images[0].get_array()
    np.testing.assert_allclose(numbers, found.values("previous").mean, rtol=1e-4)
    whole, shown = (aw.plot.model(each).images[0].get_array() for each in (found, aw.show(found)))
    assert np.array_equal(whole, shown), "means over texts, as the widget has them"


def test_lenses_are_of_one_text(found: aw.HeadProfile, minilm: Loaded) -> None:
    lenses = {"mine": np.ones((6, 12, 5, 5))}
    with pytest.raises(TypeError, match="a profile takes no lenses"):
        aw.show(found, *minilm, lenses=lenses)
    with pytest.raises(TypeError, match="a profile takes no lenses"):
        aw.to_html(found, *minilm, lenses=lenses)
