"""A forward pass is a stream of layers: a sink takes each as it comes."""

import numpy as np
import torch

from attnwidget.capture.recorder import ForwardPass, RecordedCall, RecordedCalls, record_pass
from attnwidget.running.items import Item
from tests.unit.tiny import Model, llama, token_ids

TEXT = {"input_ids": token_ids(9)}


def _record(model: Model, sink: RecordedCalls, *, check: bool = True) -> ForwardPass:
    return record_pass(
        model,
        lambda: model(**TEXT),
        lambda _call: Item(1, 0),
        sink,
        batch=1,
        wanted=lambda _name: True,
        values=True,
        check=check,
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


def test_a_check_changes_no_layer() -> None:
    model, checks, plain = llama(), RecordedCalls(), RecordedCalls()
    _record(model, checks)
    _record(model, plain, check=False)
    for one, other in zip(checks.calls, plain.calls, strict=True):
        expected, layer = one.layer, other.layer
        assert expected is not None
        assert layer is not None
        assert expected.fidelity.exact is True
        assert layer.fidelity.exact is None
        assert (expected.fidelity.rows > 0, layer.fidelity.rows) == (True, 0)
        for name in ("queries", "keys", "values", "projection"):
            assert np.array_equal(getattr(layer, name), getattr(expected, name))
