"""Trained models, each beside the same model with explicit ("eager") attention.

They are some 1.5 GB, so these tests run only where ATTNWIDGET_MODELS says:
see docs/develop/testing.md.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers.utils import logging

from attnwidget import AttentionRecord
from tests.models.trained import Load, Trained
from tests.unit.tiny import assert_weights

FOLDER = os.environ.get("ATTNWIDGET_MODELS")
HUB = {
    "mpnet": "sentence-transformers/all-mpnet-base-v2",
    "marian_en_fr": "Helsinki-NLP/opus-mt-en-fr",
    "flan_t5": "google/flan-t5-small",
    "whisper_tiny_en": "openai/whisper-tiny.en",
    "vit": "google/vit-base-patch16-224",
}

Agree = Callable[..., None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if FOLDER is None:
        skip = pytest.mark.skip(reason="trained models: `make test-models` runs these")
        for item in items:
            if item.path.parent == Path(__file__).parent:
                item.add_marker(skip)


@pytest.fixture(scope="session")
def load() -> Load:
    """load(name, class of the model, class of its processor): from the folder, or the hub."""
    assert FOLDER is not None
    folder = Path(FOLDER)
    logging.disable_progress_bar()

    def load(name: str, model_class: Any, processor_class: Any) -> Trained:
        source = folder / name if (folder / name).is_dir() else HUB[name]
        return Trained(
            model_class.from_pretrained(source).eval(),
            model_class.from_pretrained(source, attn_implementation="eager").eval(),
            processor_class.from_pretrained(source),
        )

    return load


@pytest.fixture
def agree(record_property: Callable[[str, object], None]) -> Agree:
    """Checks that a record has just these stacks and is exact: agree(record, stack=…)."""

    def agree(record: AttentionRecord, **own: Any) -> None:
        assert set(record.stacks) == set(own)
        assert record.missing == ()
        largest = 0.0
        for stack, layers in own.items():
            assert record.num_layers(stack) == len(layers)
            assert all(fidelity.exact for fidelity in record.fidelity[stack])
            for number, [heads] in enumerate(layers):
                assert record.num_heads(number, stack) == len(heads)
                for head, weights in enumerate(heads):
                    recorded = record.weights(number, head, stack)
                    largest = max(largest, float(np.abs(recorded - weights).max()))
                    assert_weights(recorded, weights)
        record_property("largest difference", largest)

    return agree


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints how far the captured weights are from the models' own."""
    found = [
        (report.nodeid, value)
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == "largest difference"
    ]
    if found:
        terminalreporter.section("largest difference from the model's attention weights in float64")
        for test, value in found:
            terminalreporter.line(f"{value:.1e}  {test}")
