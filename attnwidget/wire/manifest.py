"""The manifest and the overview: the widget state from which the view paints first."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import (
    ATTENTION,
    LENSES,
    FactorLens,
    HeadSummary,
    Lens,
    factors_of,
    sampled_rows,
    summarize_heads,
)
from attnwidget.analysis.thumbnails import THUMBNAIL_SIZE
from attnwidget.analysis.words import words
from attnwidget.record import (
    AttentionRecord,
    Layer,
    Recurrence,
    Replay,
    ScoreProgram,
    Stack,
    Tokens,
)

from .block import block_size
from .lenses import encode_lens, thumbnails_of
from .metrics import SentMetric, encode_metrics, encode_patterns
from .running_text import encode_text
from .text import sendable

VERSION = 5

# In bytes. A page reads 2^26 at most, see js/src/host/program.ts; a comparison has those of its
# differences as well, half as many.
_MOST_THUMBNAILS = 40_000_000


@dataclass(frozen=True)
class EncodedHeads:
    """The patterns, metrics and thumbnails of heads, of one text or of many.

    Attributes:
        metrics: the numbers of all heads.
        patterns: the patterns, and that of every head.
        levels: by stack and layer, the thumbnail of every head in levels 0 to 15.
        by_lens: thumbnails of lenses, of the layers that have them, lens by lens.
        texts: the number of texts; None for the record's own.
        peaks: by stack without a softmax and layer, the largest magnitude of every head's
            coefficients, to which its levels are relative: 8 is zero.
    """

    metrics: list[SentMetric]
    patterns: dict[str, Any]
    levels: Mapping[str, Sequence[Sequence[NDArray[np.uint8]]]]
    by_lens: Sequence[NDArray[np.uint8]] = ()
    texts: int | None = None
    peaks: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)


def encode_overview(
    record: AttentionRecord,
    heads: EncodedHeads | None = None,
    lenses: Sequence[Lens] = LENSES,
) -> tuple[dict[str, Any], bytes]:
    """Encode a record's (manifest, thumbnails).

    The manifest is JSON; `js/src/data/manifest.ts` describes its shape. The thumbnails of all heads
    are concatenated in the order of stacks, layers and heads, with 4 bits per cell, the first cell
    in the high half of a byte, and every thumbnail padded to a whole byte. Those of lenses of
    factors and of matrices of heads follow, lens by lens, in the same order, for the layers that
    have them; a profile has none.

    Levels of layers without a softmax are 8 for zero, and 7 more or less for the "peaks" of the
    lens "attention".

    Args:
        heads: what is said of them in place of this text's own, as `encode_profile` returns it.
        lenses: those of the package, and the user's own.

    Raises:
        ValueError: scores are beyond single precision, or the thumbnails of lenses are too many.
    """
    if heads is None:
        _check_thumbnails(record, lenses)
    heads = heads or _heads_of(record, lenses)
    manifest = {
        **encode_record(record, lenses),
        "texts": heads.texts,
        "metrics": heads.metrics,
        "patterns": heads.patterns,
    }
    if heads.peaks:
        for lens in manifest["lenses"]:
            if lens["name"] == ATTENTION.name:
                lens["peaks"] = heads.peaks
    levels = [head for name in record.stacks for layer in heads.levels[name] for head in layer]
    return manifest, b"".join(map(pack_levels, [*levels, *heads.by_lens]))


def _check_thumbnails(record: AttentionRecord, lenses: Sequence[Lens]) -> None:
    whole = 0
    for stack in map(record.stack, record.stacks):
        rows, columns = thumbnail_shape(stack, {"texts": None})
        whole += math.ceil(rows * columns / 2) * sum(layer.num_heads for layer in stack.layers)
    of_heads = [lens for lens in lenses if lens.has_thumbnails]
    whole *= 1 + len(of_heads)
    if whole > _MOST_THUMBNAILS:
        raise ValueError(
            f"the pictures of all heads, of attention and of {len(of_heads)} lenses, take "
            f"{whole:,} bytes, and a view reads {_MOST_THUMBNAILS:,}: give fewer lenses, or fewer "
            "layers"
        )


def _heads_of(record: AttentionRecord, lenses: Sequence[Lens]) -> EncodedHeads:
    summaries = {
        name: [_summaries(record, name, layer, lenses) for layer in record.stack(name).layers]
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
            levels
            for lens in lenses
            if lens.has_thumbnails
            for levels in (
                _levels_by_factor(summaries, lens.name)
                if isinstance(lens, FactorLens)
                else thumbnails_of(lens, record)
            )
        ],
        peaks={
            name: [[head.peak or 0.0 for head in heads] for heads in layers]
            for name, layers in summaries.items()
            if record.stack(name).signed
        },
    )


def encode_record(record: AttentionRecord, lenses: Sequence[Lens] = LENSES) -> dict[str, Any]:
    """The part of a manifest that is not about heads: tokens, layers, lenses, the images."""
    stacks = []
    for name in record.stacks:
        stack = record.stack(name)
        sampled = sampled_rows(len(stack.queries))
        layers = [_layer(layer, record, name, lenses) for layer in stack.layers]
        # The one sequence of self-attention is sent once.
        keys = None if stack.keys == stack.queries else _tokens(stack.keys)
        axes = {"queries": _tokens(stack.queries), "keys": keys}
        stacks.append({"name": name, **axes, "sampled": sampled, "layers": layers})
        if (text := encode_text(record, name)) is not None:
            stacks[-1]["text"] = text
    return {
        "version": VERSION,
        "model": sendable(record.model),
        "missing": [sendable(text) for text in record.missing],
        "stacks": stacks,
        "lenses": [encode_lens(record, lens) for lens in lenses],
        "images": [base64.b64encode(image.data).decode() for image in record.images],
        **_replay(record.replay),
    }


def decode_overview(
    record: AttentionRecord, manifest: Mapping[str, Any], thumbnails: bytes
) -> dict[str, list[list[NDArray[np.uint8]]]]:
    """Decode the thumbnail of every head's attention, by stack and layer.

    A thumbnail is [min(Tq, 32), min(Tk, 32)], or [32, 32] over many texts.
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
    return {
        name: [decoded(stack, layer.num_heads) for layer in stack.layers]
        for name, stack in stacks.items()
    }


