"""The attention that models with bands and blocks return, with a column for every token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor


def whole(name: str, inputs: Mapping[str, Any], output: Mapping[str, Any]) -> Mapping[str, Any]:
    """A model's output with whole matrices in place of bands and blocks.

    Args:
        name: the architecture.
        inputs: of the model, without global tokens of the text.
        output: its output.
    """
    if name == "longformer":
        return {**output, "attentions": tuple(map(_of_band, output["attentions"]))}
    if name == "led":
        bands = tuple(map(_of_band, output["encoder_attentions"]))
        return {**output, "encoder_attentions": bands}
    if name == "reformer":  # the columns of the other layers are keys that are sorted by hashes
        locals_ = output["attentions"][::2]
        return {**output, "attentions": tuple(map(_of_chunks, locals_))}
    if name == "pegasus_x":
        length = inputs["input_ids"].shape[1]
        blocks = tuple(
            _of_blocks(layer["global"], layer["local"], length, shifted=number % 2 == 1)
            for number, layer in enumerate(output["encoder_attentions"])
        )
        return {**output, "encoder_attentions": blocks}
    return output


def _of_band(band: Tensor) -> Tensor:
    """[batch, heads, T, T] of [batch, heads, T, window + 1], whose middle column is the token."""
    length, side = band.shape[2], band.shape[3] // 2
    weights = band.new_zeros(*band.shape[:2], length, length)
    for query in range(length):
        for key in range(max(0, query - side), min(length, query + side + 1)):
            weights[:, :, query, key] = band[:, :, query, key - query + side]
    return weights


def _of_chunks(chunks: Tensor) -> Tensor:
    """[batch, heads, T, T] of the weights [batch, heads, chunks, size, 2 size] of a chunk and the
    one before it."""
    _, _, count, size, _ = chunks.shape
    weights = chunks.new_zeros(*chunks.shape[:2], count * size, count * size)
    for query in range(count * size):
        chunk, place = divmod(query, size)
        before = (chunk - 1) % count
        for key in range(size):
            weights[:, :, query, before * size + key] = chunks[:, :, chunk, place, key]
            weights[:, :, query, chunk * size + key] = chunks[:, :, chunk, place, size + key]
    return weights


def _of_blocks(to_all: Tensor, local: Tensor, length: int, *, shifted: bool) -> Tensor:
    """[batch, heads, G + T, G + T] of the weights of G global tokens, and of blocks of a text.

    Args:
        to_all: [batch, heads, G, G + T with padding].
        local: [batch, heads, blocks, block, G + block].
        length: T.
        shifted: True if half a block of padding is before the text.
    """
    count, size = to_all.shape[2], local.shape[3]
    start = size // 2 if shifted else 0
    columns = [*range(count), *range(count + start, count + start + length)]
    weights = to_all.new_zeros(*to_all.shape[:2], count + length, count + length)
    weights[:, :, :count] = to_all[..., columns]
    for query in range(length):
        block, place = divmod(start + query, size)
        row = local[:, :, block, place]
        weights[:, :, count + query, :count] = row[..., :count]
        for key in range(size):
            column = block * size + key - start
            if 0 <= column < length:
                weights[:, :, count + query, count + column] = row[..., count + key]
    return weights
