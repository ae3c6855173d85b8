"""The model, its process and its random numbers come back exactly as they were."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch

from attnwidget import capture
from tests.unit.snapshot import Snapshot, torch_compiles
from tests.unit.tiny import Loaded, Model, bert, llama, token_ids
from tests.versions import newer

TEXT = "A model must come back as it was."


def test_outputs_before_during_and_after_are_bitwise_equal(minilm: Loaded) -> None:
    model, tokenizer = minilm
    encoding = tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        before = model(**encoding)
    during: list[Any] = []
    handle = model.register_forward_hook(lambda _module, _args, output: during.append(output))
    capture(model, tokenizer, TEXT)
    handle.remove()
    with torch.no_grad():
        after = model(**encoding)
    assert len(during) == 1
    for name, value in before.items():
        assert torch.equal(value, during[0][name]), name
        assert torch.equal(value, after[name]), name


@pytest.mark.parametrize(
    "fixture",
    ["minilm", pytest.param("smollm2", marks=newer("4.56", "from_pretrained takes dtype"))],
)
def test_success_leaves_no_trace(fixture: str, request: pytest.FixtureRequest) -> None:
    model, tokenizer = request.getfixturevalue(fixture)
    before = Snapshot(model)
    capture(model, tokenizer, TEXT)
    before.assert_unchanged()


def _fail(model: Model, error: BaseException) -> Callable[[], None]:
    """Makes the second layer raise. Returns what undoes it."""

    def hook(*_: Any) -> None:
        raise error

    return model.layers[1].register_forward_pre_hook(hook).remove


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("error", [RuntimeError("stop"), KeyboardInterrupt()], ids=repr)
def test_an_exception_in_the_middle_leaves_no_trace(attention: str, error: BaseException) -> None:
    model = llama(attention)
    text = {"input_ids": token_ids(7)}
    expected = capture(model, None, text)
    undo = _fail(model, error)
    before = Snapshot(model)
    with pytest.raises(type(error)) as caught:
        capture(model, None, text)
    assert caught.value is error
    before.assert_unchanged()
    undo()
    again = capture(model, None, text)
    assert (again.weights(1, 3) == expected.weights(1, 3)).all()


def test_an_input_that_the_model_refuses_leaves_no_trace() -> None:
    model = llama()
    before = Snapshot(model)
    with pytest.raises(RuntimeError):
        capture(model, None, {"input_ids": token_ids(7), "attention_mask": torch.ones(1, 1, 3, 3)})
    before.assert_unchanged()
    assert capture(model, None, {"input_ids": token_ids(7)}).num_layers() == 2


def test_every_module_keeps_its_own_mode() -> None:
    """Fine-tuning with frozen parts mixes modes, which train() and eval() would level."""
    model = llama()
    model.layers[0].train()
    model.layers[1].mlp.train()
    modes = {module.training for module in model.modules()}
    assert modes == {True, False}
    before = Snapshot(model)
    capture(model, None, {"input_ids": token_ids(7)})
    before.assert_unchanged()
    undo = _fail(model, KeyboardInterrupt())
    before = Snapshot(model)
    with pytest.raises(KeyboardInterrupt):
        capture(model, None, {"input_ids": token_ids(7)})
    before.assert_unchanged()
    undo()


def test_train_and_eval_are_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some adapters merge weights in them."""
    model = llama()
    called: list[bool] = []
    monkeypatch.setattr(torch.nn.Module, "train", lambda *_: called.append(True))
    capture(model, None, {"input_ids": token_ids(7)})
    assert not called


def test_a_model_in_training_is_captured_without_dropout() -> None:
    model = bert(hidden_dropout_prob=0.5, attention_probs_dropout_prob=0.5)
    training = copy.deepcopy(model).train()
    text = {"input_ids": token_ids(7)}
    torch.manual_seed(1)
    before = Snapshot(training)
    recorded = capture(training, None, text)
    before.assert_unchanged()
    expected = capture(model, None, text)
    for layer in range(2):
        for head in range(4):
            same = recorded.weights(layer, head) == expected.weights(layer, head)
            assert same.all()


def test_gradients_work_after_a_capture() -> None:
    model = llama()
    text = {"input_ids": token_ids(7)}
    capture(model, None, text)
    model(**text).last_hidden_state.sum().backward()
    assert model.layers[0].self_attn.q_proj.weight.grad.abs().sum() > 0


def test_torch_compile_works_after_a_capture_that_failed() -> None:
    model = llama()
    _fail(model, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        capture(model, None, {"input_ids": token_ids(7)})
    assert torch_compiles()


def test_no_graph_is_built() -> None:
    model = llama()
    modes: list[bool] = []
    model.layers[1].register_forward_pre_hook(lambda *_: modes.append(torch.is_grad_enabled()))
    capture(model, None, {"input_ids": token_ids(7)})
    assert set(modes) == {False}


def test_a_model_compiled_in_place_is_captured() -> None:
    """Its compiled code would not pass through the interface again."""
    model = llama()
    text = {"input_ids": token_ids(7)}
    expected = capture(model, None, text)
    model.compile(backend="eager")
    with torch.no_grad():
        model(**text)
    recorded = capture(model, None, text)
    assert recorded.num_layers() == 2
    assert (recorded.weights(1, 2) == expected.weights(1, 2)).all()


def test_a_compiled_model_is_captured() -> None:
    model = llama()
    text = {"input_ids": token_ids(7)}
    expected = capture(model, None, text)
    recorded = capture(torch.compile(model), None, text)
    assert recorded.fidelity == expected.fidelity, "the same modules by the same names"
    assert (recorded.weights(1, 2) == expected.weights(1, 2)).all()


def test_the_record_keeps_nothing_of_the_model() -> None:
    """Its arrays are copies: training on does not change what was recorded."""
    model = llama()
    recorded = capture(model, None, {"input_ids": token_ids(7)})
    weights, queries = recorded.weights(0, 0), recorded.queries(0, 0).copy()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    assert (recorded.weights(0, 0) == weights).all()
    assert (recorded.queries(0, 0) == queries).all()
