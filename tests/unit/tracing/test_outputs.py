"""A handler of a trace sees each call's head outputs, and may change them."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch

from attnwidget.tracing import Address, Handler, Read, Receivers, trace, undisturbed
from attnwidget.tracing.layout import Layout
from tests.unit.capture.test_torch import OneBlock
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import Model, gpt2, llama, tiny, token_ids

IDS = torch.cat([token_ids(9), token_ids(9, seed=1)])
HEADS = 4


class Recorder(Handler):
    """Keeps the addresses and outputs of all calls, and the receivers of their outputs."""

    def __init__(self) -> None:
        self.outputs: dict[Address, torch.Tensor | None] = {}
        self.receivers = Receivers()

    def attention(self, address: Address, read: Read) -> None:
        call = read()
        self.outputs[address] = call.output
        self.receivers.expect(address, call.output)

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self.receivers.module_entered(module, args)


class HeadOff(Handler):
    """Sets the output of a head of one module to zero."""

    def __init__(self, module: str, head: int) -> None:
        self.module, self.head = module, head

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        output = read().output
        if address.module != self.module or output is None:
            return None
        factor = torch.ones(output.shape[1], 1, 1)
        factor[self.head] = 0
        return output * factor


class ReturnsWeights(Handler):
    """Returns head outputs of a shape that no call has."""

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        return torch.zeros(1)


def bloom() -> Model:
    return tiny("Bloom", "eager", n_layer=2, n_head=HEADS)


def gptj() -> Model:
    return tiny("GPTJ", "eager", n_embd=32, n_head=HEADS, n_layer=2, rotary_dim=4)


def falcon() -> Model:
    return tiny("Falcon")


# A model, one of its attention modules, and the projection of that module's head outputs.
MODELS: dict[str, tuple[Callable[[], Model], str, str]] = {
    "interface": (llama, "layers.1.self_attn", "layers.1.self_attn.o_proj"),
    "interface, eager": (
        lambda: llama("eager"),
        "layers.0.self_attn",
        "layers.0.self_attn.o_proj",
    ),
    "softmax of folded heads": (bloom, "h.1.self_attention", "h.1.self_attention.dense"),
    "softmax": (gptj, "h.1.attn", "h.1.attn.out_proj"),
    "torch's attention": (falcon, "h.1.self_attention", "h.1.self_attention.dense"),
}


def _run(model: Model, handler: Handler | None = None) -> torch.Tensor:
    with undisturbed(model), nullcontext() if handler is None else trace(model, handler, len(IDS)):
        output: torch.Tensor = model(input_ids=IDS).last_hidden_state
    return output


@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS)
def test_a_head_off_equals_its_part_of_the_projection_at_zero(
    case: tuple[Callable[[], Model], str, str],
) -> None:
    build, module, projection = case
    model, head = build(), 2
    plain, before = _run(model), Snapshot(model)
    off = _run(model, HeadOff(module, head))
    before.assert_unchanged()
    assert torch.equal(_run(model), plain)
    assert not torch.equal(off, plain)
    with torch.no_grad():
        weight = model.get_submodule(projection).weight
        weight.unflatten(1, (HEADS, -1))[:, head] = 0
    assert torch.equal(off, _run(model))


@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS)
def test_a_handler_that_changes_nothing_sees_every_call(
    case: tuple[Callable[[], Model], str, str],
) -> None:
    build, module, projection = case
    model, recorder = build(), Recorder()
    assert torch.equal(_run(model, recorder), _run(model))
    names = [module.replace(".1.", f".{layer}.").replace(".0.", f".{layer}.") for layer in (0, 1)]
    assert list(recorder.outputs) == [Address(name, 0, 0) for name in names]
    assert all(o is not None and o.shape == (2, HEADS, 9, 8) for o in recorder.outputs.values())
    found = recorder.receivers.by_call[Address(module, 0, 0)]
    assert found[0].module is model.get_submodule(projection)
    assert (found[0].heads, found[0].width) == (HEADS, 8)


def test_a_model_may_take_views_of_changed_outputs() -> None:
    model, head = tiny("Afmoe", num_dense_layers=2), 2
    off = _run(model, HeadOff("layers.1.self_attn", head))
    with torch.no_grad():
        weight = model.get_submodule("layers.1.self_attn.o_proj").weight
        weight.unflatten(1, (HEADS, -1))[:, head] = 0
    assert torch.equal(off, _run(model))


def test_calls_are_counted_by_forward_pass_and_module() -> None:
    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = OneBlock(batch_first=True, need_weights=False, mask="none")

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            return self.block(input_ids) + self.block(input_ids)

    model, recorder = Twice().eval(), Recorder()
    with undisturbed(model), trace(model, recorder, len(IDS)):
        model(IDS)
        model(IDS)
    name = "block.attention"
    assert list(recorder.outputs) == [Address(name, step, n) for step in (0, 1) for n in (0, 1)]


@pytest.mark.parametrize("build", [llama, bloom])
def test_head_outputs_of_another_shape_are_refused(build: Callable[[], Model]) -> None:
    model = build()
    before = Snapshot(model)
    with pytest.raises(ValueError, match=r"layers\.0|h\.0"):
        _run(model, ReturnsWeights())
    before.assert_unchanged()


def test_nothing_of_a_trace_within_a_trace_is_traced_for_the_outer_one() -> None:
    model, other, inner = gpt2(), bloom(), Recorder()
    outer, expected = Recorder(), Recorder()
    _run(model, expected)
    handle = model.h[1].register_forward_pre_hook(lambda *_: (_run(other, inner), None)[1])
    _run(model, outer)
    handle.remove()
    assert list(inner.outputs) == [Address(f"h.{n}.self_attention", 0, 0) for n in (0, 1)]
    assert list(outer.outputs) == list(expected.outputs)


@pytest.mark.parametrize(
    "layout",
    [
        Layout.plain(2),
        Layout((0, 2, 1, 3), 1, 2),
        Layout((1, 0, 2, 3), 1, 3),
        Layout((1, 0, 2, 4, 3), 2, 6),
        Layout((0, 1, 2), None, 2),
        Layout((0, 1, 2), None, 2, heads_first=True),
    ],
    ids=str,
)
def test_a_layout_is_restored(layout: Layout) -> None:
    shape = (2, 3, 4, 5, 6)[: layout.ndim]
    tensor = torch.arange(torch.Size(shape).numel()).reshape(shape)
    assert torch.equal(layout.restore(layout.apply(tensor), tensor.shape), tensor)
