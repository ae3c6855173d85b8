"""The boxes that a detection model predicts, as the places of its queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from attnwidget.record import Box
from attnwidget.running.inputs import Inputs
from attnwidget.running.sequences import Detected, pixels_name

from .grids import Seen, content_of, place_of, within

# Of an image: edges that scaling cuts off, or the rounding of the place of pixels.
_NEAR = 0.01
_WHOLE: Box = (0.0, 0.0, 1.0, 1.0)


def predicts_boxes(output: Any) -> bool:
    """True for the output of a model with boxes for its queries: [batch, queries, 4]."""
    boxes = getattr(output, "pred_boxes", None)
    return isinstance(boxes, torch.Tensor) and boxes.ndim == 3 and boxes.shape[-1] == 4


def detected(
    model: torch.nn.Module, output: Any, tower: str, inputs: Inputs, seen: Seen
) -> Detected | None:
    """The boxes and labels in an output; None if they are on no image.

    Boxes are of an image without what a processor has padded, as transformers defines them.

    Args:
        tower: the part of the model that has the queries.
    """
    name = pixels_name(inputs.tensors)
    if not predicts_boxes(output) or name is None:
        return None
    pixels, index = inputs.tensors[name], inputs.batch.index
    boxes = output.pred_boxes
    if pixels.ndim != 4 or len(pixels) != len(boxes):
        return None
    place, content = place_of(name, (index,), seen), content_of(name, (index,), seen)
    if place is None or content is None:
        return None
    image, covered = place
    whole = within(content, covered)
    if seen.origins is not None and all(
        abs(edge - end) < _NEAR for edge, end in zip(whole, _WHOLE, strict=True)
    ):
        whole = _WHOLE
    found = []
    for x, y, width, height in boxes[index].double().tolist():
        box = x - width / 2, y - height / 2, x + width / 2, y + height / 2
        found.append((image, within(box, whole)))
    return Detected(tower, tuple(found), _names(model, output, index, len(found)))


def _names(model: torch.nn.Module, output: Any, index: int, count: int) -> tuple[str, ...]:
    """The likeliest label of each query, with its probability; "" for the last, of no object."""
    logits, config = getattr(output, "logits", None), getattr(model, "config", None)
    labels: Mapping[int, str] = getattr(config, "id2label", None) or {}
    none = ("",) * count
    if not isinstance(logits, torch.Tensor) or logits.ndim != 3 or logits.shape[1] != count:
        return none
    own, classes = logits[index].float(), len(labels)
    if own.shape[1] == classes + 1:
        shares = own.softmax(dim=1)
    elif own.shape[1] == classes:
        shares = own.sigmoid()
    else:
        return none
    most, best = shares.max(dim=1)
    return tuple(
        f"{labels.get(label, label)} {share:.2f}" if label < classes else ""
        for share, label in zip(most.tolist(), best.tolist(), strict=True)
    )
