"""The notebook widget: what the reader chose, and the kernel's side of the conversation."""

from attnwidget.view_state.choices import ChoiceOptions, View, check_names

from .selection import Selection
from .widget import AttentionWidget

__all__ = ["AttentionWidget", "ChoiceOptions", "Selection", "View", "check_names"]
