"""A capture that is stopped anywhere leaves the model and its process as they were."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from attnwidget import capture
from attnwidget.capture import explain_function, explain_softmax, recorder
from tests.support import PATIENCE_SECONDS
from tests.unit.capture.test_torch import OneBlock
from tests.unit.handwritten import TEXT
from tests.unit.snapshot import Snapshot, torch_compiles
from tests.unit.tiny import Model, llama, t5, tiny, token_ids

# Makes a model stop somewhere with an error; returns what undoes that.
Point = Callable[[Model, pytest.MonkeyPatch, BaseException], Callable[[], None]]


def bloom() -> Model:
    return tiny("Bloom", "eager", n_layer=2, n_head=4)


def _hook(error: BaseException, after: int = 0) -> Callable[..., None]:
    """Raises when it has been called `after` times before."""
    calls = iter(range(after))

    def hook(*_: Any) -> None:
        if next(calls, None) is None:
            raise error

    return hook


def _in_function(
    patch: pytest.MonkeyPatch, owner: Any, name: str, error: BaseException, after: int
) -> None:
    original, stop = getattr(owner, name), _hook(error, after)

    def function(*args: Any, **kwargs: Any) -> Any:
        stop()
        return original(*args, **kwargs)

    patch.setattr(owner, name, function)


def _second_layer(model: Model) -> Any:
    return model.layers[1] if hasattr(model, "layers") else model.h[1]


def before_the_model(model: Model, _: Any, error: BaseException) -> Callable[[], None]:
    return model.register_forward_pre_hook(_hook(error)).remove


def after_the_model(model: Model, _: Any, error: BaseException) -> Callable[[], None]:
    return model.register_forward_hook(_hook(error)).remove


def between_layers(model: Model, _: Any, error: BaseException) -> Callable[[], None]:
    return _second_layer(model).register_forward_pre_hook(_hook(error)).remove


def within_an_attention_module(model: Model, _: Any, error: BaseException) -> Callable[[], None]:
    [projection] = [
        module
        for name, module in _second_layer(model).named_modules()
        if name.endswith(("q_proj", "query_key_value"))
    ]
    return projection.register_forward_hook(_hook(error)).remove


def within_an_attention_function(
    model: Model, patch: pytest.MonkeyPatch, error: BaseException
) -> Callable[[], None]:
    name = "scaled_dot_product_attention" if hasattr(model, "layers") else "softmax"
    _in_function(patch, F, name, error, after=1)
    return patch.undo


def while_a_call_is_explained(
    _: Model, patch: pytest.MonkeyPatch, error: BaseException
) -> Callable[[], None]:
    """Ctrl-C comes in our own code as well."""
    for module in (explain_function, explain_softmax):
        _in_function(patch, module, "terms", error, after=0)
    return patch.undo


POINTS: list[Point] = [
    before_the_model, after_the_model, between_layers, within_an_attention_module,
    within_an_attention_function, while_a_call_is_explained,
]  # fmt: skip


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("stop")], ids=repr)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("build", [llama, bloom])
def test_a_capture_that_is_stopped_leaves_no_trace(
    build: Callable[[], Model],
    point: Point,
    error: BaseException,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, model = {"input_ids": token_ids(7)}, build().train()
    expected = capture(model, None, text)
    before = Snapshot(model)
    undo = point(model, monkeypatch, error)
    if point is while_a_call_is_explained and isinstance(error, RuntimeError):
        # The failure explains the missing layer and does not stop the capture.
        with pytest.raises(ValueError, match="stop"):
            capture(model, None, text)
    else:
        with pytest.raises(type(error)) as caught:
            capture(model, None, text)
        assert caught.value is error
    undo()
    before.assert_unchanged()
    again = capture(model, None, text)
    assert (again.weights(1, 3) == expected.weights(1, 3)).all()


@pytest.mark.parametrize("build", [llama, bloom])
def test_stopped_while_queries_are_compared(
    build: Callable[[], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, model = {"input_ids": token_ids(7)}, build().train()
    before = Snapshot(model)
    _in_function(monkeypatch, recorder, "rotary", KeyboardInterrupt(), after=1)
    with pytest.raises(KeyboardInterrupt):
        capture(model, None, text)
    monkeypatch.undo()
    before.assert_unchanged()


@pytest.mark.parametrize("need_weights", [True, False])
def test_torchs_own_attention_stopped_within(
    need_weights: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of torch is looked at in another way while it runs."""
    model = OneBlock(batch_first=True, need_weights=need_weights, mask="none").eval()
    function = F.has_torch_function
    name = "softmax" if need_weights else "scaled_dot_product_attention"
    error = KeyboardInterrupt()
    _in_function(monkeypatch, F, name, error, after=0)
    with pytest.raises(KeyboardInterrupt) as caught:
        capture(model, None, TEXT)
    assert caught.value is error
    monkeypatch.undo()
    assert F.has_torch_function is function
    assert capture(model, None, TEXT).num_layers() == 1


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("name", ["LlamaForCausalLM", "T5ForConditionalGeneration"])
def test_a_generation_that_is_stopped_leaves_no_trace(name: str, steps: int) -> None:
    model = tiny(name) if name.startswith("Llama") else t5(name)
    model.train()
    options = {"max_new_tokens": 5, "do_sample": False, "eos_token_id": None}
    text = {"input_ids": token_ids(5)}
    expected = capture(model, None, text, generate=options)
    before = Snapshot(model)
    handle = model.lm_head.register_forward_hook(_hook(KeyboardInterrupt(), steps))
    with pytest.raises(KeyboardInterrupt):
        capture(model, None, text, generate=options)
    handle.remove()
    before.assert_unchanged()
    again = capture(model, None, text, generate=options)
    assert (again.weights(1, 3) == expected.weights(1, 3)).all()


def test_another_thread_is_not_locked_out_afterwards(default_stance: None) -> None:
    model = llama()
    undo = between_layers(model, None, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        capture(model, None, TEXT)
    undo()
    records: list[Any] = []
    thread = threading.Thread(
        target=lambda: records.append(capture(model, None, TEXT)), daemon=True
    )
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert len(records) == 1
    assert torch_compiles()


def test_a_module_that_catches_its_own_error() -> None:
    """A call that failed is closed; later calls have the right names."""

    class Forgiving(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            options: Any = {"batch_first": True, "need_weights": True, "mask": "none"}
            self.failing, self.working = OneBlock(**options), OneBlock(**options)
            self.failing.embeddings.register_forward_hook(_hook(ValueError("stop")))

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            try:
                return self.failing(input_ids)
            except ValueError:
                return self.working(input_ids)

    record = capture(Forgiving().eval(), None, TEXT)
    assert [fidelity.module for fidelity in record.fidelity["self"]] == ["working.attention"]
