"""Metrics of profiles are those of the weights that the model itself computes, text by text."""

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.corpus.repeated import repeated_tokens
from attnwidget.record import Tokens
from tests.unit.capture.test_architectures import TWISTS, Twist
from tests.unit.corpus import matrices, oracle
from tests.unit.tiny import (
    Loaded,
    Model,
    Reference,
    allowed,
    bart,
    bert,
    eager_attentions,
    llama,
    references_by_stack,
    t5,
    tiny,
    token_ids,
)

LENGTHS = (5, 12, 9, 12, 3)


def encoded(side: str = "right") -> dict[str, torch.Tensor]:
    """Five texts of different lengths as one batch, padded on one side."""
    longest = max(LENGTHS)
    batch = {"input_ids": torch.zeros(len(LENGTHS), longest, dtype=torch.long)}
    batch["attention_mask"] = torch.zeros_like(batch["input_ids"])
    for row, length in enumerate(LENGTHS):
        columns = slice(0, length) if side == "right" else slice(longest - length, longest)
        batch["input_ids"][row, columns] = token_ids(length, seed=row)
        batch["attention_mask"][row, columns] = 1
    return batch


def alone(row: int) -> dict[str, torch.Tensor]:
    return {"input_ids": token_ids(LENGTHS[row], seed=row)}


ALBERT = Twist("Albert", {"embedding_size": 16}, {})  # calls one module for both layers
BLOOM = Twist("Bloom", {"n_layer": 2, "n_head": 4}, {}, "eager")
ARCHITECTURES = {**TWISTS, "ALBERT": ALBERT, "Bloom": BLOOM}


def built(twist: Twist, attention: str | None = None) -> Model:
    return tiny(twist.name, attention or twist.attention, **twist.options)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_metrics_of_a_padded_batch(name: str) -> None:
    twist = ARCHITECTURES[name]
    found = aw.profile(built(twist), None, encoded(), null=None)
    assert found.missing == ()
    assert_metrics(found, of_eager(built(twist, "eager")))


def test_a_bias_of_relative_positions() -> None:
    found = aw.profile(t5("T5Encoder"), None, encoded(), null=None)
    assert_metrics(found, of_eager(t5("T5Encoder", "eager")))


def of_eager(model: Model) -> list[list[Reference]]:
    """The weights of each text alone: by text, by layer, [1, heads, T, T]."""
    return [eager_attentions(model, alone(row)) for row in range(len(LENGTHS))]


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_padding_on_the_left(attention: str) -> None:
    found = aw.profile(llama(attention), None, encoded("left"), null=None)
    assert_metrics(found, of_eager(llama("eager")))


def assert_metrics(found: aw.HeadProfile, own: list[list[Reference]]) -> None:
    """All metrics of texts are the means over texts of those of the weights, by two oracles."""
    # Sums over the keys of a row; entropies and distances are up to ten times as large.
    limit = 2 * max(allowed(layer) for layers in own for layer in layers)
    for layer in range(len(own[0])):
        texts = [text[layer][0] for text in own]
        tokens = [Tokens(tuple(str(n) for n in range(len(text[0])))) for text in texts]
        by_entries = [
            [oracle.metrics(head, labels) for head in text]
            for text, labels in zip(texts, tokens, strict=True)
        ]
        by_matrices = [
            matrices.metrics(text, labels) for text, labels in zip(texts, tokens, strict=True)
        ]
        near_the_edge = any((abs(t[:, :, 0].mean(axis=1) - 0.3) < limit).any() for t in texts)
        for name in by_matrices[0]:
            if name in ("induction", "duplicate") or (name == "sink" and near_the_edge):
                continue
            first = [[head[name] for head in text] for text in by_entries]
            second = [text[name] for text in by_matrices]
            np.testing.assert_array_equal(np.isnan(first), np.isnan(second), err_msg=name)
            got = found.values(name)
            count = len(texts[0])
            assert got.count[layer, :count].tolist() == np.isfinite(first).sum(axis=0).tolist()
            if not got.count[layer, 0]:
                continue
            largest = 12 if name in ("distance", "entropy", "entropy_first") else 1
            for expected in (first, second):
                np.testing.assert_allclose(
                    got.mean[layer, :count],
                    np.nanmean(expected, axis=0),
                    rtol=0,
                    atol=limit * largest,
                    err_msg=name,
                )
        for head in range(len(texts[0])):
            spread = np.mean(oracle.variability([text[head] for text in texts]))
            got_spread = found.values("variability").mean[layer, head]
            assert got_spread == pytest.approx(spread, abs=limit)


