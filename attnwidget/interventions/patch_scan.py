"""Grids of patches: the share of an output that another text's numbers bring back, by place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, SupportsIndex, get_args

import numpy as np
import torch

from attnwidget.analysis import GridScores, align
from attnwidget.analysis.grid_scores import By
from attnwidget.arguments import checked, list_of, one_of, whole, whole_number, whole_numbers
from attnwidget.counted import counted, with_minus
from attnwidget.progress import end_asked, progress_bar, step_done
from attnwidget.record import Floats, Tokens
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.running.one_text import OneText, one_text
from attnwidget.tracing import (
    Address,
    Call,
    CallId,
    Handler,
    MixingCall,
    Read,
    ReadMixing,
    trace,
    undisturbed,
)
from attnwidget.warning import warn

from .attribution import label_of, token_id
from .by_layer import HeadOutputs, Place
from .difference import row_of
from .edits import Chosen, listed, without_heads
from .layer_places import Here, Streams
from .measure import kept_positions
from .read_outputs import read_pass
from .scan import repeated
from .sites import Site, followed, sites_of, usual_stacks
from .skipping import BlockFinder, ExactSkips
from .substitution import read_at, with_at

OnCell = Callable[[int, int, float], object]
"""Called with (row, column, number) as soon as a cell's number is known."""

Text = str | Mapping[str, Any]


@checked(
    at=one_of(*get_args(Place)),
    by=one_of(By),
    layers=whole_numbers,
    batch_size=whole(1),
    seed=whole(0),
)
@progress_bar("Patching", "cells")
def patch_scan(
    model: torch.nn.Module,
    tokenizer: Any,
    clean: Text,
    corrupt: Text,
    *,
    metric: Callable[[Any], float] | Literal["logit difference"] = "logit difference",
    token: str | SupportsIndex | None = None,
    against: str | SupportsIndex | None = None,
    position: int = -1,
    at: Place = "residual pre",
    by: By = "layer×position",
    stack: str | None = None,
    layers: Chosen = None,
    null: bool | Sequence[Text] = True,
    batch_size: int = 16,
    seed: int = 0,
    on_score: OnCell | None = None,
) -> GridScores:
    """Patch every cell of a grid from one text into the run on another, and measure what returns.

        clean = "When Mary and John went to the store, John gave a drink to"
        corrupt = "When Mary and John went to the store, Mary gave a drink to"
        aw.patch_scan(model, tokenizer, clean, corrupt, token=" Mary", against=" John")

    A number is the share of the metric that the patch restores: 0 as for the corrupt text, 1 as for
    the clean one (Zhang and Nanda 2024). A batch has the corrupt text in every row, and in each row
    another cell is patched. Layers below the first of these are not computed again where the
    model's output follows exactly from what they returned. Ctrl-C returns what is done, with NaN
    for the rest, and a warning.

    Args:
        model, tokenizer: see `attnwidget.capture`.
        clean, corrupt: the texts, of as many tokens.
        metric: your own function from the model's output for one text to a number; or "logit
            difference", of `token` less that of `against` (or the logit of `token` alone), at a
            position, the last one if none is given.
        token, against, position: see `attnwidget.logit_attribution`.
        at: the place that is patched, see `Ablate`, but for "projection".
        by: "layer×position", "layer" (all positions), "head" (all positions) or "head×position". Of
            heads that share keys and values, each that they share is one.
        stack, layers: as for `Ablate`.
        null: True for a null of permuted positions: each cell gets what the clean text has at
            another position, or, with all positions at once, at others in random order. Or texts
            of as many tokens, from which cells are patched: the mean over these. This takes as
            long again for True or each text. False for none.
        batch_size: the number of rows of a batch.
        seed: of the permutations.
        on_score: called with (row, column, number) as soon as a cell's number is known.

    Raises:
        TypeError, ValueError: see `attnwidget.capture`; the texts have not as many tokens, or the
            metric is the same for both; there is no such stack, layer or place.
        IndexError: there is no such position.
    """
    model = traceable(model)
    given = one_text(model, tokenizer, corrupt, None, None, 0)
    other = _like(model, tokenizer, clean, given, "clean")
    unrelated = []
    if not isinstance(null, bool):
        texts = list_of(lambda each: each, "texts, or True or False")("null", null)
        unrelated = [_like(model, tokenizer, text, given, "a text of null") for text in texts or ()]
    of_output, name = _metric(model, tokenizer, given, metric, token, against, position)

    def measure(output: Any) -> float:
        return float(of_output(output))

    all_logits = callable(metric) or position != -1 or _ends_in_padding(given)
    batch, rows = repeated(given.batch, batch_size)
    finder = BlockFinder(model)
    with undisturbed(model):
        plain, sites, traced = followed(model, batch, finder)
        stack = _stack(sites.found, stack)
        read = partial(_read, model, at, sites.found, stack)
        sources = [read(each.batch) for each in (other, *unrelated)]
        before = measure(row_of(plain, 0, rows))
        after = measure(run_model(model, other.batch, all_logits=True))
        _check_differs(name, before, after)
        grid = _Grid(at, by, sources[0].layers[stack], layers)
        single, output = finder, plain
        if rows > 1:
            single = BlockFinder(model)
            output, _, _ = followed(model, given.batch, single)
        skips = ExactSkips(given.batch, output)
        editor = _Editor(model, sites.found, stack, at, rows, sources)
        values = np.full(grid.shape, np.nan)
        nulls = np.zeros((max(1, len(unrelated)), *grid.shape)) * np.nan
        todo = grid.cells(permuted=null is True, texts=len(unrelated), seed=seed)
        try:
            while (cells := list(islice(todo, rows))) and not end_asked():
                editor.cells = cells
                changed = editor.sites_from(min(cell.layer for cell in cells))
                interface_only = traced.by_interface and not any(s.signed for s in sites.found)
                with (
                    skips.below(model, finder.blocks, changed, single.blocks),
                    editor.following(interface_only=interface_only),
                ):
                    output = run_model(model, batch, all_logits=all_logits)
                for row, cell in enumerate(cells):
                    number = (measure(row_of(output, row, rows)) - before) / (after - before)
                    if cell.null is not None:
                        nulls[cell.null][cell.place] = number
                        continue
                    values[cell.place] = number
                    step_done()
                    if on_score is not None:
                        on_score(*cell.place, number)
        except KeyboardInterrupt:
            if np.isnan(values).all():
                raise
            done = int((~np.isnan(values)).sum())
            warn(f"interrupted: {done} of {values.size} cells are measured, and the others NaN")
    if null is True:
        null_label: str | None = "permuted positions"
    else:
        null_label = f"patches from {counted(len(unrelated), 'unrelated text')}"
    has_null = bool(null is True or unrelated) and not np.isnan(nulls).all()
    return GridScores(
        "restored",
        f"The share of {name} that a patch at {at!r} of the corrupt text restores: 0 is that of "
        f"the corrupt text, {with_minus(before, '.4g')}, and 1 that of the clean one, "
        f"{with_minus(after, '.4g')}",
        at,
        by,
        grid.rows,
        grid.columns(_labels(given, other, grid.length)),
        values,
        nulls.mean(axis=0) if has_null else None,
        null_label if has_null else None,
        given.described,
        missing=sources[0].missing,
    )


