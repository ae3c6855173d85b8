"""The attention that runs in a model, call by call: a handler sees each call, and may change it.

In come a model and a `Handler`; out come its `FunctionCall` and `SoftmaxCall`, whatever the model
is. Open `tracer.py` first; three routes observe calls: transformers' attention interface
(`interface.py`), the functions of models with bands or blocks (`bands.py`), and torch's functions
for all others (`function_mode.py`). Nothing of ours is imported here.
"""

from .arguments import Arguments, beside
from .calls import (
    Address,
    Call,
    CallId,
    FunctionCall,
    Read,
    SoftmaxCall,
    head_values,
    softmax_values,
)
from .handler import Handler, Receiver, Receivers
from .modules import can_generate, is_attention
from .tracer import Trace, changes_of, is_changed, trace, undisturbed

__all__ = [
    "Address",
    "Arguments",
    "Call",
    "CallId",
    "FunctionCall",
    "Handler",
    "Read",
    "Receiver",
    "Receivers",
    "SoftmaxCall",
    "Trace",
    "beside",
    "can_generate",
    "changes_of",
    "head_values",
    "is_attention",
    "is_changed",
    "softmax_values",
    "trace",
    "undisturbed",
]
