"""A softmax over the words of a text, linear in numbers of pairs of words."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.record import Floats

_LEARNING_RATE = 2e-3


class PairSoftmax:
    """p(j | i) proportional to exp(coefficients · features of i and j), for all j but i."""

    def __init__(self, features: int) -> None:
        self._weights = torch.zeros(features, requires_grad=True)
        self._optimizer = torch.optim.Adam([self._weights], _LEARNING_RATE)

    @property
    def coefficients(self) -> Numbers:
        """float64 [features]."""
        found: Numbers = self._weights.detach().double().numpy()
        return found

    def fit(self, features: Floats, words: NDArray[np.int64], targets: NDArray[np.int64]) -> None:
        """Take a step towards the words' targets in one text.

        Args:
            features: float32 [features, words, words].
            words: those of the text that have a target.
        """
        with torch.enable_grad():
            loss = torch.nn.functional.cross_entropy(
                self._scores(features, words), torch.from_numpy(targets)
            )
            self._optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()

    def predict(self, features: Floats, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """The most likely target of each word."""
        with torch.no_grad():
            found: NDArray[np.int64] = self._scores(features, words).argmax(dim=1).numpy()
        return found

    def _scores(self, features: Floats, words: NDArray[np.int64]) -> torch.Tensor:
        scores = torch.einsum("f,fij->ij", self._weights, torch.from_numpy(features[:, words]))
        itself = torch.zeros(scores.shape, dtype=torch.bool)
        itself[torch.arange(len(words)), torch.from_numpy(words)] = True
        return scores.masked_fill(itself, -torch.inf)
