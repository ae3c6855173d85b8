"""Several widgets in one page, with some of the views and layers."""

import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import attnwidget as aw
from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.page.pack import ToPack, packed_layer
from attnwidget.record import Layer
from attnwidget.wire.compression import LIMITS
from tests.decoding import decode_floats, from_base85
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


@pytest.fixture
def record() -> AttentionRecord:
    return record_of(*(layer_of(PROGRAMS["causal"], seed) for seed in range(4)))


def _content(page: str) -> dict[str, Any]:
    [(_, text)] = Elements(page).all("script", "data-content")
    content: dict[str, Any] = json.loads(text)
    return content


def _blocks(page: str) -> dict[tuple[str | None, str | None], dict[str, Any]]:
    scripts = Elements(page).all("script", "data-block")
    return {(a["data-record"], a["data-block"]): json.loads(text) for a, text in scripts}


def test_widgets_of_one_record_share_its_layers(record: AttentionRecord) -> None:
    one, other = AttentionWidget(record), AttentionWidget(record, view="model", layer=3)
    page = aw.to_html(one, other)
    content = _content(page)
    assert len(content["records"]) == 1
    assert [widget["record"] for widget in content["widgets"]] == [0, 0]
    assert [widget["choices"]["layer"] for widget in content["widgets"]] == [0, 3]
    assert list(_blocks(page)) == [("0", f"self.{layer}") for layer in range(4)]
    assert len(Elements(page).all("script", "data-program")) == 1


@pytest.mark.parametrize("kind", ["matrices", "factors"])
def test_lenses_of_widgets_of_one_record_stay_their_own(record: AttentionRecord, kind: str) -> None:
    shape = (4, HEADS, LENGTH, LENGTH) if kind == "matrices" else (4, HEADS, LENGTH)
    numbers = np.linspace(0.1, 1, int(np.prod(shape))).reshape(shape)
    # The peaks of the second and the third are the same.
    widgets = [
        AttentionWidget(record, lenses={"mine": {kind: each}}, lens="mine")
        for each in (numbers, 2 * numbers, 2 * numbers[::-1, ::-1], numbers)
    ]
    page = aw.to_html(*widgets, AttentionWidget(record))
    content = _content(page)
    assert [widget["record"] for widget in content["widgets"]] == [0, 1, 2, 0, 3]
    blocks = _blocks(page)
    name = "self.0.mine" if kind == "matrices" else "self.0"
    assert len({blocks[str(n), name]["data"] for n in range(3)}) == 3
    named = [list(each["manifest"]["lenses"])[-1]["name"] for each in content["records"]]
    assert named == ["mine", "mine", "mine", "rollout"]


def test_widgets_of_several_records_have_their_own(record: AttentionRecord) -> None:
    other = AttentionRecord({"self": hybrid()}, model="another model")
    page = aw.to_html(AttentionWidget(other), AttentionWidget(record), AttentionWidget(other))
    content = _content(page)
    assert [recorded["manifest"]["model"] for recorded in content["records"]] == [
        "another model",
        "a model",
    ]
    assert [widget["record"] for widget in content["widgets"]] == [0, 1, 0]
    expected = [("0", f"self.{n}") for n in (3, 7, 11)] + [("1", f"self.{n}") for n in range(4)]
    assert list(_blocks(page)) == expected
    [(_, title)] = Elements(page).all("title")
    assert title == "Attention of another model, a model"


def test_layers_that_were_chosen(record: AttentionRecord) -> None:
    for layers in ([2, 0], (0, 2, 2), np.array([0, 2]), {0, 2}):
        page = AttentionWidget(record).to_html(layers=layers)
        assert list(_blocks(page)) == [("0", "self.0"), ("0", "self.2")]
        assert not _content(page)["complete"]
    assert _content(AttentionWidget(record).to_html())["complete"]


@pytest.mark.parametrize(("shown", "opened"), [(0, 1), (1, 1), (3, 3)])
def test_it_opens_with_the_nearest_layer_that_it_has(
    record: AttentionRecord, shown: int, opened: int
) -> None:
    widget = AttentionWidget(record, layer=shown, view="neuron", muted=[2])
    [choices] = [w["choices"] for w in _content(widget.to_html(layers=[1, 3]))["widgets"]]
    assert choices["layer"] == opened
    assert choices["muted"] == ([2] if shown == opened else [])
    # The widget itself stays as it is.
    assert (widget.layer, widget.muted) == (shown, [2])


def test_it_opens_with_a_stack_that_has_one_of_the_layers(record: AttentionRecord) -> None:
    long = record_of(*(layer_of(PROGRAMS["causal"], seed) for seed in range(6))).stack()
    both = AttentionRecord({"encoder": record.stack(), "other": hybrid(), "decoder": long})
    choices = {"query": 2, "head": 3, "include_layers": [0, 1]}
    widget = AttentionWidget(both, stack="encoder", layer=1, **choices)
    [opened] = [w["choices"] for w in _content(widget.to_html(layers=[5]))["widgets"]]
    assert (opened["stack"], opened["layer"]) == ("decoder", 5)
    assert {name: opened[name] for name in choices} == choices
    assert (widget.stack, widget.layer) == ("encoder", 1)


def test_it_opens_with_a_head_that_the_nearest_layer_has() -> None:
    widget = AttentionWidget(AttentionRecord({"self": hybrid()}), layer=11, head=5, heads=[1, 5])
    [choices] = [w["choices"] for w in _content(widget.to_html(layers=[7]))["widgets"]]
    assert (choices["layer"], choices["head"], choices["heads"]) == (7, 1, [1])


