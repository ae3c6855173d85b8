"""Attention weights in the shapes of other tools, read as float32 [heads, Tq, Tk] per layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnwidget.record.layer import SUM_TOLERANCE
from attnwidget.record.scores import Floats

from .arrays import SourceArray, is_group, source_array, unwrapped
from .generation_steps import are_steps, joined

# Other outputs of models, by their number of axes.
_LIKELY_ARRAYS = {
    2: " (a pooled output, or the logits of a classifier, have such a shape)",
    3: " (hidden states, as last_hidden_state, or logits have such a shape)",
}


@dataclass(frozen=True)
class Axes:
    """The number of queries and keys, and the name of the argument in messages."""

    name: str
    queries: int
    keys: int

    @property
    def matrix(self) -> tuple[int, int]:
        return self.queries, self.keys


def layers_of_weights(attentions: Any, axes: Axes) -> list[SourceArray]:
    """Read one array [heads, Tq, Tk] per layer.

    Arrays of other lengths are returned as they are, and the stack reports the lengths.

    Raises:
        ValueError: this is no attention, or its shape is ambiguous.
    """
    name, attentions = axes.name, unwrapped(attentions)
    _refuse_outputs(attentions, name)
    if hasattr(attentions, "shape"):
        arrays = _split(attentions, axes)
        return [_layer(array, number, axes) for number, array in enumerate(arrays)]
    layers = [unwrapped(layer) for layer in attentions]
    if not layers:
        raise ValueError(
            f"{name} is empty, it has no layers. Some models return an empty tuple in place of "
            "attention that they do not have or did not return: outputs[-1] of a BERT or GPT-2 in "
            "transformers 5 is their cross-attention. Pass outputs.attentions of a model loaded "
            'with attn_implementation="eager" and called with output_attentions=True, or give the '
            "model itself to attnwidget.show"
        )
    if all(is_group(layer) for layer in layers):
        groups = [[unwrapped(output) for output in layer] for layer in layers]
        if are_steps(groups, axes.matrix):
            steps = joined(groups, name, axes.keys)
            return [_layer(layer, number, axes) for number, layer in enumerate(steps)]
        layers = [_weights_of_outputs(group, number, axes) for number, group in enumerate(groups)]
    if any(layer is None for layer in layers):
        raise _none_error(name)
    return [_layer(source_array(layer), number, axes) for number, layer in enumerate(layers)]


def _none_error(name: str) -> ValueError:
    return ValueError(
        f"{name}, or a layer of it, is None: a model returns no weights unless it is loaded with "
        'attn_implementation="eager" and called with output_attentions=True; or use '
        "attnwidget.capture, which needs neither"
    )


def _refuse_outputs(attentions: Any, name: str) -> None:
    """Raise an error that explains what this is if it is another part of a model's outputs."""
    if attentions is None:
        raise _none_error(name)
    if isinstance(attentions, str):
        raise TypeError(f"{name} is a string; expected arrays of attention weights")
    if isinstance(attentions, Mapping):
        fields = [key for key in attentions if str(key).endswith("attentions")]
        raise ValueError(
            f"{name} is a whole output with {', '.join(map(str, attentions)) or 'nothing'}; pass "
            + (f"its {' or '.join(fields)}" if fields else "one array per layer, in a list")
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
    """Split one array into its layers."""
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
        return [SourceArray(layer, tolerance) for layer in _heads_before_tokens(array, axes)]
    if array.ndim == 3 and axes.matrix in (shape[1:], shape[:2]):
        heads_first = shape[1:] == axes.matrix
        count = shape[0] if heads_first else shape[2]
        by_layer = "array[:, None]" if heads_first else "array.transpose(2, 0, 1)[:, None]"
        raise ValueError(
            f"{axes.name} has shape {list(shape)}, which is either one layer of {count} heads "
            f"(then give it in a list: [array]) or {count} layers of one head ({by_layer})"
        )
    if array.ndim == 2 and shape == axes.matrix:
        raise ValueError(
            f"{axes.name} has shape {list(shape)}, one matrix; if it is the only head of the only "
            "layer, give array[None, None]"
        )
    raise ValueError(
        f"{axes.name} is one array of shape {list(shape)}, which is no attention of "
        f"{axes.queries} queries over {axes.keys} keys{_LIKELY_ARRAYS.get(len(shape), '')}; "
        "expected one array "
        "[heads, queries, keys] per layer, as outputs.attentions of a transformers model loaded "
        'with attn_implementation="eager" and called with output_attentions=True'
    )


def _heads_before_tokens(array: Floats, axes: Axes) -> Floats:
    """[layers, heads, Tq, Tk], from Inseq's [Tk, Tq, layers, heads] with NaN for no attention."""
    documented = array.shape[2:] == axes.matrix
    reversed_axes = array.shape[:2] == axes.matrix[::-1]
    if not reversed_axes or (documented and _sum_to_one(array, 3)):
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
    """Check one layer [heads, Tq, Tk], or [Tq, Tk, heads], whose axes are reordered."""
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
            f"{place} has shape {list(shape)}, the shape of hidden states; pass outputs.attentions"
        )
    if np.isnan(array).any():
        raise ValueError(
            f"{place} has NaN, which is no weight: a softmax gives NaN for a query that sees no "
            "key, and where half precision overflows. Set such rows to zero, or run the model in "
            "float32"
        )
    if array.size and not (array.min() >= 0 and array.max() <= 1 + 1e-3):
        raise ValueError(
            f"{axes.name} must be weights between 0 and 1, as the softmax gives them, not scores "
            "(a model in training mode returns more than 1, by dropout: call model.eval() first)"
        )
    return SourceArray(array, tolerance)


def _weights_of_outputs(outputs: list[Any], number: int, axes: Axes) -> Any:
    """The weights among the outputs of a layer's module: (output, weights), or more.

    A list of the matrices of a layer's heads is stacked.
    """
    arrays = [output for output in outputs if hasattr(output, "shape")]
    if len(arrays) == len(outputs) and all(tuple(a.shape) == axes.matrix for a in arrays):
        return np.stack([source_array(array).array for array in arrays])
    if len(outputs) == 1:
        return outputs[0]
    fitting = [a for a in arrays if len(a.shape) == 4 and tuple(a.shape[2:]) == axes.matrix]
    if len(fitting) == 1:
        return fitting[0]
    shapes = ", ".join(str(list(array.shape)) for array in arrays)
    if fitting or not any(output is None for output in outputs):
        raise ValueError(
            f"{axes.name}[{number}] is several arrays, of shapes {shapes}, of which {len(fitting)} "
            f"can be attention of {axes.queries} queries over {axes.keys} keys; give one array "
            "[heads, queries, keys] per layer (past_key_values are no attention: pass "
            "outputs.attentions; steps of generate() each have one more key than the one before)"
        )
    return None


def _sum_to_one(array: Floats, axis: int) -> bool:
    return bool((np.abs(array.sum(axis=axis) - 1) <= SUM_TOLERANCE).all())


def _refuse_ambiguous(
    place: str, shape: tuple[int, ...], documented: str, other: str, fits: bool, reordered: str
) -> None:
    """Refuse an array whose shape fits the documented axes, but whose numbers fit other axes."""
    if fits:
        raise ValueError(
            f"{place} has shape {list(shape)}, which can be {documented} or {other}, and only of "
            f"the latter do rows sum to one; if it is that, give {reordered}"
        )
