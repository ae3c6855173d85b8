"""A classifier of a learned mixture of layers."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.analysis import Numbers

_HIDDEN = 128
_EPOCHS = 10
_BATCH = 32
_LEARNING_RATE = 1e-3


class Mixture(torch.nn.Module):
    """gamma * sum of softmax(s)_l h^l over layers l, then a network with one hidden layer.

    This is ELMo's scalar mix (Peters et al. 2018), as Tenney et al. 2019 use it.
    """

    def __init__(self, layers: int, dimensions: int, classes: int) -> None:
        super().__init__()
        self.scales = torch.nn.Parameter(torch.zeros(layers))
        self.gamma = torch.nn.Parameter(torch.ones(()))
        self.classify = torch.nn.Sequential(
            torch.nn.Linear(dimensions, _HIDDEN),
            torch.nn.ReLU(),
            torch.nn.Linear(_HIDDEN, classes),
        )

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """The scores [examples, classes] of states [examples, layers, dimensions]."""
        mixed = torch.einsum("l,nld->nd", torch.softmax(self.scales, dim=0), states)
        scores: torch.Tensor = self.classify(self.gamma * mixed)
        return scores

    @property
    def mixing(self) -> Numbers:
        """The weight of each layer in the mixture, float64 [layers]; they sum to 1."""
        found: Numbers = torch.softmax(self.scales.detach().double(), dim=0).numpy()
        return found

    def predict(self, states: NDArray[np.float16]) -> NDArray[np.int64]:
        """The most likely class of each example."""
        with torch.no_grad():
            found: NDArray[np.int64] = self(torch.from_numpy(states).float()).argmax(dim=1).numpy()
        return found


def fitted(
    states: NDArray[np.float16], classes: NDArray[np.int64], count: int, seed: int
) -> Mixture:
    """Fit a mixture by Adam: ten times over all examples.

    Args:
        states: float16 [examples, layers, dimensions].
        classes: their classes, from 0 to `count` - 1.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(seed)
        mixture = Mixture(states.shape[1], states.shape[2], count)
        optimizer = torch.optim.Adam(mixture.parameters(), _LEARNING_RATE)
        inputs, targets = torch.from_numpy(states), torch.from_numpy(classes)
        for _ in range(_EPOCHS):
            for some in torch.split(torch.randperm(len(inputs)), _BATCH):
                scores = mixture(inputs[some].float())
                loss = torch.nn.functional.cross_entropy(scores, targets[some])
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
    return mixture