def _check_differs(name: str, before: float, after: float) -> None:
    """Raise a ValueError if a metric is the same for both texts."""
    if not abs(after - before) > 1e-6 * max(abs(after), abs(before)):
        raise ValueError(f"{name} is {before:.4g} for both texts: there is nothing to restore")


def _like(model: torch.nn.Module, tokenizer: Any, text: Text, given: OneText, name: str) -> OneText:
    """The text, which has as many tokens as the one that is given.

    Raises:
        ValueError: it has another number of tokens.
    """
    found = one_text(model, tokenizer, text, None, None, 0)
    own, other = found.batch.texts[0], given.batch.texts[0]
    for a, b in ((own.tokens, other.tokens), (own.target, other.target)):
        if a is not None and b is not None and len(a) != len(b):
            raise ValueError(
                f"{name} has {len(a)} tokens, and the corrupt text {len(b)}: a patch is of as many"
                f"{_where(a, b)}"
            )
    return found


def _where(a: Tokens, b: Tokens) -> str:
    """The place where two texts have different numbers of tokens, in words."""
    try:
        found = align(a, b, "tokens")
    except ValueError:
        return ""
    for pair in found.pairs:
        if len(pair.a) != len(pair.b):
            return (
                f"; {pair.label_a!r} is {counted(len(pair.a), 'token')} (from {pair.a.start}), "
                f"{pair.label_b!r} {counted(len(pair.b), 'token')} (from {pair.b.start})"
            )
    alone = [("it", a, n) for n in found.only_a]
    alone += [("the corrupt text", b, n) for n in found.only_b]
    return "".join(f"; {who} alone has {of.labels[n]!r} at {n}" for who, of, n in alone[:1])


def _ends_in_padding(given: OneText) -> bool:
    text = given.row.text
    return text is None or not len(text.kept) or int(text.kept[-1]) != text.length - 1


