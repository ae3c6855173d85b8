"""Interactive views of a transformer's attention in a notebook.

import attnwidget as aw
aw.show(model, tokenizer, "The dog was tired because it ran.")
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from . import plot, probe
from .analysis import Comparison, compare
from .capture import capture
from .corpus import HeadProfile, match_heads, profile
from .demo import demo
from .interventions.edits import Ablate, KnockOut, Patch, Scale
from .magic import load_ipython_extension as load_ipython_extension
from .record import Arc, AttentionRecord
from .show import head_view, model_view, neuron_view, show
from .widget import AttentionWidget, save_html, to_html

if TYPE_CHECKING:
    from .interventions.attribution import logit_attribution
    from .interventions.editor import intervene
    from .interventions.importance import head_importance
    from .interventions.measure import ablate
    from .interventions.pruning import prune_curve
    from .interventions.read_outputs import head_outputs
    from .interventions.scan import ablation_scan
    from .interventions.weight_gradients import attention_gradients

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

# The modules that import torch, each for the name that needs it.
_LATER = {
    "ablate": "measure",
    "ablation_scan": "scan",
    "attention_gradients": "weight_gradients",
    "head_importance": "importance",
    "head_outputs": "read_outputs",
    "intervene": "editor",
    "logit_attribution": "attribution",
    "prune_curve": "pruning",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".interventions.{_LATER[name]}", __name__)
    globals()[name] = getattr(module, name)
    return globals()[name]
