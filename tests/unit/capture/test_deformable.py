"""Deformable attention: each query averages values at points between the cells of feature maps."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from attnwidget import AttentionRecord, capture
from attnwidget.capture import recorder
from attnwidget.interventions.editor import intervene
from attnwidget.interventions.edits import Ablate, KnockOut
from attnwidget.interventions.sites import sites_by_name
from attnwidget.record import Layer
from attnwidget.tracing import Address, Handler, Read, deformable, trace
from benchmarks import zoo
from tests.unit.snapshot import Snapshot

# A model for each body of the kernel: a module of its own, or one of two functions, the second of
# which may be an attribute. Beside it the stack whose first layer calls it first, and its maps.
BODIES = {
    "deformable_detr": ("encoder", 4),
    "mask2former": ("vision 5", 3),
    "rt_detr_v2": ("cross", 3),
    "d_fine": ("cross", 3),
}
NAMES = list(BODIES)


def built(name: str) -> zoo.Built:
    """A model over an image that is large enough for maps of several cells."""
    made = zoo.build(name)
    if name == "deformable_detr":
        pixels = made.inputs["pixel_values"]
        large = torch.nn.functional.interpolate(pixels, scale_factor=4, mode="bicubic")
        made.inputs.clear()
        made.inputs["pixel_values"] = large
        with torch.no_grad():
            for name, parameter in made.model.named_parameters():
                if "sampling_offsets" in name:  # fewer points are outside
                    parameter /= 4
    return made


def outputs(made: zoo.Built) -> list[torch.Tensor]:
    with torch.no_grad():
        output = made.model(**made.inputs)
    found = [each for each in output.to_tuple() if isinstance(each, torch.Tensor)]
    assert found
    return found


def with_kernel(
    made: zoo.Built, changed: Callable[[int, torch.Tensor, torch.Tensor], torch.Tensor]
) -> list[torch.Tensor]:
    """A model's outputs with other results of its kernel: changed(call, values, result)."""
    calls = 0

    def watched(function: Any) -> Any:
        def kernel(value: torch.Tensor, *args: Any) -> Any:
            nonlocal calls
            calls += 1
            return changed(calls - 1, value, function(value, *args))

        return kernel

    with pytest.MonkeyPatch.context() as patches:
        code = sys.modules[type(made.model).__module__]
        for name in [name for name in vars(code) if name.startswith("multi_scale_deformable")]:
            patches.setattr(code, name, watched(getattr(code, name)))
        for module in made.model.modules():
            if type(module).__name__ == "MultiScaleDeformableAttention":
                patches.setattr(module, "forward", watched(module.forward))
            elif hasattr(module, "ms_deformable_attn_core"):
                own = watched(module.ms_deformable_attn_core)
                patches.setattr(module, "ms_deformable_attn_core", own)
        return outputs(made)


def recorded(made: zoo.Built) -> AttentionRecord:
    return capture(made.model, None, made.inputs)


def layers(record: AttentionRecord) -> list[Layer]:
    """The deformable layers, in the order in which they run."""
    return [
        layer
        for stack in record.stacks
        for layer in record.stack(stack).layers
        if layer.fidelity.route == "sampling points"
    ]


class Unchanged(Handler):
    """Gives every call its own head outputs again."""

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        return read().output


def site(made: zoo.Built) -> tuple[str, int]:
    """The stack and the number by which interventions find the first of these layers."""
    module = layers(recorded(made))[0].fidelity.module
    return next(
        (each.stack, each.layer)
        for each in sites_by_name(made.model)
        if module.startswith(each.module)
    )


