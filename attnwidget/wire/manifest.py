"""The manifest and the overview: the widget state from which the view paints first."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import HeadSummary, norms_need, sampled_rows, summarize_heads
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE
from attnwidget.analysis.words import words
from attnwidget.record import AttentionRecord, Layer, Replay, ScoreProgram, Stack, Tokens

from .block import block_size
from .metrics import SentMetric, encode_metrics, encode_patterns
from .text import sendable

VERSION = 3


@dataclass(frozen=True)
class EncodedHeads:
    """What a manifest and its thumbnails say of heads, of one text or of many.

    Attributes:
        metrics: the numbers of all heads.
        patterns: the patterns, and that of every head.
        levels: by stack and layer, the thumbnail of every head in levels 0 to 15.
        weighted: thumbnails of value-weighted shares, of the layers that have them, in order.
        texts: the number of texts; None for the record's own.
    """

    metrics: list[SentMetric]
    patterns: dict[str, Any]
    levels: Mapping[str, Sequence[Sequence[NDArray[np.uint8]]]]
    weighted: Sequence[NDArray[np.uint8]] = ()
    texts: int | None = None


def encode_overview(
    record: AttentionRecord, heads: EncodedHeads | None = None
) -> tuple[dict[str, Any], bytes]:
    """Encode a record's (manifest, thumbnails).

    The manifest is JSON; `js/src/data/manifest.ts` describes its shape. The thumbnails of all heads
    are concatenated in the order of stacks, layers and heads, with 4 bits per cell, the first cell
    in the high half of a byte, and every thumbnail padded to a whole byte. Those of value-weighted
    shares follow in the same order, for the layers with norms of values; a profile has none.

    Args:
        heads: what is said of them in place of this text's own, as `encode_profile` returns it.

    Raises:
        ValueError: scores are beyond single precision.
    """
    heads = heads or _heads_of(record)
    manifest = {
        **encode_record(record),
        "texts": heads.texts,
        "metrics": heads.metrics,
        "patterns": heads.patterns,
    }
    levels = [head for name in record.stacks for layer in heads.levels[name] for head in layer]
    return manifest, b"".join(map(pack_levels, [*levels, *heads.weighted]))


def _heads_of(record: AttentionRecord) -> EncodedHeads:
    summaries = {
        name: [_summaries(record.stack(name), layer) for layer in record.stack(name).layers]
        for name in record.stacks
    }
    return EncodedHeads(
        encode_metrics(summaries),
        encode_patterns(summaries),
        {
            name: [[head.levels for head in heads] for heads in layers]
            for name, layers in summaries.items()
        },
        [
            head.weighted_levels
            for layers in summaries.values()
            for heads in layers
            for head in heads
            if head.weighted_levels is not None
        ],
    )


def encode_record(record: AttentionRecord) -> dict[str, Any]:
    """The part of a manifest that is not about heads: tokens, layers, the image."""
    stacks = []
    for name in record.stacks:
        stack = record.stack(name)
        sampled = sampled_rows(len(stack.queries))
        layers = [_layer(layer) for layer in stack.layers]
        stacks.append({"name": name, **_axes(stack), "sampled": sampled, "layers": layers})
    return {
        "version": VERSION,
        "model": sendable(record.model),
        "missing": [sendable(text) for text in record.missing],
        "stacks": stacks,
        "image": None if record.image is None else base64.b64encode(record.image.data).decode(),
        **_replay(record.replay),
    }


def decode_overview(
    record: AttentionRecord,
    manifest: Mapping[str, Any],
    thumbnails: bytes,
    *,
    weighted: bool = False,
) -> dict[str, list[list[NDArray[np.uint8]]]]:
    """Decode every head's thumbnail, by stack and layer.

    A thumbnail is [min(Tq, 32), min(Tk, 32)], or [32, 32] over many texts.

    Args:
        weighted: True for those of value-weighted shares; layers without norms have none, and
            profiles none at all.
    """
    remaining = np.frombuffer(thumbnails, np.uint8)

    def decoded(stack: Stack, heads: int) -> list[NDArray[np.uint8]]:
        nonlocal remaining
        rows, columns = thumbnail_shape(stack, manifest)
        size = (rows * columns + 1) // 2
        packed, remaining = np.split(remaining, [heads * size])
        cells = np.stack([packed >> 4, packed & 15], axis=1).reshape(heads, 2 * size)
        return list(cells[:, : rows * columns].reshape(-1, rows, columns))

    stacks = {name: record.stack(name) for name in record.stacks}
    attention = {
        name: [decoded(stack, layer.num_heads) for layer in stack.layers]
        for name, stack in stacks.items()
    }
    if not weighted:
        return attention

    def has_weighted(layer: Layer) -> bool:
        return manifest["texts"] is None and norms_need(layer) is None

    return {
        name: [
            decoded(stack, layer.num_heads if has_weighted(layer) else 0) for layer in stack.layers
        ]
        for name, stack in stacks.items()
    }


def thumbnail_shape(stack: Stack, manifest: Mapping[str, Any]) -> tuple[int, int]:
    """The shape of a stack's thumbnails."""
    if manifest["texts"] is not None:
        return THUMBNAIL_SIZE, THUMBNAIL_SIZE
    return min(len(stack.queries), THUMBNAIL_SIZE), min(len(stack.keys), THUMBNAIL_SIZE)


