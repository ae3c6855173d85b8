"""A trained model, and what its own eager attention gives."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

# Classes of transformers are untyped to us.
Model = Any


class Trained(NamedTuple):
    """A model as it is loaded by default, the same with eager attention, and its processor."""

    model: Model
    eager: Model
    processor: Any


Load = Callable[[str, Any, Any], Trained]


def attentions(model: Model, **inputs: Any) -> dict[str, tuple[torch.Tensor, ...]]:
    """What an eager model says itself: stack -> [batch, heads, Tq, Tk] per layer."""
    assert model.config._attn_implementation == "eager"
    with torch.no_grad():
        output = model(**inputs, output_attentions=True)
    if "cross_attentions" not in output:
        return {"self": output.attentions}
    return {
        "encoder": output.encoder_attentions,
        "decoder": output.decoder_attentions,
        "cross": output.cross_attentions,
    }
