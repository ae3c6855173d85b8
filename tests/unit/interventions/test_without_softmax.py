"""Heads off and links cut in layers without a softmax, beside their functions on other inputs."""

import copy
from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.interventions.editor import intervene
from attnwidget.interventions.gradients import output_gradients
from attnwidget.interventions.off import Link, Off
from attnwidget.interventions.rerun import Rerun
from attnwidget.running.inputs import prepare
from attnwidget.running.one_text import one_text
from attnwidget.tracing import Address, Handler, MixingCall, ReadMixing, trace, undisturbed
from benchmarks import zoo
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import token_ids

DELTA = ["qwen3_next", "kimi_linear"]
FAMILIES = [*DELTA, "mamba2", "falcon_h1", "minimax", "jamba", "zamba"]


class Kept(Handler):
    """Keeps the calls without a softmax, in order."""

    def __init__(self) -> None:
        self.calls: list[MixingCall] = []

    def mixing(self, address: Address, read: ReadMixing) -> None:
        call = read()
        if call.rerun is not None or not call.local:
            self.calls.append(call)


def calls(built: zoo.Built, *edits: Any) -> list[MixingCall]:
    kept = Kept()
    with undisturbed(built.model), intervene(built.model, *edits), trace(built.model, kept, 1):
        built.model(**built.inputs)
    return kept.calls


def output(built: zoo.Built, *edits: Any) -> torch.Tensor:
    with undisturbed(built.model), intervene(built.model, *edits):
        found: torch.Tensor = built.model(**built.inputs).last_hidden_state
    return found


def first_layer(built: zoo.Built) -> tuple[int, list[int]]:
    """The number of the first layer without a softmax, and the places of its calls."""
    record = aw.capture(built.model, None, built.inputs)
    layer = record.stack("linear").layers[0]
    module = built.model.get_submodule(layer.fidelity.module)
    return layer.number, [n for n, call in enumerate(calls(built)) if call.module is module]


def part(call: MixingCall, keys: list[int]) -> torch.Tensor:
    """What the values of some keys have in the outputs, by the function itself."""
    kept = torch.zeros(call.value.shape[2], 1)
    kept[keys] = 1
    if call.rerun is not None:
        return call.rerun(call.value * kept)
    # Lightning attention: exp(-slope) for each token in between.
    of = call.strengths
    assert of is not None
    assert of.decay is not None
    steps = torch.arange(len(kept))[:, None] - torch.arange(len(kept))
    weights = (of.query @ of.key.mT) * torch.exp(of.decay[:, :, :1] * steps.clamp(min=0))
    return weights.masked_fill(steps < 0, 0) @ (call.value * kept)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_value_left_out_equals_the_function_on_other_values(name: str) -> None:
    built = zoo.build(name)
    layer, places = first_layer(built)
    plain, snapshot = calls(built), Snapshot(built.model)
    # The last head: of Zamba, the second call.
    last = len(places) - 1 if len(places) > 1 else plain[places[0]].output.shape[1] - 1
    queries, keys = [5, 7], [0, 2, 5]
    cut = calls(built, aw.KnockOut(queries, keys, layer, last, stack="linear"))
    snapshot.assert_unchanged()
    for number, place in enumerate(places):
        expected = plain[place].output.clone()
        if len(places) == 1 or number == last:
            expected[:, -1, queries] -= part(plain[place], keys)[:, -1, queries]
            assert not torch.equal(cut[place].passed_on, plain[place].output)
        assert torch.allclose(cut[place].passed_on, expected, atol=1e-5)
        # Other rows and heads stay as they were, to the last bit.
        assert torch.equal(cut[place].passed_on[:, :, :5], plain[place].output[:, :, :5])


