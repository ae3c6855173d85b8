"""Other models and other threads are not recorded during a capture."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from attnwidget import AttentionRecord, capture
from tests.support import PATIENCE_SECONDS
from tests.unit.meeting import run_during, same_weights
from tests.unit.snapshot import Snapshot, torch_compiles
from tests.unit.tiny import Model, bert, gpt2, llama, tiny, token_ids

Build = Callable[[], Model]

TEXT = {"input_ids": token_ids(9)}
OTHER_TEXT = {"input_ids": token_ids(5, seed=1)}


def _in_thread(action: Callable[[], Any]) -> None:
    failures: list[BaseException] = []

    def run() -> None:
        try:
            action()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive()
    assert not failures


def bloom() -> Model:
    """Its attention is seen by a mode of the thread, not by the interface."""
    return tiny("Bloom", "eager", n_layer=2, n_head=4)


BOTH_ROUTES = pytest.mark.parametrize("build", [llama, bloom])


@pytest.mark.parametrize("another", [bert, bloom])
@BOTH_ROUTES
def test_another_model_in_the_same_thread(build: Build, another: Build) -> None:
    model, other = build(), another()
    expected = capture(model, None, TEXT)
    run_during(model, lambda: other(**OTHER_TEXT))
    assert same_weights(capture(model, None, TEXT), expected)


@BOTH_ROUTES
def test_another_model_in_another_thread(build: Build) -> None:
    model, other = build(), build()
    expected = capture(model, None, TEXT)
    run_during(model, lambda: _in_thread(lambda: other(**OTHER_TEXT)))
    assert same_weights(capture(model, None, TEXT), expected)


@BOTH_ROUTES
def test_the_same_model_in_another_thread(build: Build) -> None:
    model = build()
    expected = capture(model, None, TEXT)
    run_during(model, lambda: _in_thread(lambda: model(**OTHER_TEXT)))
    assert same_weights(capture(model, None, TEXT), expected)


@pytest.mark.parametrize("another", [bert, bloom])
@BOTH_ROUTES
def test_a_capture_within_a_capture(build: Build, another: Build) -> None:
    model, other = build(), another()
    expected, expected_inner = capture(model, None, TEXT), capture(other, None, OTHER_TEXT)
    inner: list[AttentionRecord] = []
    undo = run_during(model, lambda: inner.append(capture(other, None, OTHER_TEXT)))
    outer: list[AttentionRecord] = []
    # In a thread, so that a deadlock fails the test instead of stopping the run.
    _in_thread(lambda: outer.append(capture(model, None, TEXT)))
    undo()
    assert same_weights(inner[0], expected_inner)
    assert same_weights(outer[0], expected)


@pytest.mark.parametrize("another", [gpt2, bloom])
def test_two_captures_at_once(default_stance: None, another: Build) -> None:
    models = [llama(), another()]
    texts = [TEXT, OTHER_TEXT]
    expected = [capture(m, None, t) for m, t in zip(models, texts, strict=True)]
    before = [Snapshot(model) for model in models]
    results: list[list[AttentionRecord]] = [[], []]
    start = threading.Barrier(2)

    def run(index: int) -> None:
        start.wait(60)
        for _ in range(10):
            results[index].append(capture(models[index], None, texts[index]))

    threads = [threading.Thread(target=run, args=(index,), daemon=True) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    for index in range(2):
        assert len(results[index]) == 10
        assert all(same_weights(record, expected[index]) for record in results[index])
        before[index].assert_unchanged()
    assert torch_compiles()
