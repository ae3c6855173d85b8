"""Comparison of stacks, axes, items and labels with the model's own inputs.

Lengths do not tell here: two items of other words, of which the first is padded; source and target
are equally long, and as long as there are heads where the model runs on so few tokens.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from attnwidget import AttentionRecord, capture
from benchmarks import zoo
from benchmarks.reference import Reference, references
from benchmarks.zoo.ids import SPECIAL, VOCABULARY

from .judge import one_line
from .match import difference
from .result import EXACT, Labels

_HEADS = 4
_FIRST = {"input_ids": 5, "decoder_input_ids": 50, "qformer_input_ids": 5}
_FURTHER = 20
"""The first token of each text, and what is added for the second item."""

_NO_TEXT = ("vision", "image", "audio", "pixel", "speech")
"""In the names of attention that is of no text."""


class _Names:
    """A tokenizer that names token 5 "w5"."""

    def __len__(self) -> int:
        return VOCABULARY

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [f"w{token}" for token in ids]


@dataclass(frozen=True)
class _Side:
    """The tokens [2, T] of a side, and which of them are no padding."""

    ids: torch.Tensor
    kept: torch.Tensor

    def words(self, item: int) -> tuple[str, ...]:
        return tuple(_Names().convert_ids_to_tokens(self.ids[item][self.kept[item]].tolist()))


def compare(name: str) -> tuple[Labels, str]:
    """What is known of an architecture's labels, and why they are not right."""
    try:
        eager = zoo.build(name, "eager")
    except zoo.CannotBuild as error:
        return Labels.NOT_RUN, one_line(error)
    for length in (_HEADS, None):
        try:
            inputs, texts = _inputs(eager, length)
            with torch.no_grad():
                eager.model(**inputs)
            built = zoo.Built(eager.model, inputs)
            trusted = [r for r in references(name, built) if not r.wrong]
            break
        except Exception as error:
            if length is None:
                return Labels.NOT_RUN, one_line(error)
    if "input_ids" in inputs and "input_ids" not in texts:
        return Labels.NOT_RUN, "several rows of its tokens are one item"
    found: dict[Labels, str] = {}
    for item in (0, 1):
        try:
            torch.manual_seed(0)  # some models draw random numbers
            record = capture(eager.model, _Names(), inputs, batch_index=item, image=False)
        except (ValueError, IndexError) as error:
            found[Labels.REFUSED] = one_line(error)
            continue
        for verdict, why in _verdicts(record, trusted, item, texts):
            found.setdefault(verdict, f"item {item}: {why}" if why else "")
    worst = max(found, key=list(Labels).index, default=Labels.NOT_RUN)
    if worst is Labels.RIGHT:
        return worst, ""
    return worst, found.get(worst, "the model returns no attention of items")


def _inputs(built: zoo.Built, length: int | None) -> tuple[dict[str, Any], dict[str, _Side]]:
    """The inputs of a model for two items, with its texts by the names of their inputs.

    Args:
        built: the model, with its inputs for one item.
        length: of a text without places for images or sound; None for its own.
    """
    inputs = {
        name: torch.cat([value, value]) if isinstance(value, torch.Tensor) else value
        for name, value in built.inputs.items()
    }
    for name, value in inputs.items():
        real = isinstance(value, torch.Tensor) and value.is_floating_point()
        if real and "padding" not in name and "mask" not in name:
            half = len(value) // 2
            value[half:] = value[half:] * 0.7 + 0.1
    takes = inspect.signature(built.model.forward).parameters
    texts: dict[str, _Side] = {}
    ids = inputs.get("input_ids")
    if ids is not None and ids.ndim == 2 and len(ids) == 2:
        if length is not None and (ids < SPECIAL).all():
            whole = ids.shape[1]
            inputs = {
                name: value[:, :length]
                if isinstance(value, torch.Tensor) and value.shape[1:2] == (whole,)
                else value
                for name, value in inputs.items()
            }
        if "decoder_input_ids" in inputs:
            inputs["decoder_input_ids"] = inputs["input_ids"].clone()
    for name, first in _FIRST.items():
        if name in inputs and inputs[name].ndim == 2 and len(inputs[name]) == 2:
            mask = name.replace("input_ids", "attention_mask")
            texts[name] = _side(inputs, name, mask, first, takes)
    return inputs, texts


