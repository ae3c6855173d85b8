"""Attention weights, in the shapes in which others have them: float32 [heads, Tq, Tk] per layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnwidget.record.scores import Floats

from .arrays import SourceArray, is_group, source_array, unwrapped
from .generation_steps import are_steps, joined

# Rows of bfloat16 sum to one no better than this.
_SUM = 2e-2


@dataclass(frozen=True)
class Axes:
    """How many queries and keys there are, and what the argument is called."""

    name: str
    queries: int
    keys: int

    @property
    def matrix(self) -> tuple[int, int]:
        return self.queries, self.keys


def layers_of_weights(attentions: Any, axes: Axes) -> list[SourceArray]:
    """One array [heads, Tq, Tk] per layer, wherever shapes and numbers leave no doubt.

    What fits no reading is returned as it is: it is for the stack to say by how many tokens.

    Raises:
        ValueError: this is no attention, or can be read in several ways.
    """
    name, attentions = axes.name, unwrapped(attentions)
    _refuse_outputs(attentions, name)
    if hasattr(attentions, "shape"):
        return [_layer(each, number, axes) for number, each in enumerate(_split(attentions, axes))]
    layers = [unwrapped(each) for each in attentions]
    if not layers:
        raise ValueError(
            f"{name} is empty, it has no layers. Some models return an empty tuple in place of "
            "attention that they do not have or did not return: outputs[-1] of a BERT or GPT-2 in "
            "transformers 5 is their cross-attention. Pass outputs.attentions of a model loaded "
            'with attn_implementation="eager" and called with output_attentions=True, or give the '
            "model itself to attnwidget.show"
        )
    if all(is_group(each) for each in layers):
        groups = [[unwrapped(part) for part in each] for each in layers]
        if are_steps(groups, axes.matrix):
            steps = joined(groups, name, axes.keys)
            return [_layer(each, number, axes) for number, each in enumerate(steps)]
        layers = [_among(group, number, axes) for number, group in enumerate(groups)]
    if any(each is None for each in layers):
        raise ValueError(_none(name))
    return [_layer(source_array(each), number, axes) for number, each in enumerate(layers)]


def _none(name: str) -> str:
    return (
        f"{name}, or a layer of it, is None: a model returns no weights unless it is loaded with "
        'attn_implementation="eager" and called with output_attentions=True; or use '
        "attnwidget.capture, which needs neither"
    )


def _refuse_outputs(attentions: Any, name: str) -> None:
    """Say what it is, where it is another part of a model's outputs."""
    if attentions is None:
        raise ValueError(_none(name))
    if isinstance(attentions, str):
        raise TypeError(f"{name} is a string; expected arrays of attention weights")
    if isinstance(attentions, Mapping):
        known = [key for key in attentions if str(key).endswith("attentions")]
        raise ValueError(
            f"{name} is a whole output with {', '.join(map(str, attentions)) or 'nothing'}; pass "
            + (f"its {' or '.join(known)}" if known else "one array per layer, in a list")
        )
    if hasattr(attentions, "get_seq_length"):
        raise ValueError(
            f"{name} is a {type(attentions).__name__}, the past_key_values of a model, with keys "
            "and values instead of attention: its outputs hold no attention at this place. Pass "
            "outputs.attentions, with output_attentions=True and, while loading the model, "
            'attn_implementation="eager"'
        )
    if not isinstance(attentions, Iterable):
        raise TypeError(
            f"{name} is {type(attentions).__name__}; expected arrays of attention weights"
        )


def _split(attentions: Any, axes: Axes) -> list[SourceArray]:
    """The layers of one array for all of them."""
    array, tolerance = source_array(attentions)
    shape = array.shape
    if array.ndim == 5 and shape[0] == 1 < shape[1] and shape[3:] == axes.matrix:
        raise ValueError(
            f"{axes.name} has shape {list(shape)}, which is either one layer of a batch of "
            f"{shape[1]} (then pick an item, as in array[:, 0]) or {shape[1]} layers with a batch "
            "of one in front (array[0])"
        )
    if array.ndim == 5 and 1 in shape[:2]:
        array = array[:, 0] if shape[1] == 1 else array[0]
    if array.ndim == 4:
        return [SourceArray(layer, tolerance) for layer in _all_layers(array, axes)]
    if array.ndim == 3 and shape[1:] == axes.matrix:
        raise ValueError(
            f"{axes.name} has shape {list(shape)}, which is either one layer of {shape[0]} heads "
            f"(then give it in a list: [array]) or {shape[0]} layers of one head (array[:, None])"
        )
    if array.ndim == 3 and shape[:2] == axes.matrix:
        raise ValueError(
            f"{axes.name} has shape {list(shape)}, which is either one layer of {shape[2]} heads "
            f"(then give it in a list: [array]) or {shape[2]} layers of one head "
            "(array.transpose(2, 0, 1)[:, None])"
        )
    if array.ndim == 2 and shape == axes.matrix:
        raise ValueError(
            f"{axes.name} has shape {list(shape)}, one matrix; of the only head of the only layer, "
            "it is array[None, None]"
        )
    raise ValueError(
        f"{axes.name} is one array of shape {list(shape)}, which is no attention of "
        f"{axes.queries} queries over {axes.keys} keys{_perhaps(shape)}; expected one array "
        "[heads, queries, keys] per layer, as outputs.attentions of a transformers model loaded "
        'with attn_implementation="eager" and called with output_attentions=True'
    )


