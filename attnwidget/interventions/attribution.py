"""The parts of a logit that heads and layers write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import torch

from attnwidget.analysis import HeadScores, Numbers, Tabular, data_frame
from attnwidget.arguments import whole_number
from attnwidget.progress import progress_bar
from attnwidget.running.labels import text_tokenizer, token_labels
from attnwidget.running.model import traceable
from attnwidget.running.one_text import one_text
from attnwidget.tracing import undisturbed

from .residual import Residual, exact, read_residual
from .scan import ablation_scan
from .sites import empty_rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class LogitAttribution(Tabular):
    """The parts of the logit of a token, or of the difference of two, at one position.

    The parts are what each component adds to the residual stream, through the model's final
    normalisation (as it is for this text, so that it is linear) and the unembedding. `logit` is
    their sum.

    Attributes:
        token, against: the labels of the token, and of the other one; None without.
        position: the position that predicts.
        logit: of the token, less that of the other one, as the model has computed it.
        direct: the part of each head.
        biases, mlps: the parts of each layer's attention bias, and of its MLP, float64 [layers].
        embeddings: the part of the embeddings.
        constant: that of the final normalisation's bias, and of the unembedding's.
        total: the logit less that without the head; None if it was not measured.
    """

    token: str
    against: str | None
    position: int
    logit: float
    direct: HeadScores
    biases: Numbers = field(repr=False)
    mlps: Numbers = field(repr=False)
    embeddings: float
    constant: float
    total: HeadScores | None

    @property
    def sum(self) -> float:
        """The sum of all parts, which is `logit` up to rounding."""
        parts = (np.nansum(self.direct.values()), self.biases.sum(), self.mlps.sum())
        return float(sum(parts) + self.embeddings + self.constant)

    @property
    def repair(self) -> Numbers:
        """The part of each head's effect that later layers make up for: float64 [layers, heads].

        The direct part less the total effect.

        Raises:
            ValueError: the total effect was not measured.
        """
        if self.total is None:
            raise ValueError("the total effect was not measured: give total=True")
        return self.direct.values() - self.total.values()

    def table(self) -> pd.DataFrame:
        """The parts as a table of pandas: part, layer, head, direct, and total if measured.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        [direct] = self.direct.rows.values()
        total = {} if self.total is None else next(iter(self.total.rows.values()))
        rows: list[tuple[Any, ...]] = [("embeddings", None, None, self.embeddings, np.nan)]
        for row, (layer, parts) in enumerate(direct.items()):
            effects = total.get(layer, np.full(len(parts), np.nan))
            for head, (part, effect) in enumerate(zip(parts, effects, strict=True)):
                rows.append(("head", layer, head, part, effect))
            rows.append(("bias", layer, None, self.biases[row], np.nan))
            rows.append(("mlp", layer, None, self.mlps[row], np.nan))
        rows.append(("constant", None, None, self.constant, np.nan))
        names = ["part", "layer", "head", "direct"]
        if self.total is not None:
            names.append("total")
        return data_frame({name: [row[n] for row in rows] for n, name in enumerate(names)})


# The parts may miss the model's logit by rounding, relative to the largest of them, and a norm's
# output its linear form; in half precision, by so many units in the last place of their terms.
_APART, _UNITS = 1e-3, 4


