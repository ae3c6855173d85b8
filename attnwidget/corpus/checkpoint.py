"""Measurements so far, kept in a folder: a run goes on there after an interruption."""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save as to_bytes

from attnwidget.record.described import Kind, described_file
from attnwidget.record.files import write_whole
from attnwidget.running.texts import Shard, Source

from .measurement import Measured, ModelIdentity
from .packed import as_arrays, of_arrays
from .settings import Settings

_FILE = "profile.checkpoint"

# Another number for every change of what is kept.
_KIND = Kind("checkpoint", "attnwidget-checkpoint", 4, "attnwidget.profile(resume=...)")

# A checkpoint of a large model has hundreds of megabytes.
_SECONDS_BETWEEN = 30.0


class Checkpoint:
    """The measurements of the shards that are done, each counted once.

    Args:
        folder: of the file; None to keep nothing.

    Raises:
        OSError: the folder cannot be made, or its file not read.
        ValueError: its file is no checkpoint, or one of other settings.
    """

    def __init__(self, folder: str | PathLike[str] | None, settings: Settings) -> None:
        self.measured: Measured | None = None
        self._whole = True
        # By the number of the shard, a digest of its texts.
        self._done: dict[int, str] = {}
        self._path = None if folder is None else Path(folder) / _FILE
        self._about = {
            "metrics": settings.names,
            "null": settings.nulls,
            "batch_size": settings.batch_size,
            "max_tokens": settings.max_tokens,
            "seed": settings.seed,
        }
        self._functions = {name: _source_digest(each) for name, each in settings.own.items()}
        self._written = time.monotonic()
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.exists():
                self._load(self._path)

    def missing(
        self, shards: Iterable[Shard], model: Callable[[], ModelIdentity]
    ) -> Iterator[Shard]:
        """The shards that are not done yet.

        Args:
            model: returns the model that is to read them; called if any is done.

        Raises:
            ValueError: one that is done has other texts now, or another model read it.
        """
        if self.measured is not None:
            self.measured.check_model(model())
        for shard in shards:
            if shard.number not in self._done:
                yield shard
            elif self._done[shard.number] != _digest_of(shard):
                last = shard.start + shard.count - 1
                raise ValueError(
                    f"the texts from {shard.start} to {last} are not those that {self._path} was "
                    "made from; give the same texts, or another folder"
                )

    def add(self, shard: Shard, measured: Measured) -> None:
        """Add a shard, and write the file if that was not done for a while."""
        digest = _digest_of(shard)
        # An interruption in between leaves a part of the shard in the sums.
        self._whole = False
        if self.measured is None:
            self.measured = measured
        else:
            self.measured.merge(measured)
        self._done[shard.number] = digest
        self._whole = True
        if time.monotonic() - self._written > _SECONDS_BETWEEN:
            self.save()

    def save(self) -> None:
        """Write the file.

        Raises:
            OSError: it cannot be written; an existing one is unchanged.
        """
        if self._path is not None and self.measured is not None and self._whole:
            arrays = as_arrays((self._done, self.measured))
            description = {
                "version": _KIND.version,
                "about": self._about,
                "functions": self._functions,
                "digest": _digest(*(array.tobytes() for _, array in sorted(arrays.items()))),
            }
            write_whole(self._path, to_bytes(arrays, metadata={_KIND.key: json.dumps(description)}))
        self._written = time.monotonic()

    def _load(self, path: Path) -> None:
        with path.open("rb") as file:
            if file.read(3) in (b"\x80\x04\x95", b"\x80\x05\x95"):
                raise ValueError(
                    f"{path} is a pickle of an earlier attnwidget, which is not opened, because "
                    "pickles can run code: delete it to begin anew, or give another folder"
                )
        with described_file(path, _KIND) as (stored, content):
            about = {name: _tuple(value) for name, value in content["about"].items()}
            arrays = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
            if content["digest"] != _digest(*(a.tobytes() for _, a in sorted(arrays.items()))):
                raise ValueError("its arrays are not those that were written")
            is_earlier = content["version"] < _KIND.version
            if not is_earlier:
                done, measured = of_arrays(tuple[dict[int, str], Measured], arrays)
        if is_earlier:
            raise ValueError(
                f"{path} is of an earlier attnwidget, which kept other numbers: delete it to begin "
                "anew, or give another folder"
            )
        for name, value in self._about.items():
            if about[name] != value:
                raise ValueError(
                    f"{path} was made with {name}={about[name]!r}, and now {name} is {value!r}; "
                    "give the same, or another folder"
                )
        # What was kept before there was a source, or now has none, cannot be compared.
        before = content.get("functions", {})
        for name, source in self._functions.items():
            if source and before.get(name) and source != before[name]:
                raise ValueError(
                    f"{path} was made with another function {name}: its code was not this; give "
                    "the same, or another folder"
                )
        self._done, self.measured = done, measured


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _source_digest(function: Callable[..., Any]) -> str:
    """A digest of a function's code; "" if its source is not known, as of built-in ones."""
    try:
        return _digest(inspect.getsource(function).encode())
    except (OSError, TypeError):
        return ""


def _digest_of(shard: Shard) -> str:
    return _digest(*(part for source in shard.sources for part in _parts(source)))


def _digest(*parts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _parts(source: Source) -> Iterator[bytes]:
    if isinstance(source, Mapping):
        for name in sorted(source):
            yield name.encode()
            yield _array(source[name]).tobytes()
        return
    for text in (source,) if isinstance(source, str) else source:
        # A message of a chat is a mapping.
        yield (text if isinstance(text, str) else repr(text)).encode(errors="surrogatepass")


def _array(value: Any) -> np.ndarray:
    return np.asarray(value.cpu() if hasattr(value, "cpu") else value)