def _perhaps(shape: tuple[int, ...]) -> str:
    if len(shape) == 3:
        return " (hidden states, as last_hidden_state, or logits have such a shape)"
    if len(shape) == 2:
        return " (a pooled output, or the logits of a classifier, have such a shape)"
    return ""


def _all_layers(array: Floats, axes: Axes) -> Floats:
    """[layers, heads, Tq, Tk], or Inseq's [Tk, Tq, layers, heads], in which NaN is nothing."""
    documented = array.shape[2:] == axes.matrix
    turned = array.shape[:2] == axes.matrix[::-1]
    if not turned or (documented and _sum_to_one(array, 3)):
        return array
    other = np.nan_to_num(array.transpose(2, 3, 1, 0), nan=0)
    if documented:
        _refuse_ambiguous(
            axes.name,
            array.shape,
            "[layers, heads, queries, keys]",
            "[keys, queries, layers, heads], as Inseq has it",
            _sum_to_one(other, 3),
            "array.permute(2, 3, 1, 0)",
        )
        return array
    layers: Floats = np.ascontiguousarray(other)
    return layers


def _layer(layer: SourceArray, number: int, axes: Axes) -> SourceArray:
    """[heads, Tq, Tk] of one layer; [Tq, Tk, heads] becomes it."""
    array, tolerance = layer
    shape, place = array.shape, f"{axes.name}[{number}]"
    if array.ndim == 4 and shape[0] == 1:
        array = array[0]
    if array.ndim == 4:
        raise ValueError(
            f"{place} has shape {list(shape)}, a batch of {shape[0]}; expected [heads, rows, "
            "columns] per layer, with a batch of one in front at most: pick an item, as in "
            "[layer[:1] for layer in attentions], or give one to attnwidget.capture as batch_index"
        )
    if array.ndim == 3 and array.shape[:2] == axes.matrix:
        if array.shape[1:] != axes.matrix:
            array = np.ascontiguousarray(array.transpose(2, 0, 1))
        elif not _sum_to_one(array, 2):
            _refuse_ambiguous(
                place,
                array.shape,
                "[heads, queries, keys]",
                "[queries, keys, heads]",
                _sum_to_one(array, 1),
                "array.transpose(2, 0, 1)",
            )
    if array.ndim != 3:
        raise ValueError(
            f"{place} has shape {list(shape)}; expected [heads, rows, columns] per layer"
            + (
                ". A list of matrices is either the heads of one layer (then give [matrices]) or "
                "layers of one head each ([[matrix] for matrix in matrices])"
                if shape == axes.matrix
                else ""
            )
        )
    if len(shape) == 3 and shape[:2] == (1, axes.queries) and shape[2] != axes.keys:
        raise ValueError(
            f"{place} has shape {list(shape)}, as hidden states have, and not one row per head and "
            "query; pass outputs.attentions"
        )
    if np.isnan(array).any():
        raise ValueError(
            f"{place} holds NaN, which is no weight: the softmax gives it to a query that sees no "
            "key, and where half precision overflows. Set such rows to zero, or run the model in "
            "float32"
        )
    if array.size and not (array.min() >= 0 and array.max() <= 1 + 1e-3):
        raise ValueError(
            f"{axes.name} must be weights between 0 and 1, as the softmax gives them, not scores "
            "(a model in training mode returns more than 1, by dropout: call model.eval() first)"
        )
    return SourceArray(array, tolerance)


def _among(parts: list[Any], number: int, axes: Axes) -> Any:
    """The attention among what a layer's module returned: (output, weights), or more.

    Or the layer itself, where it is a list of the matrices of its heads.
    """
    arrays = [part for part in parts if hasattr(part, "shape")]
    if len(arrays) == len(parts) and all(tuple(part.shape) == axes.matrix for part in arrays):
        return np.stack([source_array(part).array for part in parts])
    if len(parts) == 1:
        return parts[0]
    fitting = [
        part for part in arrays if len(part.shape) == 4 and tuple(part.shape[2:]) == axes.matrix
    ]
    if len(fitting) == 1:
        return fitting[0]
    shapes = ", ".join(str(list(part.shape)) for part in arrays)
    if fitting or not any(part is None for part in parts):
        raise ValueError(
            f"{axes.name}[{number}] is several arrays, of shapes {shapes}, of which {len(fitting)} "
            f"can be attention of {axes.queries} queries over {axes.keys} keys; give one array "
            "[heads, queries, keys] per layer (past_key_values are no attention: pass "
            "outputs.attentions; steps of generate() each have one more key than the one before)"
        )
    return None


def _sum_to_one(array: Floats, axis: int) -> bool:
    return bool((np.abs(array.sum(axis=axis) - 1) <= _SUM).all())


def _refuse_ambiguous(
    place: str, shape: tuple[int, ...], documented: str, other: str, fits: bool, turned: str
) -> None:
    """What fits the documented axes by shape alone is refused if its numbers fit other ones."""
    if fits:
        raise ValueError(
            f"{place} has shape {list(shape)}, which can be {documented} or {other}, and only of "
            f"the latter do rows sum to one; if it is that, give {turned}"
        )
