"""A file that is no record, or no longer one, is refused with a clear error."""

import struct
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import save_file

from attnwidget import AttentionRecord
from tests.unit.records import PROGRAMS, floats, layer_of, record_of


@pytest.mark.parametrize("part", [0, 0.001, 0.01, 0.3, 0.5, 0.9, 0.999])
def test_a_truncated_file(tmp_path: Path, part: float) -> None:
    path = tmp_path / "record.safetensors"
    record_of(layer_of(PROGRAMS["everything"])).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(ValueError, match=r"record\.safetensors is not a readable safetensors file"):
        AttentionRecord.load(path)


def test_a_copy_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "record.safetensors"
    record_of(layer_of(PROGRAMS["everything"])).save(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="not as long as its header says: was a copy cut off"):
        AttentionRecord.load(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\n", "it has 1 bytes"),
        (b"PK\x03\x04" + bytes(100), "it is a file of another kind"),
        (b"\x80\x04." + bytes(100), "it is a file of another kind"),
        (b"<!doctype html>" * 10, "it is a file of another kind; expected a record as Attention"),
        # Headers that announce more than there is, or than anyone has.
        (struct.pack("<Q", 2**63) + b"{}", "its header is 9223372036854775808 bytes long"),
        (struct.pack("<Q", 10**9) + b"{}", "its header is 1000000000 bytes long"),
        (struct.pack("<Q", 70) + b'{"a":{"dtype"', "it is incomplete, 21 bytes of a header of 70"),
    ],
)
def test_a_file_that_is_no_safetensors(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "something.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"not a readable safetensors file: {reason}"):
        AttentionRecord.load(path)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_a_safetensors_file_of_something_else(tmp_path: Path, metadata: Any) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"weight": floats(3, 3)}, path, metadata=metadata)
    with pytest.raises(ValueError, match="safetensors file, but not an attnwidget record"):
        AttentionRecord.load(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        AttentionRecord.load(tmp_path / "nothing.safetensors")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError)):
        AttentionRecord.load(tmp_path)
