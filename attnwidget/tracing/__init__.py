"""The attention that runs in a model, call by call: a handler may see a call, and change it.

Two routes see calls: transformers' attention interface (interface.py), and torch's functions for
all that does not go through it (function_mode.py).
"""

from .calls import Address, Call, FunctionCall, Read, SoftmaxCall
from .handler import Handler
from .modules import can_generate, is_attention
from .receivers import Receiver, Receivers
from .tracer import Trace, trace, undisturbed

__all__ = [
    "Address",
    "Call",
    "FunctionCall",
    "Handler",
    "Read",
    "Receiver",
    "Receivers",
    "SoftmaxCall",
    "Trace",
    "can_generate",
    "is_attention",
    "trace",
    "undisturbed",
]
