"""The boxes that a detection model predicts, as the places of its queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from attnwidget.record import Box
from attnwidget.running.inputs import Inputs
from attnwidget.running.sequences import Detected, pixels_name
from attnwidget.running.stacks import kind_of

from .grids import Seen, content_of, place_of, within
from .recorder import RecordedCall

# Of an image: edges that scaling cuts off, or the rounding of the place of pixels.
_NEAR = 0.01
_WHOLE: Box = (0.0, 0.0, 1.0, 1.0)


def predicts_boxes(output: Any) -> bool:
    """True for the output of a model with boxes [batch, queries, 4] and logits of its queries."""
    boxes, logits = (getattr(output, name, None) for name in ("pred_boxes", "logits"))
    if not isinstance(boxes, torch.Tensor) or not isinstance(logits, torch.Tensor):
        return False
    return boxes.ndim == 3 and boxes.shape[-1] == 4 and logits.shape[:2] == boxes.shape[:2]


def detected(
    model: torch.nn.Module,
    output: Any,
    calls: Sequence[RecordedCall],
    inputs: Inputs,
    seen: Seen,
) -> Detected | None:
    """The boxes and labels in an output; None if they are on no image, or not known whose.

    Boxes are of an image without what a processor has padded, as transformers defines them: the
    fractions of their middles, widths and heights. They are of the queries of the last attention
    that a model computes.

    Args:
        calls: of the pass, in order.
    """
    name = pixels_name(inputs.tensors)
    if not predicts_boxes(output) or name is None or not calls:
        return None
    last = kind_of(model, calls[-1].address.id)
    lengths = [
        call.layer.shape[0]
        for call in calls
        if call.layer is not None and kind_of(model, call.address.id) == last
    ]
    if not lengths:
        return None
    state, length = getattr(output, "last_hidden_state", None), lengths[-1]
    # Or the last tokens of a sequence that the model returns as a whole.
    sequence = state.shape[1] if isinstance(state, torch.Tensor) and state.ndim == 3 else 0
    if length != output.pred_boxes.shape[1] and length != sequence:
        return None
    pixels, index = inputs.tensors[name], inputs.batch.index
    boxes = output.pred_boxes
    if pixels.ndim != 4 or len(pixels) != len(boxes) or not boxes[index].isfinite().all():
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
    names = _names(model, output, index, len(found))
    return Detected(last.tower, length, tuple(found), names)


def _names(model: torch.nn.Module, output: Any, index: int, count: int) -> tuple[str, ...]:
    """The likeliest label of each query, with its probability; "" for the last, of no object."""
    labels: Mapping[int, str] = getattr(getattr(model, "config", None), "id2label", None) or {}
    none = ("",) * count
    own, classes = output.logits[index].float(), len(labels)
    if own.ndim != 2:
        return none
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
