"""The running text of a stack, as a part of the manifest, and its shares as a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import (
    LENSES,
    FactorLens,
    RunningText,
    TextShares,
    running_text,
    text_shares,
)
from attnwidget.record import AttentionRecord, Replay, Tokens

from .block import Block
from .text import sendable

if TYPE_CHECKING:
    from attnwidget.interventions.rerun import Rerun

# A view without an answer looks at each row, whose shares would fill a page.
_MOST_SHARES = 1 << 24
# Of nats, in a page.
_DIGITS = 4
_KINDS = {"first token": 1, "template": 2}
_OF_TEXT = 3


def text_of(record: AttentionRecord, stack: str) -> RunningText | None:
    """The running text that a view shows; None where there is none, or it is too long."""
    own = record.stack(stack)
    # Its means of heads are of weights, which are shares; coefficients of heads are not alike.
    found = None if own.signed else running_text(own)
    if found is None:
        return None
    # Of a plain text that nothing was generated from, other views say more.
    is_several = found.keys.pieces or len(found.messages) > 1 or own.queries != own.keys
    if not (_written(record) if found.answered else is_several):
        return None
    layers = own.layers
    heads = sum(layer.num_heads for layer in layers)
    numbers = len(found.rows) * max(len(found.keys), heads * len(found.sentences))
    return found if numbers <= _MOST_SHARES else None


def encode_text(record: AttentionRecord, stack: str) -> dict[str, Any] | None:
    """The places of a stack's running text as JSON; `js/src/data/manifest.ts` describes them."""
    found = text_of(record, stack)
    if found is None:
        return None
    return {
        "text": sendable(found.keys.text or ""),
        "offsets": _utf16(found.keys),
        "messages": [
            {"role": sendable(piece.role), "start": piece.start, "end": piece.end}
            for piece in found.messages
        ],
        "template": list(found.template),
        "sentences": [list(span) for span in found.sentences],
        "first": found.rows.start,
        "answer": _answer(record.replay) if found.answered and record.replay else None,
    }


def encode_ratios(ratios: NDArray[np.float64]) -> list[list[float | None]]:
    """Multiples of even shares, [rows, sentences], as JSON; null for NaN."""
    rounded = np.round(ratios, _DIGITS).tolist()
    return [[None if number != number else number for number in row] for row in rounded]


def with_measured(manifest: Mapping[str, Any], rerun: Rerun) -> dict[str, Any]:
    """A manifest with what was measured of answers, for a page without the model."""

    def of(sent: dict[str, Any]) -> dict[str, Any]:
        if not sent.get("text"):
            return sent
        cuts = [
            {
                "start": cut.keys[0],
                "end": cut.keys[-1] + 1,
                "heads": None if cut.heads is None else sorted(map(list, cut.heads)),
                "changes": np.round(found.changes, _DIGITS).tolist(),
                "answer": None if found.answer is None else sendable(found.answer),
            }
            for (stack, cut), found in list(rerun.measured.items())
            if stack == sent["name"] and len(cut.keys) == cut.keys[-1] + 1 - cut.keys[0]
        ]
        ratios = rerun.shuffles.get(sent["name"])
        shuffled = None if ratios is None else encode_ratios(ratios)
        return {**sent, "text": {**sent["text"], "cuts": cuts, "shuffled": shuffled}}

    return {**manifest, "stacks": [of(each) for each in manifest["stacks"]]}


def encode_shares(record: AttentionRecord, stack: str) -> Block:
    """The attention of a running text's rows, see `attnwidget.analysis.text_shares`.

    "mean" is [rows, Tk]; "shares" [rows, sentences, heads], with all heads of all layers, has
    integers n for shares of ((n + 128) / 255)², within .004 of them; "sinks" [Tk] has 1 for the
    first token, 2 for the template, 3 for a sink of the text, else 0. "mean values" and
    "shares values" are the same by value-weighted norms, if all layers have these.

    Raises:
        ValueError: the stack has no running text.
    """
    found = text_of(record, stack)
    if found is None:
        raise ValueError(f"stack {stack!r:.100} has no running text")
    own = record.stack(stack)
    shares = text_shares(own, found)
    kinds = np.zeros(len(found.keys), np.int8)
    for sink in shares.sinks:
        kinds[list(sink.keys)] = _KINDS.get(sink.label, _OF_TEXT)
    block = Block([], [])
    _add_shares(block, "", shares)
    block.add("sinks", "i8", kinds)
    for lens in LENSES:
        if isinstance(lens, FactorLens) and not any(
            lens.why_not(record, stack, number) for number in own.numbers
        ):
            factors = {number: lens.factors(record, stack, number) for number in own.numbers}
            _add_shares(block, f" {lens.name}", text_shares(own, found, factors))
    return block


def _add_shares(block: Block, of: str, shares: TextShares) -> None:
    block.add_floats(f"mean{of}", shares.mean)
    levels = np.round(np.sqrt(np.clip(shares.heads, 0, 1)) * 255) - 128
    block.add(f"shares{of}", "i8", levels.astype(np.int8))


def _written(record: AttentionRecord) -> bool:
    return record.replay is not None and bool(record.replay.written)


def _answer(replay: Replay) -> dict[str, Any]:
    texts = [each.text for each in replay.written]
    ends = list(accumulate(map(_length, texts)))
    return {
        "text": sendable("".join(texts)),
        "labels": [sendable(each.label) for each in replay.written],
        "offsets": [
            place
            for text, end in zip(texts, ends, strict=True)
            for place in ((end - _length(text), end) if text else (-1, -1))
        ],
        "p": [each.probability for each in replay.written],
        "likeliest": [
            [[sendable(label), p] for label, p in each.likeliest] for each in replay.written
        ],
    }


def _length(text: str) -> int:
    """The length of a text in JavaScript, in units of UTF-16."""
    return len(text) + sum(sign > "\uffff" for sign in text)


def _utf16(tokens: Tokens) -> Sequence[int]:
    starts = list(accumulate((1 + (sign > "\uffff") for sign in tokens.text or ""), initial=0))
    return [
        place
        for span in tokens.offsets or ()
        for place in ((-1, -1) if span is None else (starts[span[0]], starts[span[1]]))
    ]
