"""A pass that is kept, from which heads are switched off again and again."""

from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.interventions.effect import Effect
from attnwidget.interventions.off import Off
from attnwidget.interventions.rerun import Rerun
from attnwidget.running.inputs import prepare
from tests.unit.interventions.test_scan import CASES, INPUTS
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import llama


def rerun_of(model: Any, inputs: Any) -> Rerun:
    return Rerun(model, None, prepare(model, None, inputs, None, None, 0))


def outputs(effect: Effect) -> np.ndarray[Any, Any]:
    found = effect.logits or effect.states
    assert found is not None
    return np.stack(found)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_equals_a_full_pass(case: Any) -> None:
    build, inputs = case
    model = build()
    record = aw.capture(model, None, inputs)
    rerun = rerun_of(model, inputs)
    snapshot = Snapshot(model)
    for stack in record.stacks:
        for layer in record.stack(stack).numbers:
            for heads in ([(layer, 1)], [(layer, 0), (record.stack(stack).numbers[0], 2)]):
                found, _ = rerun.effect(Off(stack, tuple(heads)))
                expected = aw.ablate(model, None, inputs, heads=heads, stack=stack, record=False)
                assert found.tokens == expected.tokens
                assert np.allclose(outputs(found), outputs(expected), rtol=1e-6, atol=1e-6)
    snapshot.assert_unchanged()


def counted(model: Any) -> list[int]:
    """The number of times that each layer has run."""
    runs = [0] * len(model.layers)
    for number, layer in enumerate(model.layers):

        def count(_module: Any, _args: Any, number: int = number) -> None:
            runs[number] += 1

        layer.mlp.register_forward_pre_hook(count)
    return runs


def test_only_layers_from_the_changed_one_on_run_again() -> None:
    model = llama()
    runs = counted(model)
    rerun = rerun_of(model, INPUTS)
    rerun.effect(Off("self", ((1, 0),)))
    # Once to see that layer 0 can be skipped, and once without the head.
    assert runs == [1, 3]
    rerun.effect(Off("self", ((1, 2),)))
    assert runs == [1, 4]
    rerun.effect(
        Off(
            "self",
            (
                (1, 0),
                (0, 3),
            ),
        )
    )
    assert runs == [2, 5]


def in_place(model: Any) -> None:
    with torch.no_grad():
        model.layers[0].mlp.up_proj.weight.mul_(2)


def another_module(model: Any) -> None:
    model.norm = torch.nn.Identity()


def a_hook(model: Any) -> None:
    model.norm.register_forward_hook(lambda _module, _args, output: 2 * output + 1)


@pytest.mark.parametrize("change", [in_place, another_module, a_hook])
def test_a_model_that_was_changed_runs_as_a_whole(change: Any) -> None:
    model = llama()
    rerun = rerun_of(model, INPUTS)
    rerun.effect(Off("self", ((1, 0),)))
    change(model)
    expected = aw.ablate(model, None, INPUTS, heads=[(1, 0)], record=False)
    assert np.array_equal(outputs(rerun.effect(Off("self", ((1, 0),)))[0]), outputs(expected))


def test_an_intervention_since_is_part_of_the_effect() -> None:
    model = llama()
    rerun = rerun_of(model, INPUTS)
    rerun.effect(Off("self", ((1, 0),)))
    with aw.intervene(model, aw.Ablate(0, [0, 1])):
        expected = aw.ablate(model, None, INPUTS, heads=[(1, 0)], record=False)
        within = outputs(rerun.effect(Off("self", ((1, 0),)))[0])
    assert np.allclose(within, outputs(expected), rtol=1e-6, atol=1e-6)
    after, _ = rerun.effect(Off("self", ((1, 0),)))
    assert abs(outputs(after) - within).max() > 1e-3


def adds_in_place(model: Any) -> None:
    """The next layer adds to the tensor that this one returned."""
    model.layers[1].register_forward_pre_hook(lambda _module, args: (args[0].add_(1),))


def steers_in_place(model: Any) -> None:
    model.layers[0].register_forward_hook(lambda _module, _args, output: output.add_(1))


def remembers(model: Any) -> None:
    """Layer 1 needs what layer 0 computed besides its output."""
    left: list[torch.Tensor] = []
    model.layers[0].mlp.register_forward_hook(lambda _module, _args, out: left.append(out))
    model.layers[1].register_forward_hook(lambda _module, _args, out: out + left.pop())


@pytest.mark.parametrize("habit", [adds_in_place, steers_in_place, remembers])
def test_layers_that_share_more_than_their_outputs(habit: Any) -> None:
    model = llama()
    habit(model)
    expected = aw.ablate(model, None, INPUTS, heads=[(1, 0)], record=False)
    found, _ = rerun_of(model, INPUTS).effect(Off("self", ((1, 0),)))
    assert np.allclose(outputs(found), outputs(expected), rtol=1e-6, atol=1e-6)
    scan = aw.ablation_scan(model, None, INPUTS, layers=[1], null=False)
    assert scan.values()[0, 0] == pytest.approx(expected.moved.mean(), rel=1e-4, abs=1e-6)


def test_closing_a_widget_frees_its_pass() -> None:
    model = llama()
    widget = aw.show(model, None, INPUTS)
    assert widget._rerun is not None
    widget._rerun.effect(Off("self", ((1, 0),)))
    widget.close()
    assert widget._rerun._kept is None


def test_a_class_that_is_masked_counts_nothing_in_the_divergence() -> None:
    before = np.array([[0.0, 1.0, -np.inf], [2.0, 0.0, 1.0]], np.float32)
    after = np.array([[1.0, 1.0, -np.inf], [2.0, 0.0, 1.0]], np.float32)
    effect = Effect(("a", "b"), (before, after), None, None, None, str)
    p = 1 / (1 + np.e)
    expected = p * np.log(p / 0.5) + (1 - p) * np.log((1 - p) / 0.5)
    assert effect.divergence == pytest.approx([expected, 0], abs=1e-7)