@progress_bar("Attributing", "heads")
def logit_attribution(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    *,
    token: str | SupportsIndex,
    against: str | SupportsIndex | None = None,
    position: int = -1,
    total: bool = True,
    batch_size: int = 16,
) -> LogitAttribution:
    """Split a logit into what each head and layer of a decoder writes to it.

    A head's direct effect is its output through the output projection, the final normalisation
    with the scale that it has for this text, and the unembedding. Its total effect is the logit
    less that without the head, which is switched off as by `Ablate`: later layers may make up for
    a part of it.

    Args:
        model: a decoder whose layers add to one residual stream (GPT-2, Llama, ...).
        tokenizer, text: see `attnwidget.capture`; the first text of a batch.
        token: the token whose logit is split: a string that is one token, or its id.
        against: another token, whose logit is subtracted: the difference is what decides between
            both; None for none.
        position: the position that predicts the token, among those of the text.
        total: True to measure the total effects as well, which takes about as long as an
            `ablation_scan` without a null.
        batch_size: see `ablation_scan`.

    Returns:
        The parts, whose sum is the logit, with the signs that they have.

    Raises:
        TypeError, ValueError: see `attnwidget.capture`; the string is several tokens, or the model
            is none whose logits have such parts (layers that normalise what they add, logits that
            are changed after the unembedding).
        IndexError: there is no such position.
    """
    model = traceable(model)
    unembedding = unembedding_of(model)
    given = one_text(model, tokenizer, text, None, None, 0)
    kept = given.row.text.kept if given.row.text is not None else torch.zeros(0)
    if not -len(kept) <= position < len(kept):
        raise IndexError(f"position {position} does not exist: the text has {len(kept)} tokens")
    place = int(kept[position])
    wanted = token_id(tokenizer, token)
    other = None if against is None else token_id(tokenizer, against)

    def logit(output: Any) -> float:
        logits = exact(output.logits[0, place])
        return float(logits[wanted] - (0 if other is None else logits[other]))

    with undisturbed(model):
        residual = read_residual(model, given.batch, unembedding)
        direction, constant, rounding = _direction(residual, unembedding, place, wanted, other)
    direct = empty_rows(residual.sites.found)
    for layer in residual.layers:
        direct[layer.site.stack][layer.site.layer] = _part(layer.heads[:, place], direction)
    [stack] = direct
    effect = None
    if total:
        without = ablation_scan(
            model, tokenizer, text, stack=stack, metric=logit, null=False, batch_size=batch_size
        )
        effect = HeadScores(
            "total effect",
            "The logit less that without the head",
            {stack: {layer: -row for layer, row in without.rows[stack].items()}},
            signed=True,
            measured_on=given.described,
        )
    found = LogitAttribution(
        label_of(tokenizer, wanted),
        None if other is None else label_of(tokenizer, other),
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
    if abs(found.sum - found.logit) > max(_APART * largest, rounding):
        raise ValueError(
            f"the parts give {found.sum:.4g}, and the model's logit is {found.logit:.4g}: this "
            "model changes its logits after the unembedding, as by a softcap"
        )
    return found


def _part(written: torch.Tensor, direction: torch.Tensor) -> Numbers:
    found: Numbers = (exact(written) @ direction).numpy()
    return found


def _row(
    unembedding: torch.nn.Module, normed: torch.Tensor, token: int
) -> tuple[torch.Tensor, float]:
    """(the row of the unembedding for a token [d_model], its bias).

    Weights may be quantised, on another device or under an adapter: the module tells them by the
    gradient of the token's logit.

    Raises:
        ValueError: the unembedding has no gradient, as with inputs that are quantised.
    """
    with torch.enable_grad(), torch.inference_mode(False):
        entering = normed.detach().clone()[None, None].requires_grad_()
        logit = unembedding(entering)[0, 0, token]
        if not logit.requires_grad:
            raise ValueError(
                f"{type(unembedding).__name__}, the unembedding, is no linear function of its "
                "input (inputs may be quantised), so that logits have no parts"
            )
        [row] = torch.autograd.grad(logit, entering)
    constant = unembedding(torch.zeros_like(normed)[None, None])[0, 0, token]
    return exact(row[0, 0]), float(constant)


def _direction(
    residual: Residual,
    unembedding: torch.nn.Module,
    place: int,
    token: int,
    against: int | None,
) -> tuple[torch.Tensor, float, float]:
    """(the direction of the residual stream that is the logit [d_model], the constant beside it, by
    how much rounding may move the logit).

    The final normalisation is linear with the scale that it has here: a factor for each component,
    after the mean was subtracted (LayerNorm) or not (RMSNorm).
    """
    toward, constant = _row(unembedding, residual.normed[place], token)
    if against is not None:
        other, of_other = _row(unembedding, residual.normed[place], against)
        toward, constant = toward - other, constant - of_other
    units = _UNITS * torch.finfo(residual.normed.dtype).eps
    stream, normed = exact(residual.end[place]), exact(residual.normed[place])
    # Zeros give the bias, and numbers whose mean is 0 the factors.
    signs = torch.ones_like(residual.end[:1])
    signs[:, 1::2] = -1
    if signs.shape[1] % 2:
        signs[:, -1] = 0
    zeros = torch.zeros_like(signs)
    bias = exact(residual.norm(zeros[None])[0, 0])
    factors = (exact(residual.norm(signs[None])[0, 0]) - bias) * exact(signs[0])
    # Where the mean is near 0, both forms are near: the nearer one is the norm's.
    forms = []
    for entering in (stream, stream - stream.mean()):
        shaped = entering * factors
        scale = shaped @ (normed - bias) / (shaped @ shaped)
        error = float((scale * shaped - (normed - bias)).abs().max() / normed.abs().max())
        forms.append((error, scale))
    error, scale = min(forms)
    if error > max(_APART, units):
        raise ValueError(
            f"{type(residual.norm).__name__} is neither a LayerNorm nor an RMSNorm, so that its "
            "output has no parts"
        )
    direction = scale * factors * toward
    if forms[1] < forms[0]:
        direction = direction - direction.mean()
    rounding = units * float(toward.abs() @ normed.abs())
    return direction, constant + float(toward @ bias), rounding


def unembedding_of(model: torch.nn.Module) -> torch.nn.Module:
    """The module that makes logits of tokens.

    Raises:
        ValueError: the model has none.
    """
    found = getattr(model, "get_output_embeddings", lambda: None)()
    if found is None:
        raise ValueError(
            f"{type(model).__name__} has no unembedding, so it has no logits of tokens"
        )
    unembedding: torch.nn.Module = found
    return unembedding


def token_id(tokenizer: Any, token: str | SupportsIndex) -> int:
    """The id of a token: a string that is one token, or its id.

    Raises:
        TypeError: it is a string, and there is no tokenizer.
        ValueError: it is several tokens.
    """
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


def label_of(tokenizer: Any, token: int) -> str:
    """The label of a token's id: the id itself without a tokenizer."""
    return str(token) if tokenizer is None else token_labels(tokenizer, [token])[0]
