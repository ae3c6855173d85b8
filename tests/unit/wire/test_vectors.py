"""Python's side of tests/vectors, which js/test holds the browser's code against too."""

import base64
import json
from typing import Any

import numpy as np
import pytest

from attnwidget import AttentionRecord
from attnwidget.analysis import LENSES, Lens, own_lenses
from attnwidget.page.base85 import base85, base85_size
from attnwidget.record import Fidelity, Layer, Recurrence, ScoreProgram, Stack, Tokens
from attnwidget.wire import encode_block, encode_combined, encode_matrices, encode_overview
from attnwidget.wire.block import Part
from attnwidget.wire.columns import coefficients_column
from attnwidget.wire.manifest import encode_record, program_json
from attnwidget.wire.rounding import from_int16
from tests.decoding import decode_arrays, decode_floats
from tests.vectors import make

TOLERANCE = 1e-5


def read(name: str) -> Any:
    return json.loads((make.FOLDER / name).read_text(encoding="utf-8"))


def by_name(cases: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


def floats(values: list[float | None] | None, *shape: int) -> Any:
    """null stands for -inf."""
    if values is None:
        return None
    return np.array([-np.inf if v is None else v for v in values], np.float32).reshape(shape)


def program_of(sent: dict[str, Any], **arrays: Any) -> ScoreProgram:
    values = {name: sent[name] for name in ("scale", "mask", "window", "blocks", "softcap")}
    values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return ScoreProgram(**values, sinks=floats(sent["sinks"], -1), **arrays)


def fidelity(exact: bool | None = None) -> Fidelity:
    error = None if exact is None else 0.0 if exact else 1.0
    return Fidelity("given", "", "", error, None, 1e-5, 0)


@pytest.mark.parametrize("name", make.files())
def test_the_committed_vectors_are_those_that_make_writes(name: str) -> None:
    # A file edited by hand, or not written again, would test something else than make.py says.
    assert (make.FOLDER / name).read_text(encoding="utf-8") == make.files()[name]


def _lenses(content: dict[str, Any]) -> list[Lens]:
    """The lenses of the record: others may have been added since."""
    names = [lens["name"] for lens in content["manifest"]["lenses"]]
    return [lens for lens in LENSES if lens.name in names]


def test_the_vectors_stay_small() -> None:
    assert sum(len(text.encode()) for text in make.files().values()) < 190_000


def score_layer(case: dict[str, Any]) -> Layer:
    rows, columns, dim = case["num_queries"], case["num_keys"], case["dim"]
    arrays = {name: floats(case[name], *shape) for name, shape in case["shapes"].items()}
    if "visible" in arrays:
        arrays["visible"] = arrays["visible"] == 1
    program = program_of(case["program"], **arrays)
    queries = floats(case["queries"], case["heads"], rows, dim)
    keys = floats(case["keys"], case["key_heads"], columns, dim)
    return Layer(queries, keys, program, None, fidelity())


@by_name(read("scores.json"))
def test_scores_and_weights(case: dict[str, Any]) -> None:
    layer = score_layer(case)
    shape = case["heads"], case["num_queries"], case["num_keys"]
    heads = range(case["heads"])
    scores = np.stack([layer.head_scores(head) for head in heads])
    weights = np.stack([layer.head_weights(head) for head in heads])
    assert scores == pytest.approx(floats(case["scores"], *shape), abs=TOLERANCE)
    assert weights == pytest.approx(floats(case["weights"], *shape), abs=TOLERANCE)


@by_name(read("scores.json"))
def test_chosen_rows_are_those_of_the_whole_matrix(case: dict[str, Any]) -> None:
    layer = score_layer(case)
    rows = np.array([2, 0])
    for head in range(case["heads"]):
        expected = layer.head_weights(head)[rows]
        assert layer.head_weights(head, rows) == pytest.approx(expected, abs=1e-7)


@by_name(read("scores.json"))
def test_programs_travel_in_the_form_of_the_vectors(case: dict[str, Any]) -> None:
    program = score_layer(case).program
    assert program is not None
    assert json.loads(json.dumps(program_json(program))) == case["program"]


def recurrence_layer(case: dict[str, Any]) -> Layer:
    heads, tokens, dim = case["heads"], case["num_tokens"], case["dim"]
    sent = case["recurrence"]
    program = Recurrence(
        sent["scale"],
        decay=floats(case["decay"], heads, tokens, -1) if sent["decay"] else None,
        write=floats(case["write"], heads, tokens) if sent["write"] else None,
        erase=floats(case["erase"], heads, tokens) if sent["erase"] else None,
        own=floats(sent["own"], heads),
    )
    queries = floats(case["queries"], case["query_heads"], tokens, dim)
    keys = floats(case["keys"], case["key_heads"], tokens, dim)
    return Layer(queries, keys, program, None, fidelity())


@by_name(read("recurrences.json"))
def test_coefficients(case: dict[str, Any]) -> None:
    layer = recurrence_layer(case)
    heads, tokens = range(layer.num_heads), case["num_tokens"]
    found = np.stack([layer.head_coefficients(head) for head in heads])
    expected = floats(case["coefficients"], case["heads"], tokens, tokens)
    assert found == pytest.approx(expected, abs=TOLERANCE)
    for key in range(tokens):
        column = coefficients_column(layer, key)
        assert column == pytest.approx(expected[:, :, key], abs=TOLERANCE)


@by_name(read("recurrences.json"))
def test_recurrences_travel_in_the_form_of_the_vectors(case: dict[str, Any]) -> None:
    layer = recurrence_layer(case)
    tokens = Tokens(tuple("abcd"))
    record = AttentionRecord({"linear": Stack(tokens, tokens, (layer,))})
    [sent] = encode_record(record)["stacks"][0]["layers"]
    assert sent["signed"]
    assert json.loads(json.dumps(sent["recurrence"])) == case["recurrence"]
    block = encode_block(layer)
    arrays = decode_arrays(block.parts, block.buffers)
    for name in ("queries", "keys", "decay", "write", "erase"):
        numbers = floats(case[name], -1)
        assert np.array_equal(arrays.pop(name, np.zeros(0)).ravel(), numbers)
    assert not arrays


def block_layer(case: dict[str, Any]) -> Layer:
    arrays = {
        part["name"]: np.array(case["values"][part["name"]], np.float32).reshape(part["shape"])
        for part in case["parts"]
        if part["name"] in case["values"]
    }
    program = None
    if "weights" not in arrays:
        visible = arrays.get("visible")
        mask = "none" if visible is None else "explicit"
        program = ScoreProgram(
            1.0,
            mask,
            visible=None if visible is None else visible == 1,
            bias=arrays.get("bias"),
            relative=arrays.get("relative"),
        )
    vectors = arrays.get("queries"), arrays.get("keys")
    return Layer(*vectors, program, arrays.get("weights"), fidelity())


@by_name(read("blocks.json"))
def test_blocks_are_exactly_these_bytes(case: dict[str, Any]) -> None:
    block = encode_block(block_layer(case))
    assert block.parts == case["parts"]
    assert [base64.b64encode(data).decode() for data in block.buffers] == case["buffers"]


@by_name(read("blocks.json"))
def test_what_the_browser_gets_out_of_a_block(case: dict[str, Any]) -> None:
    arrays = sent_arrays(case)
    for name, values in case["decoded"].items():
        expected = np.array(values, np.float32).reshape(arrays[name].shape)
        assert np.array_equal(arrays[name].astype(np.float32), expected)


@by_name(read("coded.json"))
def test_coded_integers(case: dict[str, Any]) -> None:
    assert sent_arrays(case)["integers"].ravel().tolist() == case["values"]


def sent_arrays(case: dict[str, Any]) -> dict[str, np.ndarray]:
    return block_arrays(case["parts"], [base64.b64decode(data) for data in case["buffers"]])


def block_arrays(parts: list[Part], buffers: list[bytes]) -> dict[str, np.ndarray]:
    arrays = decode_arrays(parts, buffers)
    for name, steps in (("queries", "query_steps"), ("keys", "key_steps")):
        if steps in arrays:
            arrays[name] = from_int16(arrays[name], arrays.pop(steps))
    return arrays


def tokens(sent: dict[str, Any]) -> Tokens:
    segments = sent["segments"]
    words = sent["words"] and tuple(
        None if position in sent["special"] else word
        for position, word in enumerate(sent["words"]["of"])
    )
    return Tokens(
        tuple(sent["labels"]),
        None if segments is None else tuple(segments),
        tuple(sent["special"]),
        words,
        generated=sent["generated"],
    )


def record_of(content: dict[str, Any]) -> AttentionRecord:
    """The record that a vector file holds, made from its blocks."""
    stacks = {}
    for stack in content["manifest"]["stacks"]:
        layers = []
        for info in stack["layers"]:
            block = content["blocks"][f"{stack['name']}.{info['number']}"]
            arrays = {
                part["name"]: decode_floats(part, base64.b64decode(data))
                for part, data in zip(block["parts"], block["buffers"], strict=True)
            }
            program = info["program"] and program_of(info["program"])
            given = fidelity(info["fidelity"]["exact"])
            vectors = arrays.get("queries"), arrays.get("keys")
            layers.append(Layer(*vectors, program, arrays.get("weights"), given, info["number"]))
        keys = stack["queries"] if stack["keys"] is None else stack["keys"]
        stacks[stack["name"]] = Stack(tokens(stack["queries"]), tokens(keys), tuple(layers))
    manifest = content["manifest"]
    return AttentionRecord(stacks, model=manifest["model"], missing=manifest["missing"])


@pytest.mark.parametrize("name", ["overview.json", "record.json"])
class TestRecords:
    def test_manifest(self, name: str) -> None:
        content = read(name)
        manifest, _ = encode_overview(record_of(content), lenses=_lenses(content))
        got, expected = json.loads(json.dumps(manifest)), content["manifest"]
        metrics = {metric["name"]: metric for metric in got.pop("metrics")}
        for wanted in expected.pop("metrics"):
            metric = metrics[wanted["name"]]
            values, exact = metric.pop("values"), wanted.pop("values")
            assert metric == wanted
            assert values.keys() == exact.keys()
            for stack in exact:
                found, due = np.concatenate(values[stack]), np.concatenate(exact[stack])
                # Rounded to four decimals, of which single precision may turn the last.
                assert found == pytest.approx(due, abs=1.01e-4), (wanted["name"], stack)
        assert got == expected

    def test_overview(self, name: str) -> None:
        content = read(name)
        _, overview = encode_overview(record_of(content), lenses=_lenses(content))
        assert base64.b64encode(overview).decode() == content["overview"]

    def test_blocks(self, name: str) -> None:
        """The numbers, in any type that a view reads."""
        content = read(name)
        record = record_of(content)
        for key, expected in content["blocks"].items():
            stack, layer = key.split(".")
            if layer == "combined":
                block = encode_combined(record.stack(stack))
            else:
                block = encode_block(record.layer(int(layer), stack))
            sent, wanted = block_arrays(block.parts, block.buffers), sent_arrays(expected)
            assert list(sent) == list(wanted)
            for name, array in wanted.items():
                # The mean of softmaxes may fall on either side of a half.
                assert sent[name] == pytest.approx(array.astype(np.float32), abs=1e-3, rel=0)


def test_the_numbers_that_the_views_must_show() -> None:
    content = read("record.json")
    record = record_of(content)
    for layer in range(record.num_layers()):
        heads, count = record.num_heads(layer), len(record.tokens()[0])
        weights = np.stack([record.weights(layer, head) for head in range(heads)])
        shape = heads, count, count
        assert weights == pytest.approx(floats(content["weights"][layer], *shape), abs=TOLERANCE)
        if content["scores"][layer] is not None:
            scores = np.stack([record.scores(layer, head) for head in range(heads)])
            assert scores == pytest.approx(floats(content["scores"][layer], *shape), abs=TOLERANCE)


@pytest.mark.parametrize("case", read("base85.json"))
def test_bytes_as_text_of_a_page(case: dict[str, Any]) -> None:
    data = base64.b64decode(case["bytes"])
    assert base85(data) == case["text"]
    assert base85_size(len(data)) == len(case["text"])


@pytest.mark.filterwarnings("ignore:rows of layer 0 do not sum to 1")
def test_the_numbers_of_lenses() -> None:
    case = json.loads(make.files()["lenses.json"])
    shape = heads, queries, keys = case["shape"]
    block = encode_matrices(np.array(case["numbers"], np.float32).reshape(shape))
    assert block.parts == case["block"]["parts"]
    sent = [base64.b64encode(buffer).decode() for buffer in block.buffers]
    assert sent == case["block"]["buffers"]
    weights = np.array(case["weights"], np.float32).reshape(1, *shape)
    record = AttentionRecord.from_arrays(
        weights, ["query"] * queries, key_tokens=[str(key) for key in range(keys)]
    )
    factors = np.array(case["factors"], np.float32).reshape(1, heads, keys)
    (lens,) = own_lenses(record, {"mine": {"factors": factors}}, LENSES)
    shares = np.stack(list(lens.heads(record, "self", 0)))
    np.testing.assert_allclose(shares.ravel(), case["shares"], atol=1e-6)
