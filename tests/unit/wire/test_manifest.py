"""The manifest and the overview: all of the first paint, in little space."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnwidget import AttentionRecord
from attnwidget.analysis import LENSES, METRICS, PATTERNS, own_lenses
from attnwidget.record import Layer, Rotary, ScoreProgram, Stack, Tokens
from attnwidget.wire import decode_overview, encode_overview
from attnwidget.wire.manifest import VERSION
from tests.unit.looks import thumbnail
from tests.unit.records import (
    FIDELITY,
    HEADS,
    KEY_HEADS,
    PROGRAMS,
    floats,
    hybrid,
    labels,
    layer_of,
    numbered,
    program,
    record_of,
    record_with_every_program,
)


def _manifest(record: AttentionRecord) -> dict[str, Any]:
    """The manifest as it arrives: JSON, which has neither NaN nor infinity."""
    return json.loads(json.dumps(encode_overview(record)[0], allow_nan=False))


def test_what_it_says_of_a_stack() -> None:
    manifest = _manifest(record_with_every_program())
    assert manifest["version"] == VERSION
    assert manifest["model"] == "a model"
    [stack] = manifest["stacks"]
    assert stack["name"] == "self"
    assert stack["queries"] == {
        "labels": labels(),
        "segments": [0, 0, 0, 0, 1, 1, 1],
        "special": [0, 3, 6],
        "words": None,
        "patches": None,
        "generated": None,
    }
    assert stack["keys"] is None, "the same as the queries"
    assert len(stack["layers"]) == len(PROGRAMS) + 2


def test_keys_of_their_own_are_sent() -> None:
    layer = Layer(floats(HEADS, 3, 8), floats(2, 5, 8), program(), None, FIDELITY)
    manifest = _manifest(record_of(layer))
    assert manifest["stacks"][0]["queries"]["labels"] == labels(3)
    assert manifest["stacks"][0]["keys"] == {
        "labels": labels(5),
        "segments": None,
        "special": [],
        "words": None,
        "patches": None,
        "generated": None,
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_it_says_of_a_layer(name: str) -> None:
    source = PROGRAMS[name]
    [layer] = _manifest(record_of(layer_of(source)))["stacks"][0]["layers"]
    assert (layer["heads"], layer["key_heads"], layer["dim"]) == (HEADS, KEY_HEADS, 8)
    assert layer["number"] == 0
    assert layer["rotary"] is None
    assert layer["fidelity"] == {
        "exact": True, "module": "layers.0", "tolerance": 1e-5, "labels": "checked"
    }  # fmt: skip
    assert layer["program"] == {
        "scale": list(source.scale) if isinstance(source.scale, tuple) else source.scale,
        "mask": source.mask,
        "window": None if source.window is None else list(source.window),
        "blocks": None if source.blocks is None else list(source.blocks),
        "softcap": source.softcap,
        "sinks": None if source.sinks is None else source.sinks.tolist(),
        "bias": source.bias is not None,
        "relative": source.relative is not None,
    }


def test_what_it_says_of_metrics() -> None:
    """Each is there with all that a view says of it, and in the stacks where it means something."""
    [own, other] = (
        layer_of(program()),
        Layer(floats(2, 3, 8), floats(2, 5, 8), program(), None, FIDELITY),
    )
    record = AttentionRecord(
        {"self": record_of(own, own).stack(), "cross": record_of(other).stack()}
    )
    manifest = _manifest(record)
    assert [metric["name"] for metric in manifest["metrics"]] == list(METRICS)
    for metric in manifest["metrics"]:
        assert metric["label"]
        assert metric["description"].endswith(".")
        assert metric["signed"] == bool(metric["directions"])
        assert ("cross" in metric["values"]) != METRICS[metric["name"]].self_only
        heads = {stack: [len(row) for row in rows] for stack, rows in metric["values"].items()}
        assert heads["self"] == [HEADS, HEADS]
        assert heads.get("cross", [2]) == [2]
    patterns = manifest["patterns"]
    assert len(patterns["kinds"]) == len(PATTERNS)
    assert [len(row) for rows in patterns["values"].values() for row in rows] == [HEADS, HEADS, 2]


def test_what_it_says_of_a_layer_of_weights_alone() -> None:
    *_, alone, with_vectors = _manifest(record_with_every_program())["stacks"][0]["layers"]
    assert (alone["program"], alone["dim"], alone["key_heads"]) == (None, None, HEADS)
    assert alone["fidelity"]["exact"] is None
    assert (with_vectors["program"], with_vectors["dim"]) == (None, 8)


def test_pairs_that_were_turned_together() -> None:
    turned = replace(layer_of(program()), rotary=Rotary("neighbours", dims=4, start=2))
    layers = _manifest(record_of(turned, layer_of(program())))["stacks"][0]["layers"]
    assert layers[0]["rotary"] == {"pairs": "neighbours", "dims": 4, "start": 2}
    assert layers[1]["rotary"] is None


def test_layers_have_the_numbers_of_the_model() -> None:
    manifest = _manifest(AttentionRecord({"self": hybrid()}))
    assert [layer["number"] for layer in manifest["stacks"][0]["layers"]] == [3, 7, 11]


def test_what_is_missing_is_said() -> None:
    missing = ["layers.4: attends without a softmax", "layers.5: </script>"]
    record = AttentionRecord({"self": hybrid()}, missing=missing)
    assert _manifest(record)["missing"] == missing
    assert _manifest(AttentionRecord({"self": hybrid()}))["missing"] == []


def test_offsets_stay_in_python() -> None:
    tokens = {"offsets": ((0, 1),) * 7}
    with_offsets, without = (
        _manifest(record_of(layer_of(program()), **more)) for more in (tokens, {})
    )
    assert with_offsets == without


@pytest.mark.parametrize("length", [7, 40])
def test_thumbnails_follow_each_other(length: int) -> None:
    """4 bits per cell, the high half of a byte first; of stacks, then layers, then heads."""
    tokens = Tokens(tuple(labels(length)))

    def layer(heads: int) -> Layer:
        vectors = (floats(heads, length, 8, seed=n, scale=3) for n in (1, 2))
        return Layer(*vectors, program(mask="causal"), None, FIDELITY)

    layers = [layer(3), layer(2), layer(1)]
    record = AttentionRecord(
        {
            "first": Stack(tokens, tokens, numbered(*layers[:2])),
            "second": Stack(tokens, tokens, numbered(*layers[2:])),
        }
    )
    manifest, overview = encode_overview(record)
    cells = min(length, 32) ** 2
    size = (cells + 1) // 2
    assert len(overview) == 6 * size
    expected = [
        thumbnail(layer.head_weights(head)[None], (None, None))[0].ravel()
        for layer in layers
        for head in range(layer.num_heads)
    ]
    for index, levels in enumerate(expected):
        packed = overview[index * size : (index + 1) * size]
        unpacked = [half for byte in packed for half in (byte >> 4, byte & 15)]
        assert unpacked[:cells] == levels.tolist()
        assert not any(unpacked[cells:])
    decoded = decode_overview(record, manifest, overview)
    found = [levels.ravel() for stack in decoded.values() for layer in stack for levels in layer]
    assert np.array_equal(found, expected)


def test_144_heads_fit_into_150_kilobytes() -> None:
    length = 128
    tokens = Tokens(tuple(f"##token{n}" for n in range(length)), (0,) * 64 + (1,) * 64, (0, 127))
    causal = ScoreProgram(0.125, "causal", sinks=floats(12))
    layers = tuple(
        Layer(
            floats(12, length, 64, seed=2 * n),
            floats(12, length, 64, seed=2 * n + 1),
            causal,
            None,
            FIDELITY,
        )
        for n in range(12)
    )
    manifest, overview = encode_overview(
        AttentionRecord({"self": Stack(tokens, tokens, numbered(*layers))})
    )
    assert len(json.dumps(manifest).encode()) + len(overview) < 150_000


def test_a_sink_that_is_switched_off() -> None:
    [stack] = _manifest(record_of(layer_of(program(sinks=np.full(HEADS, -np.inf, np.float32)))))[
        "stacks"
    ]
    assert len(stack["layers"]) == 1


def test_thumbnails_of_more_lenses_than_a_page_reads_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights = np.full((2, 4, 32, 32), 1 / 32, np.float32)
    record = AttentionRecord.from_arrays(list(weights), labels(32))
    lenses = (*LENSES, *own_lenses(record, {"mine": weights, "yours": weights}, LENSES))
    # Of attention, of values and contributions, which may be there, and of two lenses.
    whole = 5 * 8 * 512
    monkeypatch.setattr("attnwidget.wire.manifest._MOST_THUMBNAILS", whole)
    assert len(encode_overview(record, lenses=lenses)[1]) == whole * 3 / 5
    monkeypatch.setattr("attnwidget.wire.manifest._MOST_THUMBNAILS", whole - 1)
    with pytest.raises(ValueError, match="give fewer lenses"):
        encode_overview(record, lenses=lenses)
