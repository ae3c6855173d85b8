"""Heads that are modules of their own: the heads of one layer."""

import numpy as np
import pytest
import torch
from torch import nn

from attnwidget import Ablate, ablate, capture, intervene, profile
from tests.unit.tiny import token_ids

WIDTH, HEADS = 32, 4
T = torch.Tensor


class Head(nn.Module):
    """One head, perhaps of causal attention or of a scale of its own."""

    def __init__(self, *, causal: bool, scale: float) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH // HEADS) for _ in range(3))
        self.causal, self.scale = causal, scale
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: T) -> T:
        scores = self.q(x) @ self.k(x).mT * self.scale
        if self.causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf"))
        self.own = scores.softmax(-1)
        product: T = self.dropout(self.own) @ self.v(x)
        return product


class Block(nn.Module):
    def __init__(self, causal: bool, scales: list[float]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(Head(causal=causal, scale=scale) for scale in scales)

    def forward(self, x: T) -> T:
        return x + torch.cat([head(x) for head in self.heads], -1)


class Net(nn.Module):
    def __init__(self, causal: bool, scales: list[float]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embeddings = nn.Embedding(64, WIDTH)
        self.blocks = nn.Sequential(*(Block(causal, scales) for _ in range(3)))

    def forward(self, input_ids: T) -> T:
        output: T = self.blocks(self.embeddings(input_ids))
        return output


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scales", [[0.5] * HEADS, [0.25, 0.5, 1.0, 2.0]], ids=["same", "own"])
@pytest.mark.parametrize("count", [1, 2])
def test_they_are_one_layer(causal: bool, scales: list[float], count: int) -> None:
    model = Net(causal, scales).eval()
    ids = torch.cat([token_ids(6, seed=n) for n in range(count)])
    record = capture(model, None, {"input_ids": ids}, batch_index=count - 1)
    assert record.stack().numbers == (0, 1, 2)
    for number, block in enumerate(model.blocks):
        assert record.num_heads(number) == HEADS
        assert record.layer(number).fidelity.exact
        for head, module in enumerate(block.heads):
            own = module.own[count - 1].detach().numpy()
            np.testing.assert_allclose(record.weights(number, head), own, atol=1e-6)


class Product(nn.Module):
    """The attention within a head."""

    def forward(self, q: T, k: T, v: T) -> T:
        self.own = (q @ k.mT).softmax(-1)
        return self.own @ v


class Deeper(Head):
    def __init__(self) -> None:
        super().__init__(causal=False, scale=1.0)
        self.attention = Product()

    def forward(self, x: T) -> T:
        output: T = self.attention(self.q(x), self.k(x), self.v(x))
        self.own = self.attention.own
        return output


class Named(nn.Module):
    """Heads with names of their own, or with an attention within each."""

    def __init__(self, deeper: bool, by_keyword: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embeddings = nn.Embedding(64, WIDTH)
        heads = (Deeper() if deeper else Head(causal=False, scale=1.0) for _ in range(HEADS))
        self.head1, self.head2, self.head3, self.head4 = heads
        self.by_keyword = by_keyword

    def forward(self, input_ids: T) -> T:
        x = self.embeddings(input_ids)
        heads = (self.head1, self.head2, self.head3, self.head4)
        return torch.cat([each(x=x) if self.by_keyword else each(x) for each in heads], -1)


@pytest.mark.parametrize("deeper", [False, True])
@pytest.mark.parametrize("by_keyword", [False, True])
def test_heads_that_are_no_list(deeper: bool, by_keyword: bool) -> None:
    model = Named(deeper, by_keyword).eval()
    record = capture(model, None, {"input_ids": token_ids(6)})
    assert record.missing == ()
    assert (record.stack().numbers, record.num_heads(0)) == ((0,), HEADS)
    for head, module in enumerate((model.head1, model.head2, model.head3, model.head4)):
        own = module.own[0].detach().numpy()
        np.testing.assert_allclose(record.weights(0, head), own, atol=1e-6)


class Mappings(nn.Module):
    """A layer with projections of its own for each head, which reads one text after the other."""

    def __init__(self) -> None:
        super().__init__()
        width = WIDTH // HEADS
        self.q, self.k, self.v = (
            nn.ModuleList(nn.Linear(width, width) for _ in range(HEADS)) for _ in range(3)
        )

    def forward(self, texts: T) -> T:
        found = []
        for text in texts:
            parts = text.unflatten(-1, (HEADS, -1)).unbind(1)
            vectors = [
                (q(x), k(x), v(x)) for q, k, v, x in zip(self.q, self.k, self.v, parts, strict=True)
            ]
            self.own = [(q @ k.T).softmax(-1) for q, k, _ in vectors]
            found.append(
                torch.hstack([w @ v for w, (_, _, v) in zip(self.own, vectors, strict=True)])
            )
        return torch.stack(found)


@pytest.mark.parametrize("count", [1, 2])
def test_projections_of_each_head(count: int) -> None:
    model = nn.Sequential(nn.Embedding(64, WIDTH), Mappings()).eval()
    inputs = {"input": torch.cat([token_ids(6, seed=n) for n in range(count)])}
    if count > 1:
        with pytest.raises(ValueError, match="1: its scores are of 1 of 2 items"):
            capture(model, None, inputs)
        return
    record = capture(model, None, inputs)
    assert (record.stack().numbers, record.num_heads(1)) == ((1,), HEADS)
    for head, own in enumerate(model[1].own):
        np.testing.assert_allclose(record.weights(1, head), own.detach().numpy(), atol=1e-6)


def test_one_layer_of_several() -> None:
    record = capture(
        Net(False, [1.0] * HEADS).eval(), None, {"input_ids": token_ids(6)}, layers=[1]
    )
    assert record.stack().numbers == (1,)
    assert record.num_heads(1) == HEADS


def test_a_profile_has_the_same_layers() -> None:
    model, ids = Net(True, [0.5] * HEADS).eval(), token_ids(6)
    found = profile(model, None, [{"input_ids": ids}], metrics=["entropy"], null=[])
    model(ids)
    for layer, block in enumerate(model.blocks):
        for head, module in enumerate(block.heads):
            own = module.own.detach().double()
            entropy = -(own * own.clip(1e-30).log()).sum(-1).mean()
            mean = found.values("entropy").mean[layer][head]
            assert mean == pytest.approx(float(entropy), abs=1e-4)


def test_interventions_say_that_they_do_not_reach_them() -> None:
    model = Net(False, [1.0] * HEADS).eval()
    with pytest.raises(ValueError, match=r"blocks.0.heads.0: it is a piece of a layer"):
        ablate(model, None, {"input_ids": token_ids(6)}, heads=[(0, 1)], metric=lambda _: 0.0)


def test_interventions_by_name_say_so_too() -> None:
    class SelfAttentionHead(Head):
        num_heads = 1

        def forward(self, x: T) -> T:
            return super().forward(x[:, None])[:, 0]

    model = Net(False, [1.0] * HEADS)
    for block in model.blocks:
        heads = [SelfAttentionHead(causal=False, scale=1.0) for _ in block.heads]
        block.heads = nn.ModuleList(heads)
    model.eval()
    ids = torch.cat([token_ids(6), token_ids(6, seed=1)])
    for edit in (Ablate(layers=1), Ablate(heads=0)):
        with (
            torch.no_grad(),
            pytest.raises(ValueError, match=r"heads.1: it is a piece of a layer"),
            intervene(model, edit),
        ):
            model(ids)
    with torch.no_grad(), intervene(model, Ablate()):
        off = model(ids)
    assert torch.equal(off, model.embeddings(ids))


def test_layers_of_one_head_stay_layers() -> None:
    class Deep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embeddings = nn.Embedding(64, WIDTH)
            self.layers = nn.ModuleList(Head(causal=False, scale=1.0) for _ in range(3))
            self.widen = nn.Linear(WIDTH // HEADS, WIDTH)

        def forward(self, input_ids: T) -> T:
            x: T = self.embeddings(input_ids)
            for layer in self.layers:
                x = x + self.widen(layer(x))
            return x

    record = capture(Deep().eval(), None, {"input_ids": token_ids(6)})
    assert record.stack().numbers == (0, 1, 2)
    assert record.num_heads(0) == 1


def test_two_attentions_of_each_other_stay_two() -> None:
    class Mutual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embeddings = nn.Embedding(64, WIDTH)

        def forward(self, input_ids: T, other_ids: T) -> T:
            x, y = self.embeddings(input_ids), self.embeddings(other_ids)
            return (x @ y.mT).softmax(-1) @ y + (y @ x.mT).softmax(-1) @ x

    inputs = {"input_ids": token_ids(6), "other_ids": token_ids(6, seed=1)}
    record = capture(Mutual().eval(), None, inputs)
    assert record.stacks == ("cross 1", "cross 2")
    assert [record.num_heads(0, name) for name in record.stacks] == [1, 1]
