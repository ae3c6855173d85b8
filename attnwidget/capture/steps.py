"""Collection of a generation's attention calls, each cut to what no other pass repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeGuard

import numpy as np
import torch

from attnwidget.record import Fidelity, Floats, Layer, Rotary, ScoreProgram
from attnwidget.record.scores import Bools
from attnwidget.running.items import Item
from attnwidget.running.stacks import is_cross
from attnwidget.tracing import Address, FunctionCall

from .masks import read_mask
from .recent import Recent
from .recorder import RecordedCall, Sink
from .terms import added_terms


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens of a pass within the generation.

    Attributes:
        start, end: positions of its queries, the tokens that no pass before it has read.
        offset: the position of its first key, which is not 0 in a sliding window.
        num_keys: the number of its keys, with unused places of a static cache.
        new: its keys that no pass before it had.
        unused: its keys that are such places.
    """

    start: int
    end: int
    offset: int
    num_keys: int
    new: slice
    unused: slice

    @classmethod
    def of(cls, length: int, num_queries: int, num_keys: int, *, cross: bool) -> Span:
        """The span of a pass after others, which have read `length` tokens.

        Its keys are those of all tokens so far, or of the latest if the cache is a sliding window,
        or of a whole buffer if the cache is static. In cross-attention, they are the same in every
        pass. Several queries are all tokens so far.

        Raises:
            ValueError: there are fewer keys than new tokens.
        """
        start = length if num_queries == 1 else 0
        end = start + num_queries
        if cross:
            new = slice(0, 0) if start else slice(0, num_keys)
            return cls(start, end, 0, num_keys, new, slice(num_keys, num_keys))
        offset = max(0, end - num_keys)
        if start < offset:
            raise ValueError("its cache holds fewer tokens than a pass adds")
        new = slice(start - offset, end - offset)
        return cls(start, end, offset, num_keys, new, slice(new.stop, num_keys))


