"""Saving and loading of profiles as one safetensors file, in which every array is deflated."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from typing import Any, TypeVar

import numpy as np
from safetensors.numpy import save as to_bytes

from attnwidget.record.described import MAX_BRACKETS, Kind, described_file, num_brackets
from attnwidget.record.files import write_whole
from attnwidget.record.stack import check_name

from .accumulators import Estimate
from .stack_profile import Picked, ProfileMetric, SampledRows, StackProfile

_KIND = Kind("profile", "attnwidget-profile", 1, "HeadProfile.save")

_ESTIMATE = ("mean", "low", "high", "count")

# More than any model has, and any profile.
_MOST = 1 << 16

# No byte of deflated data gives more bytes.
_MOST_INFLATED = 1032

_Profile = TypeVar("_Profile")


def save(
    path: str | PathLike[str],
    stacks: Mapping[str, StackProfile],
    *,
    metrics: Sequence[ProfileMetric],
    texts: Mapping[int, str | tuple[str, ...]],
    **about: Any,
) -> None:
    """Write a profile to a file; the arguments are those of `HeadProfile`."""
    arrays: dict[str, np.ndarray] = {}
    for number, stack in enumerate(stacks.values()):
        arrays |= {f"{number}.{name}": array for name, array in _arrays(stack).items()}
    # The header of a file is limited, and texts may be long.
    encoded = json.dumps(list(texts.items())).encode()
    arrays["texts"] = np.frombuffer(encoded, np.uint8)
    description = {
        "version": _KIND.version,
        "stacks": [
            {"name": name, "numbers": stack.numbers, "heads": stack.heads}
            for name, stack in stacks.items()
        ],
        "metrics": [asdict(metric) for metric in metrics],
        "arrays": {
            name: {"dtype": array.dtype.str, "shape": array.shape} for name, array in arrays.items()
        },
        **about,
    }
    packed = {
        name: np.frombuffer(zlib.compress(array.tobytes()), np.uint8)
        for name, array in arrays.items()
    }
    write_whole(path, to_bytes(packed, metadata={_KIND.key: json.dumps(description)}))


def load(path: str | PathLike[str], make: Callable[..., _Profile]) -> _Profile:
    """Read the profile in a file.

    Args:
        make: HeadProfile, or a callable with its arguments.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is no profile, or a damaged one, or one of a newer version, or does
            not fit into memory.
    """
    with described_file(path, _KIND) as (file, content):
        arrays = _Arrays(file, content["arrays"])
        metrics = [ProfileMetric(**metric) for metric in content["metrics"]]
        names = [metric.name for metric in metrics]
        if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            raise ValueError("metrics of the same name, or without a name")
        nulls = [str(null) for null in content["nulls"]]
        if len(set(nulls)) < len(nulls) or not isinstance(content["model"], str):
            raise TypeError("nulls and model are names")
        most = content["max_tokens"]
        if not all(_is_count(content[name]) for name in ("num_texts", "seed")):
            raise TypeError("num_texts and seed are numbers from 0")
        if not (most is None or _is_count(most)):
            raise TypeError("max_tokens is a number from 0, or None")
        stacks = {}
        for number, stack in enumerate(content["stacks"]):
            check_name(stack["name"])
            stacks[stack["name"]] = _stack(arrays, number, stack, names, nulls)
        if not stacks or len(stacks) < len(content["stacks"]):
            raise ValueError("no stack, or two of the same name")
        texts = _texts(arrays)
        for shown in stacks.values():
            for picked in (shown.extremes, shown.medians):
                if not set(np.unique(picked.texts).tolist()) <= {-1, *texts}:
                    raise ValueError("there are examples of texts that the file does not have")
        return make(
            stacks,
            model=content["model"],
            nulls=nulls,
            num_texts=content["num_texts"],
            seed=content["seed"],
            max_tokens=most,
            metrics=metrics,
            missing=[str(reason) for reason in content["missing"]],
            texts=texts,
        )


def _arrays(stack: StackProfile) -> dict[str, np.ndarray]:
    """All arrays of a stack; those of estimates are [1 + nulls, metrics, layers, heads]."""
    conditions = [stack.estimates, *stack.nulls.values()]
    arrays = {
        name: np.stack(
            [[getattr(estimate, name) for estimate in found.values()] for found in conditions]
        )
        for name in _ESTIMATE
    }
    return {
        **arrays,
        "thumbnails": stack.thumbnails,
        "levels": stack.rows.levels,
        "keys": stack.rows.keys,
        "row_texts": stack.rows.texts,
        **{f"extreme_{name}": array for name, array in vars(stack.extremes).items()},
        **{f"median_{name}": array for name, array in vars(stack.medians).items()},
    }


def _stack(
    arrays: _Arrays,
    number: int,
    description: Mapping[str, Any],
    names: Sequence[str],
    nulls: Sequence[str],
) -> StackProfile:
    layers, heads = (tuple(description[name]) for name in ("numbers", "heads"))
    if not all(_is_count(count) and count < _MOST for count in (*layers, *heads)):
        raise ValueError("layers and heads are numbers from 0")
    if not layers or len(heads) != len(layers) or min(heads) < 1:
        raise ValueError("a stack has layers, and every layer heads")
    shape = len(layers), max(heads)

    def read(name: str, dtype: str, *expected: int | None) -> Any:
        return arrays.read(f"{number}.{name}", dtype, expected)

    conditions = 1 + len(nulls)
    of_metrics = conditions, len(names), *shape
    estimates = [read(name, "i8" if name == "count" else "f8", *of_metrics) for name in _ESTIMATE]
    by_metric = [
        {name: Estimate(*(array[n, row] for array in estimates)) for row, name in enumerate(names)}
        for n in range(conditions)
    ]
    levels = read("levels", "u1", *shape, None, None)
    rows = levels.shape[2]

    def picked(name: str, *expected: int | None) -> Picked:
        return Picked(
            read(f"{name}_texts", "i8", *expected),
            read(f"{name}_values", "f8", *expected),
            read(f"{name}_pairs", "i8", *expected, 2),
        )

    return StackProfile(
        layers,
        heads,
        by_metric[0],
        dict(zip(nulls, by_metric[1:], strict=True)),
        read("thumbnails", "f2", *shape, None, None),
        SampledRows(levels, read("keys", "i8", rows), read("row_texts", "i8", rows)),
        picked("extreme", 2, len(names), *shape, None),
        picked("median", len(names), *shape),
    )


class _Arrays:
    """The arrays of a file.

    Args:
        file: the open safetensors file.
        described: the type and the shape of each array, by name.
    """

    def __init__(self, file: Any, described: Mapping[str, Mapping[str, Any]]) -> None:
        self._file = file
        self._described = described

    def read(self, name: str, dtype: str, expected: Sequence[int | None]) -> np.ndarray:
        """Inflate an array, after a check of its type and shape; None is any length."""
        described = self._described[name]
        found, shape = np.dtype(described["dtype"]), tuple(described["shape"])
        fits = len(shape) == len(expected) and all(
            _is_count(size) and length in (None, size)
            for length, size in zip(expected, shape, strict=True)
        )
        if found != np.dtype(dtype) or not fits:
            lengths = ", ".join("any" if length is None else str(length) for length in expected)
            raise ValueError(
                f"{name} is {found} {list(shape)}; expected {np.dtype(dtype)} [{lengths}]"
            )
        packed = self._file.get_tensor(name).tobytes()
        size = math.prod(shape) * found.itemsize
        if size > _MOST_INFLATED * len(packed):
            raise ValueError(f"{name} has {len(packed)} bytes, too few for {list(shape)}")
        try:
            data = zlib.decompressobj().decompress(packed, size + 1)
        except zlib.error as error:
            raise ValueError(f"{name} cannot be inflated: {error}") from error
        if len(data) != size:
            raise ValueError(f"{name} has another length than {list(shape)}")
        array: np.ndarray = np.frombuffer(data, found).reshape(shape)
        return array


def _texts(arrays: _Arrays) -> dict[int, str | tuple[str, ...]]:
    text = arrays.read("texts", "u1", (None,)).tobytes().decode()
    if num_brackets(text) > MAX_BRACKETS:
        raise ValueError(f"its texts have more than {MAX_BRACKETS} parts")
    texts: dict[int, str | tuple[str, ...]] = {}
    for index, source in json.loads(text):
        labels = [source] if isinstance(source, str) else source
        if not _is_count(index) or not all(isinstance(label, str) for label in labels):
            raise TypeError("a text is a string, or several")
        texts[index] = source if isinstance(source, str) else tuple(source)
    return texts


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0
