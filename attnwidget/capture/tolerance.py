"""What rounding alone can amount to, per floating-point type that a model computes in."""

from __future__ import annotations

import torch

_TOLERANCE = {torch.float64: 1e-5, torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 3e-2}


def tolerance(dtype: torch.dtype) -> float:
    return _TOLERANCE.get(dtype, 1e-5)
