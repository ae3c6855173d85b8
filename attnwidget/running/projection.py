"""Matrices of output projections, found by running their modules on unit vectors.

Parameters are not read: they may be transposed, quantised, on another device, or under an adapter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch

from attnwidget.record import Floats
from attnwidget.tracing import Address, Receiver

from .tolerance import tolerance


def projections(
    by_call: Mapping[Address, Sequence[Receiver]],
) -> Iterator[tuple[Address, Floats]]:
    """The matrix of the first linear receiver of each call: float32 [heads, d_v, d_model]."""
    matrices: dict[int, torch.Tensor | None] = {}
    for address, receivers in by_call.items():
        for receiver in receivers:
            module = receiver.module
            if id(module) not in matrices:
                matrices[id(module)] = linear_matrix(module, receiver.input)
            matrix = matrices[id(module)]
            if matrix is not None:
                heads = matrix.reshape(receiver.heads, receiver.width, -1)
                yield address, heads.numpy().copy()
                break


def linear_matrix(module: torch.nn.Module, received: torch.Tensor) -> torch.Tensor | None:
    """The matrix [n, m] with module(x) - module(0) = x @ matrix, or None if there is none."""
    width = received.shape[-1]
    sample = received.reshape(-1, width)[:16]
    lead = (1,) * (received.ndim - 2)

    def run(rows: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = module(rows.reshape(*lead, *rows.shape))
        return out.reshape(len(rows), -1).detach().to("cpu", torch.float32)

    try:
        constant = run(torch.zeros_like(sample[:1]))
        matrix = run(torch.eye(width, dtype=received.dtype, device=received.device)) - constant
        expected = run(sample) - constant
    except Exception:  # the module does not take such rows
        return None
    error = (sample.to("cpu", torch.float32) @ matrix - expected).abs().max()
    limit = 10 * tolerance(received.dtype) * expected.abs().max().clamp(min=1)
    return matrix if error <= limit else None