def _metric(
    model: torch.nn.Module,
    tokenizer: Any,
    given: OneText,
    metric: Callable[[Any], float] | str,
    token: str | SupportsIndex | None,
    against: str | SupportsIndex | None,
    position: int,
) -> tuple[Callable[[Any], Any], str]:
    """The metric, of an output for one text, and its name; a tensor, if the metric returns one."""
    if callable(metric):
        called = getattr(metric, "__name__", "<lambda>")
        return metric, called.replace("<lambda>", "the metric")
    if metric != "logit difference":
        raise ValueError(f"metric is {metric!r}; expected 'logit difference', or a function")
    if token is None:
        raise ValueError("the logit difference is that of token=, less that of against=")
    wanted = token_id(tokenizer, token)
    less = None if against is None else token_id(tokenizer, against)
    place = whole_number(position)

    def logit(output: Any) -> torch.Tensor:
        logits = getattr(output, "logits", None)
        if not isinstance(logits, torch.Tensor) or logits.ndim != 3:
            raise ValueError(f"{type(model).__name__} returns no logits of tokens: give metric=")
        kept = kept_positions(model, given.row, logits.shape[1])
        if not -len(kept) <= place < len(kept):
            raise IndexError(f"position {place} does not exist: the text has {len(kept)} tokens")
        of_place = logits[0, int(kept[place])].double()
        return of_place[wanted] if less is None else of_place[wanted] - of_place[less]

    name = f"the logit of {label_of(tokenizer, wanted)!r}"
    return logit, name if less is None else f"{name} less that of {label_of(tokenizer, less)!r}"


def _stack(sites: Sequence[Site], stack: str | None) -> str:
    usual = usual_stacks(sites) if stack is None else [sites_of(sites, stack)[0].stack]
    if len(usual) > 1:
        raise ValueError(f"the model has several stacks; give stack=, one of {usual}")
    return usual[0]


def _read(
    model: torch.nn.Module, at: Place, sites: Sequence[Site], stack: str, batch: TextBatch
) -> HeadOutputs:
    read = read_pass(
        model, at, 1, partial(run_model, model, batch, all_logits=True), sites=sites, stack=stack
    )
    if stack not in read.layers:
        reason = read.missing[0] if read.missing else "no layer has them"
        raise ValueError(f"the {at} of stack {stack!r} are not known: {reason}")
    return read


def _labels(corrupt: OneText, clean: OneText, length: int) -> tuple[str, ...]:
    """The labels of positions: tokens, or those of both texts where they differ."""
    for name in ("text", "target"):
        a, b = getattr(clean.sequences, name), getattr(corrupt.sequences, name)
        if a is not None and b is not None and len(a) == len(b) == length:
            return tuple(
                x if x == y else f"{x} / {y}" for x, y in zip(a.labels, b.labels, strict=True)
            )
    return tuple(map(str, range(length)))


@dataclass(frozen=True)
class _Cell:
    """The patch of one row of a batch.

    Attributes:
        place: the cell's row and column.
        layer: the number of the layer.
        heads: the heads, of those at the place.
        positions: those that are patched.
        taken: those of the source that are put there.
        source: its number.
        null: the number of the null that this is; None for none.
    """

    place: tuple[int, int]
    layer: int
    heads: list[int]
    positions: list[int]
    taken: list[int]
    source: int = 0
    null: int | None = None


@dataclass
class _Grid:
    """The cells of a grid."""

    at: Place
    by: By
    source: Mapping[int, Floats]
    layers: Chosen
    numbers: list[int] = field(init=False)

    def __post_init__(self) -> None:
        absent = sorted(set(listed(self.layers, [])) - set(self.source))
        if absent:
            raise ValueError(f"layer {absent[0]} has no {self.at!r}, or does not exist")
        self.numbers = [n for n in self.source if n in listed(self.layers, [n])]
        first = self.source[self.numbers[0]]
        if without_heads(self.at) and self.by.startswith("head"):
            raise ValueError(f"there are no heads at {self.at!r}: give by='layer×position'")
        if self.by.endswith("position") and len(first) > 1:
            raise ValueError("this model attends within windows, whose positions are no text's")
        self.length = first.shape[2]
        self.heads = max(self.source[number].shape[1] for number in self.numbers)

    @property
    def rows(self) -> tuple[str, ...]:
        if self.by == "head×position":
            return tuple(f"{n}-{h}" for n in self.numbers for h in range(self.source[n].shape[1]))
        return tuple(map(str, self.numbers))

    @property
    def shape(self) -> tuple[int, int]:
        if self.by == "layer":
            return len(self.rows), 1
        return len(self.rows), self.heads if self.by == "head" else self.length

    def columns(self, tokens: tuple[str, ...]) -> tuple[str, ...]:
        if self.by == "layer":
            return ("all positions",)
        return tuple(map(str, range(self.heads))) if self.by == "head" else tokens

    def cells(self, *, permuted: bool, texts: int, seed: int) -> Iterator[_Cell]:
        """All cells, and after those of a layer as many of each null."""
        random = np.random.default_rng(seed)
        row = 0
        for number in self.numbers:
            heads = list(range(self.source[number].shape[1]))
            cells = []
            by_head = self.by.startswith("head")
            for place, of_cell in enumerate([[h] for h in heads] if by_head else [heads]):
                if self.by.endswith("position"):
                    for n in range(self.length):
                        cells.append(_Cell((row + place, n), number, of_cell, [n], [n]))
                else:
                    every = list(range(self.length))
                    at = (row, place) if self.by == "head" else (row + place, 0)
                    cells.append(_Cell(at, number, of_cell, every, every))
            row += len(heads) if self.by == "head×position" else 1
            yield from cells
            if permuted and self.length > 1:
                for cell in cells:
                    yield replace(cell, taken=_others(cell.positions, self.length, random), null=0)
            for text in range(texts):
                yield from (replace(cell, source=1 + text, null=text) for cell in cells)


