"""Loading of records from untrusted files: sizes are checked before memory is allocated."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from .described import DAMAGE, described_file, reason
from .fidelity import Fidelity, Replay, Written
from .images import Box, Grid, Patches, Picture
from .layer import Layer, Rotary
from .recurrence import Recurrence
from .scores import ScoreProgram
from .stack import Stack
from .storage import (
    KIND,
    LAYER_ARRAYS,
    MAX_LAYERS,
    PROGRAM_ARRAYS,
    PROGRAM_TUPLES,
    RECURRENCE_ARRAYS,
)
from .tokens import Piece, Tokens

_Record = TypeVar("_Record")

_DTYPES = {"F32": np.dtype(np.float32), "BOOL": np.dtype(np.bool_)}


def load(path: str | PathLike[str], make: Callable[..., _Record]) -> _Record:
    """Read the record in a file.

    Args:
        make: AttentionRecord, or a callable with its arguments.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is no record, or a damaged one, or one of a newer version, or does not
            fit into memory.
    """
    with described_file(path, KIND) as (file, content):
        return make(**_read(file, content))


def _read(file: Any, content: Any) -> dict[str, Any]:
    """The arguments of the AttentionRecord in a file."""
    described = content["stacks"]
    if sum(len(stack["layers"]) for stack in described) > MAX_LAYERS:
        raise ValueError(f"it has more than {MAX_LAYERS} layers")
    arrays = _Arrays(file)
    stacks = {}
    for stack in described:
        with _within(f"stack {stack['name']!r:.200}"):
            stacks[stack["name"]] = _stack(stack, arrays)
    if len(stacks) < len(described):
        raise ValueError("two stacks of the same name")
    # AttentionRecord takes any sequence of texts.
    if not isinstance(content["missing"], list):
        raise TypeError("missing is no list of texts")
    # Early files of the first version lack these, and that version had one image.
    image, replay = content.get("image"), content.get("replay")
    images = content.get("images", [] if image is None else [image])
    return {
        "stacks": stacks,
        "model": content["model"],
        "missing": content["missing"],
        "images": [Picture(base64.b64decode(each, validate=True)) for each in images],
        "replay": None if replay is None else _replay(replay),
    }


def _replay(stored: dict[str, Any]) -> Replay:
    # Early files lack the tokens that were written.
    written = [
        Written(**{**each, "likeliest": tuple((str(a), b) for a, b in each["likeliest"])})
        for each in stored.get("written", ())
    ]
    return Replay(**{**stored, "written": tuple(written)})


class _Arrays:
    """The arrays of a file; each is read once, after a check of its type and size."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._places = frozenset(file.keys())
        self._read: dict[str, np.ndarray] = {}

    def read(self, place: str, name: str, sides: tuple[int, int]) -> np.ndarray:
        """Read the array at a place of the file.

        Args:
            name: the array's name in a layer, such as "queries".
            sides: (Tq, Tk).
        """
        if place not in self._places:
            raise ValueError(f"the array {place!r:.200} is not in the file")
        array = self._file.get_slice(place)
        dtype, shape = array.get_dtype(), tuple(array.get_shape())
        expected = "BOOL" if name == "visible" else "F32"
        if dtype != expected or not _fits(shape, name, sides):
            raise ValueError(
                f"{name} are {dtype} {list(shape)}, which does not fit {sides[0]} queries and "
                f"{sides[1]} keys; expected {expected}"
            )
        if place not in self._read:
            # safetensors panics if memory runs out; numpy raises a MemoryError.
            np.empty(shape, _DTYPES[dtype])
            self._read[place] = self._file.get_tensor(place)
        return self._read[place]


def _fits(shape: tuple[int, ...], name: str, sides: tuple[int, int]) -> bool:
    """True if an array has the right number of axes, and one entry per token where needed."""
    queries, keys = sides
    axes: dict[str, tuple[int | None, ...]] = {
        "queries": (None, queries, None),
        "keys": (None, keys, None),
        "values": (None, keys, None),
        "weights": (None, queries, keys),
        "coefficients": (None, queries, keys),
        "relative": (None, queries + keys - 1),
        "sinks": (None,),
        "gates": (None, queries, None),
        "decay": (None, keys, None),
        "write": (None, keys),
        "erase": (None, keys),
        "own": (None,),
    }
    expected = axes.get(name, (None, None, None))
    return len(shape) == len(expected) and all(
        length in (None, size) for length, size in zip(expected, shape, strict=True)
    )


