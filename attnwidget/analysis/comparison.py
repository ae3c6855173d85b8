"""Comparison of two records, head by head: two models, two texts, with and without heads."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from attnwidget.arguments import checked, instance, one_of
from attnwidget.counted import counted
from attnwidget.record import AttentionRecord, Floats, Stack, Tokens, of_stack
from attnwidget.warning import warn

from .alignment import Alignment, Level, align
from .common_axes import Common, on_common_axes
from .head_difference import Difference, head_difference, paired_weights
from .head_pairs import Layers, Matched, pair_heads
from .head_scores import HeadScores, Rows
from .metrics import Numbers
from .table import Tabular, data_frame, largest_first

if TYPE_CHECKING:
    import pandas as pd

# The share of the shorter text that two texts have in common; below, a comparison says little.
_LEAST_COMMON = 0.25

_WORDS = {
    "moved": "The share of attention that lies elsewhere",
    "divergence": "The Jensen-Shannon divergence of rows, in nats",
    "cosine": "The cosine of all weights of both heads",
    "weight_change": "The mean change of a weight",
}

_RECORD = instance(
    AttentionRecord,
    "an AttentionRecord, as of attnwidget.capture(...); of two texts, "
    "attnwidget.compare(model, tokenizer, text, other_text)",
)


class PairChange(NamedTuple):
    """The change of one weight.

    Attributes:
        query, key: the labels, as "cat | dog" where the texts differ.
        a, b: the weights in both.
        difference: b - a.
        query_a, key_a, query_b, key_b: the positions in either record; several of a word.
    """

    query: str
    key: str
    a: float
    b: float
    difference: float
    query_a: range
    key_a: range
    query_b: range
    key_b: range


@checked(a=_RECORD, b=_RECORD, level=one_of(Level, None))
def compare(
    a: AttentionRecord,
    b: AttentionRecord,
    *,
    stack: str | None = None,
    level: Level | None = None,
    layers: Layers = "number",
    heads: Iterable[Matched] | None = None,
) -> Comparison:
    """Compare two records: of two models, checkpoints or texts, or with and without heads.

    Tokens are paired first (see `Alignment`): equal ones, replaced ones, and those of two
    tokenizers through words. Then heads: those of the same numbers, unless `layers` or `heads` says
    otherwise. Texts with less than a quarter of the shorter one in common give a warning.

    Args:
        a, b: the records.
        stack: the stack that is compared; None for all that both have.
        level: "tokens" or "words"; None for tokens if they can be paired one to one, else words.
        layers: "number", layers of the same number; "depth", of two models with different numbers
            of layers, those at the nearest relative depth; or the numbers of b's layers by a's.
        heads: pairs of heads of one stack, as `match_heads` finds them, instead of `layers`.

    Returns:
        The comparison, with `weights`, `difference`, `changes`, `metrics` and `table`;
        `attnwidget.show` opens it.

    Raises:
        TypeError: `a` or `b` is no record.
        ValueError: the records have no stack or no token in common; layers or heads cannot be
            paired; one has no softmax; or the words of a text are not known.
    """
    names = [name for name in a.stacks if name in b.stacks and stack in (None, name)]
    if not names:
        raise ValueError(
            f"the records have no stack {'in common' if stack is None else repr(stack)}: a has "
            f"{', '.join(a.stacks)}, b {', '.join(b.stacks)}"
        )
    if heads is not None and len(names) > 1:
        raise ValueError(f"heads= are those of one stack; give stack=, one of {', '.join(names)}")
    return Comparison(
        a, b, {name: _sides(a.stack(name), b.stack(name), level, layers, heads) for name in names}
    )


class _Measured(NamedTuple):
    """The difference between a head and its partner, and between it and a null."""

    own: Difference
    null: Difference


class Comparison(Tabular):
    """Two records, and what belongs together in them: `attnwidget.compare` makes one.

    Weights of tokens that are compared as one are summed over keys and averaged over queries.
    Tokens without a partner are left out, so that a row may sum to less than 1. Differences are
    b - a.

    Attributes:
        a, b: the records.
        stacks: the names of the stacks that are compared.
    """

    def __init__(self, a: AttentionRecord, b: AttentionRecord, sides: dict[str, Common]) -> None:
        self.a = a
        self.b = b
        self.stacks = tuple(sides)
        self._sides = sides

    def queries(self, stack: str | None = None) -> Alignment:
        """The queries that belong together."""
        return self._of(stack).queries

    def keys(self, stack: str | None = None) -> Alignment:
        """The keys that belong together."""
        return self._of(stack).keys

    def partner(self, layer: int, head: int, stack: str | None = None) -> tuple[int, int]:
        """The (layer, head) of b that a head of a is compared with.

        Raises:
            KeyError: there is no such stack.
            IndexError: there is no such head, or it has no partner.
        """
        pairs = self._of(stack).heads
        if (layer, head) not in pairs:
            raise IndexError(f"head {layer}-{head} is not compared with any")
        return pairs[layer, head]

    def weights(self, layer: int, head: int, stack: str | None = None) -> tuple[Floats, Floats]:
        """The weights of a head of a and of its partner, each float32 [queries, keys] of the pairs.

        Without a softmax, their coefficients.

        Raises:
            KeyError, IndexError: see `partner`.
        """
        other = self.partner(layer, head, stack)
        parts = list(paired_weights(*self._of(stack).of((layer, head), other)))
        return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])

    def difference(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """The weights of b, or coefficients, less those of a, float32 [queries, keys] of the pairs.

        Raises:
            KeyError, IndexError: see `partner`.
        """
        a, b = self.weights(layer, head, stack)
        return b - a

    def changes(
        self, layer: int, head: int, stack: str | None = None, *, count: int = 10
    ) -> list[PairChange]:
        """The weights of a head that differ most, the largest difference first.

        Raises:
            KeyError, IndexError: see `partner`.
        """
        sides = self._of(stack)
        a, b = self.weights(layer, head, stack)
        difference = b - a
        largest = np.argsort(-np.abs(difference), axis=None, kind="stable")[:count]
        found = []
        for place in zip(*np.unravel_index(largest, a.shape), strict=True):
            query, key = sides.queries.pairs[place[0]], sides.keys.pairs[place[1]]
            numbers = float(a[place]), float(b[place]), float(difference[place])
            positions = query.a, key.a, query.b, key.b
            found.append(PairChange(query.label, key.label, *numbers, *positions))
        return found

    @cached_property
    def records(self) -> tuple[AttentionRecord, AttentionRecord]:
        """a and b with the same tokens, layers and heads, those that belong together.

        A replaced token is named by both texts, as "big | small". Layers have the numbers of a.

        Raises:
            ValueError: some heads of a layer have a partner, and others none.
        """
        pairs = {name: on_common_axes(sides) for name, sides in self._sides.items()}
        a = {name: stacks[0] for name, stacks in pairs.items()}
        b = {name: stacks[1] for name, stacks in pairs.items()}
        return self.a.with_stacks(a), self.b.with_stacks(b)

    def metrics(self) -> dict[str, HeadScores]:
        """The differences of all heads of a, as `attnwidget.show` takes metrics.

            aw.show(comparison.a, metrics=comparison.metrics(), view="map")

        By the names of `Difference`; the null is the same between a head of a and the head after
        its partner. NaN for a head without a partner.
        """
        return {
            name: HeadScores(
                name,
                _WORDS[name],
                self._rows(name, "own"),
                null=self._rows(name, "null"),
                null_label="the next head of the layer",
            )
            for name in Difference._fields
        }

    def table(self) -> pd.DataFrame:
        """The differences, a row per stack and head of a that has a partner.

        Columns: "stack", "layer", "head", "layer_b", "head_b"; "moved", the share of attention that
        lies elsewhere in b, from 0 to 1; "divergence", "cosine" and "weight_change", see
        `Difference`; and these with "_null", as "moved_null", for the head after the partner.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        rows = []
        for stack, heads in self._measured.items():
            for head, measured in heads.items():
                layer_b, head_b = self._sides[stack].heads[head]
                row = {"stack": stack, "layer": head[0], "head": head[1]}
                row |= {"layer_b": layer_b, "head_b": head_b, **measured.own._asdict()}
                rows.append(row | {f"{k}_null": v for k, v in measured.null._asdict().items()})
        return data_frame({name: [row[name] for row in rows] for name in rows[0]})

    def _shown(self, rows: pd.DataFrame) -> tuple[str, pd.DataFrame]:
        return "", largest_first(rows, "moved")

    def __repr__(self) -> str:
        parts = []
        for name, sides in self._sides.items():
            keys = sides.keys
            parts.append(
                f"{name}: {counted(len(sides.heads), 'head')}, "
                f"{counted(len(keys.pairs), keys.level[:-1])} in common, "
                f"{keys.differing} of them different"
            )
        return f"Comparison({'; '.join(parts)})"

    def _of(self, stack: str | None) -> Common:
        return of_stack(self._sides, stack, "this comparison")

    @cached_property
    def _measured(self) -> dict[str, dict[tuple[int, int], _Measured]]:
        """By stack and head of a."""
        return {
            name: {
                head: _Measured(
                    head_difference(*sides.of(head, other)),
                    head_difference(*sides.of(head, _next(sides.b, other))),
                )
                for head, other in sides.heads.items()
            }
            for name, sides in self._sides.items()
        }

    def _rows(self, name: str, kind: Literal["own", "null"]) -> Rows:
        """A field of the differences, or of their null; NaN for a head without a partner."""
        none = Difference(np.nan, np.nan, np.nan, np.nan)
        rows: dict[str, dict[int, Numbers]] = {}
        for stack, heads in self._measured.items():
            for layer in self.a.stack(stack).layers:
                found = [heads.get((layer.number, head)) for head in range(layer.num_heads)]
                numbers = [getattr(getattr(each, kind, none), name) for each in found]
                rows.setdefault(stack, {})[layer.number] = np.array(numbers)
        return rows


