"""A forward pass is a stream of layers: a sink takes each as it comes."""

import numpy as np
import pytest
import torch

from attnwidget.capture.recorder import (
    Check,
    ForwardPass,
    RecordedCall,
    RecordedCalls,
    record_pass,
)
from attnwidget.running.items import Item
from tests.unit.tiny import Model, llama, token_ids

TEXT = {"input_ids": token_ids(9)}


def _record(
    model: Model, sink: RecordedCalls, *, check: Check = Check.ALL, text: int = 0
) -> ForwardPass:
    return record_pass(
        model,
        lambda: model(**TEXT),
        lambda _name: [Item(1, 0)],
        sink,
        wanted=lambda _name: True,
        values=True,
        check=check,
        text=text,
    )


def test_layers_come_while_the_model_runs_and_its_output_is_kept() -> None:
    class Counting(RecordedCalls):
        def add(self, call: RecordedCall) -> None:
            super().add(call)
            order.append(call.address.module)

    order: list[str] = []
    model = llama()
    handle = model.layers[1].register_forward_pre_hook(lambda *_: order.append("layers.1"))
    ran = _record(model, Counting())
    handle.remove()
    assert order == ["layers.0.self_attn", "layers.1", "layers.1.self_attn"]
    with torch.no_grad():
        assert torch.equal(ran.output.last_hidden_state, model(**TEXT).last_hidden_state)


@pytest.mark.parametrize(
    ("check", "text", "checked"),
    [
        (Check.ALL, 1, True),
        (Check.FIRST_TEXT, 0, True),
        (Check.FIRST_TEXT, 1, False),
        (Check.NONE, 0, False),
    ],
)
def test_what_is_checked_is_chosen_and_changes_no_layer(
    check: Check, text: int, checked: bool
) -> None:
    model, checks, plain = llama(), RecordedCalls(), RecordedCalls()
    _record(model, checks)
    _record(model, plain, check=check, text=text)
    for one, other in zip(checks.calls, plain.calls, strict=True):
        [expected], [layer] = one.layers, other.layers
        assert (layer.fidelity == expected.fidelity) == checked
        assert (layer.fidelity.rows > 0) == checked
        assert layer.fidelity.exact is (True if checked else None)
        for name in ("queries", "keys", "values", "projection"):
            assert np.array_equal(getattr(layer, name), getattr(expected, name))
