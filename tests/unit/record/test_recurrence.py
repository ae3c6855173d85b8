"""Recurrences: coefficients beside a state that is written, erased and read step by step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from attnwidget.record import AttentionRecord, Fidelity, Layer, Recurrence, Stack, Tokens

T, HEADS, DIM = 9, 4, 3
Numbers = NDArray[np.float64]


def floats(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def recurrence(columns: int | None = 1, *, erase: bool = True, own: bool = True) -> Recurrence:
    unit = np.random.default_rng(1).uniform(size=(HEADS, T)).astype(np.float32)
    return Recurrence(
        0.6,
        decay=None if columns is None else -np.abs(floats(HEADS, T, columns, seed=2)),
        write=unit,
        erase=unit / 2 if erase else None,
        own=floats(HEADS, seed=3) if own else None,
    )


def layer(program: Recurrence) -> Layer:
    queries, keys = floats(2, T, DIM, seed=4), floats(2, T, DIM, seed=5)
    values = floats(HEADS, T, 2, seed=6)
    return Layer(queries, keys, program, None, Fidelity("", "m", "", None, None, 0.0, 0), 0, values)


def by_states(of: Layer, head: int) -> Numbers:
    """The output [T, d_v] of a head by its states, as papers have them."""
    program = of.program
    assert isinstance(program, Recurrence)
    assert of.values is not None
    q, k, v = (
        each.astype(np.float64)
        for each in (of.head_queries(head), of.head_keys(head), of.values[head])
    )
    state, out = np.zeros((DIM, v.shape[1])), []
    for t in range(T):
        if program.decay is not None:
            state = np.exp(program.decay[head, t].astype(np.float64))[:, None] * state
        if program.erase is not None:
            state = state - program.erase[head, t] * np.outer(k[t], k[t] @ state)
        write = 1.0 if program.write is None else program.write[head, t]
        state = state + write * np.outer(k[t], v[t])
        skipped = 0.0 if program.own is None else program.own[head] * v[t]
        out.append(program.scale * q[t] @ state + skipped)
    return np.array(out)


@pytest.mark.parametrize("columns", [None, 1, DIM])
@pytest.mark.parametrize("erase", [False, True])
def test_coefficients_times_values_are_what_the_states_give(
    columns: int | None, erase: bool
) -> None:
    recorded = layer(recurrence(columns, erase=erase))
    assert recorded.values is not None
    for head in range(HEADS):
        found = recorded.head_coefficients(head) @ recorded.values[head]
        np.testing.assert_allclose(found, by_states(recorded, head), rtol=1e-5, atol=1e-6)


def walked(program: Recurrence, queries: Numbers, keys: Numbers, head: int) -> Numbers:
    """The coefficients by their definition, token by token."""
    found = np.zeros((len(queries), len(keys)))
    for row, query in enumerate(queries):
        p = program.scale * query
        for at in range(row, -1, -1):
            found[row, at] = keys[at] @ p
            if program.erase is not None:
                p = p - program.erase[head, at] * found[row, at] * keys[at]
            if program.decay is not None:
                p = p * np.exp(program.decay[head, at].astype(np.float64))
    return found


@pytest.mark.parametrize("columns", [None, 1, 4])
@pytest.mark.parametrize("erase", [None, 1.0, 2.0])
def test_blocks_of_tokens_agree_with_a_walk_token_by_token(
    columns: int | None, erase: float | None
) -> None:
    tokens = 150
    queries, keys = floats(tokens, 4), floats(tokens, 4, seed=1)
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    decay = None
    if columns is not None:
        decay = -np.abs(floats(1, tokens, columns, seed=2))
        decay[:, ::3] = 0
        decay[:, 50::50] = -104
        decay[:, 20::40, 0] = -60
    strength = None if erase is None else np.full((1, tokens), erase, np.float32)
    program = Recurrence(0.5, decay, erase=strength)
    found = program.coefficients(queries, keys, 0, np.arange(tokens))
    exact = walked(program, queries.astype(np.float64), keys.astype(np.float64), 0)
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6 * np.abs(exact).max())
    rows = np.array([0, 63, 64, 130])
    np.testing.assert_allclose(
        program.coefficients(queries, keys, 0, rows), found[rows], rtol=1e-6, atol=1e-12
    )


def test_some_rows_are_those_of_the_whole() -> None:
    recorded, rows = layer(recurrence()), np.array([0, 3, 8])
    whole = recorded.head_coefficients(1)
    np.testing.assert_array_equal(recorded.head_coefficients(1, rows), whole[rows])
    assert (np.triu(whole, 1) == 0).all()


def test_a_state_that_is_erased_at_once_is_gone() -> None:
    decay = np.zeros((HEADS, T, 1), np.float32)
    decay[:, 4] = -np.inf
    recorded = layer(Recurrence(1.0, decay))
    found = recorded.head_coefficients(0)
    assert (found[4:, :4] == 0).all()
    assert found[3, 0] != 0


def test_shares_are_magnitudes_and_weights_are_refused() -> None:
    recorded = layer(recurrence())
    coefficients, shares = recorded.head_coefficients(2), recorded.head_shares(2)
    expected = np.abs(coefficients) / np.abs(coefficients).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, expected, rtol=1e-6)
    for refused in (recorded.head_weights, recorded.head_scores):
        with pytest.raises(ValueError, match=r"layer 0 has no softmax.*see `coefficients`"):
            refused(0)


def test_it_is_kept_in_files(tmp_path: object) -> None:
    tokens = Tokens(tuple("abcdefghi"))
    kept = replace(
        layer(recurrence()), queries=None, keys=None, program=None, values=None, number=1,
        coefficients=floats(1, T, T),
    )  # fmt: skip
    recurrent, channels = (
        Stack(tokens, tokens, (each,)) for each in (layer(recurrence(DIM)), kept)
    )
    record = AttentionRecord({"linear 1": recurrent, "linear 2": channels})
    path = f"{tmp_path}/record.safetensors"
    record.save(path)
    again = AttentionRecord.load(path)
    for where in ((0, 3, "linear 1"), (1, 0, "linear 2")):
        np.testing.assert_array_equal(again.coefficients(*where), record.coefficients(*where))
    with pytest.raises(ValueError, match="no softmax"):
        again.weights(1, 0, "linear 2")


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="write is float32"):
        layer(replace(recurrence(), write=floats(HEADS, T + 1)))
    with pytest.raises(ValueError, match="erase holds NaN"):
        replace(recurrence(), erase=np.full((HEADS, T), np.nan, np.float32))
    softmax = Layer(
        None, None, None, np.eye(T, dtype=np.float32)[None], layer(recurrence()).fidelity, 1
    )
    tokens = Tokens(tuple("abcdefghi"))
    with pytest.raises(ValueError, match="stacks of their own"):
        Stack(tokens, tokens, (layer(recurrence()), softmax))
    with pytest.raises(ValueError, match="layer 1 has a softmax"):
        softmax.head_coefficients(0)