def _next(stack: Stack, head: tuple[int, int]) -> tuple[int, int]:
    """The next head of a layer; the first one after the last."""
    layer, number = head
    return layer, (number + 1) % stack.layer(layer).num_heads


def _sides(
    a: Stack, b: Stack, level: Level | None, layers: Layers, heads: Iterable[Matched] | None
) -> Common:
    if a.signed != b.signed:
        raise ValueError(
            f"{'a' if a.signed else 'b'} has no softmax, but signed coefficients in place of "
            "weights: the difference between these and weights says nothing"
        )
    queries = align(a.queries, b.queries, level)
    same = a.keys == a.queries and b.keys == b.queries
    keys = queries if same else align(a.keys, b.keys, level)
    _warn_of_few(a.keys, b.keys, keys)
    if not same:
        _warn_of_few(a.queries, b.queries, queries)
    return Common(a, b, queries, keys, pair_heads(a, b, layers, heads))


def _warn_of_few(a: Tokens, b: Tokens, found: Alignment) -> None:
    """Warn if two texts have little in common, of which special tokens say nothing."""
    equal = [pair for pair in found.pairs if pair.equal]
    common = min(
        len({n for pair in equal for n in pair.a}.difference(a.special)),
        len({n for pair in equal for n in pair.b}.difference(b.special)),
    )
    shorter = min(len(each) - len(each.special) for each in (a, b))
    if common < _LEAST_COMMON * shorter:
        warn(
            f"the texts have only {common} of {shorter} tokens in common, without special ones, so "
            "that their comparison says little; its `keys().pairs` are what is compared"
        )