def thumbnail_shape(stack: Stack, manifest: Mapping[str, Any]) -> tuple[int, int]:
    """The shape of a stack's thumbnails."""
    if manifest["texts"] is not None:
        return THUMBNAIL_SIZE, THUMBNAIL_SIZE
    return min(len(stack.queries), THUMBNAIL_SIZE), min(len(stack.keys), THUMBNAIL_SIZE)


def _levels_by_factor(
    summaries: Mapping[str, Sequence[Sequence[HeadSummary]]], lens: str
) -> Iterator[NDArray[np.uint8]]:
    for layers in summaries.values():
        for heads in layers:
            yield from (head.by_factor[lens] for head in heads if lens in head.by_factor)


def _summaries(
    record: AttentionRecord, stack: str, layer: Layer, lenses: Sequence[Lens]
) -> list[HeadSummary]:
    factors = factors_of(lenses, record, stack, layer.number)
    # Overflows become NaN or infinity, which is checked below.
    with np.errstate(over="ignore", invalid="ignore"):
        heads = summarize_heads(record.stack(stack), layer, factors)
    if not all(np.isfinite(list(head.metrics.values())).all() for head in heads):
        raise ValueError(
            f"the scores of layer {layer.number} are beyond single precision, so no attention "
            "follows from them"
        )
    return heads


def _tokens(tokens: Tokens) -> dict[str, Any]:
    boxes = {} if tokens.boxes is None else {"boxes": list(tokens.boxes)}
    return {
        "labels": [sendable(label) for label in tokens.labels],
        "segments": None if tokens.segments is None else list(tokens.segments),
        "special": list(tokens.special),
        "words": _words(tokens),
        "patches": None if tokens.patches is None else asdict(tokens.patches),
        # The one token of an answer that is not read is none of these.
        "generated": None if tokens.generated == len(tokens) else tokens.generated,
        **boxes,
    }


def _words(tokens: Tokens) -> dict[str, Any] | None:
    found = words(tokens)
    if found is None:
        return None
    return {"labels": [sendable(label) for label in found.labels], "of": list(found.of)}


def _layer(
    layer: Layer, record: AttentionRecord, stack: str, lenses: Sequence[Lens]
) -> dict[str, Any]:
    factors = [lens for lens in lenses if isinstance(lens, FactorLens)]
    num_factors = sum(lens.why_not(record, stack, layer.number) is None for lens in factors)
    program = layer.program
    # Coefficients are sent without queries and keys.
    has_vectors = layer.queries is not None and layer.coefficients is None
    return {
        "number": layer.number,
        "heads": layer.num_heads,
        "bytes": block_size(layer, num_factors),
        "key_heads": layer.num_kv_heads,
        "dim": layer.queries.shape[2] if layer.queries is not None and has_vectors else None,
        "rotary": asdict(layer.rotary) if layer.rotary is not None and has_vectors else None,
        "program": program_json(program) if isinstance(program, ScoreProgram) else None,
        "sums": layer.row_sums,
        **_signed(layer),
        "fidelity": {
            "exact": layer.fidelity.exact,
            "module": sendable(layer.fidelity.module),
            "tolerance": layer.fidelity.tolerance,
            "labels": layer.fidelity.labels,
        },
    }


def _signed(layer: Layer) -> dict[str, Any]:
    """The fields of a layer without a softmax; none of others."""
    if not layer.signed:
        return {}
    found = layer.program
    if not isinstance(found, Recurrence):
        kind = "contributions" if layer.of_channels else "coefficients"
        return {"signed": kind, "recurrence": None}
    assert layer.queries is not None
    recurrence = {
        "scale": found.scale,
        "query_heads": len(layer.queries),
        # The numbers of each token's decay.
        "decay": 0 if found.decay is None else found.decay.shape[2],
        "write": found.write is not None,
        "erase": found.erase is not None,
        "own": None if found.own is None else found.own.tolist(),
    }
    return {"signed": "coefficients", "recurrence": recurrence}


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
