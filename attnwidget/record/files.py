"""Atomic writing of files: whole or not at all, wherever the file system allows it."""

from __future__ import annotations

import errno
import os
import shutil
from os import PathLike
from pathlib import Path
from uuid import uuid4

# Errors of a rename over a mounted file, as in a container, or in a folder of another user.
_NOT_REPLACEABLE = (errno.EACCES, errno.EBUSY, errno.EPERM, errno.EROFS)


def writable(path: str | PathLike[str]) -> Path:
    """Check before long work that a file can be written, and return its path.

    Raises:
        OSError: there is no such folder, the path is a folder, or it is write-protected.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give a file's path")
    if target.exists():
        if not os.access(target, os.W_OK):
            raise PermissionError(f"{target} is write-protected")
        return target
    # Symbolic links are followed, and kept.
    target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {target}: there is no folder {target.parent}; create it first"
        )
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"cannot write {target}: its folder is write-protected")
    return target


def write_whole(path: str | PathLike[str], data: bytes) -> None:
    """Write a file, or leave an existing one unchanged. An existing file keeps its permissions.

    A file that cannot be replaced, because of the folder it is in, is written in place.

    Raises:
        OSError: see `writable`; or the disk is full.
    """
    target = writable(path)
    if target.is_file() or not target.exists():
        try:
            _replace(Path(os.path.realpath(target)), data)
            return
        except OSError as error:
            if error.errno not in _NOT_REPLACEABLE or not target.exists():
                raise
    # Pipes and devices such as /dev/stdout are written in place as well.
    target.write_bytes(data)


def _replace(target: Path, data: bytes) -> None:
    unfinished = target.with_name(f".{uuid4().hex}.part")
    try:
        with unfinished.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def printable(text: str) -> str:
    """The text on one line, escaped if it holds control characters that a terminal would obey."""
    return text if text.isprintable() else repr(text)
