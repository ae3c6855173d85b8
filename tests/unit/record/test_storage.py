"""A saved record comes back bit for bit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

from attnwidget import AttentionRecord
from attnwidget.record import Layer, Rotary, Stack, Tokens
from tests.unit.records import (
    FIDELITY,
    HEADS,
    KEY_HEADS,
    LENGTH,
    PROGRAMS,
    floats,
    hybrid,
    layer_of,
    program,
    record_of,
    record_with_every_program,
    some_weights,
)


def _round_trip(record: AttentionRecord, folder: Path) -> AttentionRecord:
    path = folder / "record.safetensors"
    record.save(path)
    return AttentionRecord.load(path)


def _assert_identical(a: Any, b: Any) -> None:
    """Same type and bytes, for arrays, or same value."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    else:
        assert a == b


def _assert_same(loaded: AttentionRecord, saved: AttentionRecord) -> None:
    assert loaded.model == saved.model
    assert loaded.missing == saved.missing
    assert loaded.stacks == saved.stacks
    for name in saved.stacks:
        ours, theirs = loaded.stack(name), saved.stack(name)
        assert ours.queries == theirs.queries
        assert ours.keys == theirs.keys
        assert len(ours.layers) == len(theirs.layers)
        for a, b in zip(ours.layers, theirs.layers, strict=True):
            assert (a.number, a.fidelity, a.rotary) == (b.number, b.fidelity, b.rotary)
            for field in ("queries", "keys", "weights", "values", "projection"):
                _assert_identical(getattr(a, field), getattr(b, field))
            assert (a.program is None) == (b.program is None)
            for field in vars(b.program) if b.program is not None else ():
                _assert_identical(getattr(a.program, field), getattr(b.program, field))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kind_of_program(name: str, tmp_path: Path) -> None:
    record = record_of(layer_of(PROGRAMS[name]))
    loaded = _round_trip(record, tmp_path)
    _assert_same(loaded, record)
    for head in range(HEADS):
        _assert_identical(loaded.weights(0, head), record.weights(0, head))
        _assert_identical(loaded.scores(0, head), record.scores(0, head))


def test_many_layers_segments_special_tokens_and_weights_alone(tmp_path: Path) -> None:
    record = record_with_every_program()
    _assert_same(_round_trip(record, tmp_path), record)


def test_numbers_of_the_model_and_what_is_missing(tmp_path: Path) -> None:
    record = AttentionRecord({"self": hybrid()}, missing=["layers.4: no softmax", "é\n: <b>"])
    loaded = _round_trip(record, tmp_path)
    _assert_same(loaded, record)
    assert loaded.stack().numbers == (3, 7, 11)
    assert loaded.missing == ("layers.4: no softmax", "é\n: <b>")
    _assert_identical(loaded.weights(11, 5), record.weights(11, 5))


def test_values_and_what_becomes_of_them(tmp_path: Path) -> None:
    values, projection = floats(KEY_HEADS, LENGTH, 5), floats(HEADS, 5, 12)
    layer = layer_of(PROGRAMS["causal"])
    alone = Layer(None, None, None, some_weights(), FIDELITY, values=values)
    both = replace(layer, values=values, projection=projection)
    record = record_of(both, layer, alone)
    loaded = _round_trip(record, tmp_path)
    _assert_same(loaded, record)
    assert loaded.layer(1).values is None
    assert loaded.layer(2).projection is None


def test_pairs_that_were_turned_together(tmp_path: Path) -> None:
    layer = layer_of(PROGRAMS["causal"])
    turned = [
        replace(layer, rotary=rotary)
        for rotary in (Rotary("halves", 8), Rotary("neighbours", 4, 2), None)
    ]
    record = record_of(*turned)
    loaded = _round_trip(record, tmp_path)
    _assert_same(loaded, record)
    assert loaded.layer(1).rotary == Rotary("neighbours", dims=4, start=2)


def test_tokens_that_were_generated(tmp_path: Path) -> None:
    stack = record_of(layer_of(PROGRAMS["causal"])).stack()
    tokens = replace(stack.queries, generated=3)
    record = AttentionRecord({"self": replace(stack, queries=tokens, keys=tokens)})
    _assert_same(_round_trip(record, tmp_path), record)


def test_words_and_offsets(tmp_path: Path) -> None:
    words = (None, 0, 0, 1, 2, 2, None)
    offsets = (None, (0, 3), (3, 5), (6, 9), (10, 10), (10, 12), None)
    record = record_of(layer_of(program()), words=words, offsets=offsets)
    _assert_same(_round_trip(record, tmp_path), record)
    part = record_of(layer_of(program()), words=words)
    _assert_same(_round_trip(part, tmp_path), part)


def test_several_stacks_with_tokens_of_their_own(tmp_path: Path) -> None:
    layer = Layer(
        floats(HEADS, 3, 8), floats(KEY_HEADS, LENGTH, 8), program(mask="none"), None, FIDELITY
    )
    cross = Stack(Tokens(("a", "</s>", "é🦜\n"), special=(1,)), Tokens(("x",) * LENGTH), (layer,))
    # The second name continues the first one's as its layers would.
    record = AttentionRecord(
        {
            "self": record_of(layer_of(PROGRAMS["causal"]), layer_of(PROGRAMS["sinks"], 7)).stack(),
            "self.1": record_of(layer_of(PROGRAMS["one bias"], 9)).stack(),
            "cross": cross,
        },
        model='a "strange" name',
    )
    _assert_same(_round_trip(record, tmp_path), record)


def test_arrays_in_any_memory_order(tmp_path: Path) -> None:
    queries = floats(LENGTH, HEADS, 8).transpose(1, 0, 2)
    keys = np.broadcast_to(floats(1, LENGTH, 8), (KEY_HEADS, LENGTH, 8))
    assert not queries.flags.c_contiguous
    loaded = _round_trip(
        record_of(Layer(queries, keys, program(), None, FIDELITY)), tmp_path
    ).layer(0)
    assert loaded.queries is not None
    assert loaded.keys is not None
    assert np.array_equal(loaded.queries, queries)
    assert np.array_equal(loaded.keys, keys)


def test_values_at_the_edges_of_float32(tmp_path: Path) -> None:
    queries = floats(HEADS, LENGTH, 8)
    queries.flat[:6] = [0.0, -0.0, 1e-45, -1e-38, 3.4e38, -3.4e38]
    record = record_of(
        Layer(queries, floats(KEY_HEADS, LENGTH, 8), program(scale=1 / 3), None, FIDELITY)
    )
    _assert_same(_round_trip(record, tmp_path), record)


@pytest.mark.parametrize("form", [str, Path])
def test_a_path_of_either_type_and_saving_over(form: type, tmp_path: Path) -> None:
    path = form(tmp_path / "record.safetensors")
    record_of(layer_of(PROGRAMS["softcap"])).save(path)
    record = record_of(layer_of(PROGRAMS["causal"]))
    record.save(path)
    _assert_same(AttentionRecord.load(path), record)


def test_any_safetensors_reader_can_read_the_arrays(tmp_path: Path) -> None:
    record = record_of(layer_of(PROGRAMS["everything"]))
    path = tmp_path / "record.safetensors"
    record.save(path)
    with safe_open(path, framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert set(arrays) == {f"self.0.{n}" for n in ("queries", "keys", "visible", "bias", "sinks")}
    _assert_identical(arrays["self.0.queries"], record.layer(0).queries)
