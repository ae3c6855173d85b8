"""The mixing ratio of a layer, after Kobayashi et al. 2021.

"Incorporating Residual and Normalization Layers into Analysis of Masked Language Models".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from attnwidget.record import Layer

from .lenses.values import head_outputs, values_and_projection, why_no_norms
from .metrics import Numbers


def mixing_ratio(
    layer: Layer, residual: ArrayLike | None = None, gain: ArrayLike | None = None
) -> Numbers:
    """The share of each token's new vector that comes from other tokens: float64 [T], 0 to 1.

    ‖c_i‖ / (‖c_i‖ + ‖s_i‖), with c_i = Σj≠i Σh w_h[i, j] f_h(x_j) from the other tokens, and
    s_i = Σh w_h[i, i] f_h(x_i) from the token itself. NaN if both are zero. Biases, which come from
    no token, count for neither. In the paper's words:

    - `mixing_ratio(layer)` is Attn-N. Attn-W is 1 minus the mean weight of a token on itself.
    - With `residual` it is AttnRes-N: s_i is added to what the residual connection carries.
    - With `residual` and `gain` it is AttnResLn-N: c_i and s_i go through the LayerNorm behind the
      sum: y ↦ gain · (y − mean(y)). Its division by a deviation is the same for both.

    A record has neither residual nor gain, because blocks differ. Both are known where the block is
    `y = LayerNorm(x + attention(x))`, as in BERT, and the residual, which is x, also where it is
    `y = x + attention(norm(x))`, as in GPT-2 and Llama. Blocks that scale or normalise what
    attention adds (Gemma 2, OLMo 2, CaiT), or add an MLP of the same input (GPT-J), have another
    ratio, which this function does not compute.

    Args:
        layer: of self-attention, captured with `values=True`.
        residual: [T, d_model], the input of the block, as from `output_hidden_states=True`.
        gain: [d_model], the weight of the LayerNorm.

    Raises:
        ValueError: the layer has no values, no output projection or no softmax, or is not square;
            an array has another shape; or there is a gain without a residual.
    """
    values, projection = values_and_projection(layer, why_no_norms(layer))
    if layer.shape[0] != layer.shape[1]:
        raise ValueError(
            f"a layer of {layer.shape[0]} queries and {layer.shape[1]} keys has no mixing ratio: "
            "no key is the query itself"
        )
    tokens, width = layer.shape[0], projection.shape[2]
    own = np.zeros((tokens, width))
    for head in range(layer.num_heads):
        diagonal = np.diagonal(layer.head_weights(head)).astype(np.float64)
        own += (diagonal[:, None] * values[head]) @ projection[head]
    context = head_outputs(layer).sum(axis=0, dtype=np.float64) - own
    if residual is not None:
        own += _of_shape("residual", residual, (tokens, width))
    if gain is not None:
        if residual is None:
            raise ValueError("gain is that of the norm behind a residual connection: give both")
        factors = _of_shape("gain", gain, (width,))
        own, context = (
            factors * (part - part.mean(axis=1, keepdims=True)) for part in (own, context)
        )
    mixed, kept = np.linalg.norm(context, axis=1), np.linalg.norm(own, axis=1)
    total = mixed + kept
    ratio: Numbers = mixed / np.where(total > 0, total, np.nan)
    return ratio


def _of_shape(name: str, array: ArrayLike, shape: tuple[int, ...]) -> Numbers:
    """The array in double precision, after a check of its shape."""
    numbers = np.asarray(array, np.float64)
    if numbers.shape != shape:
        raise ValueError(f"{name} has the shape {list(numbers.shape)}; expected {list(shape)}")
    return numbers