def _stack(description: dict[str, Any], arrays: _Arrays) -> Stack:
    queries, keys = (_tokens(description[side]) for side in ("queries", "keys"))
    layers = []
    for layer in description["layers"]:
        with _within(f"layer {layer['number']!r:.50}"):
            layers.append(_layer(layer, arrays, (len(queries), len(keys))))
    return Stack(queries, keys, tuple(layers))


def _layer(description: dict[str, Any], arrays: _Arrays, sides: tuple[int, int]) -> Layer:
    places: Mapping[str, str] = description["arrays"]
    if unknown := set(places) - {*LAYER_ARRAYS, *PROGRAM_ARRAYS, *RECURRENCE_ARRAYS}:
        raise ValueError(f"unknown arrays {', '.join(map(repr, sorted(unknown))):.200}")
    read: dict[str, Any] = {name: arrays.read(place, name, sides) for name, place in places.items()}
    program: ScoreProgram | Recurrence | None = None
    if (stored := description["program"]) is not None and "recurrence" in stored:
        strengths: dict[str, Any] = {key: read.get(key) for key in RECURRENCE_ARRAYS}
        program = Recurrence(stored["recurrence"], **strengths)
    elif stored is not None:
        tuples = {k: tuple(stored[k]) for k in PROGRAM_TUPLES if isinstance(stored[k], list)}
        program_arrays: dict[str, Any] = {key: read.get(key) for key in PROGRAM_ARRAYS}
        program = ScoreProgram(**{**stored, **tuples}, **program_arrays)
    elif unused := read.keys() & {*PROGRAM_ARRAYS, *RECURRENCE_ARRAYS}:
        raise ValueError(f"{', '.join(sorted(unused))} without a program")
    # Early files of the first version lack both.
    rotary, labels = description.get("rotary"), description.get("labels")
    return Layer(
        **{key: read.get(key) for key in LAYER_ARRAYS},
        program=program,
        fidelity=Fidelity(**description["fidelity"], labels=labels),
        number=description["number"],
        rotary=None if rotary is None else Rotary(**rotary),
    )


def _tokens(stored: dict[str, Any]) -> Tokens:
    if isinstance(stored["labels"], str):
        raise TypeError("labels in one string")

    def optional(name: str) -> tuple[Any, ...] | None:
        return None if stored[name] is None else tuple(stored[name])

    offsets = optional("offsets")
    # Early files of the first version lack what follows.
    patches, pieces, boxes = (stored.get(name) for name in ("patches", "pieces", "boxes"))
    return Tokens(
        tuple(stored["labels"]),
        optional("segments"),
        tuple(stored["special"]),
        optional("words"),
        None if offsets is None else tuple(None if o is None else tuple(o) for o in offsets),
        None if patches is None else _patches(patches),
        stored.get("generated"),
        stored.get("text"),
        None if pieces is None else tuple(Piece(**piece) for piece in pieces),
        None if boxes is None else tuple(map(_box, boxes)),
    )


def _box(stored: list[Any] | None) -> tuple[int, Box] | None:
    if stored is None:
        return None
    image, (left, top, right, bottom) = stored
    return image, (float(left), float(top), float(right), float(bottom))


def _patches(stored: dict[str, Any]) -> Patches:
    of = tuple(stored["of"])
    if "grids" not in stored:  # the first version had one grid on one image
        return Patches((Grid(stored["rows"], stored["columns"]),), of)
    grids = (Grid(**{**grid, "box": tuple(map(float, grid["box"]))}) for grid in stored["grids"])
    return Patches(tuple(grids), of, stored["soft"])


@contextmanager
def _within(place: str) -> Iterator[None]:
    """Add the place to the message of an error."""
    try:
        yield
    except MemoryError:
        raise
    except DAMAGE as error:
        raise ValueError(f"{place}: {reason(error)}") from error
