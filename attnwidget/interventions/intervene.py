"""The context in which a model runs with changed attention."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .edits import Intervention

if TYPE_CHECKING:
    import torch


@contextmanager
def intervene(model: torch.nn.Module, *interventions: Intervention) -> Iterator[None]:
    """Change the attention of a model within this context, in every call of it.

    Calls on this thread are changed, also those of `model.generate`, and `attnwidget.capture` and
    other interventions within the context see the changed model. The model itself, its parameters
    and hooks stay as they are.

        with aw.intervene(model, aw.Ablate(layers=18, heads=[4, 6])):
            logits = model(**inputs).logits

    Args:
        model: the model.
        interventions: applied in this order.

    Raises:
        TypeError: one of them is none.
        ValueError: a layer, head or stack that the model does not have, or attention that cannot
            be changed; or, at the end of the context, a layer that was never called.
    """
    # Imported here, so that records can be opened and shown without torch.
    from .editor import editing

    with editing(model, interventions):
        yield
