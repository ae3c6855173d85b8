"""AttentionRecord and its parts: numpy arrays, score programs, files. No torch.

In come queries, keys and a score program of each layer, or its weights, with the tokens of both
sides; out come weights, scores and one safetensors file. Open `record.py` first; `layer.py` and
`scores.py` are the numbers, `fidelity.py` says how far they lie from the model's, `storage.py` and
`loading.py` are the file, and `from_arrays/` reads the arrays of other tools.
"""

from .fidelity import Fidelity, Replay, Written
from .images import Box, Grid, Patches, Picture
from .layer import Layer, Pairs, Rotary, magnitude_shares
from .record import AttentionRecord
from .recurrence import Recurrence
from .scores import Floats, ScoreProgram, sample_rows, spread_rows
from .stack import A_STACK, Stack, of_stack, runs, spans
from .tokens import Arc, Piece, Tokens

__all__ = [
    "A_STACK",
    "Arc",
    "AttentionRecord",
    "Box",
    "Fidelity",
    "Floats",
    "Grid",
    "Layer",
    "Pairs",
    "Patches",
    "Picture",
    "Piece",
    "Recurrence",
    "Replay",
    "Rotary",
    "ScoreProgram",
    "Stack",
    "Tokens",
    "Written",
    "magnitude_shares",
    "of_stack",
    "runs",
    "sample_rows",
    "spans",
    "spread_rows",
]
