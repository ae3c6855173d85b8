"""The parts of a logit that heads and layers write."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import torch

from attnwidget.analysis import HeadScores, Numbers, Tabular, data_frame
from attnwidget.progress import progress_bar
from attnwidget.running.model import traceable, traits
from attnwidget.running.one_text import one_text
from attnwidget.running.vocabulary import label_of, token_id, unembedding_of
from attnwidget.tracing import undisturbed

from .frozen import exact
from .residual import margin, read_residual
from .scan import ablation_scan

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class LogitAttribution(Tabular):
    """The parts of the logit of a token, or of the difference of two, at one position.

    The parts are what each component adds to the residual stream, through all that follows with
    what is not linear held as it is for this text: norms have the scale that they have, those
    around what a layer adds (Gemma 2) and around the stream itself (BERT, BART) as well as the
    final one, and so have gates. `sum` is `logit`.

    Where a soft cap bends logits (Gemma 2), the parts are of the logit before it.

    Attributes:
        token, against: the labels of the token, and of the other one; None without.
        position: the position that predicts.
        logit: of the token, less that of the other one, before a soft cap.
        cap: the soft cap c, as in c · tanh(logit / c); None without.
        capped: the same as `logit` after the cap, as the model has computed it.
        direct: the part of each head.
        modules: the part of each other module that writes to the stream, by its name within a
            layer, as "mlp", "mamba" or "mlp.shared_expert": float64 [layers], 0 in layers without.
        biases: the parts of each layer's biases, of its attention and its norms, float64 [layers].
        embeddings: the part of the embeddings.
        constant: that of the biases after the last layer: of the final norm and the unembedding.
        rounding: what the rounding of the model's numbers adds.
        total: the logit less that without the head; None if it was not measured.
    """

    token: str
    against: str | None
    position: int
    logit: float
    cap: float | None
    capped: float
    direct: HeadScores = field(repr=False)
    modules: Mapping[str, Numbers] = field(repr=False)
    biases: Numbers = field(repr=False)
    embeddings: float
    constant: float
    rounding: float
    total: HeadScores | None = field(repr=False)

    @property
    def mlps(self) -> Numbers:
        """The parts of all modules of each layer together, float64 [layers]."""
        found: Numbers = sum(self.modules.values(), np.zeros_like(self.biases))
        return found

    @property
    def sum(self) -> float:
        """The sum of all parts, which is `logit`."""
        heads = [row.sum() for rows in self.direct.rows.values() for row in rows.values()]
        parts = (sum(heads), self.biases.sum(), self.mlps.sum())
        return float(sum(parts) + self.embeddings + self.constant + self.rounding)

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

        A part is "embeddings", "head", the name of a module, "bias", "constant" or "rounding".

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        several = len(self.direct.rows) > 1
        rows: list[tuple[Any, ...]] = [("embeddings", None, None, self.embeddings, np.nan)]
        for stack, layers in self.direct.rows.items():
            name = f"head of {stack}" if several else "head"
            for layer, parts in layers.items():
                effects = np.full(len(parts), np.nan)
                if self.total is not None:
                    effects = self.total.rows[stack][layer]
                for head, (part, effect) in enumerate(zip(parts, effects, strict=True)):
                    rows.append((name, layer, head, part, effect))
        for layer, bias in enumerate(self.biases):
            rows.append(("bias", layer, None, bias, np.nan))
            for name, wrote in self.modules.items():
                # Layers of one model may be of several kinds.
                if wrote[layer]:
                    rows.append((name, layer, None, wrote[layer], np.nan))
        rows.append(("constant", None, None, self.constant, np.nan))
        rows.append(("rounding", None, None, self.rounding, np.nan))
        names = ["part", "layer", "head", "direct"]
        if self.total is not None:
            names.append("total")
        return data_frame({name: [row[n] for row in rows] for n, name in enumerate(names)})


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

    A head's direct effect is its output through the output projection, every norm that follows with
    the scale that it has for this text, and the unembedding. Its total effect is the logit
    less that without the head, which is switched off as by `Ablate`: later layers may make up for
    a part of it.

    Args:
        model: a decoder whose layers add to one residual stream (GPT-2, Llama, Gemma 2, ...).
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
            is none whose logits have such parts: its layers do more to their stream than to add to
            it or to normalise it, or it does more to its logits after the unembedding than to
            multiply them or to bend them by a soft cap.
        IndexError: there is no such position.
    """
    model = traceable(model)
    unembedding = unembedding_of(model)
    given = one_text(model, tokenizer, text)
    padded = given.row.target if traits(model).has_decoder else given.row.text
    kept = padded.kept if padded is not None else torch.zeros(0)
    if not -len(kept) <= position < len(kept):
        raise IndexError(f"position {position} does not exist: the text has {len(kept)} tokens")
    place = int(kept[position])
    wanted = token_id(model, tokenizer, token)
    other = None if against is None else token_id(model, tokenizer, against)

    def difference(logits: torch.Tensor) -> float:
        return float(logits[wanted] - (0 if other is None else logits[other]))

    with undisturbed(model), read_residual(model, given.batch, unembedding) as residual:
        raw = residual.unembedded[0, place]
        after = _after(exact(raw), exact(residual.output.logits[0, place]), raw.dtype)
        number = raw[wanted] if other is None else raw[wanted] - raw[other]
        # Not every device has double precision.
        parts = residual.parts(number.cpu().double() * after.factor)
        capped = difference(exact(residual.output.logits[0, place]))
    direct: dict[str, dict[int, Numbers]] = {}
    for site, row in parts.heads.items():
        direct.setdefault(site.stack, {})[site.layer] = row
    effect = None
    if total:
        rows = {}
        for stack in direct:
            without = ablation_scan(
                model,
                tokenizer,
                text,
                stack=stack,
                metric=lambda output: difference(after.before(exact(output.logits[0, place]))),
                null=False,
                batch_size=batch_size,
            )
            rows[stack] = {layer: -row for layer, row in without.rows[stack].items()}
        effect = HeadScores(
            "total effect",
            "The logit less that without the head",
            rows,
            signed=True,
            measured_on=given.described,
        )
    return LogitAttribution(
        label_of(tokenizer, wanted),
        None if other is None else label_of(tokenizer, other),
        place,
        float(number.detach()) * after.factor,
        after.cap,
        capped,
        HeadScores(
            "direct effect",
            "The part of the logit that the head writes, with norms as they are",
            direct,
            signed=True,
            measured_on=given.described,
        ),
        parts.modules,
        parts.biases,
        parts.embeddings,
        parts.constant,
        parts.rounding,
        effect,
    )


