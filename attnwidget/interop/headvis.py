"""Folders of HeadVis: the texts that it keeps of a head as records, its numbers as `HeadScores`.

The form is that of Neuronpedia's pipeline, whose README describes it: `config.json`, a number per
head in `scatter_data.json`, and sampled texts with their largest weights in `heads/L5H3.json`.
Reading executes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from attnwidget.analysis import HeadScores
from attnwidget.counted import counted
from attnwidget.record import AttentionRecord
from attnwidget.record.described import DAMAGE, reason
from attnwidget.record.files import printable
from attnwidget.record.from_arrays import stack_from_arrays

# HeadVis keeps 512 tokens of a text; the matrix of so many fills a gigabyte.
_MOST_TOKENS = 1 << 14
# More than any model has.
_MOST_HEADS = 1 << 12

_NAME = re.compile(r"L(\d{1,6})H(\d{1,6})\.json")

# What the pipeline says of its numbers, and their units.
_METRICS = {
    "self_attention_score": ("mean weight of a token on itself", ""),
    "prev_token_score": ("mean weight of a token on the one before it", ""),
    "pattern_entropy": ("mean entropy of a row of weights", "nats"),
    "qk_distance": ("mean distance from query to key, by weight", "tokens"),
    "qk_distance_variance": ("variance of the distance from query to key, by weight", ""),
    "induction_score": ("mean weight on what followed earlier occurrences of a token", ""),
}


def read_head(path: str | PathLike[str]) -> list[AttentionRecord]:
    """The texts that HeadVis keeps of one head, those with the largest weights first.

    Each is a record of one layer, under its own number, with this head alone: the record's head 0.
    Its `model` and `missing` say which head it is in the model, and that small weights were left
    out: by default HeadVis keeps of each row the eight largest, none of them under 0.005, with four
    decimals. So rows sum to less than 1, and there are neither queries nor keys.

    Args:
        path: of a file such as `heads/L5H3.json`, by whose name layer and head are known. The
            model's name is read from `config.json` in the folder above, if there is one.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is none of a head, or damaged.
    """
    file = Path(path)
    place = _NAME.fullmatch(file.name)
    if place is None:
        raise ValueError(
            f"{printable(file.name)} does not say which head it is of; HeadVis names its files as "
            "heads/L5H3.json"
        )
    layer, head = map(int, place.groups())
    name = f"{_config(file.parents[1])[0]}, head {layer}-{head}".removeprefix(", ")
    with _reading(file) as content:
        texts = sorted(
            content["sequences"],
            key=lambda text: (text["interval"], text["max_activation"]),
            reverse=True,
        )
        return [_record(text, layer, head, name) for text in texts]


def _record(text: dict[str, Any], layer: int, head: int, name: str) -> AttentionRecord:
    tokens = text["tokens"]
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise TypeError("tokens are not a list of texts")
    length = len(tokens)
    if not 0 < length <= _MOST_TOKENS:
        raise ValueError(f"a text has {counted(length, 'token')}")
    indices = np.asarray(text["attention_indices"])
    values = np.asarray(text["attention_values"], np.float32)
    if indices.size and indices.dtype.kind not in "iu":
        raise TypeError("attention_indices are not whole numbers")
    if indices.ndim != 1 or indices.shape != values.shape:
        raise ValueError("attention_indices and attention_values do not belong together")
    if indices.size and not 0 <= indices.min() <= indices.max() < length**2:
        raise ValueError(f"an index is beyond the weights of {counted(length, 'token')}")
    if not ((values >= 0) & (values <= 1.01)).all():
        raise ValueError("a weight is not between 0 and 1")
    weights = np.zeros(length**2, np.float32)
    weights[indices.astype(np.intp)] = values
    stack = stack_from_arrays([weights.reshape(1, length, length)], tokens)
    stack = replace(stack, layers=(replace(stack.layers[0], number=layer),))
    left_out = (
        f"layers.{layer}: HeadVis keeps the largest weights of each row, rounded, and no other "
        f"head; what is head 0 here is head {head} of the model"
    )
    return AttentionRecord({"self": stack}, model=name, missing=[left_out])


def read_scores(folder: str | PathLike[str]) -> dict[str, HeadScores]:
    """The numbers of every head in a folder of HeadVis, by HeadVis' names for them.

    Args:
        folder: the one with `scatter_data.json`, and with `config.json` if there is one.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a file is none of HeadVis, or damaged.
    """
    path = Path(folder)
    _, measured_on = _config(path)
    with _reading(path / "scatter_data.json") as content:
        places = {}
        for row in content:
            place = (row["layer"], row["head"])
            if not all(type(number) is int and 0 <= number < _MOST_HEADS for number in place):
                raise TypeError(f"no head {place!r:.200}")
            places[place] = row
        if not places:
            raise ValueError("there are no heads in it")
        names = [name for name in _METRICS if any(name in row for row in places.values())]
        return {
            name: HeadScores(
                name,
                f"{_METRICS[name][0]}, as HeadVis measured it",
                {"self": _rows(places, name)},
                unit=_METRICS[name][1],
                measured_on=measured_on,
            )
            for name in names
        }


def _rows(places: dict[tuple[int, int], dict[str, Any]], name: str) -> dict[int, Any]:
    rows = {
        layer: np.full(1 + max(head for at, head in places if at == layer), np.nan)
        for layer in sorted({layer for layer, _ in places})
    }
    for (layer, head), row in places.items():
        value = row.get(name)  # null where there was nothing to measure
        rows[layer][head] = np.nan if value is None else float(value)
    return rows


def _config(folder: Path) -> tuple[str, str]:
    """The model's name, and what was read, as "2000 texts of pile": "" for what is not known."""
    file = folder / "config.json"
    if not file.is_file():
        return "", ""
    with _reading(file) as content:
        run = content | content.get("pipeline_config", {})
        texts, data = run.get("n_sequences"), run.get("dataset_name")
        measured_on = f"{counted(int(texts), 'text')} of {data}" if texts and data else ""
        return str(run.get("model_name", "")), measured_on


@contextmanager
def _reading(file: Path) -> Iterator[Any]:
    try:
        yield json.loads(file.read_bytes())
    except MemoryError as error:
        raise ValueError(f"{printable(str(file))} does not fit into memory") from error
    except DAMAGE as error:
        raise ValueError(
            f"{printable(str(file))} is no file of HeadVis, or a damaged one: {reason(error)}"
        ) from error
