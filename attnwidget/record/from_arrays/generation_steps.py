"""Joining of a generation's steps into one matrix per head."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from attnwidget.record.scores import Floats

from .arrays import SourceArray, source_array


def are_steps(groups: list[list[Any]], matrix: tuple[int, int]) -> bool:
    """True if these are steps of a generation, each with all its layers, as generate() returns.

    Every step attends from its new tokens, to at least as many keys as the step before. Several
    groups that each fill the whole matrix (Tq, Tk) are layers.
    """
    arrays = [array for group in groups for array in group]
    if not all(getattr(array, "ndim", 0) == 4 for array in arrays):
        return False
    if len({len(group) for group in groups}) > 1:
        return False
    if len(groups) > 1 and all(tuple(array.shape[2:]) == matrix for array in arrays):
        return False
    rows = [group[0].shape[2] for group in groups]
    columns = [group[0].shape[3] for group in groups]
    grows = all(a < b for a, b in pairwise(columns))
    return all(count == 1 for count in rows[1:]) or grows


def joined(steps: list[list[Any]], name: str, num_keys: int) -> list[SourceArray]:
    """Join steps into one array [heads, rows, keys] per layer.

    Raises:
        ValueError: several sequences were generated at once, or the steps do not fit each other.
    """
    return [
        _join([source_array(step[layer]) for step in steps], name, num_keys)
        for layer in range(len(steps[0]))
    ]


def _join(steps: list[SourceArray], name: str, num_keys: int) -> SourceArray:
    arrays = [step.array for step in steps]
    if any(len(array) != 1 for array in arrays):
        raise ValueError(
            f"{name} are steps of a generation of {len(arrays[0])} sequences, or beams, at once; "
            "pick one, as in [[layer[:1] for layer in step] for step in attentions] (of beams, "
            "outputs.beam_indices says which), or use attnwidget.capture(..., generate=...), which "
            "follows the best"
        )
    last = arrays[-1][0]
    if len(arrays) > 1 and last.shape[1] > 1:
        # Without a cache, each step attends from all tokens anew.
        return SourceArray(last, steps[-1].tolerance)
    rows = _rows([array[0] for array in arrays], name, num_keys)
    return SourceArray(rows, max(step.tolerance for step in steps))


def _rows(steps: list[Floats], name: str, num_keys: int) -> Floats:
    """The rows of all steps: [heads, rows, keys]."""
    length = sum(step.shape[1] for step in steps)
    widths = [step.shape[2] for step in steps]
    # Steps of one width have the keys of another sequence, or the places of a static cache.
    fixed = len(set(widths)) == 1
    whole = np.zeros((len(steps[0]), length, max(*widths, length)), np.float32)
    end = 0
    for step in steps:
        start, end = end, end + step.shape[1]
        # A sliding window has the latest keys only.
        offset = 0 if fixed else end - step.shape[2]
        if offset < 0:
            raise ValueError(
                f"{name} are steps of a generation whose prompt is missing: {step.shape[2]} keys "
                f"at token {end}; give all steps, the first with the prompt"
            )
        whole[:, start:end, offset : offset + step.shape[2]] = step
    width = max(num_keys if fixed else length, 1)
    if whole[:, :, width:].any():
        width = whole.shape[2]
    return np.ascontiguousarray(whole[:, :, :width])
