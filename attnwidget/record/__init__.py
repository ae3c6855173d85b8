"""AttentionRecord and its parts: stacks, layers, tokens, score programs. Imports numpy only."""

from .arcs import Arc
from .fidelity import Fidelity, Replay
from .layer import Layer
from .picture import Picture
from .record import AttentionRecord
from .rotary import Pairs, Rotary
from .rows import sample_rows, spread_rows
from .scores import Floats, ScoreProgram
from .stack import Stack, of_stack, runs, spans
from .tokens import Patches, Tokens

__all__ = [
    "Arc",
    "AttentionRecord",
    "Fidelity",
    "Floats",
    "Layer",
    "Pairs",
    "Patches",
    "Picture",
    "Replay",
    "Rotary",
    "ScoreProgram",
    "Stack",
    "Tokens",
    "of_stack",
    "runs",
    "sample_rows",
    "spans",
    "spread_rows",
]