@pytest.mark.parametrize("name", NAMES)
def test_weights_times_values_are_what_the_kernel_returns(name: str) -> None:
    made, calls = built(name), []

    def seen(_: int, value: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
        calls.append((value, result))
        return result

    with_kernel(made, seen)
    record = capture(made.model, None, made.inputs, values=True)
    assert record.missing == ()
    for layer, (value, result) in zip(layers(record), calls, strict=True):
        values = value[0].transpose(0, 1).numpy()
        own = result[0].unflatten(1, (len(values), -1)).transpose(0, 1).numpy()
        weights = layer.all_weights(np.arange(layer.shape[0]))
        assert np.abs(weights @ values - own).max() < 1e-5 * np.abs(own).max()
        sums = weights.sum(axis=2)
        assert weights.min() >= 0
        assert sums.max() < 1 + 1e-5
        assert sums.max() > 0.5, "too far outside to prove anything"
        assert sums.min() < 0.9, "nothing is outside"
        assert layer.values is not None
        assert np.array_equal(layer.values, values)
        assert layer.fidelity.output_error is not None
        assert layer.fidelity.exact


@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_the_model_are_as_they_were(name: str) -> None:
    made = built(name)
    plain, before = outputs(made), Snapshot(made.model)
    recorded(made)
    before.assert_unchanged()
    with trace(made.model, Unchanged(), 1, changes=True):
        traced = outputs(made)
    before.assert_unchanged()
    assert all(torch.equal(a, b) for a, b in zip(plain, traced, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_keys_are_named_by_level_and_cell(name: str) -> None:
    made, (stack, levels) = built(name), BODIES[name]
    found = recorded(made).stack(stack)
    assert len(set(found.keys.labels)) == len(found.keys.labels)
    assert found.keys.labels[:2] == ("level 0 0,0", "level 0 0,1")
    assert found.keys.labels[-1].startswith(f"level {levels - 1} ")
    assert (found.queries.labels == found.keys.labels) == (stack != "cross")


# Mask2Former's tower has layers over several numbers of tokens, which names do not tell apart.
@pytest.mark.parametrize("name", ["deformable_detr", "rt_detr_v2", "d_fine"])
def test_a_head_off_is_its_part_of_the_kernels_result_at_zero(name: str) -> None:
    made = built(name)
    stack, number = site(made)

    def without(call: int, value: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
        heads = result.unflatten(2, (value.shape[2], -1)).clone()
        heads[:, :, 1] *= call > 0
        return heads.flatten(2)

    expected, plain = with_kernel(made, without), outputs(made)
    with intervene(made.model, Ablate(number, [1], stack=stack)):
        off = outputs(made)
    assert not all(torch.equal(a, b) for a, b in zip(off, plain, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(off, expected, strict=True))
    cut = KnockOut(0, 1, layers=number, stack=stack)
    with (
        pytest.raises(ValueError, match=r"the scores of .* cannot be changed"),
        intervene(made.model, cut),
    ):
        outputs(made)


def test_places_that_are_rounded_otherwise_are_read_off(monkeypatch: pytest.MonkeyPatch) -> None:
    made = built("rt_detr_v2")
    expected = [layer.all_weights(np.arange(8)) for layer in layers(recorded(made))]
    right = deformable._weights

    def wrong(given: Any, maps: Any, empty: torch.Tensor) -> torch.Tensor:
        return right(given, maps, empty) * 0.9

    monkeypatch.setattr(deformable, "_weights", wrong)
    monkeypatch.setattr(deformable, "_CELLS", 5)
    found = [layer.all_weights(np.arange(8)) for layer in layers(recorded(made))]
    for one, other in zip(found, expected, strict=True):
        assert np.abs(one - other).max() < 1e-6
    monkeypatch.setattr(deformable, "_read_off", lambda _, *rest: wrong(*rest))
    with pytest.warns(UserWarning, match="not in this record"):
        refused = recorded(made)
    assert len(refused.missing) == 2
    assert "sampling points do not give its output" in refused.missing[0]


@pytest.mark.parametrize("method", ["default", "discrete"])
def test_levels_with_other_numbers_of_points(method: str) -> None:
    kernel = sys.modules[type(zoo.build("d_fine").model).__module__]
    random = torch.Generator().manual_seed(0)
    maps = [(7, 5), (3, 4)]
    value = torch.randn(2, 47, 3, 4, generator=random)
    given = {
        "sampling_locations": torch.rand(2, 9, 3, 8, 2, generator=random) * 1.4 - 0.2,
        "attention_weights": torch.rand(2, 9, 3, 8, generator=random),
        "num_points_list": [5, 3],
        "method": method,
    }
    own = kernel.multi_scale_deformable_attention_v2(value, maps, **given)
    weights = deformable._weights(given, tuple(maps), torch.zeros(2, 3, 9, 47))
    found = (weights @ value.transpose(1, 2)).transpose(1, 2).flatten(2)
    assert (found - own).abs().max() < 1e-5


def test_weights_that_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    made = built("rt_detr_v2")
    size = layers(recorded(made))[0].weights
    assert size is not None
    monkeypatch.setattr(recorder, "MOST_BYTES", size.nbytes)
    with pytest.warns(UserWarning, match=r"8 x 21 tokens in each layer.*layers=\[0, 1\]"):
        record = recorded(made)
    assert len(layers(record)) == 1  # the second has no room, and the others are there
    monkeypatch.setattr("attnwidget.tracing.explicit.MOST_BYTES", size.nbytes - 1)
    with pytest.warns(UserWarning, match="not in this record"):
        record = recorded(made)
    assert "give a smaller image" in record.missing[0]
