"""AttentionRecord: everything that a forward pass said about attention, as numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from . import storage
from .arrays import stack_from_arrays
from .layer import Fidelity, Layer
from .scores import Floats
from .stack import Stack

if TYPE_CHECKING:
    from typing_extensions import Self


class AttentionRecord:
    """The attention of one forward pass.

    Made by `attnwidget.capture`, `AttentionRecord.from_arrays` or `AttentionRecord.load`.
    Needs neither torch nor transformers.

    Args:
        stacks: stack name -> layers and tokens, in the order in which they are shown.
        model: the model's name, for display.
        missing: attention that is not in the record, as "module: reason".
    """

    def __init__(
        self, stacks: Mapping[str, Stack], *, model: str = "", missing: Sequence[str] = ()
    ) -> None:
        if not stacks or not all(stack.layers for stack in stacks.values()):
            raise ValueError("a record needs at least one stack, and every stack a layer")
        if isinstance(missing, str) or not all(isinstance(reason, str) for reason in missing):
            raise ValueError("missing is a list of texts")
        self._stacks = dict(stacks)
        self.model = model
        self.missing = tuple(missing)

    @classmethod
    def from_arrays(
        cls,
        attentions: Any,
        tokens: Sequence[str],
        *,
        key_tokens: Sequence[str] | None = None,
        queries: Any = None,
        keys: Any = None,
        model: str = "",
    ) -> Self:
        """A record of attention weights that come from anywhere.

        Args:
            attentions: one array [heads, Tq, Tk] or [1, heads, Tq, Tk] per layer (numpy, torch,
                lists), or one array [layers, heads, Tq, Tk].
            tokens: Tq labels.
            key_tokens: Tk labels; the same as `tokens` if None.
            queries: one array [heads, Tq, d] per layer, or None.
            keys: one array [key heads, Tk, d] per layer, or None. Where softmax(q.k/sqrt(d)),
                causal if the weights are, gives the weights to 1e-4, scores become available.
            model: the model's name, for display.

        Raises:
            ValueError: shapes do not fit each other or the tokens.
        """
        return cls(
            {"self": stack_from_arrays(attentions, tokens, key_tokens, queries, keys)}, model=model
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a record written by `save`. Executes nothing; a damaged file gives a ValueError."""
        return cls(**storage.load(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the record to one safetensors file, all arrays as captured (float32)."""
        storage.save(path, self._stacks, self.model, self.missing)

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks, e.g. ("self",)."""
        return tuple(self._stacks)

    @property
    def fidelity(self) -> dict[str, tuple[Fidelity, ...]]:
        """Per stack, for each of its layers in order: the route of capture and its errors."""
        return {n: tuple(layer.fidelity for layer in s.layers) for n, s in self._stacks.items()}

    def stack(self, stack: str | None = None) -> Stack:
        """Tokens and layers of a stack; of the first one if `stack` is None."""
        if stack is None:
            return next(iter(self._stacks.values()))
        if stack not in self._stacks:
            raise KeyError(f"no stack {stack!r}; this record has {', '.join(self._stacks)}")
        return self._stacks[stack]

    def layer(self, layer: int, stack: str | None = None) -> Layer:
        """The layer of this number in the model, counted from 0."""
        return self.stack(stack).layer(layer)

    def tokens(self, stack: str | None = None) -> tuple[list[str], list[str]]:
        """(query labels, key labels)."""
        found = self.stack(stack)
        return list(found.queries.labels), list(found.keys.labels)

    def num_layers(self, stack: str | None = None) -> int:
        return len(self.stack(stack).layers)

    def num_heads(self, layer: int, stack: str | None = None) -> int:
        return self.layer(layer, stack).num_heads

    def num_kv_heads(self, layer: int, stack: str | None = None) -> int:
        """Key heads of a layer; fewer than its heads where query heads share them."""
        return self.layer(layer, stack).num_kv_heads

    def weights(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """What the softmax gave: float32 [Tq, Tk]; a row that sees no key is all zero."""
        return self._head(layer, head, stack).head_weights(head)

    def scores(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """What went into the softmax: float32 [Tq, Tk]; scaled, biased, -inf where masked.

        Numbers that a model adds to all scores of a row alike, which no softmax sees, may be left
        out.

        Raises:
            ValueError: the layer was recorded as weights alone.
        """
        return self._head(layer, head, stack).head_scores(head)

    def queries(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """Query vectors as they enter the dot product, after any rotary embedding: [Tq, d]."""
        return self._head(layer, head, stack).head_queries(head)

    def keys(self, layer: int, head: int, stack: str | None = None) -> Floats:
        """Vectors of the key head that this query head uses: float32 [Tk, d]."""
        return self._head(layer, head, stack).head_keys(head)

    def _head(self, layer: int, head: int, stack: str | None) -> Layer:
        found = self.layer(layer, stack)
        if not 0 <= head < found.num_heads:
            raise IndexError(
                f"head {head} does not exist: layer {layer} has {found.num_heads} heads, "
                f"0 to {found.num_heads - 1}"
            )
        return found

    def __repr__(self) -> str:
        parts = [
            f"{name}: {len(s.layers)} layers, {len(s.queries)} x {len(s.keys)} tokens"
            for name, s in self._stacks.items()
        ]
        return f"<AttentionRecord {self.model or 'of an unnamed model'} ({'; '.join(parts)})>"
