"""The former name of `attnwidget.interop.bertviz`, kept for one version."""

import warnings

from attnwidget.interop.bertviz import head_view, model_view, neuron_view

__all__ = ["head_view", "model_view", "neuron_view"]

warnings.warn(
    "attnwidget.compat.bertviz is now attnwidget.interop.bertviz; the old name goes with the next "
    "version",
    DeprecationWarning,
    stacklevel=2,
)
