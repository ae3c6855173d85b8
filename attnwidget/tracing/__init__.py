"""Traces of the attention calls in a model: a handler receives each call, and may change it.

Three routes observe calls: transformers' attention interface (interface.py), the functions of
models with bands or blocks (bands.py), and torch's functions for all others (function_mode.py).
"""

from .calls import Address, Call, CallId, FunctionCall, Read, SoftmaxCall
from .handler import Handler
from .modules import can_generate, is_attention
from .receivers import Receiver, Receivers
from .tracer import Trace, changes_of, is_changed, trace, undisturbed
from .values import head_values, softmax_values

__all__ = [
    "Address",
    "Call",
    "CallId",
    "FunctionCall",
    "Handler",
    "Read",
    "Receiver",
    "Receivers",
    "SoftmaxCall",
    "Trace",
    "can_generate",
    "changes_of",
    "head_values",
    "is_attention",
    "is_changed",
    "softmax_values",
    "trace",
    "undisturbed",
]