def _side(
    inputs: dict[str, Any], name: str, mask: str, first: int, takes: Mapping[str, Any]
) -> _Side:
    """Put other words into an input, in place of those that are there, and pad its first item."""
    ids: torch.Tensor = inputs[name].clone()
    text = ids < SPECIAL
    for item in (0, 1):
        words = first + _FURTHER * item + torch.arange(ids.shape[1]) % _FURTHER
        ids[item] = torch.where(text[item], words, ids[item])
    kept = torch.ones_like(ids, dtype=torch.bool)
    if mask in takes and text[0, -1]:
        kept[0, -1] = False
        inputs[mask] = kept.long()
    inputs[name] = ids
    return _Side(ids, kept)


def _verdicts(
    record: AttentionRecord,
    trusted: Sequence[Reference],
    item: int,
    texts: Mapping[str, _Side],
) -> list[tuple[Labels, str]]:
    """The verdicts on the layer of each reference, and on layers without one."""
    layers = [(name, layer) for name in record.stacks for layer in record.stack(name).layers]
    found: list[tuple[Labels, str]] = []
    for reference in trusted:
        weights = reference.layouts[0]
        if len(weights) != 2:  # windows, or images of another number
            continue
        sides = _sides(reference.field, texts)
        expected = _without_padding(weights[item], item, sides)
        errors = [
            np.inf
            if layer.signed
            else min(
                difference(each[None], layer.all_weights(np.arange(layer.shape[0])))
                for each in expected
            )
            for _, layer in layers
        ]
        best = min(range(len(layers)), key=errors.__getitem__, default=None)
        if best is None or errors[best] > EXACT:
            said = [layer.fidelity.exact for _, layer in layers if not layer.signed]
            if all(said) and len(said) == len(trusted) and not record.missing:
                found.append((Labels.WRONG, f"no layer equals {reference}"))
            else:
                found.append((Labels.REFUSED, f"no layer equals {reference}"))
            continue
        name, layer = layers.pop(best)
        stack = record.stack(name)
        for own, side in zip((stack.queries, stack.keys), sides, strict=True):
            verdict = _of_labels(own.labels, side and side.words(item))
            if "decoder" in reference.field and "decoder_input_ids" not in texts:
                continue  # it has queries of its own, and reads the text or the image
            if verdict is Labels.WRONG and reference.field == "attentions" and len(texts) == 2:
                # The model does not say whether they are of the target's tokens.
                verdict = _of_labels(own.labels, texts["decoder_input_ids"].words(item))
            if verdict is Labels.WRONG and layer.fidelity.labels == "assumed":
                verdict = Labels.ASSUMED
            found.append((verdict, f"{name}, {reference.field}: {' '.join(own.labels)[:60]}"))
    return found


def _sides(field: str, texts: Mapping[str, _Side]) -> tuple[_Side | None, _Side | None]:
    """The text of queries and keys of the attention that a model returns under a name."""
    part = field.lower()
    if any(other in part for other in _NO_TEXT):
        return None, None
    source, target = texts.get("input_ids"), texts.get("decoder_input_ids")
    if "qformer" in part:
        source = texts.get("qformer_input_ids")
    if "cross" in part:
        return (source, None) if target is None else (target, source)
    if "decoder" in part:
        return (None, source) if target is None else (target, target)
    return source, source


def _without_padding(
    weights: np.ndarray, item: int, sides: tuple[_Side | None, _Side | None]
) -> list[np.ndarray]:
    """The weights [heads, Tq, Tk] without the padding of a text, wherever it may begin."""
    found = [weights]
    for axis, side in zip((1, 2), sides, strict=True):
        further = 0 if side is None else weights.shape[axis] - side.ids.shape[1]
        if side is None or further < 0:
            continue
        kept = side.kept[item].numpy()
        rest = np.ones(further, dtype=bool)
        found = [
            each.compress(np.concatenate(parts), axis=axis)
            for each in found
            for parts in ([rest, kept], [kept, rest], [rest, kept | True])
        ]
    return found


def _of_labels(own: Sequence[str], words: tuple[str, ...] | None) -> Labels:
    """The verdict on the labels of one side, with the words of its text."""
    of_text = tuple(label for label in own if label.startswith("w"))
    if of_text:  # tokens of the model's own may be beside them
        return Labels.RIGHT if of_text == words else Labels.WRONG
    return Labels.RIGHT if words is None or len(own) != len(words) else Labels.POSITIONS