def _others(positions: list[int], length: int, random: np.random.Generator) -> list[int]:
    """Other positions in place of these, each once."""
    if len(positions) == 1:
        return [(positions[0] + int(random.integers(1, length))) % length]
    order = random.permutation(length)
    taken = np.empty(length, int)
    taken[order] = np.roll(order, 1)  # a permutation that leaves none at its place
    found: list[int] = taken.tolist()
    return found


class _Editor(Handler):
    """Patches another cell in each row of a batch.

    Attributes:
        cells: those of the first rows.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        sites: Sequence[Site],
        stack: str,
        at: Place,
        rows: int,
        sources: Sequence[HeadOutputs],
    ) -> None:
        self.cells: list[_Cell] = []
        self._model = model
        self._sites = sites_of(sites, stack)
        self._at: Place = at
        self._rows = rows
        self._sources = [
            {layer: torch.tensor(given) for layer, given in source.layers[stack].items()}
            for source in sources
        ]
        self._of_call: dict[CallId, tuple[Site, int | None]] = {}
        for site in self._sites:
            for head, own in enumerate(site.ids):
                self._of_call[own] = site, head if site.further else None
        self._streams = Streams(model, sites)
        if without_heads(at):
            self._streams.visit(at, stack, 0 if at == "embedding" else None, self._in_stream)

    @contextmanager
    def following(self, *, interface_only: bool) -> Iterator[None]:
        """Patch the cells within this context."""
        if without_heads(self._at):
            with self._streams.following():
                yield
            return
        with trace(self._model, self, self._rows, interface_only=interface_only):
            yield

    def sites_from(self, layer: int) -> list[Site]:
        """Attention of this layer, and where it has none, of all."""
        found = [site for site in self._sites if site.layer == layer]
        return found or self._sites

    def _in_stream(self, here: Here) -> torch.Tensor:
        return self._patched(here.layer, here.own)

    def attention(self, address: Address, read: Read) -> Call | None:
        site, _ = self._of_call.get(address.id, (None, None))
        if site is None or not any(cell.layer == site.layer for cell in self.cells):
            return None
        call = read()
        return with_at(call, self._at, self._patched(site.layer, read_at(call, self._at)))

    def mixing(self, address: Address, read: ReadMixing) -> torch.Tensor | None:
        site, head = self._of_call.get(address.id, (None, None))
        if site is None or not any(cell.layer == site.layer for cell in self.cells):
            return None
        call: MixingCall = read()
        return self._patched(site.layer, call.passed_on, head)

    def _patched(self, layer: int, own: torch.Tensor, head: int | None = None) -> torch.Tensor:
        """The numbers at a place, [rows * windows, heads, T, d], with its cells patched.

        Args:
            head: the number of the only head of `own` in its layer; None for all.
        """
        windows = len(own) // self._rows
        new = own
        for row, cell in enumerate(self.cells):
            heads = cell.heads if head is None else [0] * (head in cell.heads)
            if cell.layer != layer or not heads:
                continue
            if new is own:
                new = own.clone()
            source = self._sources[cell.source][layer].to(own)
            taken = cell.heads if head is None else [head]
            for to, of in zip(heads, taken, strict=True):
                of_row = new[row * windows : (row + 1) * windows, to]
                of_row[:, cell.positions] = source[:, of][:, cell.taken]
        return new
