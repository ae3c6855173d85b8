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
