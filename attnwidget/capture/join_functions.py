"""Joining of the calls that an attention function gets in a generation into one layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.record import Floats, Layer, sample_rows
from attnwidget.record.scores import Bools
from attnwidget.running.items import Item, Padded, Selection
from attnwidget.tracing import FunctionCall

from .explain_function import FunctionExplainer
from .recent import Recent
from .steps import FirstCall, FunctionPass, MaskRows, Span
from .terms import Terms, terms


class JoinedFunctions:
    """Makes a layer of the passes of each attention; joins a mask that layers share only once.

    Args:
        values: True to keep the values.
    """

    def __init__(self, *, values: bool) -> None:
        self._explainer = FunctionExplainer(values=values, check=True)
        self._masks: Recent[tuple[_Mask, Terms]] = Recent()

    def layer(
        self,
        name: str,
        passes: Sequence[FunctionPass],
        beams: Sequence[int],
        *,
        cross: bool,
        kept: Padded | None,
    ) -> Layer:
        """Join passes, and compare the layer with the model's outputs in every one of them.

        The keys of each token are taken from the pass that computed them.

        Args:
            name: the name of the module.
            passes: one of several tokens, then of one token each.
            beams: the beam of each pass.
            cross: True for cross-attention.
            kept: the positions to record, along both axes (of cross-attention, of the keys); None
                for all.

        Raises:
            ValueError: a token attends to a place that holds no token yet, or queries or keys hold
                NaN or infinity.
        """
        spans, rows = [each.span for each in passes], [each.mask for each in passes]
        first = passes[0].first
        assert first is not None
        call = _joined(first, passes, beams)
        shape = call.query.shape[2], call.key.shape[2]
        item = Item(1, 0, None if cross else kept, kept)
        selection = item.select(1, shape)

        def join() -> tuple[_Mask, Terms]:
            mask = _Mask.of(spans, rows, shape)
            seen, bias = mask.cut(selection)
            return mask, terms(seen, bias, 1, selection.shape)

        mask, mask_terms = self._masks.get(tuple(rows), (spans, cross), join)
        replay = call.replay
        if replay is not None:
            call = replace(call, replay=lambda q, k, v, _: replay(q, k, v, mask.additive()))
        checked = _checked_rows(spans, selection.queries.numpy())
        layer = self._explainer.explained(call, item, selection, mask_terms, name, checked)
        return layer if layer.queries is None else replace(layer, rotary=first.rotary)


def _joined(first: FirstCall, passes: Sequence[FunctionPass], beams: Sequence[int]) -> FunctionCall:
    """One call without a mask, on the CPU, from the calls of all passes."""
    device, reference, replay = first.device, first.call.reference, first.call.replay

    def along_tokens(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
        picked = [tensor[beam] for tensor, beam in zip(tensors, beams, strict=True)]
        return torch.cat(picked, dim=1)[None]

    outputs = [each.output for each in passes]
    known = [output for output in outputs if output is not None]
    return replace(
        first.call,
        query=along_tokens([each.query for each in passes]),
        key=along_tokens([each.key for each in passes]),
        value=along_tokens([each.value for each in passes]),
        causal=False,
        output=along_tokens(known) if len(known) == len(outputs) else None,
        # The module's own parameters are on its device.
        reference=None
        if reference is None
        else lambda *tensors: reference(*(tensor.to(device) for tensor in tensors)),
        replay=None
        if replay is None
        else lambda q, k, v, mask: replay(
            q.to(device), k.to(device), v.to(device), None if mask is None else mask.to(device)
        ),
    )


def _checked_rows(spans: Sequence[Span], queries: NDArray[np.intp]) -> NDArray[np.intp]:
    """The indices, among the recorded queries, of some of each pass."""
    positions = [span.start + sample_rows(span.end - span.start) for span in spans]
    return np.flatnonzero(np.isin(queries, np.concatenate(positions)))


@dataclass(frozen=True)
class _Mask:
    """The masks and biases of all passes.

    Attributes:
        seen: bool [1 or heads, Tq, Tk].
        bias: float32 [1 or heads, Tq, Tk], or None.
        unused: True for rows that see places of a static cache that hold no token, bool [Tq].
    """

    seen: Bools
    bias: Floats | None
    unused: Bools

    @classmethod
    def of(cls, spans: Sequence[Span], rows: Sequence[MaskRows], shape: tuple[int, int]) -> _Mask:
        seen_heads = max((len(each.seen) for each in rows if each.seen is not None), default=1)
        bias_heads = max((len(each.bias) for each in rows if each.bias is not None), default=0)
        seen = np.zeros((seen_heads, *shape), bool)
        bias = np.zeros((bias_heads, *shape), np.float32) if bias_heads else None
        unused = np.zeros(shape[0], bool)
        for span, each in zip(spans, rows, strict=True):
            queries = slice(span.start, span.end)
            width = min(span.num_keys, shape[1] - span.offset)
            keys = slice(span.offset, span.offset + width)
            seen[:, queries, keys] = True if each.seen is None else each.seen[:, :, :width]
            if bias is not None and each.bias is not None:
                bias[:, queries, keys] = each.bias[:, :, :width]
            if each.seen is None:
                unused[queries] = span.unused.start < span.unused.stop
            else:
                unused[queries] = each.seen[:, :, span.unused].any(axis=(0, 2))
        return cls(seen, bias, unused)

    def cut(self, selection: Selection) -> tuple[Bools, Floats | None]:
        """Cut (seen, bias) to the recorded queries and keys.

        Raises:
            ValueError: one of the queries sees a place that holds no token.
        """
        queries, keys = selection.queries.numpy(), selection.keys.numpy()
        if self.unused[queries].any():
            raise ValueError("it attends to places of its static cache that hold no token yet")
        seen = self.seen[:, queries][:, :, keys]
        return seen, None if self.bias is None else self.bias[:, queries][:, :, keys]

    def additive(self) -> torch.Tensor:
        """The bias, and the lowest float where no key is seen: float32 [1, 1 or heads, Tq, Tk]."""
        bias = np.float32(0) if self.bias is None else self.bias
        return torch.from_numpy(np.where(self.seen, bias, np.finfo(np.float32).min))[None]
