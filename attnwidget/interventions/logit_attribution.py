"""LogitAttribution: the parts of a logit that heads and layers write, as numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from attnwidget.analysis import HeadScores, Numbers, data_frame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class LogitAttribution:
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
