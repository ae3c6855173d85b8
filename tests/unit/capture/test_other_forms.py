"""Attention in other forms of a softmax, beside a usual layer: recorded, or named as missing."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from attnwidget import ablate, capture, profile
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


def head_by_head(q: T, k: T, v: T) -> tuple[T, T | None]:
    weights = [(q[:, h] @ k[:, h].mT * SCALE).softmax(-1) for h in range(HEADS)]
    products = [each @ v[:, h] for h, each in enumerate(weights)]
    return torch.stack(products, 1), torch.stack(weights, 1)


def head_by_head_in_a_function(q: T, k: T, v: T) -> tuple[T, T | None]:
    parts = (tuple(x[:, h : h + 1] for x in (q, k, v)) for h in range(HEADS))
    attend = nn.functional.scaled_dot_product_attention
    products = [attend(*part, scale=SCALE) for part in parts]
    return torch.cat(products, 1), (q @ k.mT * SCALE).softmax(-1)


def head_by_head_of_the_same_keys(q: T, k: T, v: T) -> tuple[T, T | None]:
    weights = [(q[:, h] @ k[:, 0].mT * SCALE).softmax(-1) for h in range(HEADS)]
    return torch.stack([each @ v[:, 0] for each in weights], 1), torch.stack(weights, 1)


def queries_in_chunks(q: T, k: T, v: T) -> tuple[T, T | None]:
    weights = [(q[:, :, at : at + 2] @ k.mT * SCALE).softmax(-1) for at in range(0, 6, 2)]
    return torch.cat([each @ v for each in weights], 2), torch.cat(weights, 2)


def queries_that_see_more_and_more(q: T, k: T, v: T) -> tuple[T, T | None]:
    """Causal attention, of which no masked score is computed but within a chunk."""
    products, weights = [], []
    for at in range(0, 6, 2):
        later = torch.ones(2, at + 2).triu(at + 1).bool()
        scores = (q[:, :, at : at + 2] @ k[:, :, : at + 2].mT * SCALE).masked_fill(later, -1e9)
        products.append(scores.softmax(-1) @ v[:, :, : at + 2])
        weights.append(nn.functional.pad(scores.softmax(-1), (0, 4 - at)))
    return torch.cat(products, 2), torch.cat(weights, 2)


def two_heads_at_a_time(q: T, k: T, v: T) -> tuple[T, T | None]:
    parts = [slice(at, at + 2) for at in (0, 2)]
    weights = [(q[:, part] @ k[:, part].mT * SCALE).softmax(-1) for part in parts]
    products = [each @ v[:, part] for each, part in zip(weights, parts, strict=True)]
    return torch.cat(products, 1), torch.cat(weights, 1)


def head_by_head_with_a_scale(q: T, k: T, v: T) -> tuple[T, T | None]:
    """Each query is a tensor of its own."""
    weights = [((q[:, h] * SCALE) @ k[:, h].mT).softmax(-1) for h in range(HEADS)]
    products = [each @ v[:, h] for h, each in enumerate(weights)]
    return torch.stack(products, 1), torch.stack(weights, 1)


def blocks(q: T, k: T, v: T) -> tuple[T, T | None]:
    """Each half of the tokens attends within itself."""
    halves = [slice(0, 3), slice(3, 6)]
    products = [(q[:, :, n] @ k[:, :, n].mT).softmax(-1) @ v[:, :, n] for n in halves]
    return torch.cat(products, 2), None


def text_by_text(q: T, k: T, v: T) -> tuple[T, T | None]:
    weights = [(q[n : n + 1] @ k[n : n + 1].mT * SCALE).softmax(-1) for n in range(len(q))]
    products = [each @ v[n : n + 1] for n, each in enumerate(weights)]
    return torch.cat(products), torch.cat(weights)


def weights_of_weights(q: T, k: T, v: T) -> tuple[T, T | None]:
    weights = (q @ k.mT * SCALE).softmax(-1)
    return weights @ weights @ v, None


def distances(q: T, k: T, v: T) -> tuple[T, T | None]:
    return (-torch.cdist(q, k)).softmax(-1) @ v, None


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
    [
        keys_first,
        keys_before_heads,
        logarithms,
        a_sink_in_front,
        a_sink_behind,
        head_by_head,
        head_by_head_in_a_function,
        head_by_head_of_the_same_keys,
        head_by_head_with_a_scale,
        two_heads_at_a_time,
        queries_in_chunks,
        queries_that_see_more_and_more,
        text_by_text,
    ],
    ids=lambda f: f.__name__,
)
def test_a_softmax_in_another_form_is_recorded(form: Form) -> None:
    model = Net(form).eval()
    record = capture(model, None, {"input_ids": token_ids(6)})
    assert record.stack().numbers == (0, 1)
    assert record.missing == ()
    assert record.layer(1).fidelity.exact
    own = model.layers[1].own
    assert own is not None
    weights = np.stack([record.weights(1, head) for head in range(HEADS)])
    np.testing.assert_allclose(weights, own[0].detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("form", [sums, by_hand, distances], ids=lambda f: f.__name__)
def test_what_is_no_softmax_is_named(form: Form) -> None:
    with pytest.warns(UserWarning, match="not in this record"):
        record = capture(Net(form).eval(), None, {"input_ids": token_ids(6)})
    assert record.stack().numbers == (0,)
    assert record.missing == ("layers.1: Mixer has no softmax that could be followed",)


def test_a_product_of_weights_is_named() -> None:
    with pytest.warns(UserWarning, match="not in this record"):
        record = capture(Net(weights_of_weights).eval(), None, {"input_ids": token_ids(6)})
    assert record.missing == ("layers.1: Mixer has no softmax that could be followed",)


@pytest.mark.parametrize(("form", "count"), [(blocks, 1), (blocks, 2), (text_by_text, 2)])
def test_parts_that_are_not_put_together_are_named(form: Form, count: int) -> None:
    ids = torch.cat([token_ids(6, seed=n) for n in range(count)])
    with pytest.warns(UserWarning, match="not in this record"):
        record = capture(Net(form).eval(), None, {"input_ids": ids}, batch_index=count - 1)
    assert record.stack().numbers == (0,)
    assert len(record.missing) == 1
    assert record.missing[0].startswith(("layers.1: it computes", "layers.1: its scores are of 1"))


@torch.jit.script
def scripted(q: T, k: T, v: T) -> T:
    return torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v


class Scripted(Mixer):
    def forward(self, x: T) -> T:
        output: T = scripted(x, x, x)
        return output


def test_a_softmax_in_torchscript_is_named() -> None:
    model = Net(usual)
    model.layers[1] = Scripted(usual)
    with pytest.warns(UserWarning, match="not in this record"):
        record = capture(model.eval(), None, {"input_ids": token_ids(6)})
    assert record.missing == (
        "layers.1: Scripted runs scripted, TorchScript that cannot be followed",
    )


@pytest.mark.parametrize(
    "form",
    [head_by_head, queries_in_chunks, queries_that_see_more_and_more],
    ids=lambda f: f.__name__,
)
def test_a_profile_counts_pieces_as_one_layer(form: Form) -> None:
    model, inputs = Net(form).eval(), {"input_ids": token_ids(6)}
    found = profile(model, None, [inputs], metrics=["entropy"], null=[])
    model(**inputs)
    own = model.layers[1].own
    assert own is not None
    own = own.detach().double()
    entropy = -(own * own.clip(1e-30).log()).sum(-1).mean(dim=(0, 2))
    np.testing.assert_allclose(found.values("entropy").mean[1], entropy, atol=1e-4)
    with pytest.raises(ValueError, match="no layer 1"):  # no intervention reaches pieces
        ablate(model, None, inputs, heads=[(1, 0)], metric=lambda _: 0.0)
