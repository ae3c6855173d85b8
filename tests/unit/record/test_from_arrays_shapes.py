"""Attention in the shapes in which other tools have it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attnwidget import AttentionRecord
from attnwidget.record import Floats
from tests.unit.records import LENGTH, labels, some_weights, weights_of
from tests.unit.tiny import token_ids

LAYERS = np.stack([some_weights(), some_weights()[:, ::-1]])
BATCH = [torch.from_numpy(layer.copy())[None] for layer in LAYERS]
OUTPUT = torch.zeros(1, LENGTH, 32)
NOT_HERE = None


def _inseq(weights: Floats) -> torch.Tensor:
    """[keys, queries, layers, heads], with a token more, which no step attends to."""
    turned = torch.from_numpy(weights.transpose(3, 2, 0, 1).copy())
    return torch.cat([turned, torch.full((1, *turned.shape[1:]), torch.nan)])


FORMS: dict[str, Any] = {
    "heads last, as CircuitsVis": [layer.transpose(1, 2, 0) for layer in LAYERS],
    "heads last, with a batch of one": [layer.transpose(1, 2, 0)[None] for layer in LAYERS],
    "every layer in one array": LAYERS,
    "every layer in one tensor with a batch of one": torch.from_numpy(LAYERS)[:, None],
    "what attention modules return": [(OUTPUT, layer) for layer in BATCH],
    "the same with a cache": [(OUTPUT, NOT_HERE, layer) for layer in BATCH],
    "weights alone in tuples": [(layer,) for layer in BATCH],
    "lists of heads": [list(layer) for layer in LAYERS],
    "saved proxies": [SimpleNamespace(value=layer) for layer in BATCH],
    "saved proxies of what modules return": [SimpleNamespace(value=(OUTPUT, b)) for b in BATCH],
    "tuples of proxies": [(SimpleNamespace(value=OUTPUT), SimpleNamespace(value=b)) for b in BATCH],
    "one proxy of all layers": SimpleNamespace(value=BATCH),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_shape_gives_the_sameweights_of(form: str) -> None:
    assert np.array_equal(weights_of(AttentionRecord.from_arrays(FORMS[form], labels())), LAYERS)


@pytest.mark.parametrize("batch", [False, True])
def test_inseq(batch: bool) -> None:
    """Its first axis are keys, the second queries; a key of NaN is attended to by nobody."""
    given = _inseq(LAYERS)[None] if batch else _inseq(LAYERS)
    record = AttentionRecord.from_arrays(given, labels(), key_tokens=labels(LENGTH + 1))
    assert np.array_equal(weights_of(record)[..., :LENGTH], LAYERS)
    assert not weights_of(record)[..., LENGTH].any()


def test_as_many_heads_as_tokens_are_read_as_documented() -> None:
    weights = some_weights(LENGTH)
    record = AttentionRecord.from_arrays([weights], labels())
    assert np.array_equal(weights_of(record)[0], weights)
    # Rows need not sum to one where a part of them went elsewhere.
    record = AttentionRecord.from_arrays([weights / 2], labels())
    assert np.array_equal(weights_of(record)[0], weights / 2)


def test_as_many_heads_as_tokens_in_another_order_are_refused() -> None:
    turned = some_weights(LENGTH).transpose(1, 2, 0)
    with pytest.raises(ValueError, match=r"\[heads, queries, keys\] or \[queries, keys, heads\]"):
        AttentionRecord.from_arrays([turned], labels())
    every = np.stack([some_weights(LENGTH)] * LENGTH).transpose(3, 2, 0, 1)
    with pytest.raises(ValueError, match="as Inseq has it, and only of the latter do rows sum"):
        AttentionRecord.from_arrays(every, labels())


@pytest.mark.parametrize(
    ("attentions", "message"),
    [
        ((), r"is empty.*outputs.attentions"),
        ([(OUTPUT, None)] * 2, r'None: .*attn_implementation="eager"'),
        (OUTPUT, r"\[1, 7, 32\].*hidden states"),
        (OUTPUT[:, 0], r"\[1, 32\].*pooled output"),
        ([OUTPUT] * 2, r"\[1, 7, 32\], the shape of hidden states"),
        (transformers.DynamicCache(), r"DynamicCache, the past_key_values"),
        ([(torch.rand(1, 4, 7, 8),) * 2] * 2, r"past_key_values are no attention"),
        ([(BATCH[0], BATCH[0])] * 2, r"of which 2 can be attention of 7 queries"),
        ({"attentions": BATCH, "logits": OUTPUT}, r"a whole output.*pass its attentions"),
        ([["a", "b"]], r"expected an array of numbers"),
        ([[layer.repeat(2, 1, 1, 1) for layer in BATCH], BATCH], r"2 can be attention|beams"),
        ([torch.from_numpy(LAYERS[0]) * 1.1], r"call model.eval\(\) first"),
    ],
)
def test_what_is_no_attention_is_named(attentions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AttentionRecord.from_arrays(attentions, labels())


def test_token_ids_are_no_labels() -> None:
    with pytest.raises(TypeError, match="convert_ids_to_tokens"):
        AttentionRecord.from_arrays(LAYERS, token_ids(LENGTH)[0])  # type: ignore[arg-type]
