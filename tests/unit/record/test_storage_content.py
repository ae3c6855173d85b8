"""A sound file with a wrong description or wrong arrays is refused with a ValueError."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from attnwidget import AttentionRecord
from attnwidget.record import Replay
from attnwidget.wire import encode_overview
from tests.unit.records import HEADS, LENGTH, PROGRAMS, floats, layer_of, record_of, some_weights

Arrays = dict[str, np.ndarray]
Content = dict[str, Any]

DAMAGED = r"record\.safetensors is a damaged attnwidget record: ."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file whose one layer's program has every array that there is."""
    path = tmp_path / "record.safetensors"
    layer = replace(
        layer_of(replace(PROGRAMS["everything"], relative=floats(HEADS, 2 * LENGTH - 1))),
        values=floats(2, LENGTH, 5),
        projection=floats(HEADS, 5, 6),
    )
    record_of(layer, words=(0,) * LENGTH, offsets=((0, 1),) * LENGTH).save(path)
    return path


@pytest.fixture
def rewrite(path: Path) -> Callable[[Callable[[Arrays, Content], Any]], Path]:
    """Writes the file again after a change to its arrays and its description."""

    def rewrite(change: Callable[[Arrays, Content], Any]) -> Path:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118
            [(name, text)] = file.metadata().items()
        content = json.loads(text)
        replaced = change(arrays, content)
        content = content if replaced is None else replaced
        save_file(arrays, path, metadata={name: json.dumps(content)})
        return path

    return rewrite


def test_the_file_is_sound_as_long_as_nothing_is_changed(rewrite: Any) -> None:
    assert AttentionRecord.load(rewrite(lambda _arrays, _content: None)).num_layers() == 1


def test_a_newer_version_says_what_is_needed(rewrite: Any) -> None:
    path = rewrite(lambda _, content: content.update(version=4, stacks="of a form yet unknown"))
    with pytest.raises(ValueError, match=r"record format 4, .* up to 3; update attnwidget"):
        AttentionRecord.load(path)


def test_a_replay_that_was_saved_without_its_typical_difference(rewrite: Any) -> None:
    saved = {"difference": 1e-3, "tolerance": 3e-2, "reason": "it computes in half precision"}
    record = AttentionRecord.load(rewrite(lambda _, content: content.update(replay=saved)))
    assert record.replay == Replay(**saved)
    assert record.replay.typical is None