def _summaries(stack: Stack, layer: Layer) -> list[HeadSummary]:
    # Overflows become NaN or infinity, which is checked below.
    with np.errstate(over="ignore", invalid="ignore"):
        heads = summarize_heads(stack, layer)
    if not all(np.isfinite(list(head.metrics.values())).all() for head in heads):
        raise ValueError(
            f"the scores of layer {layer.number} are beyond single precision, so no attention "
            "follows from them"
        )
    return heads


def _axes(stack: Stack) -> dict[str, Any]:
    # The one sequence of self-attention is sent once.
    keys = None if stack.keys == stack.queries else _tokens(stack.keys)
    return {"queries": _tokens(stack.queries), "keys": keys}


def _tokens(tokens: Tokens) -> dict[str, Any]:
    return {
        "labels": [sendable(label) for label in tokens.labels],
        "segments": None if tokens.segments is None else list(tokens.segments),
        "special": list(tokens.special),
        "words": _words(tokens),
        "patches": None if tokens.patches is None else asdict(tokens.patches),
        "generated": tokens.generated,
    }


def _words(tokens: Tokens) -> dict[str, Any] | None:
    found = words(tokens)
    if found is None:
        return None
    return {"labels": [sendable(label) for label in found.labels], "of": list(found.of)}


def _layer(layer: Layer) -> dict[str, Any]:
    return {
        "number": layer.number,
        "heads": layer.num_heads,
        "bytes": block_size(layer),
        "key_heads": layer.num_kv_heads,
        "dim": None if layer.queries is None else layer.queries.shape[2],
        "rotary": None if layer.rotary is None else asdict(layer.rotary),
        "program": None if layer.program is None else program_json(layer.program),
        "sums": layer.row_sums,
        "norms_need": norms_need(layer),
        "fidelity": {
            "exact": layer.fidelity.exact,
            "module": sendable(layer.fidelity.module),
            "tolerance": layer.fidelity.tolerance,
        },
    }


def _replay(replay: Replay | None) -> dict[str, Any]:
    """The distance of a generated text's record from its generation; nothing for other texts."""
    if replay is None:
        return {}
    found = {"difference": replay.difference, "reason": sendable(replay.reason)}
    return {"replay": found}


def program_json(program: ScoreProgram) -> dict[str, Any]:
    """The score program as JSON, without its large arrays, which are in the block."""
    return {
        "scale": list(program.scale) if isinstance(program.scale, tuple) else program.scale,
        "mask": program.mask,
        "window": None if program.window is None else list(program.window),
        "blocks": None if program.blocks is None else list(program.blocks),
        "softcap": program.softcap,
        # JSON has no infinity, so a sink at -inf, which receives no weight, is null.
        "sinks": None
        if program.sinks is None
        else [float(sink) if np.isfinite(sink) else None for sink in program.sinks],
        "bias": program.bias is not None,
        "relative": program.relative is not None,
    }


def pack_levels(levels: np.ndarray) -> bytes:
    """Pack levels of 4 bits, two in a byte."""
    flat = levels.ravel()
    if len(flat) % 2:
        flat = np.append(flat, np.uint8(0))
    packed: bytes = (flat[0::2] << 4 | flat[1::2]).tobytes()
    return packed
