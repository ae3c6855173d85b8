"""Captures that overlap in time wait for each other, and the last one leaves all as it was."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from attnwidget import AttentionRecord, capture
from tests.support import PATIENCE_SECONDS
from tests.unit.meeting import run_during, same_weights
from tests.unit.snapshot import Snapshot, torch_compiles
from tests.unit.tiny import Model, llama, token_ids

TEXT = {"input_ids": token_ids(9)}


Overlap = Callable[[Model, Model], list[AttentionRecord]]


@pytest.fixture
def overlap(default_stance: None) -> Overlap:
    """Captures two models on two threads, the second from within the first's forward pass."""

    def capture_both(first: Model, second: Model) -> list[AttentionRecord]:
        records: list[AttentionRecord] = []
        first_is_done = threading.Event()

        def run_second() -> None:
            records.append(capture(second, None, TEXT))

        thread = threading.Thread(target=run_second, daemon=True)

        def start_second() -> None:
            thread.start()
            thread.join(0.5)  # by then it has gone as far as it can

        def outlast_first(*_: Any) -> None:
            if threading.current_thread() is thread:
                first_is_done.wait(5)

        undo = run_during(first, start_second)
        handle = second.layers[0].register_forward_pre_hook(outlast_first)
        records.insert(0, capture(first, None, TEXT))
        first_is_done.set()
        thread.join(PATIENCE_SECONDS)
        undo()
        handle.remove()
        return records

    return capture_both


def test_one_model_in_training_captured_twice_at_once(overlap: Overlap) -> None:
    """The second must not take the first one's evaluation mode for the model's own."""
    model = llama(attention_dropout=0.5)
    expected = capture(model, None, TEXT)
    model.train()
    before = Snapshot(model)
    first, second = overlap(model, model)
    assert same_weights(first, expected)
    assert same_weights(second, expected)
    before.assert_unchanged()


def test_torch_compile_works_after_captures_that_overlapped(overlap: Overlap) -> None:
    """Switching compilation off concerns the whole process, so the last one out must restore it."""
    overlap(llama(), llama())
    assert torch_compiles()
