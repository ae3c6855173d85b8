"""Nested dataclasses of arrays as JSON beside the arrays, and back, checked against their types."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

# Its JSON, which may be longer than the header of a file.
_TREE = "tree"


def as_arrays(value: Any) -> dict[str, np.ndarray]:
    """A value of those that `pack` takes, as arrays by name."""
    arrays: dict[str, np.ndarray] = {}
    tree = json.dumps(pack(value, arrays)).encode()
    arrays[_TREE] = np.frombuffer(tree, np.uint8)
    return arrays


def of_arrays(kind: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """Rebuild the value that `as_arrays` has made arrays of; see `unpack`."""
    return unpack(kind, json.loads(arrays[_TREE].tobytes()), arrays)


def pack(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """JSON of dataclasses, tuples, lists, mappings, strings, numbers, None and arrays.

    Args:
        arrays: receives the arrays by the names that stand for them.
    """
    if isinstance(value, np.ndarray):
        name = str(len(arrays))
        arrays[name] = np.ascontiguousarray(value)
        return name
    if isinstance(value, Mapping):
        return [[pack(key, arrays), pack(each, arrays)] for key, each in value.items()]
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, (tuple, list)):
        return [pack(each, arrays) for each in value]
    return value


def unpack(kind: Any, value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """Rebuild the value that `pack` has made JSON of.

    Args:
        kind: its type, as annotations have it.

    Raises:
        KeyError, TypeError, ValueError: it is of another type.
    """
    origin, args = get_origin(kind), get_args(kind)
    if origin is np.ndarray:
        array, [number] = arrays[value], get_args(args[1])
        # Arrays of the file are views of it, read-only.
        if array.dtype != number:
            raise TypeError(f"an array is of {array.dtype}; expected {np.dtype(number)}")
        return array.copy()
    if origin in (Union, types.UnionType):
        return None if value is None else unpack(_fitting(args, value), value, arrays)
    if origin is Literal:
        if value not in args:
            raise ValueError(f"{value!r:.80} is none of {', '.join(map(str, args))}")
        return value
    if origin is dict:
        return {unpack(args[0], k, arrays): unpack(args[1], each, arrays) for k, each in value}
    if origin in (list, tuple) and (origin is list or args[-1] is Ellipsis):
        return origin(unpack(args[0], each, arrays) for each in value)
    if origin is tuple:
        return tuple(unpack(arg, each, arrays) for arg, each in zip(args, value, strict=True))
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        hints = get_type_hints(kind).items()
        parts = zip(hints, value, strict=True)
        return kind(*(unpack(hint, each, arrays) for (_, hint), each in parts))
    if type(value) is not kind:
        raise TypeError(f"{value!r:.80} is no {kind.__name__}")
    return value


def _fitting(kinds: tuple[Any, ...], value: Any) -> Any:
    """The type of a union that a value other than None may be of."""
    others = [kind for kind in kinds if kind is not types.NoneType]
    plain = [kind for kind in others if type(value) is kind]
    return plain[0] if plain else others[-1]