@pytest.mark.parametrize("name", DELTA)
def test_never_written_equals_a_state_without_the_token(name: str) -> None:
    built = zoo.build(name)
    layer, [place] = first_layer(built)
    cut = calls(built, aw.KnockOut(6, [1, 3], layer, 2, stack="linear", meaning="never written"))
    call = calls(built)[place]
    of = call.strengths
    assert of is not None
    assert of.decay is not None
    assert of.write is not None
    share = call.output.shape[1] // of.key.shape[1]
    state = torch.zeros(of.key.shape[-1], call.value.shape[-1])
    for at in range(7):
        key, strength = of.key[0, 2 // share, at], of.write[0, 2, at] * (at not in (1, 3))
        state = state * of.decay[0, 2, at].exp()[:, None]
        state = state + strength * torch.outer(key, call.value[0, 2, at] - key @ state)
    expected = of.scale * of.query[0, 2 // share, 6] @ state
    found = cut[place].passed_on
    assert torch.allclose(found[0, 2, 6], expected, atol=1e-5)
    left_out = calls(built, aw.KnockOut(6, [1, 3], layer, 2, stack="linear"))[place].passed_on
    assert not torch.allclose(found, left_out, atol=1e-5)
    found[0, 2, 6] = call.output[0, 2, 6]
    assert torch.equal(found, call.output)


def test_links_that_several_cut_are_cut_once() -> None:
    built = zoo.build("qwen3_next")
    both = aw.KnockOut(range(4, 9), [1, 2, 3], stack="linear")
    parts = [aw.KnockOut(range(4, 9), keys, stack="linear") for keys in ([1, 2], [2, 3])]
    assert torch.allclose(output(built, *parts), output(built, both), atol=1e-5)


PROJECTIONS = {"qwen3_next": "out_proj", "mamba2": "out_proj", "minimax": "out_proj"}


@pytest.mark.parametrize("name", PROJECTIONS)
def test_heads_off_before_and_after_a_norm_or_a_gate(name: str) -> None:
    built = zoo.build(name)
    layer, [place] = first_layer(built)
    before, call = output(built), calls(built)[place]
    heads, width = call.output.shape[1], call.output.shape[3]
    at_head = output(built, aw.Ablate(layer, 1, stack="linear"))
    assert torch.equal(at_head, output(built, aw.Scale(0, layer, 1, stack="linear")))
    assert not torch.allclose(at_head, before, atol=1e-3)
    off = calls(built, aw.Ablate(layer, 1, stack="linear"))[place].passed_on
    assert torch.equal(off[:, 1], torch.zeros_like(off[:, 1]))
    assert torch.equal(off[:, 2:], call.output[:, 2:])
    at_projection = output(built, aw.Ablate(layer, 1, stack="linear", at="projection"))
    changed = copy.deepcopy(built.model)
    module = next(n for n, each in built.model.named_modules() if each is call.module)
    weight = changed.get_submodule(f"{module}.{PROJECTIONS[name]}").weight
    with torch.no_grad():
        weight.unflatten(1, (heads, width))[:, 1] = 0
        expected = changed(**built.inputs).last_hidden_state
    assert torch.allclose(at_projection, expected, atol=1e-5)
    assert torch.equal(output(built), before)


@pytest.mark.parametrize("name", ["falcon_h1", "zamba"])
def test_outputs_of_another_text(name: str) -> None:
    built = zoo.build(name)
    ids = built.inputs["input_ids"]
    other = {**built.inputs, "input_ids": ids.flip(1)}
    source = aw.head_outputs(built.model, None, other)
    layer, places = first_layer(built)
    patched = calls(built, aw.Patch(source, layer, 1, stack="linear"))
    outputs = [patched[place].passed_on for place in places]
    found, plain = torch.cat(outputs, 1), [calls(built)[place].output for place in places]
    expected = torch.cat(plain, 1)
    expected[:, 1] = torch.tensor(source.layer(layer, "linear"))[:, 1]
    assert torch.equal(found, expected)


def test_without_a_stack_the_softmax_is_meant() -> None:
    built = zoo.build("qwen3_next")
    off = output(built, aw.Ablate(1, 0))
    assert torch.equal(off, output(built, aw.Ablate(1, 0, stack="self")))
    with pytest.raises(ValueError, match=r"no layer 0 in stack 'self'.*stack 'linear' has it"):
        output(built, aw.Ablate(0, 0))
    scores = aw.ablation_scan(built.model, None, built.inputs, null=False)
    assert scores.stacks == ("self", "linear")
    assert aw.head_outputs(built.model, None, built.inputs).stacks == ("self", "linear")
    # Of a model that has none, its layers are.
    mamba = zoo.build("mamba2")
    assert torch.equal(output(mamba, aw.Scale(2)), output(mamba, aw.Scale(2, stack="linear")))


def test_what_a_record_says_of_the_change() -> None:
    built = zoo.build("qwen3_next")
    edits = [
        aw.Ablate(0, [1, 2], stack="linear"),
        aw.KnockOut(4, 2, stack="linear", meaning="never written"),
    ]
    with intervene(built.model, *edits):
        record = aw.capture(built.model, None, built.inputs)
    assert record.model is not None
    assert record.model.endswith(
        "without 0-1, 0-2 (linear) and with a cut link, never written (linear)"
    )


NEVER = {"meaning": "never written"}
REFUSED = {
    "no weights to spread": ("mamba2", aw.Ablate(mode="uniform"), "has no softmax"),
    "nothing is erased": ("mamba2", aw.KnockOut(3, 1, **NEVER), "erases nothing"),
    "a softmax writes nothing": ("llama", aw.KnockOut(3, 1, **NEVER), "a softmax hides keys"),
    "no such head": ("mamba2", aw.Ablate(0, 9), "head 9 of layer 0 does not exist"),
    "no such channels": ("jamba", aw.Ablate(0, 1, "linear"), "head 1 of layer 0 does not exist"),
    "no such token": ("mamba2", aw.KnockOut(40, 1), "no text within the intervention had more"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_is_refused(case: Any) -> None:
    name, edit, message = case
    built = zoo.build(name)
    snapshot = Snapshot(built.model)
    with pytest.raises(ValueError, match=message):
        output(built, edit)
    snapshot.assert_unchanged()


@pytest.mark.parametrize("name", ["qwen3_next", "zamba"])
def test_a_scan_equals_one_head_at_a_time(name: str) -> None:
    built = zoo.build(name)
    scores = aw.ablation_scan(built.model, None, built.inputs, stack="linear", null=False)
    for layer, head, value in scores.ranking("linear"):
        effect = aw.ablate(
            built.model, None, built.inputs, heads=[(layer, head)], stack="linear", record=False
        )
        assert value == pytest.approx(float(effect.moved.mean()), rel=1e-3, abs=1e-6)


def test_what_is_off_in_a_view() -> None:
    built = zoo.build("qwen3_next")
    rerun = Rerun(built.model, None, prepare(built.model, None, built.inputs, None, None, 0))
    off = Off("linear", ((0, 1),), (Link((5,), (2,)),), 12, 12)
    effect, _ = rerun.effect(off)
    with undisturbed(built.model):
        before = built.model(**built.inputs).last_hidden_state
    moved = 1 - torch.cosine_similarity(before, output(built, *off.edits), dim=-1)[0]
    assert effect.moved == pytest.approx(moved.numpy(), abs=1e-5)
    assert len(rerun.others(Off("linear", ((0, 1),)))) == 3
    assert rerun.record(off).stacks == ("self", "linear")


def loss(found: Any, _inputs: Any) -> torch.Tensor:
    states: torch.Tensor = found.last_hidden_state
    return states.sin().mean()[None]


@pytest.mark.parametrize("name", ["kimi_linear", "falcon_h1", "minimax"])
def test_gradients_by_coefficients(name: str) -> None:
    built = zoo.build(name)
    found = aw.attention_gradients(built.model, None, built.inputs, loss=loss)
    record = aw.capture(built.model, None, built.inputs)
    batch = one_text(built.model, None, built.inputs).batch
    _, gradients, _ = output_gradients(built.model, batch, loss)
    for each in gradients:
        if not each.site.signed:
            continue
        layer = found.layer(each.site.layer, "linear")
        recorded = record.layer(each.site.layer, "linear")
        for head in range(recorded.num_heads):
            expected = recorded.head_coefficients(head, np.arange(recorded.shape[0]))
            assert np.allclose(layer.weights[head], expected, atol=1e-5)
        slopes = (each.output * each.gradient).sum(dim=(0, 2, 3))
        assert layer.products.sum(axis=(1, 2)) == pytest.approx(slopes.numpy(), rel=1e-3, abs=1e-6)


def test_channels_have_no_gradients_by_coefficients() -> None:
    built = zoo.build("jamba")
    found = aw.attention_gradients(built.model, None, built.inputs, loss=loss)
    assert found.stacks == ("self",)
    assert any("mixes every channel by itself" in each for each in found.missing)


def test_positions_of_a_record_before_which_a_text_is_padded() -> None:
    built = zoo.build("mamba2")
    ids = token_ids(6)
    edit = aw.KnockOut(4, 1, record=aw.capture(built.model, None, {"input_ids": ids}))
    padded = torch.cat([token_ids(9), torch.nn.functional.pad(ids, (3, 0))])
    mask = (padded != 0).long()
    with (
        torch.no_grad(),
        pytest.raises(ValueError, match="text 1 of the batch is padded on the left"),
        intervene(built.model, edit),
    ):
        built.model(input_ids=padded, attention_mask=mask, use_cache=False)
    with torch.no_grad(), intervene(built.model, edit):
        built.model(input_ids=padded.flip(1), attention_mask=mask.flip(1), use_cache=False)


def test_links_of_a_convolution_that_reads_its_cache_are_refused() -> None:
    built = zoo.build("lfm3")
    ids, edit = token_ids(9), aw.KnockOut(3, 2, stack="linear")
    with torch.no_grad(), intervene(built.model, edit):
        built.model(input_ids=ids, use_cache=True)
        cache = built.model(input_ids=ids, use_cache=True).past_key_values
        with pytest.raises(ValueError, match=r"tokens before the text.*use_cache=False"):
            built.model(input_ids=ids, past_key_values=cache, use_cache=True)
