"""Output of the page, and of lines on a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from attnwidget.record.files import writable, write_whole

STDOUT = "-"


class Made(NamedTuple):
    """A page, and what there is to say of it.

    Attributes:
        page: its HTML.
        missing: the reasons for missing attention.
        about: what it shows, as `attnwidget.describe` takes it.
        interrupted: True if it has less than was asked for.
    """

    page: str
    missing: tuple[str, ...]
    about: Any
    interrupted: bool = False


# Of these, readers would expect another kind of file.
_OTHER_KINDS = frozenset({".safetensors", ".pdf", ".png", ".svg", ".json", ".csv", ".md", ".txt"})


def check_output(path: str, records: Sequence[str] = ()) -> None:
    """Check the page's path before a model runs.

    Raises:
        OSError: no file can be written there.
        ValueError: it is the path of an input record, or its name is of another kind of file.
    """
    if path == STDOUT:
        return
    writable(path)
    for record in records:
        if os.path.exists(path) and os.path.samefile(path, record):
            raise ValueError(f"{path} is the record itself; give the page another name")
    if (kind := Path(path).suffix.lower()) in _OTHER_KINDS:
        raise ValueError(f"{path}: -o is a page of HTML; give it a name with .html, not {kind}")


def write(path: str, page: str) -> None:
    """Write the page, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    try:
        if path == STDOUT:
            _to_stdout(page.encode())
        else:
            write_whole(path, page.encode())
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(f"cannot write {path}: {error.strerror}") from error


def _to_stdout(data: bytes) -> None:
    remaining = memoryview(data)
    # With PYTHONUNBUFFERED, a write may be partial.
    while remaining:
        remaining = remaining[sys.stdout.buffer.write(remaining) :]
    sys.stdout.buffer.flush()


def say(text: str, stream: TextIO) -> None:
    """Print one line, with escapes for characters that the terminal cannot show."""
    encoding = stream.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


def say_json(content: Mapping[str, Any]) -> None:
    """Print an object as JSON on one line of the standard output, in ASCII."""
    print(json.dumps(content), flush=True)


def close_stdout() -> None:
    """Redirect a closed pipe to the null device, to which Python can flush at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
