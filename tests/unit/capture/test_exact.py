"""Captures of trained models equal the attention that the same models, loaded eager, return."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import torch

from attnwidget import AttentionRecord, capture
from tests.unit.tiny import Loaded, Model, Reference, assert_weights, eager_attentions

TEXT = "The quick brown fox jumped over the lazy dog because it was tired."
PAIR = "Then it slept in the warm sun."


class Case(NamedTuple):
    record: AttentionRecord
    reference: list[Reference]


def _case(loaded: Loaded, eager: Model, *texts: str) -> Case:
    model, tokenizer = loaded
    assert model.config._attn_implementation == "sdpa"
    return Case(
        capture(model, tokenizer, *texts),
        eager_attentions(eager, tokenizer(*texts, return_tensors="pt")),
    )


@pytest.fixture(scope="module")
def single(minilm: Loaded, minilm_eager: Model) -> Case:
    return _case(minilm, minilm_eager, TEXT)


@pytest.fixture(scope="module")
def pair(minilm: Loaded, minilm_eager: Model) -> Case:
    return _case(minilm, minilm_eager, TEXT, PAIR)


@pytest.fixture(scope="module")
def decoder(smollm2: Loaded, smollm2_eager: Model) -> Case:
    return _case(smollm2, smollm2_eager, TEXT)


@pytest.fixture(params=["single", "pair", "decoder"])
def case(request: pytest.FixtureRequest) -> Case:
    return request.getfixturevalue(request.param)


def test_every_weight_is_the_models_own(case: Case) -> None:
    record, reference = case
    assert record.stacks == ("self",)
    assert record.num_layers() == len(reference)
    for layer, own in enumerate(reference):
        assert record.num_heads(layer) == own.shape[1]
        for head in range(own.shape[1]):
            weights = record.weights(layer, head)
            assert weights.dtype == np.float32
            assert_weights(weights, own[0, head])


def test_the_softmax_of_the_scores_is_the_weights(case: Case) -> None:
    record, _ = case
    for layer in range(record.num_layers()):
        for head in range(record.num_heads(layer)):
            scores = record.scores(layer, head)
            assert scores.dtype == np.float32
            softmax = torch.from_numpy(scores).double().softmax(dim=-1).numpy()
            np.testing.assert_allclose(softmax, record.weights(layer, head), rtol=0, atol=1e-6)


def test_queries_and_keys_give_the_scores(case: Case) -> None:
    record, _ = case
    for layer in range(record.num_layers()):
        for head in range(record.num_heads(layer)):
            queries, keys = record.queries(layer, head), record.keys(layer, head)
            scores = record.scores(layer, head)
            seen = np.isfinite(scores)
            products = queries.astype(float) @ keys.T.astype(float) / queries.shape[1] ** 0.5
            np.testing.assert_allclose(scores[seen], products[seen], rtol=1e-5, atol=1e-4)


def test_every_layer_is_checked_and_exact(case: Case) -> None:
    record, reference = case
    layers = record.fidelity["self"]
    assert len(layers) == len(reference)
    for fidelity in layers:
        assert fidelity.exact is True
        assert fidelity.route == "attention interface"
        assert fidelity.kept == "queries and keys"
        tokens = len(record.tokens()[0])
        assert fidelity.rows == (tokens if tokens <= 64 else 16)
        assert fidelity.weights_error is not None
        assert fidelity.output_error is not None
        assert fidelity.weights_error < 5e-6
        assert fidelity.output_error < 5e-6
    # Not the least rounding anywhere would mean that a thing was compared with itself.
    assert max(fidelity.weights_error or 0 for fidelity in layers) > 0
    assert max(fidelity.output_error or 0 for fidelity in layers) > 0


def test_layers_carry_the_names_of_their_modules(single: Case, decoder: Case) -> None:
    names = [fidelity.module for fidelity in single.record.fidelity["self"]]
    assert names == [f"encoder.layer.{n}.attention.self" for n in range(6)]
    names = [fidelity.module for fidelity in decoder.record.fidelity["self"]]
    assert names == [f"model.layers.{n}.self_attn" for n in range(30)]


def test_query_heads_share_the_keys_of_their_group(decoder: Case) -> None:
    record = decoder.record
    for layer in range(record.num_layers()):
        assert (record.num_heads(layer), record.num_kv_heads(layer)) == (9, 3)
        stored = record.layer(layer).keys
        assert stored is not None
        assert stored.shape[0] == 3
        for head in range(9):
            assert np.array_equal(record.keys(layer, head), stored[head // 3])


def test_an_encoder_has_one_key_head_per_head(single: Case) -> None:
    assert all(single.record.num_kv_heads(layer) == 12 for layer in range(6))


def test_masks_are_told_apart(single: Case, decoder: Case) -> None:
    assert np.isfinite(single.record.scores(3, 5)).all()
    future = np.triu(np.ones((len(decoder.record.tokens()[0]),) * 2, dtype=bool), 1)
    for layer in (0, 29):
        assert np.array_equal(np.isneginf(decoder.record.scores(layer, 4)), future)


@pytest.mark.parametrize(("name", "method"), [("query", "queries"), ("key", "keys")])
def test_first_layer_by_hand(minilm: Loaded, single: Case, name: str, method: str) -> None:
    """The embeddings through the module's own projection, without any interception."""
    model, tokenizer = minilm
    with torch.no_grad():
        embedded = model.embeddings(tokenizer(TEXT, return_tensors="pt").input_ids)
        projected = getattr(model.encoder.layer[0].attention.self, name)(embedded)[0]
    by_hand = projected.unflatten(-1, (12, 32)).transpose(0, 1).numpy()
    read: Callable[[int, int], np.ndarray] = getattr(single.record, method)
    for head in range(12):
        np.testing.assert_allclose(read(0, head), by_hand[head], rtol=0, atol=1e-5)


def test_decoder_keys_are_taken_after_the_rotary_embedding(smollm2: Loaded, decoder: Case) -> None:
    """The rotation leaves the first position as it is, and turns the second by one radian."""
    model, tokenizer = smollm2
    first = model.model.layers[0]
    with torch.no_grad():
        embedded = model.model.embed_tokens(tokenizer(TEXT, return_tensors="pt").input_ids)
        projected = first.self_attn.k_proj(first.input_layernorm(embedded))[0, :, :64].numpy()
    keys = decoder.record.keys(0, 0)
    np.testing.assert_allclose(keys[0], projected[0], rtol=0, atol=1e-4)
    a, b = projected[1, 0], projected[1, 32]
    turned = [a * np.cos(1) - b * np.sin(1), b * np.cos(1) + a * np.sin(1)]
    np.testing.assert_allclose(keys[1, [0, 32]], turned, rtol=0, atol=1e-4)
