"""Heads off, edges cut, gradients and values in every architecture, beside the same by other ways.

A head that is off must equal, bit by bit, the model whose output projection has zeros in the head's
columns. A cut edge must equal, up to rounding, the model with eager attention whose softmax gets
-inf for it. The gradient by a factor of a head's output must equal the sum of the head's weights
times the gradients by these, and the gradient by the columns of the projection or the slope between
a slightly larger and a slightly smaller factor.
"""
