"""The attention calls of a forward pass by stack and layer, as records and profiles name them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from attnwidget.analysis import Numbers
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.missing import no_attention
from attnwidget.running.stacks import Group, is_cross, numbers, titles, tower
from attnwidget.tracing import Address, FunctionCall, Handler, Read, trace, undisturbed


@dataclass(frozen=True)
class Site:
    """An attention call whose head outputs can be changed.

    Attributes:
        stack: the name of its stack.
        layer: its number in the model.
        module: the name of the module that calls.
        call: the number of the call among those of the module in a pass, from 0.
        heads: the number of its heads.
        key_heads: the number of heads with keys of their own, each for as many heads.
    """

    stack: str
    layer: int
    module: str
    call: int
    heads: int
    key_heads: int


@dataclass(frozen=True)
class Sites:
    """The attention calls of a model's forward pass.

    Attributes:
        found: in the order of the calls.
        missing: the others, as "module: reason".
    """

    found: tuple[Site, ...]
    missing: tuple[str, ...]

    @property
    def stacks(self) -> tuple[str, ...]:
        """The names of the stacks."""
        return tuple(dict.fromkeys(site.stack for site in self.found))


def empty_rows(sites: Iterable[Site]) -> dict[str, dict[int, Numbers]]:
    """NaN for every head of these calls, in the form of `HeadScores.rows`."""
    rows: dict[str, dict[int, Numbers]] = {}
    for site in sites:
        rows.setdefault(site.stack, {})[site.layer] = np.full(site.heads, np.nan)
    return rows


def find_sites(model: torch.nn.Module, batch: TextBatch) -> Sites:
    """Run the model over a batch, and name its attention calls.

    Raises:
        ValueError: the model has no attention whose head outputs can be changed.
    """
    finder = SiteFinder()
    with undisturbed(model), trace(model, finder, len(batch.texts)):
        run_model(model, batch)
    return named_sites(model, finder, len(batch.texts))


def named_sites(model: torch.nn.Module, finder: SiteFinder, rows: int) -> Sites:
    """Name the calls that a finder has seen in one pass over so many texts."""
    groups: dict[tuple[object, ...], list[_Seen]] = {}
    for seen in finder.calls:
        groups.setdefault(seen.group(rows), []).append(seen)
    kinds = [Group(tower(calls[0].module), is_cross(calls[0].module)) for calls in groups.values()]
    by_call: dict[tuple[str, int], Site] = {}
    for name, calls in zip(titles(kinds), groups.values(), strict=True):
        for number, seen in zip(numbers([c.module for c in calls]), calls, strict=True):
            site = Site(name, number, seen.module, seen.call, seen.shape[1], seen.key_heads)
            by_call[seen.module, seen.call] = site
    missing = list(finder.missing)
    found = []
    for seen in finder.calls:
        if seen.editable:
            found.append(by_call[seen.module, seen.call])
        else:
            missing.append(f"{seen.module}: its head outputs are not known")
    if not found:
        raise ValueError(no_attention(model, missing))
    return Sites(tuple(found), tuple(missing))


@dataclass(frozen=True)
class _Seen:
    """An attention call, with the shape [M, heads, Tq, Tk] of its scores."""

    module: str
    call: int
    shape: Sequence[int]
    key_heads: int
    editable: bool

    def group(self, rows: int) -> tuple[object, ...]:
        """A key that is equal for the calls of one stack."""
        leading, _, num_queries, num_keys = self.shape
        windows = 1 if leading % rows else leading // rows
        lengths = windows * num_queries, windows * num_keys
        return tower(self.module), is_cross(self.module), lengths, windows > 1


class SiteFinder(Handler):
    """Lists the attention calls of a pass.

    Attributes:
        calls: those whose layout is known.
        missing: the others, as "module: reason".
    """

    def __init__(self) -> None:
        self.calls: list[_Seen] = []
        self.missing: list[str] = []

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        try:
            call = read()
            shape = tuple(call.shape)
        except ValueError as error:
            self.missing.append(f"{address.module}: {error}")
            return None
        editable = call.passed_on is not None
        key_heads = call.key.shape[1] if isinstance(call, FunctionCall) else shape[1]
        self.calls.append(_Seen(address.module, address.call, shape, key_heads, editable))
        return None
