"""The functions of BertViz 1.4.1 with attnwidget's views.

A notebook written for BertViz runs with other imports:

    from attnwidget.interop.bertviz import head_view, model_view
    from attnwidget.interop.bertviz.neuron_view import show
    from attnwidget.interop.bertviz.transformers_neuron_view import BertModel, BertTokenizer
"""

from . import neuron_view
from .views import head_view, model_view

__all__ = ["head_view", "model_view", "neuron_view"]
