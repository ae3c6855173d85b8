"""Similar heads are found: distances, neighbours, maps, clusters, and pairs of two models."""

import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.record import spread_rows
from benchmarks import zoo
from tests.unit.tiny import Model, bert, gpt2, llama, token_ids

LENGTHS = (9, 14, 30)
TEXTS = [{"input_ids": token_ids(length, seed=length)} for length in LENGTHS]


def divergence(p: np.ndarray, q: np.ndarray) -> float:
    """By the definition, of two rows of weights."""
    p, q = (0.999 * row + 0.001 / len(row) for row in (p, q))
    m = (p + q) / 2
    return float((p * np.log(p / m)).sum() + (q * np.log(q / m)).sum()) / 2


@pytest.mark.parametrize("build", [bert, llama])
def test_the_jensen_shannon_divergence_of_sampled_rows(build: type[Model]) -> None:
    model = build()
    found = aw.profile(model, None, TEXTS, metrics=["first"], null=None).similarity()
    records = [aw.capture(model, None, text) for text in TEXTS]
    assert found.num_rows == 12
    assert found.heads[5] == (1, 1)
    for a, b in ((0, 1), (2, 7), (5, 5)):
        expected = [
            divergence(*(record.weights(*found.heads[n]).astype(float)[row] for n in (a, b)))
            for record, length in zip(records, LENGTHS, strict=True)
            for row in spread_rows(length, 4)
        ]
        # The rows are kept with 8 bits of their roots.
        assert found.distances[a, b] == pytest.approx(np.mean(expected), abs=1e-3)
    assert (found.distances == found.distances.T).all()
    assert (np.diag(found.distances) == 0).all()


def permuted(model: Model, orders: list[list[int]]) -> Model:
    """A copy of a BERT whose layers have their heads in another order."""
    other = bert()
    other.load_state_dict(model.state_dict())
    for layer, order in zip(other.encoder.layer, orders, strict=True):
        rows = torch.arange(32).reshape(4, 8)[order].flatten()
        attention = layer.attention
        for linear in (attention.self.query, attention.self.key, attention.self.value):
            linear.weight.data, linear.bias.data = linear.weight[rows], linear.bias[rows]
        attention.output.dense.weight.data = attention.output.dense.weight[:, rows]
    return other


def test_heads_of_a_permuted_copy_are_matched() -> None:
    orders = [[2, 0, 3, 1], [1, 3, 0, 2]]
    model = bert()
    profiles = [
        aw.profile(each, None, TEXTS, metrics=["first"], null=None)
        for each in (model, permuted(model, orders))
    ]
    matches = aw.match_heads(*profiles)
    assert len(matches) == 8
    for match in matches:
        assert match.a.layer == match.b.layer
        assert orders[match.b.layer][match.b.head] == match.a.head
        assert match.distance < 1e-3 < match.margin


def test_profiles_of_other_texts_have_nothing_to_compare() -> None:
    profiles = [
        aw.profile(gpt2(), None, texts, metrics=["first"], null=None)
        for texts in (TEXTS[:1], TEXTS[1:])
    ]
    with pytest.raises(ValueError, match="no sampled texts in common: make both from the same"):
        aw.match_heads(*profiles)


def test_like_heads_lie_together_on_the_map_and_in_clusters() -> None:
    """Heads 0 and 1 attend to themselves, 2 and 3 to the first token."""

    class Pairs(torch.nn.Module):
        num_heads = 4

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            count = input_ids.shape[1]
            place = torch.eye(32)[:count]
            first = torch.zeros_like(place)
            first[:, 0] = 1
            scale = torch.tensor([9.0, 8.0, 9.0, 8.0])[:, None, None]
            query = torch.stack([place, place, first, first]) * scale
            key = torch.stack([place] * 4)
            return torch.nn.functional.scaled_dot_product_attention(
                query[None], key[None], key[None], scale=1.0
            )

    found = aw.profile(Pairs(), None, TEXTS, metrics=["first"], null=None).similarity()
    assert [near.head.head for near in (*found.nearest(0, 0, 1), *found.nearest(0, 3, 1))] == [1, 2]
    clusters = found.clusters(np.int64(2))
    assert clusters[0] == clusters[1] != clusters[2] == clusters[3]
    positions = found.positions()
    near, far = (np.linalg.norm(positions[0] - positions[n]) for n in (1, 2))
    assert near < far / 5
    assert np.array_equal(positions, found.positions())
    with pytest.raises(IndexError, match="no head 0-4"):
        found.nearest(0, 4)
    with pytest.raises(ValueError, match="count is 5; expected a number from 1 to 4"):
        found.clusters(5)


@pytest.mark.filterwarnings("error")
def test_a_head_without_others_has_a_place() -> None:
    built = zoo.build("jamba")
    found = aw.profile(built.model, None, [built.inputs], metrics=["first"], null=None)
    assert found.similarity("linear").positions().tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("package", "use"),
    [
        ("pandas", lambda found: found.table()),
        ("sklearn.manifold", lambda found: found.similarity().positions()),
        ("scipy.cluster.hierarchy", lambda found: found.similarity().clusters(2)),
        ("scipy.optimize", lambda found: aw.match_heads(found, found)),
    ],
)
def test_a_package_that_is_not_installed(
    package: str, use: Callable[[aw.HeadProfile], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = aw.profile(bert(), None, TEXTS, metrics=["first"], null=None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=r"not installed: pip install 'attnwidget\[ana"):
        use(found)
