"""What other models and other threads do during a capture is not recorded."""

import threading
from collections.abc import Callable
from typing import Any

from attnwidget import AttentionRecord, capture
from tests.unit.meeting import run_during, same_weights
from tests.unit.snapshot import Snapshot, torch_compiles
from tests.unit.tiny import bert, gpt2, llama, token_ids

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
    thread.join(60)
    assert not thread.is_alive()
    assert not failures


def test_another_model_in_the_same_thread() -> None:
    model, other = llama(), bert()
    expected = capture(model, None, TEXT)
    run_during(model, lambda: other(**OTHER_TEXT))
    assert same_weights(capture(model, None, TEXT), expected)


def test_another_model_in_another_thread() -> None:
    model, other = llama(), llama()
    expected = capture(model, None, TEXT)
    run_during(model, lambda: _in_thread(lambda: other(**OTHER_TEXT)))
    assert same_weights(capture(model, None, TEXT), expected)


def test_the_same_model_in_another_thread() -> None:
    model = llama()
    expected = capture(model, None, TEXT)
    run_during(model, lambda: _in_thread(lambda: model(**OTHER_TEXT)))
    assert same_weights(capture(model, None, TEXT), expected)


def test_a_capture_within_a_capture() -> None:
    model, other = llama(), bert()
    expected, expected_inner = capture(model, None, TEXT), capture(other, None, OTHER_TEXT)
    inner: list[AttentionRecord] = []
    undo = run_during(model, lambda: inner.append(capture(other, None, OTHER_TEXT)))
    outer: list[AttentionRecord] = []
    # In a thread, so that a deadlock fails the test instead of stopping the run.
    _in_thread(lambda: outer.append(capture(model, None, TEXT)))
    undo()
    assert same_weights(inner[0], expected_inner)
    assert same_weights(outer[0], expected)


def test_two_captures_at_once(default_stance: None) -> None:
    models = [llama(), gpt2()]
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
        thread.join(60)
    for index in range(2):
        assert len(results[index]) == 10
        assert all(same_weights(record, expected[index]) for record in results[index])
        before[index].assert_unchanged()
    assert torch_compiles()
