"""The readers in the documents read what attnwidget writes, and the documents name every field."""

import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnwidget import AttentionRecord, capture, show, to_html
from attnwidget.analysis import LENSES
from attnwidget.record import Recurrence
from attnwidget.wire import Replies, encode_overview
from attnwidget.wire.compression import LIMITS, pack_layer
from tests.decoding import to_base85
from tests.unit.records import DIM, HEADS, LENGTH, floats, hybrid, record_with_every_program
from tests.unit.signed import kept, linear, recurrent, with_both
from tests.unit.tiny import Loaded, t5, token_ids

DOCS = Path(__file__).parents[2] / "docs"
TEXT = "The quick brown fox jumped over the lazy dog because it was tired. " * 4

Reader = dict[str, Any]


def _code(document: str) -> list[str]:
    text = (DOCS / document).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def file_reader() -> Reader:
    names: Reader = {}
    exec(_code("format.md")[0], names)
    return names


@pytest.fixture(scope="module")
def page_reader(file_reader: Reader) -> Reader:
    names = dict(file_reader)
    exec(_code("protocol.md")[0], names)
    return names


@pytest.fixture(scope="module")
def captured(minilm: Loaded) -> AttentionRecord:
    record = capture(*minilm, TEXT)
    assert len(record.stack().queries) < 65, "of more, errors are those of a sample"
    return record


def _records() -> Iterator[AttentionRecord]:
    yield record_with_every_program()
    yield AttentionRecord({"self": hybrid()}, model="hybrid", missing=["layers.4: no softmax"])
    inputs = {"input_ids": token_ids(9), "decoder_input_ids": token_ids(5, seed=1)}
    yield capture(t5(), None, inputs, values=True)