@dataclass(frozen=True)
class _After:
    """A change of logits after the unembedding: a factor, or a soft cap."""

    factor: float = 1.0
    cap: float | None = None

    def before(self, logits: torch.Tensor) -> torch.Tensor:
        """Logits as they were before the cap."""
        if self.cap is None:
            return logits
        return self.cap * torch.atanh(logits / self.cap)


def _after(raw: torch.Tensor, logits: torch.Tensor, dtype: torch.dtype) -> _After:
    """Find the change of logits after the unembedding.

    Raises:
        ValueError: it is neither a factor nor a soft cap.
    """
    raw = raw[: len(logits)]
    limit = margin(dtype) * float(logits.abs().max())

    def gives(made: torch.Tensor) -> bool:
        return bool((made - logits).abs().max() <= limit)

    if gives(raw):
        return _After()
    factor = float(raw @ logits / (raw @ raw))
    if gives(factor * raw):
        return _After(factor)
    at = int(raw.abs().argmax())
    most, bent = float(raw[at].abs()), float(logits[at].abs())
    low, high = bent, 1e6 * most
    # A larger cap bends less.
    for _ in range(200):
        cap = (low + high) / 2
        low, high = (cap, high) if cap * math.tanh(most / cap) < bent else (low, cap)
    for each in (float(round(cap)), cap):
        if each and gives(each * torch.tanh(raw / each)):
            return _After(cap=each)
    raise ValueError(
        "this model changes its logits after the unembedding by neither a factor nor a soft cap, "
        "so that they have no parts"
    )
