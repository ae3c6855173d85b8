"""AttentionRecord: the attention of one forward pass, as numpy arrays."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from attnwidget.counted import counted

from . import loading, storage
from .fidelity import Fidelity, Replay
from .files import printable
from .from_arrays import stack_from_arrays
from .images import Box, Picture
from .layer import Layer
from .scores import Floats
from .stack import Stack, check_name, of_stack, runs

if TYPE_CHECKING:
    from typing_extensions import Self


DOUBT = "the tokenizer is likely another model's"
"""The beginning of a doubt, which is among what a record misses, without a module's name."""


class AttentionRecord:
    """The attention of one forward pass.

    `attnwidget.capture`, `AttentionRecord.from_arrays` and `AttentionRecord.load` return records.
    They need neither torch nor transformers.

    Args:
        stacks: stack name -> layers and tokens, in the order in which they are shown.
        model: the model's name, for display.
        missing: what is not in the record, as "module: reason" or "text: reason"; and a
            doubt about what is, as "the tokenizer is likely another model's: reason".
        images: the images that the model read, on which `Tokens.patches` places tokens.
        replay: of a generated text, the distance of the recorded pass from its generation; or None.

    Raises:
        ValueError: there is no stack, a stack has no layer, or a name is not printable text of 1
            to 200 characters.
    """

    def __init__(
        self,
        stacks: Mapping[str, Stack],
        *,
        model: str = "",
        missing: Sequence[str] = (),
        images: Sequence[Picture] = (),
        replay: Replay | None = None,
    ) -> None:
        if not stacks or not all(stack.layers for stack in stacks.values()):
            raise ValueError("a record needs at least one stack, and every stack a layer")
        if isinstance(missing, str) or not all(isinstance(reason, str) for reason in missing):
            raise ValueError("missing must be a list of strings")
        for name in stacks:
            check_name(name)
        if not isinstance(model, str):
            raise ValueError(f"model is {type(model).__name__}; expected its name, for display")
        if not all(isinstance(image, Picture) for image in images):
            raise ValueError("images must be a list of Pictures")
        if images:
            _check_images(stacks.values(), len(images))
        if replay is not None and not isinstance(replay, Replay):
            raise ValueError(f"replay is {type(replay).__name__}; expected a Replay, or None")
        self._stacks = dict(stacks)
        self.images = tuple(images)
        self.model = model
        self.missing = tuple(missing)
        self.replay = replay

    @classmethod
    def from_arrays(
        cls,
        attentions: Any,
        tokens: Sequence[str],
        *,
        key_tokens: Sequence[str] | None = None,
        queries: Any = None,
        keys: Any = None,
        scale: float | None = None,
        model: str = "",
    ) -> Self:
        """Make a record of attention weights of any source.

        Args:
            attentions: weights after the softmax, one array [heads, Tq, Tk] per layer (numpy,
                torch, lists, or nnsight's proxies of them), or one array [layers, heads, Tq, Tk].
                Also in the shapes of other tools: with a batch of one; with the heads last
                (CircuitsVis); [Tk, Tq, layers, heads] with NaN for no attention (Inseq); (output,
                weights) per layer, as modules of transformers return them; the steps of
                transformers' `generate`, each a tuple of layers, which are joined; or an
                ActivationCache of TransformerLens, with its queries, keys and scores.
            tokens: Tq labels.
            key_tokens: Tk labels; the same as `tokens` if None.
            queries: one array [heads, Tq, d] or [Tq, heads, d] per layer, as they enter the dot
                product, so after any rotary embedding; or None.
            keys: one array [key heads, Tk, d] or [Tk, key heads, d] per layer, or None. If
                softmax(scale * q.k), causal if the weights are, gives the weights up to 1e-4 of
                each row (more if an array came in half precision), scores become available. If
                not, the weights are kept beside queries and keys, and `fidelity` has the
                difference.
            scale: the factor on q.k. If None, 1/sqrt(d), 1, or the one that fits the weights best.
            model: the model's name, for display.

        Warns:
            UserWarning: rows of the weights do not sum to 1. They are taken as they are, and the
                views say so.

        Raises:
            ValueError: shapes do not fit each other or the tokens, are ambiguous, or are not those
                of attention.
            TypeError: tokens are not a list of labels.
        """
        stack = stack_from_arrays(attentions, tokens, key_tokens, queries, keys, scale)
        _warn_of_sums(stack)
        return cls({"self": stack}, model=model)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a record written by `save`. Executes nothing; a damaged file gives a ValueError."""
        return loading.load(path, cls)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the record to one safetensors file, all arrays as captured (float32).

        Raises:
            ValueError: the record has more tokens or layers than `load` takes.
            OSError: the file cannot be written; an existing file is unchanged.
        """
        storage.save(path, self._stacks, self.model, self.missing, self.images, self.replay)

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks, e.g. ("self",)."""
        return tuple(self._stacks)

    def without_images(self) -> AttentionRecord:
        """The same record without its images; its tokens keep their labels and places."""
        return self.with_stacks(self._stacks)

    def with_stacks(self, stacks: Mapping[str, Stack]) -> AttentionRecord:
        """A record of other stacks that says the same of the pass, without the images.

        Raises:
            ValueError: see `AttentionRecord`.
        """
        return AttentionRecord(stacks, model=self.model, missing=self.missing, replay=self.replay)

    @property
    def fidelity(self) -> dict[str, tuple[Fidelity, ...]]:
        """The route of capture and its errors, by stack, for each of its layers in order."""
        return {n: tuple(layer.fidelity for layer in s.layers) for n, s in self._stacks.items()}

    def stack(self, stack: str | None = None) -> Stack:
        """The tokens and layers of a stack; of the first one if `stack` is None."""
        return of_stack(self._stacks, stack, "this record")

    def layer(self, layer: int, stack: str | None = None) -> Layer:
        """The layer of this number in the model, counted from 0."""
        try:
            return self.stack(stack).layer(layer)
        except IndexError as error:
            # It may be there in the model, and no softmax.
            more = "; `missing` names what is not in the record" if self.missing else ""
            raise IndexError(f"{error}{more}") from None

    def tokens(self, stack: str | None = None) -> tuple[list[str], list[str]]:
        """The labels of the tokens: (queries, keys)."""
        sides = self.stack(stack)
        return list(sides.queries.labels), list(sides.keys.labels)

    def num_layers(self, stack: str | None = None) -> int:
        """The number of captured layers of a stack."""
        return len(self.stack(stack).layers)

    def num_heads(self, layer: int, stack: str | None = None) -> int:
        """The number of heads of a layer."""
        return self.layer(layer, stack).num_heads

    def num_kv_heads(self, layer: int, stack: str | None = None) -> int:
        """The number of key heads of a layer; smaller than `num_heads` if these share them."""
        return self.layer(layer, stack).num_kv_heads

    def weights(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """The softmax's result: float32 [Tq, Tk]; a row that sees no key is all zero.

        Raises:
            ValueError: the layer has no softmax: see `coefficients`.
        """
        return self._head(layer, head, stack).head_weights(head)

    def coefficients(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """The factors of values in a head without a softmax: float32 [Tq, Tk], of either sign.

        The head's output is the coefficients times its values. Rows do not sum to 1. Of layers
        that mix each channel by itself, they are shares along the layer's whole output, which sum
        to 1 over all heads and keys: see `Layer`.

        Raises:
            ValueError: the layer has a softmax: see `weights`.
        """
        return self._head(layer, head, stack).head_coefficients(head)

    def scores(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """The softmax's input: float32 [Tq, Tk]; scaled, biased, -inf where masked.

        A constant that a model adds to all scores of a row, which no softmax sees, may be missing.

        Raises:
            ValueError: the layer was recorded as weights alone, or has no softmax.
        """
        return self._head(layer, head, stack).head_scores(head)

    def queries(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """Query vectors as they enter the dot product, after any rotary embedding: [Tq, d]."""
        return self._head(layer, head, stack).head_queries(head)

    def keys(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """Vectors of the key head that this query head uses: float32 [Tk, d]."""
        return self._head(layer, head, stack).head_keys(head)

    def region(
        self, position: int, stack: str | None = None, *, side: Literal["query", "key"] = "query"
    ) -> tuple[int, Box] | None:
        """The place of a token: the number of the image, from 0, and the part that it covers.

        It is (left, top, right, bottom) in fractions of the image, at most 0 to 1. Of a query of a
        detection model, it is the box that the model predicts for it.

        Returns:
            None for a token without a place, such as a word or [CLS].

        Raises:
            IndexError: there is no such position.
        """
        sides = self.stack(stack)
        tokens = sides.keys if side == "key" else sides.queries
        if not 0 <= position < len(tokens):
            raise IndexError(f"position {position}: there are {len(tokens)} tokens")
        found = None if tokens.patches is None else tokens.patches.grid_of(position)
        if found is not None:
            grid, patch = found
            image, box = grid.image, grid.box_of(patch)
        elif tokens.boxes is not None and (predicted := tokens.boxes[position]) is not None:
            image, box = predicted
        else:
            return None
        left, top, right, bottom = (min(max(edge, 0.0), 1.0) for edge in box)
        return image, (left, top, right, bottom)

    def _head(self, layer: int, head: int, stack: str | None) -> Layer:
        """The layer, after a check that it has this head."""
        found = self.layer(layer, stack)
        found.check_head(head)
        return found

    def __repr__(self) -> str:
        parts = [
            f"{name}: {counted(len(s.layers), 'layer')}, {len(s.queries)} x {len(s.keys)} tokens"
            for name, s in self._stacks.items()
        ]
        if self.replay is not None:
            parts.append(f"logits within {self.replay.difference:.0e} of its generation's")
        model = printable(self.model) or "of an unnamed model"
        return f"<AttentionRecord {model} ({'; '.join(parts)})>"


def _check_images(stacks: Iterable[Stack], count: int) -> None:
    """Raise a ValueError if a token is on an image that is not there."""
    for stack in stacks:
        for tokens in (stack.queries, stack.keys):
            grids = () if tokens.patches is None else tokens.patches.grids
            on = {grid.image for grid in grids}
            on |= {box[0] for box in tokens.boxes or () if box is not None}
            if max(on, default=0) >= count:
                raise ValueError(f"tokens are on image {max(on)}, but there are {count}")


def _warn_of_sums(stack: Stack) -> None:
    """Warn of weights that are no softmax's, as differences or those of some keys alone."""
    found = {layer.number: layer.row_sums for layer in stack.layers}
    sums = {number: ends for number, ends in found.items() if ends is not None}
    if not sums:
        return
    farthest = max((end for ends in sums.values() for end in ends), key=lambda end: abs(end - 1))
    number = next(number for number, ends in sums.items() if farthest in ends)
    several = "layers" if len(sums) > 1 else "layer"
    warnings.warn(
        f"rows of {several} {runs(sums)} do not sum to 1: the farthest, in layer {number}, sums to "
        f"{farthest:.3g}. A softmax gives rows that do; differences, or the weights of some keys "
        "alone, do not. They are taken as they are, and the views say so",
        stacklevel=3,
    )
