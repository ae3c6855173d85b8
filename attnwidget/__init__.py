"""Interactive views of a transformer's attention in a notebook.

import attnwidget as aw
aw.show(model, tokenizer, "The dog was tired because it ran.")
"""

from importlib.metadata import version

from . import plot, probe
from .analysis import Comparison, compare
from .capture import capture
from .corpus import HeadProfile, match_heads, profile
from .demo import demo
from .interventions import (
    Ablate,
    KnockOut,
    Patch,
    Scale,
    ablate,
    ablation_scan,
    attention_gradients,
    head_importance,
    head_outputs,
    intervene,
    logit_attribution,
    prune_curve,
)
from .magic import load_ipython_extension as load_ipython_extension
from .record import Arc, AttentionRecord
from .show import head_view, model_view, neuron_view, save_html, show, to_html
from .widget import AttentionWidget

__version__ = version("attnwidget")

__all__ = [
    "Ablate",
    "Arc",
    "AttentionRecord",
    "AttentionWidget",
    "Comparison",
    "HeadProfile",
    "KnockOut",
    "Patch",
    "Scale",
    "ablate",
    "ablation_scan",
    "attention_gradients",
    "capture",
    "compare",
    "demo",
    "head_importance",
    "head_outputs",
    "head_view",
    "intervene",
    "logit_attribution",
    "match_heads",
    "model_view",
    "neuron_view",
    "plot",
    "probe",
    "profile",
    "prune_curve",
    "save_html",
    "show",
    "to_html",
]
