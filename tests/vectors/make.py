"""Writes the vectors that the tests of both languages read: `python -m tests.vectors.make`."""

import json
from pathlib import Path
from typing import Any

from tests.vectors import base85, blocks, choices, coded, lenses, records, recurrences, scores

FOLDER = Path(__file__).parent


def files() -> dict[str, str]:
    """File name -> text. One line per case, so that a change shows where it happened."""
    return {
        "scores.json": _lines(scores.cases()),
        "recurrences.json": _lines(recurrences.cases()),
        "blocks.json": _lines(blocks.cases()),
        "coded.json": _lines(coded.integers()),
        "rounded.json": _lines(coded.rounded()),
        "base85.json": _lines(base85.cases()),
        "overview.json": _object(records.overview()),
        "record.json": _object(records.record()),
        "lenses.json": _object(lenses.lenses()),
        "following.json": _lines(choices.follows()),
    }


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _lines(cases: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(_compact(case) for case in cases) + "\n]\n"


def _object(value: dict[str, Any]) -> str:
    items = (f"{_compact(key)}:{_compact(item)}" for key, item in value.items())
    return "{\n" + ",\n".join(items) + "\n}\n"


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
