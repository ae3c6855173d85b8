"""A record as one safetensors file: arrays as they are, everything else as JSON metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from .layer import Fidelity, Layer
from .rotary import Rotary
from .scores import ScoreProgram
from .stack import Stack
from .tokens import Tokens

FORMAT = "attnwidget-record"
VERSION = 1

_LAYER_ARRAYS = ("queries", "keys", "weights", "values", "projection")
_PROGRAM_ARRAYS = ("visible", "bias", "relative", "sinks")
_PROGRAM_VALUES = ("scale", "mask", "window", "blocks", "softcap")
# JSON knows lists only.
_PROGRAM_TUPLES = ("scale", "window", "blocks")


class _NewerRecord(ValueError):
    """Nothing is wrong with the file."""


def save(
    path: str | PathLike[str], stacks: Mapping[str, Stack], model: str, missing: Sequence[str]
) -> None:
    """Write stacks to `path`."""
    arrays: dict[str, np.ndarray] = {}
    written: dict[int, str] = {}
    description = []
    for name, stack in stacks.items():
        layers = []
        for index, layer in enumerate(stack.layers):
            owned = {key: getattr(layer, key) for key in _LAYER_ARRAYS}
            program = None
            if layer.program is not None:
                owned |= {key: getattr(layer.program, key) for key in _PROGRAM_ARRAYS}
                program = {key: getattr(layer.program, key) for key in _PROGRAM_VALUES}
            # Layers often share a mask: it is written once.
            kept = {
                key: written.setdefault(id(array), f"{name}.{index}.{key}")
                for key, array in owned.items()
                if array is not None
            }
            for key, place in kept.items():
                arrays[place] = np.ascontiguousarray(owned[key])
            fidelity = asdict(layer.fidelity)
            layers.append(
                {
                    "number": layer.number,
                    "program": program,
                    "arrays": kept,
                    "fidelity": fidelity,
                    "rotary": None if layer.rotary is None else asdict(layer.rotary),
                }
            )
        description.append(
            {
                "name": name,
                "queries": asdict(stack.queries),
                "keys": asdict(stack.keys),
                "layers": layers,
            }
        )
    content = {"version": VERSION, "model": model, "missing": list(missing), "stacks": description}
    # Not safetensors' own way to a file, which leaves one that nobody else may read.
    Path(path).write_bytes(to_bytes(arrays, metadata={FORMAT: json.dumps(content)}))


def load(path: str | PathLike[str]) -> dict[str, Any]:
    """The arguments of the AttentionRecord in `path`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no record, a damaged one, or one of a newer version.
    """
    try:
        with safe_open(fspath(path), framework="numpy") as file:
            text = (file.metadata() or {}).get(FORMAT)
            arrays = {key: file.get_tensor(key) for key in file.keys()} if text else {}  # noqa: SIM118
    except (SafetensorError, TypeError) as error:  # TypeError: an array type that numpy lacks
        raise ValueError(f"{fspath(path)} is not a readable safetensors file: {error}") from error
    if not text:
        raise ValueError(f"{fspath(path)} is a safetensors file, but not an attnwidget record")
    try:
        content = json.loads(text)
        version = content["version"]
        if not isinstance(version, int) or version < 1:
            raise TypeError(f"version {version!r}")
        if version > VERSION:
            raise _NewerRecord(
                f"{fspath(path)} has record format {version}, this attnwidget reads up to "
                f"{VERSION}; update attnwidget to open it"
            )
        stacks = {str(s["name"]): _stack(s, arrays) for s in content["stacks"]}
        if len(stacks) < len(content["stacks"]):
            raise ValueError("two stacks of the same name")
        missing = content["missing"]
        if not isinstance(missing, list) or not all(isinstance(text, str) for text in missing):
            raise TypeError("missing is no list of texts")
        return {"stacks": stacks, "model": str(content["model"]), "missing": missing}
    except _NewerRecord:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{fspath(path)} is a damaged attnwidget record: {error}") from error


def _stack(description: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Stack:
    queries, keys = (_tokens(description[side]) for side in ("queries", "keys"))
    layers = []
    for layer in description["layers"]:
        found = {key: arrays[place] for key, place in layer["arrays"].items()}
        program = None
        if (stored := layer["program"]) is not None:
            tuples = {k: tuple(stored[k]) for k in _PROGRAM_TUPLES if isinstance(stored[k], list)}
            own: dict[str, Any] = {key: found.pop(key, None) for key in _PROGRAM_ARRAYS}
            program = ScoreProgram(**{**stored, **tuples}, **own)
        kept: dict[str, Any] = {key: found.pop(key, None) for key in _LAYER_ARRAYS}
        if found:
            raise ValueError(f"unknown arrays {', '.join(found)}")
        fidelity = Fidelity(**layer["fidelity"])
        # Files of the first version may be without it.
        stored = layer.get("rotary")
        rotary = None if stored is None else Rotary(**stored)
        number = layer["number"]
        layers.append(
            Layer(**kept, program=program, fidelity=fidelity, number=number, rotary=rotary)
        )
    return Stack(queries, keys, tuple(layers))


def _tokens(stored: dict[str, Any]) -> Tokens:
    if isinstance(stored["labels"], str):
        raise TypeError("labels in one string")

    def optional(name: str) -> tuple[Any, ...] | None:
        return None if stored[name] is None else tuple(stored[name])

    offsets = optional("offsets")
    return Tokens(
        tuple(stored["labels"]),
        optional("segments"),
        tuple(stored["special"]),
        optional("words"),
        None if offsets is None else tuple(None if o is None else tuple(o) for o in offsets),
    )