@dataclass(frozen=True, slots=True)
class MaskRows:
    """The mask and the bias of a pass, as `terms` takes them; one object for layers that share it.

    Attributes:
        seen: bool [1 or heads, Tq, Tk], or None if every key is seen.
        bias: float32 of such a shape, or None.
    """

    seen: Bools | None
    bias: Floats | None


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The properties of a call that those of later passes have in common with it.

    Attributes:
        call: the call, without its own tensors.
        device: that of its tensors.
        rotary: the pairs that a rotary embedding rotated, or None.
    """

    call: FunctionCall
    device: torch.device
    rotary: Rotary | None


@dataclass(frozen=True, slots=True)
class FunctionPass:
    """A call of an attention function, with its own tokens alone.

    Attributes:
        step: the number of the pass.
        span: its tokens.
        query, key, value: [beams, heads or key heads, new tokens, d], on the CPU.
        output: [beams, heads, new tokens, d_v], or None.
        mask: its mask.
        first: more of it, if no pass comes before it.
    """

    step: int
    span: Span
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    output: torch.Tensor | None
    mask: MaskRows
    first: FirstCall | None


@dataclass(frozen=True, slots=True)
class LayerRows:
    """A layer of a pass, with its own tokens alone.

    Attributes:
        queries, keys, values: float32 [heads, new tokens, d], or None.
        matrix: float32 [1 or heads, Tq, Tk], the terms added to the scores, or the weights.
        program: the score program; None if the matrix is weights.
        fidelity, rotary: of the layer.
    """

    queries: Floats | None
    keys: Floats | None
    values: Floats | None
    matrix: Floats
    program: ScoreProgram | None
    fidelity: Fidelity
    rotary: Rotary | None

    @classmethod
    def of(cls, layer: Layer, span: Span, *, as_weights: bool) -> LayerRows:
        """Cut a layer.

        Raises:
            ValueError: it has no score program, and is not to be kept as weights.
        """

        def cut(array: Floats | None) -> Floats | None:
            if array is None:
                return None
            return np.repeat(array[:, span.new], layer.num_heads // len(array), axis=0)

        rows = np.arange(layer.shape[0])
        if as_weights:
            matrix = layer.all_weights(rows)
        elif layer.program is None:
            raise ValueError("a score program explains some of its passes, but not all")
        else:
            matrix = added_terms(layer.program, rows, layer.shape)
        return cls(
            layer.queries,
            cut(layer.keys),
            cut(layer.values),
            matrix,
            None if as_weights else layer.program,
            layer.fidelity,
            layer.rotary,
        )


@dataclass(frozen=True, slots=True)
class LayerPass:
    """A softmax of the model's own, which was explained in every pass.

    Attributes:
        step: the number of the pass.
        span: its tokens.
        beams: the rows of each beam.
    """

    step: int
    span: Span
    beams: tuple[LayerRows, ...]


Pass: TypeAlias = FunctionPass | LayerPass


def is_pass(entry: Pass | RecordedCall) -> TypeGuard[Pass]:
    """True for a pass, False for a call that was left out or not understood."""
    return not isinstance(entry, RecordedCall)


class Steps(Sink):
    """The calls of all passes, by module and by their number within a pass.

    Args:
        once: True for the names of modules that run only before the first pass.
        leading: the number of rows that the model computes, of all items and beams.
        beams: those of the recorded item.

    Attributes:
        passes: the passes of a module's call; or calls that were left out or not understood, or of
            a module that runs once.
        projections: the output projections.
    """

    def __init__(self, once: Callable[[str], bool], leading: int, beams: slice) -> None:
        self.passes: defaultdict[tuple[str, int], list[Pass | RecordedCall]] = defaultdict(list)
        self.projections: dict[tuple[str, int], Floats] = {}
        self.last_step = -1
        self._once = once
        self._leading = leading
        self._beams = beams
        self._masks: Recent[MaskRows] = Recent()

    def add(self, call: RecordedCall) -> None:
        self._count(call.address)
        passes = self.passes[call.address.module, call.address.call]
        if not call.layers or self._once(call.address.module):
            passes.append(call)
            return
        try:
            self._keep(call.address, self._layer_pass(call))
        except ValueError as error:
            passes.append(replace(call, layers=(), reason=str(error)))

    def add_function(self, address: Address, call: FunctionCall, rotary: Rotary | None) -> bool:
        if self._once(address.module):
            return False
        self._count(address)
        if len(call.query) != self._leading:
            raise ValueError(
                f"it attends in {len(call.query)} places at once, but {self._leading} texts are "
                "generated"
            )
        span = self._span(address, (call.query.shape[2], call.key.shape[2]))

        def own(tensor: torch.Tensor, positions: slice) -> torch.Tensor:
            # Each index costs time, which counts where a pass has a single token.
            if len(tensor) > self._beams.stop - self._beams.start:
                tensor = tensor[self._beams]
            if positions.stop - positions.start < tensor.shape[2]:
                tensor = tensor[:, :, positions]
            return tensor.detach().to("cpu", copy=True)

        everything = slice(0, call.query.shape[2])
        query, key = own(call.query, everything), own(call.key, span.new)
        value = own(call.value, span.new)
        output = None if call.output is None else own(call.output, everything)
        first = None
        if span.start == 0:
            bare = replace(call, query=query, key=key, value=value, output=output, mask=None)
            first = FirstCall(bare, call.query.device, rotary)
        mask = self._mask(address, call)
        new = FunctionPass(address.step, span, query, key, value, output, mask, first)
        self._keep(address, new)
        return True

    def add_projection(self, address: Address, matrix: Floats) -> None:
        self.projections[address.module, address.call] = matrix

    def _count(self, address: Address) -> None:
        self.last_step = max(self.last_step, address.step)

    def _span(self, address: Address, shape: tuple[int, int]) -> Span:
        passes = [p for p in self.passes[address.module, address.call][-1:] if is_pass(p)]
        length = passes[0].span.end if passes else 0
        return Span.of(length, *shape, cross=is_cross(address.module))

    def _keep(self, address: Address, new: Pass) -> None:
        passes = self.passes[address.module, address.call]
        # A pass over all tokens so far replaces the passes before it. Other texts of a batch may
        # be generated after the end of this one.
        if new.span.start == 0 and self._leading == 1:
            passes[:] = [p for p in passes if isinstance(p, RecordedCall)]
        passes.append(new)

    def _layer_pass(self, call: RecordedCall) -> LayerPass:
        span = self._span(call.address, call.layers[0].shape)
        first = next(
            (p for p in self.passes[call.address.module, call.address.call] if is_pass(p)), None
        )
        if first is None or span.start == 0:
            as_weights = any(layer.program is None for layer in call.layers)
        else:
            as_weights = isinstance(first, LayerPass) and first.beams[0].program is None
        rows = tuple(LayerRows.of(layer, span, as_weights=as_weights) for layer in call.layers)
        return LayerPass(call.address.step, span, rows)

    def _mask(self, address: Address, call: FunctionCall) -> MaskRows:
        shape = call.query.shape[2], call.key.shape[2]

        def read() -> MaskRows:
            # The beams of an item have the same mask.
            item = Item(self._leading, self._beams.start)
            return MaskRows(*read_mask(call, item.select(self._leading, shape)))

        objects = call.mask, call.options.get("position_bias")
        flash = call.options.get("sliding_window") if call.options.get("flash") else None
        # A mask may be changed in place from one pass to the next.
        return self._masks.get(objects, (address.step, call.causal, flash, shape), read)
