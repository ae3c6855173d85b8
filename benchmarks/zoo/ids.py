"""Token ids: which are text, and which are left to special tokens."""

from __future__ import annotations

import torch

VOCABULARY = 128
# Ids from here on are left to image, audio and other special tokens.
SPECIAL = 96


def ids(length: int) -> torch.Tensor:
    """Random ids [1, length] that stand for no special token."""
    return torch.randint(5, 30, (1, length))
