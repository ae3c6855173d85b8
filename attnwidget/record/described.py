"""Files of safetensors with a description as JSON: damage and other files give clear errors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fsdecode
from typing import Any

from safetensors import SafetensorError, safe_open

from .files import printable

# In bytes, about the header of a million tokens.
LARGEST_HEADER = 1 << 25
# Parsed lists and objects of JSON take far more memory than their brackets. Every token has one
# list, its offsets in the text.
MAX_BRACKETS = 1 << 21

_LONGEST_REASON = 500

# How each kind of file is shown, by the name of its description.
_OPENED = {
    "attnwidget-record": ("record", "attnwidget.show(path) shows it"),
    "attnwidget-profile": (
        "profile",
        "attnwidget.show(path, model, tokenizer) shows it, and "
        "attnwidget.save_html(page, path, model, tokenizer) writes a page",
    ),
}

DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The exceptions that JSON of another form, or numbers beyond numpy's range, lead to."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: records and profiles are read alike.

    Attributes:
        name: as in "a damaged attnwidget record".
        key: the name of the description in the file's metadata.
        version: the newest version that is read.
        maker: the method that writes such files.
    """

    name: str
    key: str
    version: int
    maker: str


_EITHER = Kind("record or a profile", "", 0, "AttentionRecord.save or HeadProfile.save")


class _OtherFile(ValueError):
    """The file is not damaged, but is none that this version reads."""


@contextmanager
def described_file(path: str | PathLike[str], kind: Kind) -> Iterator[tuple[Any, Any]]:
    """Open a file: (the open safetensors file, its description).

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is of another kind, or a damaged one, or of a newer version, or does
            not fit into memory; also for an error of `DAMAGE` within the context.
    """
    name = printable(fsdecode(path))
    try:
        _check_header(path, kind)
        with safe_open(fsdecode(path), framework="numpy") as file:
            yield file, _description(file, kind)
    except SafetensorError as error:
        # Older releases say MetadataIncompleteBuffer.
        is_cut = "incomplete" in str(error).lower()
        problem = "it is not as long as its header says: was a copy cut off?"
        raise ValueError(
            f"{name} is not a readable safetensors file: {problem if is_cut else reason(error)}"
        ) from error
    except _OtherFile as error:
        raise ValueError(f"{name} {error}") from error
    except MemoryError as error:
        raise ValueError(f"{name} does not fit into memory: {error}") from error
    except OSError as error:
        # Older releases of safetensors map the whole file at once.
        if "allocate memory" not in str(error):
            raise
        raise ValueError(f"{name} does not fit into memory: {error}") from error
    except DAMAGE as error:
        raise ValueError(f"{name} is a damaged attnwidget {kind.name}: {reason(error)}") from error


def kind_of_file(path: str | PathLike[str], *, needed: bool = False) -> str:
    """The kind of an attnwidget file, "record" or "profile"; "" of another file, or of none.

    Raises:
        ValueError: with `needed`, the file is no safetensors file, or its header is incomplete.
    """
    try:
        _check_header(path, _EITHER)
        with safe_open(fsdecode(path), framework="numpy") as file:
            metadata = file.metadata() or {}
    except _OtherFile as error:
        if needed:
            raise ValueError(f"{printable(fsdecode(path))} {error}") from error
        return ""
    except (OSError, SafetensorError):
        return ""
    return next((name for key, (name, _) in _OPENED.items() if key in metadata), "")


def _check_header(path: str | PathLike[str], kind: Kind) -> None:
    """Refuse a file of another kind, and a header that is incomplete or takes too much memory.

    A safetensors file begins with the length of its header, which is a JSON object.
    """
    with open(path, "rb") as file:
        start = file.read(9)
        size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(start[:8], "little")
    problem = ""
    if len(start) < 9:
        problem = f"it has {size} bytes"
    elif start[8:] != b"{":
        problem = "it is a file of another kind"
    elif length > LARGEST_HEADER:
        problem = f"its header is {length} bytes long"
    elif 8 + length > size:
        problem = f"it is incomplete, {size} bytes of a header of {length}"
    if problem:
        raise _OtherFile(
            f"is not a readable safetensors file: {problem}; expected a {kind.name} as "
            f"{kind.maker} writes it"
        )


def _description(file: Any, kind: Kind) -> Any:
    """The description in a file's metadata, after a check of its version."""
    metadata = file.metadata() or {}
    text = metadata.get(kind.key)
    if not text:
        for key, (name, opened) in _OPENED.items():
            if key in metadata:
                raise _OtherFile(f"is an attnwidget {name}, not a {kind.name}: {opened}")
        raise _OtherFile(
            f"is a safetensors file, but not an attnwidget {kind.name}: it may have the weights of "
            "a model, which from_pretrained loads"
        )
    if num_brackets(text) > MAX_BRACKETS:
        raise ValueError(f"its description has more than {MAX_BRACKETS} parts")
    content = json.loads(text)
    version = content["version"]
    if type(version) is not int or version < 1:
        raise TypeError(f"version {version!r}")
    if version > kind.version:
        raise _OtherFile(
            f"has {kind.name} format {version}, this attnwidget reads up to {kind.version}; "
            "update attnwidget to open it"
        )
    return content


def num_brackets(text: str) -> int:
    """The number of opening brackets in JSON, those within its strings included."""
    return text.count("[") + text.count("{")


def reason(error: Exception) -> str:
    """The message of an error for a reader of the file."""
    if isinstance(error, KeyError):
        return f"{error.args[0]!r:.200} is missing"
    if isinstance(error, RecursionError):
        return "its description is nested too deeply"
    # Some errors repeat all the content that they found.
    text = printable(str(error))
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} …"
