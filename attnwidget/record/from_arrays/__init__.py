"""Records from the arrays of other tools, in their own shapes."""

from .stack import stack_from_arrays

__all__ = ["stack_from_arrays"]
