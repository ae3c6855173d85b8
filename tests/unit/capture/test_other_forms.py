"""Attention in other forms of a softmax, beside a usual layer: recorded, or named as missing."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from attnwidget import capture
from tests.unit.tiny import token_ids

WIDTH, HEADS, SCALE = 32, 4, 0.5
T = torch.Tensor
# (queries, keys, values) [batch, heads, T, d] -> (their product, the weights if there are any)
Form = Callable[[T, T, T], tuple[T, T | None]]


def usual(q: T, k: T, v: T) -> tuple[T, T | None]:
    weights = (q @ k.mT * SCALE).softmax(-1)
    return weights @ v, weights


def keys_first(q: T, k: T, v: T) -> tuple[T, T | None]:
    weights = (k @ q.mT * SCALE).softmax(-2).mT
    return weights @ v, weights


def keys_before_heads(q: T, k: T, v: T) -> tuple[T, T | None]:
    """Scores [batch, Tk, heads, Tq]."""
    weights = (torch.einsum("bhkd,bhqd->bhqk", k, q).mT.transpose(1, 2) * SCALE).softmax(1)
    weights = weights.permute(0, 2, 3, 1)
    return weights @ v, weights


def logarithms(q: T, k: T, v: T) -> tuple[T, T | None]:
    weights = (q @ k.mT * SCALE).log_softmax(-1).exp()
    return weights @ v, weights


def a_sink_in_front(q: T, k: T, v: T) -> tuple[T, T | None]:
    scores = torch.cat([q.new_zeros(*q.shape[:3], 1), q @ k.mT * SCALE], -1)
    weights = scores.softmax(-1)[..., 1:]
    return weights @ v, weights


def a_sink_behind(q: T, k: T, v: T) -> tuple[T, T | None]:
    scores = torch.cat([q @ k.mT * SCALE, q.new_zeros(*q.shape[:3], 1)], -1)
    weights = scores.softmax(-1)[..., :-1]
    return weights @ v, weights


def sums(q: T, k: T, v: T) -> tuple[T, T | None]:
    """Linear attention."""
    return q.softmax(-1) @ (k.exp().mT @ v), None


def by_hand(q: T, k: T, v: T) -> tuple[T, T | None]:
    scores = (q @ k.mT * SCALE).exp()
    return (scores / scores.sum(-1, keepdim=True)) @ v, None


class Mixer(nn.Module):
    """A layer whose name does not say that it is attention."""

    def __init__(self, form: Form) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.form = form
        self.own: T | None = None

    def forward(self, x: T) -> T:
        parts = (
            each.unflatten(2, (HEADS, -1)).transpose(1, 2) for each in self.qkv(x).chunk(3, -1)
        )
        product, self.own = self.form(*parts)
        return product.transpose(1, 2).flatten(2)


class Net(nn.Module):
    def __init__(self, form: Form) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embeddings = nn.Embedding(64, WIDTH)
        self.layers = nn.ModuleList([Mixer(usual), Mixer(form)])

    def forward(self, input_ids: T) -> T:
        x: T = self.embeddings(input_ids)
        for layer in self.layers:
            x = x + layer(x)
        return x


@pytest.mark.parametrize(
    "form",
    [keys_first, keys_before_heads, logarithms, a_sink_in_front, a_sink_behind],
    ids=lambda f: f.__name__,
)
def test_a_softmax_in_another_form_is_recorded(form: Form) -> None:
    model = Net(form).eval()
    record = capture(model, None, {"input_ids": token_ids(6)})
    assert record.stack().numbers == (0, 1)
    assert record.missing == ()
    own = model.layers[1].own
    assert own is not None
    weights = np.stack([record.weights(1, head) for head in range(HEADS)])
    np.testing.assert_allclose(weights, own[0].detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("form", [sums, by_hand], ids=lambda f: f.__name__)
def test_what_is_no_softmax_is_named(form: Form) -> None:
    with pytest.warns(UserWarning, match="not in this record"):
        record = capture(Net(form).eval(), None, {"input_ids": token_ids(6)})
    assert record.stack().numbers == (0,)
    assert record.missing == ("layers.1: Mixer has no softmax that could be followed",)
