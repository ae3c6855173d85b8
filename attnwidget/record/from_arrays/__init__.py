"""A stack of layers from the arrays of other tools, in the shapes in which they have them."""

from .stack import stack_from_arrays

__all__ = ["stack_from_arrays"]
