"""Shared code of the tests of captures that overlap other work."""

from collections.abc import Callable
from typing import Any

from attnwidget import AttentionRecord
from tests.unit.tiny import Model


def run_during(model: Model, action: Callable[[], None]) -> Callable[[], None]:
    """Runs `action` once, before the second layer of `model`. Returns what undoes it."""
    done: list[bool] = []

    def hook(*_: Any) -> None:
        if not done:
            done.append(True)
            action()

    layers = model.layers if hasattr(model, "layers") else model.h
    return layers[1].register_forward_pre_hook(hook).remove


def same_weights(a: AttentionRecord, b: AttentionRecord) -> bool:
    same = a.stacks == b.stacks and a.missing == b.missing and a.num_layers() == b.num_layers()
    return same and all(
        (a.weights(layer, head) == b.weights(layer, head)).all()
        for layer in range(a.num_layers())
        for head in range(a.num_heads(layer))
    )
