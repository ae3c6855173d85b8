"""The former name of `attnwidget.interop.bertviz.neuron_view`."""

from attnwidget.interop.bertviz.neuron_view import show

__all__ = ["show"]
