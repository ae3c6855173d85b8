"""Arrays that are no attention weights, or do not fit, are refused with a reason."""

from typing import Any

import numpy as np
import pytest

from attnwidget import AttentionRecord
from tests.unit.records import HEADS, LENGTH, floats, labels, some_weights

WEIGHTS = [some_weights()]


def _changed(value: float) -> list[np.ndarray]:
    weights = some_weights()
    weights[1, 2, 3] = value
    return [weights]


@pytest.mark.parametrize(
    ("attentions", "message"),
    [
        ([None, None], 'None.*attn_implementation="eager"'),
        ([WEIGHTS[0], None], 'None.*attn_implementation="eager"'),
        ([], "no layers"),
        ([floats(HEADS, LENGTH, LENGTH)], "not scores"),
        (_changed(-0.1), "weights between 0 and 1"),
        (_changed(1.1), "weights between 0 and 1"),
        (_changed(np.nan), r"attentions\[0\] has NaN, which is no weight"),
        (_changed(-np.inf), "weights between 0 and 1"),
        (WEIGHTS[0], r"\[4, 7, 7\], which is either one layer of 4 heads .* or 4 layers of one"),
        (
            WEIGHTS[0].tolist(),
            r"attentions\[0\] has shape \[7, 7\]; expected \[heads, rows, columns\]",
        ),
        (list(WEIGHTS[0]), r"either the heads of one layer .* or layers of one head each"),
        (WEIGHTS[0].transpose(1, 2, 0), r"\[7, 7, 4\], which is either one layer of 4 heads"),
        (WEIGHTS[0][0], r"\[7, 7\], one matrix; .* give array\[None, None\]"),
        (
            np.stack([WEIGHTS[0]] * 3)[None],
            r"\[1, 3, 4, 7, 7\], which is either one layer of a batch of 3 .* or 3 layers with",
        ),
        ([np.stack([WEIGHTS[0]] * 2)], r"shape \[2, 4, 7, 7\].*batch of one"),
        ([some_weights(2, 7, 6)], "from 7 to 6 tokens, but there are 7 query and 7 key tokens"),
        ([*WEIGHTS, some_weights(4, 6, 6)], "layer 1 attends from 6 to 6 tokens"),
        ([np.zeros((0, LENGTH, LENGTH))], r"weights are float32 \[0, 7, 7\]"),
    ],
)
def test_attentions(attentions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AttentionRecord.from_arrays(attentions, labels())


def test_no_attentions_at_all() -> None:
    """Outputs of a model without output_attentions=True."""
    with pytest.raises((TypeError, ValueError), match=r"attentions.*None"):
        AttentionRecord.from_arrays(None, labels())


@pytest.mark.parametrize("count", [LENGTH - 1, LENGTH + 1])
def test_as_many_tokens_as_positions(count: int) -> None:
    with pytest.raises(ValueError, match=f"{count} query and {count} key tokens; give as many"):
        AttentionRecord.from_arrays(WEIGHTS, labels(count))


def test_as_many_key_tokens_as_keys() -> None:
    with pytest.raises(ValueError, match="7 query and 3 key tokens"):
        AttentionRecord.from_arrays(WEIGHTS, labels(), key_tokens=["a", "b", "c"])


def test_an_attention_over_no_tokens() -> None:
    with pytest.raises(ValueError, match=r"weights are float32 \[2, 0, 0\]"):
        AttentionRecord.from_arrays([np.zeros((2, 0, 0))], [])


@pytest.mark.parametrize("argument", ["tokens", "key_tokens"])
def test_a_string_is_no_list_of_tokens(argument: str) -> None:
    """Its letters would become the tokens."""
    with pytest.raises(TypeError, match=f"{argument} is 'letters'; expected a list"):
        AttentionRecord.from_arrays(WEIGHTS, **{"tokens": labels(), argument: "letters"})


def test_no_tokens_at_all() -> None:
    with pytest.raises(TypeError, match="tokens is None; expected a list"):
        AttentionRecord.from_arrays(WEIGHTS, None)  # type: ignore[arg-type]


QUERIES, KEYS = [floats(HEADS, LENGTH, 8)], [floats(2, LENGTH, 8)]


@pytest.mark.parametrize(
    ("queries", "keys", "message"),
    [
        (QUERIES, None, "both queries and keys, or neither"),
        (None, KEYS, "both queries and keys, or neither"),
        (QUERIES * 2, KEYS, "1 layers of attention, but 2 of queries"),
        (QUERIES, KEYS * 2, "1 layers of attention, but 2 of keys"),
        (QUERIES, [floats(2, LENGTH, 6)], "8 dimensions per head, keys 6"),
        (QUERIES, [floats(3, LENGTH, 8)], "4 query heads cannot share 3 key heads"),
        ([floats(2, LENGTH, 8)], KEYS, r"\[4, 7, 7\] do(es)? not fit 2 heads of 7 queries"),
        ([floats(HEADS, 5, 8)], KEYS, r"do(es)? not fit 4 heads of 5 queries and 7 keys"),
        (QUERIES, [floats(2, 9, 8)], r"do(es)? not fit 4 heads of 7 queries and 9 keys"),
        ([QUERIES[0][0]], KEYS, r"queries\[0\] has shape \[7, 8\]"),
        (QUERIES, [KEYS[0][0]], r"keys\[0\] has shape \[7, 8\]"),
        ([None], KEYS, r"queries"),
    ],
)
def test_queries_and_keys(queries: Any, keys: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AttentionRecord.from_arrays(WEIGHTS, labels(), queries=queries, keys=keys)
