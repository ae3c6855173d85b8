"""Saving of a record as one safetensors file: arrays unchanged, all else as JSON metadata.

`loading` reads these files.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from os import PathLike

import numpy as np
from safetensors.numpy import save as to_bytes

from .described import LARGEST_HEADER, MAX_BRACKETS, Kind, num_brackets
from .fidelity import Replay
from .files import write_whole
from .images import Picture
from .recurrence import Recurrence
from .stack import Stack

FORMAT = "attnwidget-record"
# The second has several images, and grids of patches; the third, which is written where it is
# needed alone, layers without a softmax and gates.
VERSION = 3
_WITH_SOFTMAX = 2
KIND = Kind("record", FORMAT, VERSION, "AttentionRecord.save")

# More than any model has; each costs time to check, even if all share a few arrays.
MAX_LAYERS = 1 << 12

LAYER_ARRAYS = ("queries", "keys", "weights", "values", "projection", "coefficients", "gates")
PROGRAM_ARRAYS = ("visible", "bias", "relative", "sinks")
PROGRAM_VALUES = ("scale", "mask", "window", "blocks", "softcap")
RECURRENCE_ARRAYS = ("decay", "write", "erase", "own")
# These are lists in JSON.
PROGRAM_TUPLES = ("scale", "window", "blocks")


def save(
    path: str | PathLike[str],
    stacks: Mapping[str, Stack],
    model: str,
    missing: Sequence[str],
    images: Sequence[Picture],
    replay: Replay | None,
) -> None:
    """Write stacks to a file.

    Raises:
        ValueError: there are more tokens or layers than `load` would read.
        OSError: the file cannot be written; an existing file is unchanged.
    """
    if sum(len(stack.layers) for stack in stacks.values()) > MAX_LAYERS:
        raise ValueError(f"the record has more than {MAX_LAYERS} layers, too many for a file")
    arrays: dict[str, np.ndarray] = {}
    written: dict[int, str] = {}
    description = []
    for name, stack in stacks.items():
        layers = []
        for index, layer in enumerate(stack.layers):
            layer_arrays = {key: getattr(layer, key) for key in LAYER_ARRAYS}
            program = None
            if isinstance(layer.program, Recurrence):
                layer_arrays |= layer.program.arrays
                program = {"recurrence": layer.program.scale}
            elif layer.program is not None:
                layer_arrays |= {key: getattr(layer.program, key) for key in PROGRAM_ARRAYS}
                program = {key: getattr(layer.program, key) for key in PROGRAM_VALUES}
            # A mask that several layers share is written once.
            places = {
                key: written.setdefault(id(array), f"{name}.{index}.{key}")
                for key, array in layer_arrays.items()
                if array is not None
            }
            for key, place in places.items():
                arrays[place] = np.ascontiguousarray(layer_arrays[key])
            fidelity = asdict(layer.fidelity)
            layers.append(
                {
                    "number": layer.number,
                    "program": program,
                    "arrays": places,
                    # Beside the fidelity: early versions refuse what they do not know in it.
                    "labels": fidelity.pop("labels"),
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
    layers_of_all = [layer for stack in stacks.values() for layer in stack.layers]
    newest = any(layer.signed or layer.gates is not None for layer in layers_of_all)
    content = {
        "version": VERSION if newest else _WITH_SOFTMAX,
        "model": model,
        "missing": list(missing),
        "stacks": description,
        "images": [base64.b64encode(image.data).decode() for image in images],
        "replay": None if replay is None else asdict(replay),
    }
    text = json.dumps(content)
    if num_brackets(text) > MAX_BRACKETS:
        raise ValueError(
            f"the record is too long for a file: its tokens and layers have more than "
            f"{MAX_BRACKETS} parts, opening brackets in their texts included"
        )
    # safetensors' own save_file would leave a file that no other user may read.
    data = to_bytes(arrays, metadata={FORMAT: text})
    if int.from_bytes(data[:8], "little") > LARGEST_HEADER:
        raise ValueError("the record has too many tokens for a file")
    write_whole(path, data)
