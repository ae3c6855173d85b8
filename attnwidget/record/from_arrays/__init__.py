"""Attention that was computed elsewhere becomes a stack, in the shapes in which others have it."""

from .stack import stack_from_arrays

__all__ = ["stack_from_arrays"]
