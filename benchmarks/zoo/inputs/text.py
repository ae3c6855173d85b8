"""Token ids, and the inputs that have an entry per token."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from transformers import PreTrainedModel

from benchmarks.zoo.ids import ids

LENGTH = 12
DECODER_LENGTH = 7
# The number of text tokens before an image or a sound.
_BEFORE = 4
_MEDIA = {"image": "pixel_values", "audio": "input_features"}


def _text(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor:
    text = ids(LENGTH)
    media = [
        torch.full((1, count), token)
        for kind, values in _MEDIA.items()
        if (token := _token(model, kind)) is not None
        and inputs.get(values) is not None
        and (count := _count(model, kind, inputs))
    ]
    return torch.cat([text[:, :_BEFORE], *media, text[:, _BEFORE:]], dim=1)


def _token(model: PreTrainedModel, kind: str) -> int | None:
    """The placeholder token of an image or a sound."""
    for name in (f"{kind}_token_id", f"{kind}_token_index"):
        token = getattr(model.config, name, None)
        if isinstance(token, int):
            return token
    return None


def _count(model: PreTrainedModel, kind: str, inputs: dict[str, Any]) -> int:
    """The number of placeholders that the model expects, one per feature."""
    get = getattr(model, f"get_{kind}_features", None)
    if get is None:
        return 0
    takes = inspect.signature(get).parameters
    with torch.no_grad():
        found = get(**{name: value for name, value in inputs.items() if name in takes})
    found = getattr(found, "pooler_output", found)
    parts = found if isinstance(found, (list, tuple)) else [found]
    return sum(part.shape[:-1].numel() for part in parts if part is not None)


def _token_types(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor:
    image = _token(model, "image")
    text: torch.Tensor = inputs["input_ids"]
    return text.eq(-1 if image is None else image).long()


def _mask(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor | None:
    text = inputs.get("input_ids")
    return None if text is None else torch.ones_like(text)


def _decoder_text(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor:
    return ids(DECODER_LENGTH)


def _boxes(model: PreTrainedModel, inputs: dict[str, Any]) -> torch.Tensor:
    """The box of each token on a page: left, top, right, bottom."""
    corner = torch.randint(0, 50, (1, inputs["input_ids"].shape[1], 2))
    return torch.cat([corner, corner + torch.randint(1, 50, corner.shape)], dim=-1)


TEXT = {
    "input_ids": _text,
    "mm_token_type_ids": _token_types,
    "attention_mask": _mask,
    "decoder_input_ids": _decoder_text,
    "bbox": _boxes,
}
