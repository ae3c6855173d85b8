"""The attention that runs in a model, call by call: a handler sees each call, and may change it.

In come a model and a `Handler`; out come its `FunctionCall` and `SoftmaxCall`, whatever the model
is. Open `tracer.py` first; four routes observe calls: transformers' attention interface
(`interface.py`), the functions of models with bands or blocks (`bands.py`) and with sampling points
(`deformable.py`), and torch's functions for all others (`function_mode.py`). What mixes tokens
without a softmax comes as `MixingCall`, by `recurrences.py`. Nothing of ours is imported here.
"""

from .calls import (
    Address,
    Call,
    CallId,
    FunctionCall,
    MixingCall,
    Read,
    ReadMixing,
    SoftmaxCall,
    Strengths,
    head_values,
    softmax_values,
)
from .handler import Handler, PassEnded, Receiver, Receivers
from .modules import can_generate, is_attention
from .pieces import Piece, Sources, goes_on, joined_as, runs
from .recurrences import mixing_names
from .shifts import is_shifted
from .tracer import Trace, changes_of, is_changed, trace, undisturbed

__all__ = [
    "Address",
    "Call",
    "CallId",
    "FunctionCall",
    "Handler",
    "MixingCall",
    "PassEnded",
    "Piece",
    "Read",
    "ReadMixing",
    "Receiver",
    "Receivers",
    "SoftmaxCall",
    "Sources",
    "Strengths",
    "Trace",
    "can_generate",
    "changes_of",
    "goes_on",
    "head_values",
    "is_attention",
    "is_changed",
    "is_shifted",
    "joined_as",
    "mixing_names",
    "runs",
    "softmax_values",
    "trace",
    "undisturbed",
]