def test_views_that_were_chosen(record: AttentionRecord) -> None:
    widget = AttentionWidget(record, view="neuron")
    content = _content(widget.to_html(views=["model", "head"]))
    assert content["views"] == ["head", "model"]
    assert content["widgets"][0]["choices"]["view"] == "head"
    assert content["records"][0]["overview"] is not None
    assert _content(widget.to_html())["views"] == ["head", "model", "neuron", "map", "text"]


def test_thumbnails_are_there_for_the_model_view_alone(record: AttentionRecord) -> None:
    content = _content(AttentionWidget(record).to_html(views=["head", "neuron"]))
    assert content["records"][0]["overview"] is None


def _weights_in(block: dict[str, Any]) -> np.ndarray:
    [part] = block["parts"]
    assert part["name"] == "weights"
    return decode_floats(part, zlib.decompress(from_base85(block["data"])))


def test_without_the_neuron_view_a_layer_is_weights_where_that_is_smaller() -> None:
    dim = 64
    wide = Layer(
        floats(HEADS, LENGTH, dim), floats(2, LENGTH, dim, seed=1), program(), None, FIDELITY
    )
    record = record_of(wide)
    page = AttentionWidget(record).to_html(views=["head", "model"], quality="exact")
    [block] = _blocks(page).values()
    expected = np.stack([record.weights(0, head) for head in range(HEADS)])
    assert np.abs(_weights_in(block) - expected).max() <= block["error"]["largest"] <= 2**-11
    [info] = _content(page)["records"][0]["manifest"]["stacks"][0]["layers"]
    assert (info["program"], info["dim"], info["bare"]) == (None, None, True)
    # With it, they are vectors.
    [block] = _blocks(AttentionWidget(record).to_html(quality="exact")).values()
    names = {part["name"] for part in block["parts"]}
    assert names >= {"queries", "keys"}
    assert "weights" not in names


def test_without_the_neuron_view_a_layer_stays_vectors_where_these_are_smaller() -> None:
    length = 60
    narrow = Layer(floats(1, length, 2), floats(1, length, 2, seed=1), program(), None, FIDELITY)
    page = AttentionWidget(record_of(narrow)).to_html(views=["head"], quality="exact")
    [block] = _blocks(page).values()
    names = {part["name"] for part in block["parts"]}
    assert names >= {"queries", "keys"}
    assert "weights" not in names
    [info] = _content(page)["records"][0]["manifest"]["stacks"][0]["layers"]
    assert info["dim"] == 2


def test_without_the_neuron_view_weights_need_no_vectors() -> None:
    queries, keys = floats(1, HEADS, LENGTH, 64), floats(1, HEADS, LENGTH, 64, seed=1)
    record = AttentionRecord.from_arrays(
        [some_weights()], ["t"] * LENGTH, queries=list(queries), keys=list(keys)
    )
    assert record.layer(0).program is None
    [block] = _blocks(AttentionWidget(record).to_html(views=["head"])).values()
    names = {part["name"] for part in block["parts"]}
    assert "weights" in names
    assert "queries" not in names


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"views": ["tree"]}, ValueError, "no view 'tree'; there are 'head', 'model', 'neuron'"),
        ({"views": []}, ValueError, "views is empty"),
        ({"views": "head"}, TypeError, r"expected several names, as \['head', 'model'\]"),
        ({"layers": [4]}, IndexError, "layer 4 does not exist: self has 4 layers, 0 to 3"),
        ({"layers": [-1]}, IndexError, "layer -1 does not exist"),
        ({"layers": []}, ValueError, "layers is empty"),
        ({"layers": 2}, TypeError, r"layers is 2; expected several numbers, as \[0, 5\]"),
        ({"layers": "2"}, TypeError, "layers is '2'; expected several numbers"),
        ({"views": {"head": 1}}, TypeError, "views is dict; expected several names"),
        ({"layers": [1.0]}, TypeError, r"layers is \[1.0\]; expected several numbers"),
        ({"layers": [True]}, TypeError, r"layers is \[True\]; expected several numbers"),
    ],
)
def test_what_cannot_be_chosen(
    record: AttentionRecord, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        AttentionWidget(record).to_html(**options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: aw.to_html([w, w]), r"cannot be shown: show\(\[a, b\]\) compares two records"),
        (lambda w: aw.to_html(w, 7), "not int"),
        (lambda w: aw.to_html(w, layer=2), "a widget has its choices already, no option layer"),
        (lambda w: aw.save_html(w, "page.html"), "takes the file's path first"),
    ],
)
def test_what_is_no_page(
    record: AttentionRecord, call: Callable[[AttentionWidget], Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        call(AttentionWidget(record))


def test_a_layer_that_one_of_the_stacks_has(record: AttentionRecord) -> None:
    both = AttentionRecord({"self": record.stack(), "other": hybrid()})
    assert list(_blocks(AttentionWidget(both).to_html(layers=[3, 11]))) == [
        ("0", "self.3"),
        ("0", "other.3"),
        ("0", "other.11"),
    ]
    with pytest.raises(IndexError, match="self has 4 layers, 0 to 3; other has layers 3, 7, 11"):
        AttentionWidget(both).to_html(layers=[5])


def test_a_layer_that_no_page_can_show_is_not_written() -> None:
    side = 2**14
    weights = np.broadcast_to(np.float32(1 / side), (1, side, side))
    layer = Layer(None, None, None, weights, FIDELITY, number=3)
    with pytest.raises(ValueError, match=r"layer 3 is larger than a page can show.*layers=…"):
        packed_layer(ToPack(layer, {}), LIMITS["draft"])
