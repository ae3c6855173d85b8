"""Heads and layers against annotated text: what they find, beside baselines and a null.

What a head attends to is not why a model says what it says: see docs/guide/probes.md.
"""

from .annotated import Annotated, Mention, annotated
from .conllu_files import read_conllu
from .coreference import CoreferenceScores, coreference
from .relations import RelationScore, RelationScores, relations
from .shares import Share
from .word_attention import WordAttention

__all__ = [
    "Annotated",
    "CoreferenceScores",
    "Mention",
    "RelationScore",
    "RelationScores",
    "Share",
    "WordAttention",
    "annotated",
    "coreference",
    "read_conllu",
    "relations",
]
