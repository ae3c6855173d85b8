"""The former name of `attnwidget.interop.bertviz.transformers_neuron_view`."""

from typing import Any

from attnwidget.interop.bertviz import transformers_neuron_view


def __getattr__(name: str) -> Any:
    return getattr(transformers_neuron_view, name)
