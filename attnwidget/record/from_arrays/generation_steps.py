"""The attention of the steps of a generation, joined into one matrix per head."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from attnwidget.record.scores import Floats

from .arrays import SourceArray, source_array


def are_steps(groups: list[list[Any]], matrix: tuple[int, int]) -> bool:
    """Whether these are steps of a generation, each with all its layers, as generate() has them.

    Every step attends from its new tokens, to as many keys as the step before or more. Several
    that each fill the whole matrix of queries and keys are layers.
    """
    if not all(getattr(part, "ndim", 0) == 4 for group in groups for part in group):
        return False
    if len({len(group) for group in groups}) > 1:
        return False
    if len(groups) > 1 and all(tuple(p.shape[2:]) == matrix for group in groups for p in group):
        return False
    rows = [group[0].shape[2] for group in groups]
    columns = [group[0].shape[3] for group in groups]
    grows = all(a < b for a, b in pairwise(columns))
    return all(count == 1 for count in rows[1:]) or grows


def joined(steps: list[list[Any]], name: str, num_keys: int) -> list[SourceArray]:
    """One array [heads, rows, keys] per layer.

    Raises:
        ValueError: several sequences were generated at once, or the steps do not fit each other.
    """
    return [
        _join([source_array(step[layer]) for step in steps], name, num_keys)
        for layer in range(len(steps[0]))
    ]


def _join(pieces: list[SourceArray], name: str, num_keys: int) -> SourceArray:
    arrays = [piece.array for piece in pieces]
    if any(len(array) != 1 for array in arrays):
        raise ValueError(
            f"{name} are steps of a generation of {len(arrays[0])} sequences, or beams, at once; "
            "pick one, as in [[layer[:1] for layer in step] for step in attentions] (of beams, "
            "outputs.beam_indices says which), or use attnwidget.capture(..., generate=...), which "
            "follows the best"
        )
    pieces_of_one = [array[0] for array in arrays]
    last = pieces_of_one[-1]
    if len(pieces_of_one) > 1 and last.shape[1] > 1:
        # Without a cache, each step attends from all tokens anew.
        return SourceArray(last, pieces[-1].tolerance)
    return SourceArray(
        _rows(pieces_of_one, name, num_keys), max(piece.tolerance for piece in pieces)
    )


def _rows(pieces: list[Floats], name: str, num_keys: int) -> Floats:
    """Rows of all steps: [heads, rows, keys]."""
    length = sum(piece.shape[1] for piece in pieces)
    widths = [piece.shape[2] for piece in pieces]
    # The keys are those of another sequence, or the places of a static cache.
    fixed = len(set(widths)) == 1
    whole = np.zeros((len(pieces[0]), length, max(*widths, length)), np.float32)
    end = 0
    for piece in pieces:
        start, end = end, end + piece.shape[1]
        # A sliding window holds the latest keys only.
        offset = 0 if fixed else end - piece.shape[2]
        if offset < 0:
            raise ValueError(
                f"{name} are steps of a generation whose prompt is missing: {piece.shape[2]} keys "
                f"at token {end}; give all steps, the first with the prompt"
            )
        whole[:, start:end, offset : offset + piece.shape[2]] = piece
    width = max(num_keys if fixed else length, 1)
    if whole[:, :, width:].any():
        width = whole.shape[2]
    return np.ascontiguousarray(whole[:, :, :width])