@pytest.mark.parametrize("name", ["Llama", "Bert"])
def test_metrics_of_repeated_tokens(name: str) -> None:
    options = {"num_key_value_heads": 2} if name == "Llama" else {}
    model = tiny(name, **options)
    found = aw.profile(model, None, encoded(), metrics=["induction", "duplicate"], null=None)
    rows = repeated_tokens(model, None, 0).tensors["input_ids"]
    own = [
        eager_attentions(tiny(name, "eager", **options), {"input_ids": row[None]}) for row in rows
    ]
    tokens = [Tokens(tuple(map(str, row.tolist())), special=(0,)) for row in rows]
    for layer in range(2):
        expected = [
            matrices.metrics(text[layer][0], labels)
            for text, labels in zip(own, tokens, strict=True)
        ]
        for metric in ("induction", "duplicate"):
            got = found.values(metric).mean[layer]
            np.testing.assert_allclose(
                got, np.mean([each[metric] for each in expected], axis=0), rtol=0, atol=2e-5
            )
            slow = [oracle.metrics(own[n][layer][0][3], tokens[n])[metric] for n in range(10)]
            assert got[3] == pytest.approx(np.mean(slow), abs=2e-5)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_the_three_stacks_of_an_encoder_decoder(attention: str) -> None:
    batch = encoded()
    batch["decoder_input_ids"] = batch["input_ids"].flip(0)
    batch["decoder_attention_mask"] = batch["attention_mask"].flip(0)
    found = aw.profile(bart("Bart", attention), None, batch, null=None)
    assert found.stacks == ("encoder", "decoder", "cross")
    own = []
    for row in range(len(LENGTHS)):
        target = alone(len(LENGTHS) - 1 - row)["input_ids"]
        own.append(
            references_by_stack(bart("Bart", "eager"), **alone(row), decoder_input_ids=target)
        )
    for stack in found.stacks:
        for layer in range(len(own[0][stack])):
            expected = np.mean(
                [text[stack][layer][0, :, :, 0].mean(axis=1) for text in own], axis=0
            )
            got = found.values("first", stack).mean[layer, : len(expected)]
            np.testing.assert_allclose(got, expected, atol=1e-4)
    assert np.isnan(found.values("previous", "cross").mean).all()


TEXTS = [
    "The dog, which was tired, slept.",
    ("Who slept?", "The dog slept; it was tired."),
    "No mark here",
    "It was (as they say) cold, cold, cold!",
]


def test_kinds_of_tokens_in_a_trained_model(minilm: Loaded, minilm_eager: Model) -> None:
    """Words of a tokenizer, with pairs, punctuation and special tokens, in padded batches."""
    model, tokenizer = minilm
    found = aw.profile(model, tokenizer, TEXTS, null=None, batch_size=3)
    per_text = []
    for text in TEXTS:
        record = (
            aw.capture(model, tokenizer, text)
            if isinstance(text, str)
            else aw.capture(model, tokenizer, *text)
        )
        inputs = tokenizer(*([text] if isinstance(text, str) else text), return_tensors="pt")
        weights = [layer[0] for layer in eager_attentions(minilm_eager, inputs)]
        tokens = record.stack().queries
        per_text.append(
            [[oracle.metrics(head, tokens) for head in layer[:3]] for layer in weights[:2]]
        )
        for layer, slow in zip(weights, per_text[-1], strict=False):
            for name, values in matrices.metrics(layer[:3], tokens).items():
                expected = [head[name] for head in slow]
                np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9, err_msg=name)
    for name in per_text[0][0][0]:
        if name in ("induction", "duplicate"):
            continue
        for layer in range(2):
            for head in range(3):
                values = [text[layer][head][name] for text in per_text]
                known = [value for value in values if not np.isnan(value)]
                estimate = found.values(name)
                assert estimate.count[layer, head] == len(known), name
                assert estimate.mean[layer, head] == pytest.approx(np.mean(known), abs=2e-4), name


def test_a_text_has_the_same_metrics_in_any_batch() -> None:
    model = bert()
    texts = [alone(row) for row in range(len(LENGTHS))]
    one = aw.profile(model, None, texts, null=None).table()
    whole = aw.profile(model, None, encoded(), null=None).table()
    for name in ("previous", "entropy_low", "variability"):
        np.testing.assert_allclose(one[name], whole[name], atol=1e-5)