DESCRIPTIONS: dict[str, Callable[[Content], Any]] = {
    "a list": lambda _: [],
    "a string": lambda _: "record",
    "no version": lambda c: c.pop("version") and None,
    "a version before the first": lambda c: c.update(version=0),
    "a version that is no number": lambda c: c.update(version="one"),
    "no stacks": lambda c: c.pop("stacks") and None,
    "an empty list of stacks": lambda c: c.update(stacks=[]),
    "stacks that are no list": lambda c: c.update(stacks=3),
    "a stack that is no object": lambda c: c.update(stacks=["self"]),
    "a stack without layers": lambda c: c["stacks"][0].update(layers=[]),
    "a stack without tokens": lambda c: c["stacks"][0].pop("queries") and None,
    "too few labels": lambda c: c["stacks"][0]["queries"]["labels"].pop() and None,
    "labels that are no strings": lambda c: c["stacks"][0]["keys"].update(labels=[1] * LENGTH),
    "labels in one string": lambda c: c["stacks"][0]["keys"].update(labels="letters"),
    "a special token out of range": lambda c: c["stacks"][0]["keys"].update(special=[LENGTH]),
    "two stacks of one name": lambda c: c["stacks"].append(c["stacks"][0]),
    "words too few": lambda c: c["stacks"][0]["queries"]["words"].pop() and None,
    "words that are no numbers": lambda c: c["stacks"][0]["keys"].update(words=["a"] * LENGTH),
    "words before the first": lambda c: c["stacks"][0]["keys"].update(words=[-1] * LENGTH),
    "no words": lambda c: c["stacks"][0]["queries"].pop("words") and None,
    "offsets too few": lambda c: c["stacks"][0]["queries"]["offsets"].pop() and None,
    "offsets of one number": lambda c: c["stacks"][0]["keys"].update(offsets=[[1]] * LENGTH),
    "offsets that are numbers": lambda c: c["stacks"][0]["keys"].update(offsets=[1] * LENGTH),
    "offsets that end before": lambda c: c["stacks"][0]["keys"].update(offsets=[[2, 1]] * LENGTH),
    "half an offset": lambda c: c["stacks"][0]["keys"].update(offsets=[[0, 1.5]] * LENGTH),
    "a special token and a half": lambda c: c["stacks"][0]["keys"].update(special=[1.5]),
    "a special token like a number": lambda c: c["stacks"][0]["keys"].update(special=[1.0]),
    "nothing about what is missing": lambda c: c.pop("missing") and None,
    "something about what is missing": lambda c: c.update(missing="layers.4"),
    "numbers of what is missing": lambda c: c.update(missing=[4]),
    "nothing missing but null": lambda c: c.update(missing=None),
    "no layer number": lambda c: c["stacks"][0]["layers"][0].pop("number") and None,
    "a layer number below 0": lambda c: c["stacks"][0]["layers"][0].update(number=-1),
    "half a layer number": lambda c: c["stacks"][0]["layers"][0].update(number=0.5),
    "a layer number in words": lambda c: c["stacks"][0]["layers"][0].update(number="0"),
    "an array that is not there": lambda c: c["stacks"][0]["layers"][0]["arrays"].update(
        weights="0"
    ),
    "an array not spoken of": lambda c: (
        c["stacks"][0]["layers"][0]["arrays"].pop("values") and None
    ),
    "a fidelity in words": (
        lambda c: c["stacks"][0]["layers"][0]["fidelity"].update(output_error="small")
    ),
    "a layer too many": lambda c: c["stacks"][0]["layers"].append(c["stacks"][0]["layers"][0]),
    "a layer that is no object": lambda c: c["stacks"][0].update(layers=[3]),
    "a fidelity of no text": (
        lambda c: c["stacks"][0]["layers"][0]["fidelity"].update(weights_error="")
    ),
    "a module that is no text": (
        lambda c: c["stacks"][0]["layers"][0]["fidelity"].update(module=["layers.0"])
    ),
    "a tolerance of nothing": (
        lambda c: c["stacks"][0]["layers"][0]["fidelity"].update(tolerance=float("nan"))
    ),
    "a tolerance without end": (
        lambda c: c["stacks"][0]["layers"][0]["fidelity"].update(tolerance=float("inf"))
    ),
    "rows before the first": lambda c: c["stacks"][0]["layers"][0]["fidelity"].update(rows=-1),
    "a layer number beyond all": lambda c: c["stacks"][0]["layers"][0].update(number=10**400),
    "a model that is no text": lambda c: c.update(model=["name"]),
    "a stack of no name": lambda c: c["stacks"][0].update(name=""),
    "a stack of a number": lambda c: c["stacks"][0].update(name=1),
    "a stack of a long name": lambda c: c["stacks"][0].update(name="x" * 201),
    "a stack named by a line": lambda c: c["stacks"][0].update(name="a\nb"),
    "a stack named in colour": lambda c: c["stacks"][0].update(name="\x1b[31mred"),
    "a stack named by half a character": lambda c: c["stacks"][0].update(name="\ud83d"),
    "segments that are no integers": (
        lambda c: c["stacks"][0]["queries"].update(segments=[0.0] * LENGTH)
    ),
    "segments that are lists": lambda c: c["stacks"][0]["queries"].update(segments=[[]] * LENGTH),
    "no program": lambda c: c["stacks"][0]["layers"][0].update(program=None),
    "a program that is no object": lambda c: c["stacks"][0]["layers"][0].update(program="x"),
    "no fidelity": lambda c: c["stacks"][0]["layers"][0].pop("fidelity") and None,
    "a fidelity with too little": lambda c: c["stacks"][0]["layers"][0].update(fidelity={}),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_description_that_describes_no_record(name: str, rewrite: Any) -> None:
    path = rewrite(lambda _, content: DESCRIPTIONS[name](content))
    with pytest.raises(ValueError, match=DAMAGED):
        AttentionRecord.load(path)


# Replacements of a part of {"pairs": "halves", "dims": 4, "start": 2}, of eight components.
ROTATIONS: dict[str, Any] = {
    "unknown pairs": {"pairs": "thirds"},
    "pairs in a list": {"pairs": ["halves"]},
    "no components": {"dims": 0},
    "half a pair": {"dims": 3},
    "a fraction": {"dims": 4.0},
    "too many": {"dims": 10**9},
    "beyond the last": {"start": 6},
    "before the first": {"start": -2},
    "from true on": {"start": True},
    "one field more": {"base": 10000},
}


@pytest.mark.parametrize("name", ROTATIONS)
def test_a_rotation_that_cannot_be(name: str, rewrite: Any) -> None:
    def change(_: Arrays, content: Content) -> None:
        layer = content["stacks"][0]["layers"][0]
        layer["rotary"] = {"pairs": "halves", "dims": 4, "start": 2, **ROTATIONS[name]}

    with pytest.raises(ValueError, match=r"damaged attnwidget record: .*(rotary|Rotary)"):
        AttentionRecord.load(rewrite(change))


@pytest.mark.parametrize("rotary", ["halves", {"pairs": "halves"}, [], 4])
def test_a_rotation_that_is_none(rotary: Any, rewrite: Any) -> None:
    path = rewrite(lambda _, c: c["stacks"][0]["layers"][0].update(rotary=rotary))
    with pytest.raises(ValueError, match="damaged attnwidget record"):
        AttentionRecord.load(path)


def test_a_file_from_before_there_were_rotations(rewrite: Any) -> None:
    path = rewrite(lambda _, c: c["stacks"][0]["layers"][0].pop("rotary") and None)
    assert AttentionRecord.load(path).layer(0).rotary is None


PROGRAM_CHANGES: dict[str, dict[str, Any]] = {
    "a mask without its window": {"mask": "window"},
    "a window without its mask": {"window": [1, 1]},
    "a window of one number": {"mask": "window", "window": [1]},
    "an unknown mask": {"mask": "diagonal"},
    "a scale that is no number": {"scale": "1"},
    "no scale": {"scale": None},
    "a softcap that is no number": {"softcap": "2"},
    "scales for other heads": {"scale": [1.0, 2.0]},
    "scales that are no numbers": {"scale": ["1"] * HEADS},
    "no scales": {"scale": []},
    "blocks of one number": {"blocks": [2]},
    "blocks of nothing": {"blocks": [0, 0]},
    "blocks that are no numbers": {"blocks": ["a", "b"]},
    "blocks and a half": {"blocks": [2.5, 2]},
    "blocks that other arrays do not have": {"blocks": [3, 3]},
    "something unknown": {"temperature": 2},
    "a scale of many digits": {"scale": 10**400},
    "a scale beyond single precision": {"scale": 1e39},
    "a scale that is true": {"scale": True},
    "a scale of nothing": {"scale": float("nan")},
    "a softcap too small to divide by": {"softcap": 1e-60},
    "a softcap of many digits": {"softcap": 10**400},
    "a window of many digits": {"mask": "window", "window": [10**400, 0]},
    "a window wider than integers": {"mask": "window", "window": [2**63, 0]},
    "blocks of many digits": {"blocks": [2, 10**30]},
}


@pytest.mark.parametrize("name", PROGRAM_CHANGES)
def test_a_program_that_cannot_be_run(name: str, rewrite: Any) -> None:
    def change(arrays: Arrays, content: Content) -> None:
        program = content["stacks"][0]["layers"][0]["program"]
        program.update(PROGRAM_CHANGES[name])
        if program["mask"] != "explicit":
            arrays.pop("self.0.visible")

    with pytest.raises(ValueError, match=DAMAGED):
        AttentionRecord.load(rewrite(change))


@pytest.mark.parametrize(
    "name",
    ["queries", "keys", "visible", "bias", "relative", "sinks", "values", "projection"],
)
def test_an_array_is_missing(name: str, rewrite: Any) -> None:
    """Without a bias or sinks, the weights would be other ones, and no one would know."""
    path = rewrite(lambda arrays, _: arrays.pop(f"self.0.{name}") is None or None)
    with pytest.raises(ValueError, match=DAMAGED):
        AttentionRecord.load(path)


def test_weights_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "record.safetensors"
    AttentionRecord.from_arrays([some_weights()], ["t"] * LENGTH).save(path)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    save_file({"unused": floats(1)}, path, metadata=metadata)
    with pytest.raises(ValueError, match="weights"):
        AttentionRecord.load(path)


SHAPES: dict[str, np.ndarray] = {
    "queries": floats(HEADS, LENGTH + 1, 8),
    "keys": floats(2, LENGTH, 5),
    "queries without heads": floats(0, LENGTH, 8),
    "keys without heads": floats(0, LENGTH, 8),
    "queries of two axes": floats(HEADS, LENGTH),
    "visible": np.ones((HEADS, 3, 3), dtype=bool),
    "visible for other heads": np.ones((3, LENGTH, LENGTH), dtype=bool),
    "visible as numbers": floats(HEADS, LENGTH, LENGTH),
    "bias": floats(HEADS, LENGTH, LENGTH - 1),
    "bias for other heads": floats(3, LENGTH, LENGTH),
    "bias without end": np.full((1, 1, LENGTH), np.inf, np.float32),
    "bias of nothing": np.full((1, 1, LENGTH), np.nan, np.float32),
    "relative": floats(HEADS, LENGTH),
    "relative for other heads": floats(3, 2 * LENGTH - 1),
    "relative of nothing": np.full((1, 2 * LENGTH - 1), np.nan, np.float32),
    "values": floats(2, LENGTH + 1, 5),
    "values for other heads": floats(3, LENGTH, 5),
    "values of two axes": floats(LENGTH, 5),
    "values without end": np.full((2, LENGTH, 5), np.inf, np.float32),
    "projection": floats(HEADS, 4, 6),
    "projection for other heads": floats(2, 5, 6),
    "projection of two axes": floats(HEADS * 5, 6),
    "sinks": floats(HEADS - 1),
    "sinks of two axes": floats(HEADS, 2),
    "queries of another type": np.ones((HEADS, LENGTH, 8), dtype=np.int64),
}


@pytest.mark.parametrize("name", SHAPES)
def test_an_array_of_another_shape_or_type(name: str, rewrite: Any) -> None:
    array = f"self.0.{name.split()[0]}"
    path = rewrite(lambda arrays, _: arrays.update({array: SHAPES[name]}))
    with pytest.raises(ValueError, match=DAMAGED):
        AttentionRecord.load(path)


@pytest.mark.parametrize("weights", [-some_weights(), np.full_like(some_weights(), np.nan)])
def test_weights_that_no_softmax_gives(tmp_path: Path, weights: np.ndarray) -> None:
    path = tmp_path / "record.safetensors"
    AttentionRecord.from_arrays([some_weights()], ["t"] * LENGTH).save(path)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    save_file({"self.0.weights": weights}, path, metadata=metadata)
    with pytest.raises(ValueError, match=f"{DAMAGED}.*layer 0: weights hold"):
        AttentionRecord.load(path)


def test_scores_beyond_single_precision(rewrite: Any) -> None:
    """Finite numbers, whose products are not."""

    def change(arrays: Arrays, _: Content) -> None:
        arrays["self.0.queries"] *= np.float32(1e30)
        arrays["self.0.keys"] *= np.float32(1e30)

    record = AttentionRecord.load(rewrite(change))
    record.layer(0)
    with pytest.raises(ValueError, match="scores of layer 0 are beyond single precision"):
        encode_overview(replace_softcap(record))


def replace_softcap(record: AttentionRecord) -> AttentionRecord:
    """Without one, nothing brings scores back into range."""
    stack = record.stack()
    [layer] = stack.layers
    assert layer.program
    program = replace(layer.program, softcap=None)
    return AttentionRecord({"self": replace(stack, layers=(replace(layer, program=program),))})