@pytest.mark.parametrize("record", list(_records()), ids=repr)
def test_the_file(record: AttentionRecord, file_reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "record.safetensors"
    record.save(path)
    content, arrays = file_reader["read_record"](path)
    assert [stack["name"] for stack in content["stacks"]] == list(record.stacks)
    for stack in content["stacks"]:
        name = stack["name"]
        assert (stack["queries"]["labels"], stack["keys"]["labels"]) == record.tokens(name)
        assert [layer["number"] for layer in stack["layers"]] == list(record.stack(name).numbers)
        for layer in stack["layers"]:
            own = file_reader["arrays_of"](layer, arrays)
            for head in range(record.num_heads(layer["number"], name)):
                place = layer["number"], head, name
                weights = file_reader["weights"](layer["program"], own, head)
                np.testing.assert_allclose(weights, record.weights(*place), atol=1e-6)
                if layer["program"] is not None:
                    scores = file_reader["scores"](layer["program"], own, head)
                    np.testing.assert_allclose(scores, record.scores(*place), 1e-5, 1e-5)


def _signed() -> AttentionRecord:
    """Layers without a softmax, with every array that such a layer may have."""
    of_dimensions = Recurrence(
        0.5, decay=-np.abs(floats(HEADS, LENGTH, DIM)), own=floats(HEADS, LENGTH)[:, 0]
    )
    layers = [
        replace(recurrent(), program=of_dimensions),
        replace(
            recurrent(1),
            projection=floats(HEADS, DIM, 5),
            gates=floats(HEADS, LENGTH, DIM),
        ),
        replace(recurrent(2), program=Recurrence(2.0), values=None),
    ]
    channels = linear(kept(floats(2, LENGTH, LENGTH)))
    return AttentionRecord({"linear 1": linear(*layers), "linear 2": channels})


def test_the_file_of_layers_without_a_softmax(file_reader: Reader, tmp_path: Path) -> None:
    record = _signed()
    record.save(tmp_path / "record.safetensors")
    content, arrays = file_reader["read_record"](tmp_path / "record.safetensors")
    for stack in content["stacks"]:
        for layer in stack["layers"]:
            own = file_reader["arrays_of"](layer, arrays)
            for head in range(record.num_heads(layer["number"], stack["name"])):
                found = file_reader["coefficients"](layer["program"], own, head)
                expected = record.coefficients(layer["number"], head, stack["name"])
                np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


def test_the_file_example(
    captured: AttentionRecord,
    file_reader: Reader,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    captured.save(tmp_path / "dog.safetensors")
    _assert_prints(_code("format.md")[1], file_reader, captured, 1e-6, tmp_path, monkeypatch)


def _assert_prints(
    code: str,
    names: Reader,
    record: AttentionRecord,
    error: float,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The example prints the weights of layer 2, head 9."""
    monkeypatch.chdir(folder)
    printed: list[np.ndarray] = []
    exec(code, {**names, "print": printed.append})
    [weights] = printed
    np.testing.assert_allclose(weights, record.weights(2, 9), atol=error)


def test_another_version_of_the_file(file_reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "record.safetensors"
    record_with_every_program().save(path)
    path.write_bytes(path.read_bytes().replace(rb"\"version\": 2", rb"\"version\": 4"))
    with pytest.raises(ValueError, match="a record of format 4; this reads formats 2 and 3"):
        file_reader["read_record"](path)


@pytest.mark.parametrize("quality", ["draft", "compact", "default", "exact"])
def test_pages(quality: Any, captured: AttentionRecord, page_reader: Reader) -> None:
    coded = 0
    for record in (captured, *_records()):
        text = show(record).to_html(quality=quality)
        content = page_reader["read_page"](text)
        assert content.keys() == {"views", "complete", "records", "widgets"}
        assert content["widgets"][0]["choices"]["view"] == "head"
        [found] = content["records"]
        manifest, blocks = found["manifest"], found["blocks"]
        written, thumbnails = encode_overview(record)
        assert manifest == json.loads(json.dumps(written))
        assert found["overview"]["bytes"] == len(thumbnails)
        assert page_reader["inflated"](found["overview"]) == thumbnails
        for stack in manifest["stacks"]:
            for layer in stack["layers"]:
                packed = blocks.pop(f"{stack['name']}.{layer['number']}")
                coded += any(part["name"].endswith("_channels") for part in packed["parts"])
                arrays = page_reader["own_arrays"](layer, page_reader["unpack"](packed))
                _assert_near(record, stack["name"], layer, arrays, packed["error"], page_reader)
        assert not blocks
    assert (coded > 0) == (quality != "exact")


def test_a_page_of_two_widgets_without_the_neuron_view(
    captured: AttentionRecord, page_reader: Reader
) -> None:
    other = capture(t5(), None, {"input_ids": token_ids(9), "decoder_input_ids": token_ids(5)})
    widgets = show(captured, layer=1), show(other), show(captured, layer=0)
    content = page_reader["read_page"](to_html(*widgets, views=["head"], layers=[0, 1]))
    assert (content["views"], content["complete"]) == (["head"], False)
    assert [widget["record"] for widget in content["widgets"]] == [0, 1, 0]
    assert [widget["choices"]["layer"] for widget in content["widgets"]] == [1, 0, 0]
    for record, found in zip((captured, other), content["records"], strict=True):
        assert found["overview"] is None
        names = [f"{name}.{n}" for name in record.stacks for n in (0, 1)]
        assert list(found["blocks"]) == names
        for stack in found["manifest"]["stacks"]:
            for layer in stack["layers"][:2]:
                packed = found["blocks"][f"{stack['name']}.{layer['number']}"]
                arrays = page_reader["unpack"](packed)
                assert (layer["program"] is None) == (arrays.keys() == {"weights"})
                _assert_near(record, stack["name"], layer, arrays, packed["error"], page_reader)


def _assert_near(
    record: AttentionRecord,
    stack: str,
    layer: dict[str, Any],
    arrays: dict[str, Any],
    error: dict[str, float],
    reader: Reader,
) -> None:
    """The weights are as near as the block says; and no nearer, at one place at least."""
    assert "rows" not in error
    moved, largest = [], 0.0
    for head in range(layer["heads"]):
        weights = reader["weights"](layer["program"], arrays, head)
        change = np.abs(weights - record.weights(layer["number"], head, stack))
        largest = max(largest, float(change.max()))
        moved.append(change.sum(axis=1).mean() / 2)
    assert largest == pytest.approx(error["largest"], abs=1e-5)
    if "variation" in error:
        assert np.mean(moved) == pytest.approx(error["variation"], abs=1e-5)
    if "vectors" in error:
        own = record.layer(layer["number"], stack)
        both = (own.queries, arrays["queries"]), (own.keys, arrays["keys"])
        found = max(float(np.abs(a - b).max()) for a, b in both)
        assert found == pytest.approx(error["vectors"], rel=1e-3)


def test_weights_alone_that_are_rounded(page_reader: Reader) -> None:
    sharp = np.exp(8 * floats(3, 60, 60))
    given = sharp / sharp.sum(axis=2, keepdims=True)
    record = AttentionRecord.from_arrays([given], [str(n) for n in range(60)])
    content, data = pack_layer(record.layer(0), LIMITS["draft"])
    assert {part["name"]: part["dtype"] for part in content["parts"]}["weights"] == "i8"
    arrays = page_reader["unpack"](content | {"data": to_base85(data)})
    assert np.abs(arrays["weights"] - given).max() == pytest.approx(
        content["error"]["largest"], rel=1e-3
    )


def test_thumbnails(captured: AttentionRecord, page_reader: Reader) -> None:
    for record in (captured, *_records()):
        manifest, overview = encode_overview(record)
        sent = {"bytes": len(overview), "data": to_base85(zlib.compress(overview))}
        pictures = page_reader["thumbnails"](manifest, sent)
        for name, layers in zip(record.stacks, pictures, strict=True):
            for layer, heads in zip(record.stack(name).layers, layers, strict=True):
                for head, levels in enumerate(heads):
                    weights = layer.head_weights(head)
                    assert levels.shape == tuple(min(size, 32) for size in weights.shape)
                    assert levels.max() == round(15 * float(np.sqrt(weights.max())))


def test_replies(captured: AttentionRecord, page_reader: Reader) -> None:
    said: list[tuple[dict[str, Any], list[bytes]]] = []
    replies = Replies(lambda message, buffers: said.append((message, buffers)))
    place = {"stack": "self", "layer": 2}
    replies.to(captured, {"id": "a", "op": "block", **place})
    replies.to(captured, {"id": "b", "op": "row", **place, "side": "query", "position": 4})
    replies.to(captured, {"id": "c", "op": "combined", "stack": "self"})
    replies.to(captured, {"id": "d", "op": "block", "stack": "cross", "layer": 0})
    (block, own), (row, scores), (combined, both), (failed, _) = said
    assert block.keys() == {"id", "parts", "rounding"}
    assert failed.keys() == {"id", "error"}
    assert [message["id"] for message, _ in said] == ["a", "b", "c", "d"]
    layer = encode_overview(captured)[0]["stacks"][0]["layers"][2]
    decode: Callable[..., dict[str, np.ndarray]] = page_reader["decode"]
    _assert_near(
        captured, "self", layer, decode(block["parts"], own), block["rounding"], page_reader
    )
    found = decode(row["parts"], scores)["scores"][9]
    np.testing.assert_allclose(found, captured.scores(2, 9)[4], 1e-5, 1e-5)
    assert decode(combined["parts"], both).keys() == {"mean", "max", "head"}


def test_the_page_example(
    captured: AttentionRecord,
    page_reader: Reader,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    show(captured).save_html(tmp_path / "dog.html", quality="exact")
    _assert_prints(_code("protocol.md")[1], page_reader, captured, 1e-3, tmp_path, monkeypatch)


def _fields(value: Any) -> Iterator[str]:
    """The keys of all objects in it."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield key
            yield from _fields(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _fields(inside)


def _named(document: str) -> set[str]:
    """Names in the first column of any table."""
    text = (DOCS / document).read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall("`(.*?)`", row)}


def test_every_field_of_the_file_is_named(file_reader: Reader, tmp_path: Path) -> None:
    found = set()
    for record in (*_records(), _signed()):
        record.save(tmp_path / "record.safetensors")
        content, _ = file_reader["read_record"](tmp_path / "record.safetensors")
        found |= set(_fields(content))
    rotary = {"pairs", "dims", "start"}
    assert _named("format.md") | rotary == found | {"rotary"} | rotary


# The reply to a request for an effect.
EFFECT = ("predicts", "positions", "mean", "position", "divergence", "changes", "moved")


def test_every_field_of_the_protocol_is_named() -> None:
    text = (DOCS / "protocol.md").read_text(encoding="utf-8")
    records = [*_records(), with_both()]
    found = {field for r in records for field in _fields(encode_overview(r)[0])}
    record = next(iter(_records()))
    compared = show([record, record]).get_state("_manifest")["_manifest"]
    found |= set(_fields(compared))
    # Numbers of heads go by the names of stacks, and of lenses.
    found -= {lens.name for lens in LENSES} - {"values"}
    found -= {f"{stack} of B" for stack in record.stacks}
    found -= {stack for each in records for stack in each.stacks}
    assert {field for field in found if f"`{field}`" not in text} == set()
    assert _named("protocol.md") <= found | {
        "views",
        "complete",
        "records",
        "widgets",
        "null",
        "interval",
        "replay",  # of a generated text
        *("grids", "stack", "axes", "rows", "columns"),  # of grids beside a record
        *EFFECT,
    }
