"""A file that claims more than it should is refused before there is memory for what it claims."""

import json
import os
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnwidget.record.storage import FORMAT, LARGEST_HEADER, MAX_BRACKETS, MAX_LAYERS
from tests.support import PATIENCE_SECONDS

# So much more than before may the process take, files that it maps into memory included.
ROOM = 400 << 20

LOAD = f"""
import resource, sys
from attnwidget import AttentionRecord
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + {ROOM},) * 2)
try:
    AttentionRecord.load(sys.argv[1])
except ValueError as error:
    print(error)
"""

FIDELITY = {
    "route": "given",
    "module": "",
    "kept": "weights",
    "weights_error": None,
    "output_error": None,
    "tolerance": 1e-4,
    "rows": 0,
}
TOKENS = {"labels": ["a", "b"], "segments": None, "special": [], "words": None, "offsets": None}


def layer(number: int = 0, **arrays: str) -> dict[str, Any]:
    return {"number": number, "program": None, "arrays": arrays, "fidelity": FIDELITY}


def description(*layers: dict[str, Any]) -> dict[str, Any]:
    stack = {"name": "self", "queries": TOKENS, "keys": TOKENS, "layers": layers}
    return {"version": 1, "model": "", "missing": [], "stacks": [stack]}


def write(path: Path, text: str, shapes: dict[str, list[int]], size: int | None = None) -> Path:
    """A file of float32 arrays of zeros; as many bytes as they take if `size` is None."""
    header: dict[str, Any] = {"__metadata__": {FORMAT: text}}
    at = 0
    for name, shape in shapes.items():
        count = 4
        for axis in shape:
            count *= axis
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + count]}
        at += count
    data = json.dumps(header, separators=(",", ":")).encode()
    path.write_bytes(struct.pack("<Q", len(data)) + data)
    # The zeros take no room on the disk.
    os.truncate(path, 8 + len(data) + (at if size is None else size))
    return path


def refusal(path: Path) -> str:
    """Message of loading the file within little memory."""
    if sys.platform != "linux":
        pytest.skip("memory is limited as on Linux")
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert str(path) in done.stdout
    return done.stdout


def test_more_than_the_file_holds(tmp_path: Path) -> None:
    text = json.dumps(description(layer(weights="w")))
    path = write(tmp_path / "r", text, {"w": [2**14, 2, 2**20]}, size=100)
    assert "not a readable safetensors file" in refusal(path)


@pytest.mark.parametrize("shape", [[2**31, 2, 2], [2**28, 2, 2]])
def test_more_than_there_is_memory_for(tmp_path: Path, shape: list[int]) -> None:
    text = json.dumps(description(layer(weights="w")))
    said = refusal(write(tmp_path / "r", text, {"w": shape}))
    assert "memory" in said


def test_what_is_of_another_size_is_not_read(tmp_path: Path) -> None:
    """The file is mapped, and so may be as large as the room is."""
    text = json.dumps(description(layer(weights="w")))
    said = refusal(write(tmp_path / "r", text, {"w": [ROOM // 2 // 12, 3]}))
    assert "layer 0: weights are F32" in said
    said = refusal(write(tmp_path / "r", text, {"w": [ROOM // 2 // 36, 3, 3]}))
    assert "does not fit 2 queries and 2 keys" in said


def test_what_nothing_is_said_of_is_not_read(tmp_path: Path) -> None:
    text = json.dumps(description(layer()))
    said = refusal(write(tmp_path / "r", text, {"unused": [ROOM // 5]}))
    assert "needs its weights" in said


@pytest.mark.parametrize("text", ["[" * 10**6, '{"a":' * 10**6, "[" * 10**5 + "]" * 10**5])
def test_an_endless_depth(tmp_path: Path, text: str) -> None:
    assert "nested too deeply" in refusal(write(tmp_path / "r", text, {"w": [1]}))


@pytest.mark.parametrize("part", ["[],", "{},"])
def test_lists_that_take_more_room_than_their_text(tmp_path: Path, part: str) -> None:
    text = "[" + part * (10**7) + "0]"
    said = refusal(write(tmp_path / "r", text, {"w": [1]}))
    assert "more than 2097152 parts" in said


def test_a_header_beyond_all_records(tmp_path: Path) -> None:
    path = write(tmp_path / "r", "x" * (LARGEST_HEADER + 1), {"w": [1]})
    assert "its header is 33" in refusal(path)
    path.write_bytes(struct.pack("<Q", 2**62) + b"{}")
    assert "its header is 4611686018427387904 bytes long" in refusal(path)


def test_layers_without_number(tmp_path: Path) -> None:
    """All of one array, which each of them would look through."""
    text = json.dumps(description(*(layer(n, weights="w") for n in range(5000))))
    said = refusal(write(tmp_path / "r", text, {"w": [10**6, 2, 2]}))
    assert "more than 4096 layers" in said


@pytest.mark.parametrize(
    ("label", "layers", "message"),
    [
        ("x" * (LARGEST_HEADER // 2), 1, "too many tokens for a file"),
        ("[" * MAX_BRACKETS, 1, "more than 2097152 parts, opening brackets in their texts inc"),
        ("a", MAX_LAYERS + 1, "more than 4096 layers, too many for a file"),
    ],
)
def test_a_record_that_could_not_be_read_again_is_not_written(
    label: str, layers: int, message: str, tmp_path: Path
) -> None:
    from attnwidget import AttentionRecord
    from attnwidget.record import Fidelity, Layer, Stack, Tokens

    tokens, weights = Tokens((label,) * 2), np.full((1, 2, 2), 0.5, np.float32)
    own = Layer(None, None, None, weights, Fidelity(**FIDELITY))
    stack = Stack(tokens, tokens, tuple(replace(own, number=n) for n in range(layers)))
    with pytest.raises(ValueError, match=message):
        AttentionRecord({"self": stack}).save(tmp_path / "r")
    assert not (tmp_path / "r").exists()
