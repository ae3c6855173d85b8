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
from tests.unit.records import HEADS, LENGTH, PROGRAMS, floats, layer_of, record_of, some_weights

Arrays = dict[str, np.ndarray]
Content = dict[str, Any]


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
    path = rewrite(lambda _, content: content.update(version=2, stacks="of a form yet unknown"))
    with pytest.raises(ValueError, match=r"record format 2, .* up to 1; update attnwidget"):
        AttentionRecord.load(path)


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
    "no program": lambda c: c["stacks"][0]["layers"][0].update(program=None),
    "a program that is no object": lambda c: c["stacks"][0]["layers"][0].update(program="x"),
    "no fidelity": lambda c: c["stacks"][0]["layers"][0].pop("fidelity") and None,
    "a fidelity with too little": lambda c: c["stacks"][0]["layers"][0].update(fidelity={}),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_description_that_describes_no_record(name: str, rewrite: Any) -> None:
    path = rewrite(lambda _, content: DESCRIPTIONS[name](content))
    with pytest.raises(ValueError, match=r".+"):
        AttentionRecord.load(path)


# What replaces a part of {"pairs": "halves", "dims": 4, "start": 2}, of eight components.
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
}


@pytest.mark.parametrize("name", PROGRAM_CHANGES)
def test_a_program_that_cannot_be_run(name: str, rewrite: Any) -> None:
    def change(arrays: Arrays, content: Content) -> None:
        program = content["stacks"][0]["layers"][0]["program"]
        program.update(PROGRAM_CHANGES[name])
        if program["mask"] != "explicit":
            arrays.pop("self.0.visible")

    with pytest.raises(ValueError, match=r".+"):
        AttentionRecord.load(rewrite(change))


@pytest.mark.parametrize(
    "name",
    ["queries", "keys", "visible", "bias", "relative", "sinks", "values", "projection"],
)
def test_an_array_is_missing(name: str, rewrite: Any) -> None:
    """Without a bias or sinks, the weights would be other ones, and no one would know."""
    path = rewrite(lambda arrays, _: arrays.pop(f"self.0.{name}") is None or None)
    with pytest.raises(ValueError, match=r".+"):
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
    with pytest.raises(ValueError, match=r".+"):
        AttentionRecord.load(path)
