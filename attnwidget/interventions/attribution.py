"""The steps from a model and a text to the parts of a logit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsIndex

import numpy as np
import torch

from attnwidget.analysis import HeadScores, Numbers
from attnwidget.arguments import whole_number
from attnwidget.running.labels import text_tokenizer, token_labels
from attnwidget.running.model import traceable
from attnwidget.running.one_text import one_text
from attnwidget.tracing import undisturbed

from .logit_attribution import LogitAttribution
from .residual import Residual, read_residual
from .scan import scan_heads
from .sites import empty_rows

# The parts may miss the model's logit by rounding, relative to the largest of them.
_APART = 1e-3


def attribute(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    *,
    token: str | SupportsIndex,
    against: str | SupportsIndex | None,
    position: int,
    total: bool,
    batch_size: int,
) -> LogitAttribution:
    """See `attnwidget.logit_attribution`."""
    model = traceable(model)
    unembedding = getattr(model, "get_output_embeddings", lambda: None)()
    if unembedding is None:
        raise ValueError(
            f"{type(model).__name__} has no unembedding, so it has no logits of tokens"
        )
    given = one_text(model, tokenizer, text, None, None, 0)
    kept = given.row.text.kept if given.row.text is not None else torch.zeros(0)
    if not -len(kept) <= position < len(kept):
        raise IndexError(f"position {position} does not exist: the text has {len(kept)} tokens")
    place = int(kept[position])
    wanted = _token_id(tokenizer, token)
    other = None if against is None else _token_id(tokenizer, against)

    def logit(output: Any) -> float:
        logits = _exact(output.logits[0, place])
        return float(logits[wanted] - (0 if other is None else logits[other]))

    with undisturbed(model):
        residual = read_residual(model, given.batch, unembedding)
        direction, constant = _direction(residual, unembedding, place, wanted, other)
    direct = empty_rows(residual.sites.found)
    for layer in residual.layers:
        direct[layer.site.stack][layer.site.layer] = _part(layer.heads[:, place], direction)
    [stack] = direct
    effect = None
    if total:
        without = scan_heads(
            model,
            tokenizer,
            text,
            None,
            target=None,
            batch_index=0,
            stack=stack,
            layers=None,
            by="head",
            replaced_by="zero",
            metric=logit,
            null=False,
            batch_size=batch_size,
            seed=0,
            on_score=None,
        )
        effect = HeadScores(
            "total effect",
            "The logit less that without the head",
            {stack: {layer: -row for layer, row in without.rows[stack].items()}},
            signed=True,
            measured_on=given.described,
        )
    found = LogitAttribution(
        _label(tokenizer, wanted),
        None if other is None else _label(tokenizer, other),
        place,
        logit(residual.output),
        HeadScores(
            "direct effect",
            "The part of the logit that the head writes, the final normalisation as it is",
            direct,
            signed=True,
            measured_on=given.described,
        ),
        np.array([float(_part(layer.bias[place], direction)) for layer in residual.layers]),
        np.array([float(_part(layer.mlp[place], direction)) for layer in residual.layers]),
        float(_part(residual.embeddings[place], direction)),
        constant,
        effect,
    )
    largest = max(1.0, *(float(np.nanmax(np.abs(n))) for n in (found.mlps, found.direct.values())))
    if abs(found.sum - found.logit) > _APART * largest:
        raise ValueError(
            f"the parts give {found.sum:.4g}, and the model's logit is {found.logit:.4g}: this "
            "model changes its logits after the unembedding, as by a softcap"
        )
    return found


def _part(written: torch.Tensor, direction: torch.Tensor) -> Numbers:
    found: Numbers = (_exact(written) @ direction).numpy()
    return found


def _exact(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers in float64, which not every device has."""
    return tensor.detach().cpu().double()


def _direction(
    residual: Residual,
    unembedding: torch.nn.Module,
    place: int,
    token: int,
    against: int | None,
) -> tuple[torch.Tensor, float]:
    """(the direction of the residual stream that is the logit [d_model], the constant beside it).

    The final normalisation is linear with the scale that it has here: a factor for each component,
    after the mean was subtracted (LayerNorm) or not (RMSNorm).
    """
    weight: Any = unembedding.weight
    toward = _exact(weight[token]) - (0 if against is None else _exact(weight[against]))
    own = getattr(unembedding, "bias", None)
    constant = 0.0
    if own is not None:
        constant = float(own[token] - (0 if against is None else own[against]))
    stream, normed = _exact(residual.end[place]), _exact(residual.normed[place])
    # Zeros give the bias, and numbers whose mean is 0 the factors.
    signs = torch.ones_like(residual.end[:1])
    signs[:, 1::2] = -1
    if signs.shape[1] % 2:
        signs[:, -1] = 0
    zeros = torch.zeros_like(signs)
    bias = _exact(residual.norm(zeros[None])[0, 0])
    factors = (_exact(residual.norm(signs[None])[0, 0]) - bias) * _exact(signs[0])
    for centred in (False, True):
        entering = stream - stream.mean() if centred else stream
        shaped = entering * factors
        scale = shaped @ (normed - bias) / (shaped @ shaped)
        if torch.allclose(scale * shaped, normed - bias, rtol=1e-3, atol=1e-4):
            direction = scale * factors * toward
            if centred:
                direction = direction - direction.mean()
            return direction, constant + float(toward @ bias)
    raise ValueError(
        f"{type(residual.norm).__name__} is neither a LayerNorm nor an RMSNorm, so that its output "
        "has no parts"
    )


def _token_id(tokenizer: Any, token: str | SupportsIndex) -> int:
    if not isinstance(token, str):
        return whole_number(token)
    if tokenizer is None:
        raise TypeError("token is a string, so a tokenizer is needed")
    ids = text_tokenizer(tokenizer)(token, add_special_tokens=False)["input_ids"]
    if len(ids) != 1:
        labels = token_labels(tokenizer, ids)
        raise ValueError(
            f"{token!r} is {len(ids)} tokens ({', '.join(map(repr, labels))}); give one, mostly "
            "with the space before it, as ' Mary'"
        )
    return int(ids[0])


def _label(tokenizer: Any, token: int) -> str:
    return str(token) if tokenizer is None else token_labels(tokenizer, [token])[0]
