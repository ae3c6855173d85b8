"""An attention mask as passed to an attention function becomes which keys each query sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from attnwidget.record import Floats
from attnwidget.record.scores import Bools, MaskKind

from .intercept import AttentionCall


@dataclass(frozen=True)
class Mask:
    """The mask and bias parts of a score program; see `ScoreProgram`."""

    kind: MaskKind
    window: tuple[int, int] | None
    visible: Bools | None
    bias: Floats | None
    shape: tuple[int, int]

    def additive(self, rows: np.ndarray) -> torch.Tensor:
        """float32 [1, 1 or heads, rows, Tk]: bias where a key is seen, the lowest float elsewhere.

        The lowest float and not -inf, because that is what transformers' own masks hold.
        """
        seen = np.ones((1, len(rows), self.shape[1]), dtype=bool)
        if self.visible is not None:
            seen = self.visible[:, rows]
        elif self.kind != "none":
            left, right = self.window if self.window is not None else (max(self.shape), 0)
            seen = _band(self.shape, left, right)[None, rows]
        bias = np.float32(0) if self.bias is None else self.bias[:, rows]
        lowest = np.finfo(np.float32).min
        return torch.from_numpy(np.where(seen, bias, lowest).astype(np.float32)[None])


def read_mask(call: AttentionCall, batch: int, positions: torch.Tensor) -> Mask:
    """What the call's mask says about one batch item, without its padding.

    Raises:
        ValueError: the mask has a form that is not understood.
    """
    num_queries, num_keys = call.query.shape[-2], call.key.shape[-2]
    shape = (len(positions), len(positions))
    if call.mask is None:
        seen = np.ones((1, num_queries, num_keys), dtype=bool)
        if _implicitly_causal(call):
            seen = np.tril(seen)
        bias = None
    elif isinstance(call.mask, torch.Tensor) and call.mask.ndim == 4:
        mask = call.mask[min(batch, len(call.mask) - 1), :, :, :num_keys].detach().cpu()
        if mask.dtype == torch.bool:
            seen, bias = mask.numpy(), None
        else:
            # Masked positions hold the type's lowest value, or -inf, or sums with either.
            seen = (mask > torch.finfo(mask.dtype).min / 2).numpy()
            bias = np.where(seen, mask.float().numpy(), np.float32(0))
    else:
        kind = type(call.mask).__name__
        dims = f" with {call.mask.ndim} dimensions" if isinstance(call.mask, torch.Tensor) else ""
        raise ValueError(
            f"{type(call.module).__name__} was given an attention mask of type {kind}{dims}, which "
            'cannot be read yet; load the model with attn_implementation="sdpa" or "eager"'
        )
    extra = call.options.get("position_bias")
    if extra is not None:
        added = extra[min(batch, len(extra) - 1), :, :, :num_keys].detach().cpu().float().numpy()
        bias = added if bias is None else bias + added
    kept = positions.numpy()
    seen = np.broadcast_to(seen, (len(seen), num_queries, num_keys))[:, kept][:, :, kept]
    if bias is not None:
        bias = np.broadcast_to(bias, (len(bias), num_queries, num_keys))[:, kept][:, :, kept]
        bias = np.ascontiguousarray(bias, dtype=np.float32) if bias.any() else None
    if len(seen) == 1 and (window := _window(seen[0])) is not None:
        left, right = window
        if left >= shape[0] - 1 and right >= shape[1] - 1:
            return Mask("none", None, None, bias, shape)
        if left >= shape[0] - 1 and right == 0:
            return Mask("causal", None, None, bias, shape)
        return Mask("window", window, None, bias, shape)
    return Mask("explicit", None, np.ascontiguousarray(seen), bias, shape)


def _implicitly_causal(call: AttentionCall) -> bool:
    """Whether a missing mask means causal: so it does for every function but the eager one."""
    if call.is_eager or call.query.shape[-2] == 1:
        return False
    flag = call.options.get("is_causal")
    return bool(getattr(call.module, "is_causal", True) if flag is None else flag)


def _band(shape: tuple[int, int], left: int, right: int) -> Bools:
    distance = np.arange(shape[1])[None, :] - np.arange(shape[0])[:, None]
    return (distance >= -left) & (distance <= right)


def _window(seen: Bools) -> tuple[int, int] | None:
    """(left, right) if query i sees exactly the keys from i - left to i + right, else None."""
    rows, columns = np.nonzero(seen)
    if not len(rows):
        return None
    left, right = int((rows - columns).max()), int((columns - rows).max())
    if left < 0 or right < 0 or not np.array_equal(seen, _band(seen.shape, left, right)):
        return None
    return left, right
