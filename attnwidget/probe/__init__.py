"""Heads and layers against annotated text: what they find, beside baselines and a null.

A head that finds a relation need not be why a model says what it says: see docs/guide/probes.md.
"""

from .annotated import Annotated, Mention, annotated
from .attention_parser import ParserScores, attention_parser
from .best_heads import BestHead
from .conllu_files import read_conllu
from .coreference import CoreferenceScores, coreference
from .edge_classifier import EdgeScore, EdgeScores, edge_classifier
from .layers import LayerScore, LayerScores, layers
from .regions import RegionScores, regions
from .relation_score import RelationScore
from .relations import Miss, RelationScores, relations
from .results import ProbeScores
from .segments import SegmentScores, segments
from .shares import Share
from .word_alignment import Aligned, AlignmentScores, alignment
from .word_attention import WordAttention

__all__ = [
    "Aligned",
    "AlignmentScores",
    "Annotated",
    "BestHead",
    "CoreferenceScores",
    "EdgeScore",
    "EdgeScores",
    "LayerScore",
    "LayerScores",
    "Mention",
    "Miss",
    "ParserScores",
    "ProbeScores",
    "RegionScores",
    "RelationScore",
    "RelationScores",
    "SegmentScores",
    "Share",
    "WordAttention",
    "alignment",
    "annotated",
    "attention_parser",
    "coreference",
    "edge_classifier",
    "layers",
    "read_conllu",
    "regions",
    "relations",
    "segments",
]
