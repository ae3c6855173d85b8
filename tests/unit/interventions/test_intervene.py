"""Heads off and edges cut equal a model that was changed by hand, and the model stays as it was."""

import copy
from functools import partial
from typing import Any

import numpy as np
import peft
import pytest
import torch
from torch.overrides import _get_current_function_mode

import attnwidget as aw
from attnwidget.interventions.editor import intervene
from attnwidget.interventions.edits import Ablate, Intervention, KnockOut, Scale
from attnwidget.tracing import undisturbed
from benchmarks import zoo
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import Model, bart, bert, gpt2, llama, t5, tiny, token_ids
from tests.unit.tracing.test_outputs import HEADS, IDS, MODELS

BY_NAME = pytest.mark.parametrize("case", MODELS.values(), ids=MODELS)


def run(model: Model, *interventions: Intervention, ids: torch.Tensor = IDS) -> torch.Tensor:
    with undisturbed(model), intervene(model, *interventions):
        output: torch.Tensor = model(input_ids=ids).last_hidden_state
    return output


def plain(model: Model, ids: torch.Tensor = IDS) -> torch.Tensor:
    with undisturbed(model):
        output: torch.Tensor = model(input_ids=ids).last_hidden_state
    return output


def layer_of(module: str) -> int:
    return next(int(part) for part in module.split(".") if part.isdigit())


@BY_NAME
def test_heads_off_equal_their_part_of_the_projection_at_zero(case: Any) -> None:
    build, module, projection = case
    model = build()
    before, snapshot = plain(model), Snapshot(model)
    off = run(model, Ablate(layer_of(module), [1, 3]))
    assert torch.equal(run(model, Scale(0, layer_of(module), [1, 3])), off)
    assert torch.equal(run(model, Scale(1)), before)
    with pytest.raises(TypeError, match="factor is 'a'; expected a finite number"):
        Scale("a", 1, 1)  # type: ignore[arg-type]
    snapshot.assert_unchanged()
    assert torch.equal(plain(model), before)
    with torch.no_grad():
        weight = model.get_submodule(projection).weight
        weight.unflatten(1, (HEADS, -1))[:, [1, 3]] = 0
    assert torch.equal(off, plain(model))


def masked(model: Model, layer: int, heads: list[int], edges: torch.Tensor) -> Model:
    """The Llama with eager attention, and a mask of -inf at these edges of a layer's heads."""
    changed = copy.deepcopy(model)
    changed.set_attn_implementation("eager")
    attention = changed.layers[layer].self_attn
    forward = attention.forward

    def with_mask(hidden_states: Any, *args: Any, attention_mask: Any, **kwargs: Any) -> Any:
        length = hidden_states.shape[1]
        mask = attention_mask.expand(-1, HEADS, length, length).clone()
        mask[:, heads] = mask[:, heads].masked_fill(edges, -torch.inf)
        return forward(hidden_states, *args, attention_mask=mask, **kwargs)

    attention.forward = with_mask
    return changed


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_cut_edges_equal_scores_at_minus_infinity(attention: str) -> None:
    model = llama(attention)
    edges = torch.zeros(9, 9, dtype=torch.bool)
    edges[[[5], [7]], [0, 2]] = True
    cut = run(model, KnockOut([5, 7], [0, 2], layers=1, heads=[0, 3]))
    expected = plain(masked(model, 1, [0, 3], edges))
    assert not torch.equal(cut, plain(model))
    assert torch.allclose(cut, expected, atol=1e-5)


@BY_NAME
def test_a_capture_within_sees_the_cut_edges(case: Any) -> None:
    build, module, _ = case
    model, layer = build(), layer_of(module)
    inputs = {"input_ids": token_ids(9)}
    with intervene(model, KnockOut(range(3, 9), 1, layer, [2])):
        record = aw.capture(model, None, inputs)
        again = plain(model, inputs["input_ids"])
    assert record.fidelity[record.stacks[0]][layer].exact is not False
    weights = record.weights(layer, 2)
    before = aw.capture(model, None, inputs).weights(layer, 2)
    assert weights[3:, 1].max() == 0
    expected = before.copy()
    expected[3:, 1] = 0
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(weights, expected, atol=1e-5)
    # The model's own result is that of these weights.
    assert torch.equal(again, run(model, KnockOut(range(3, 9), 1, layer, [2]), ids=token_ids(9)))


def test_a_capture_within_sees_what_later_layers_make_of_a_head_off() -> None:
    model = llama()
    inputs = {"input_ids": token_ids(9)}
    with intervene(model, Ablate(0, [0])):
        record = aw.capture(model, None, inputs)
    # Nothing of either trace is left.
    assert _get_current_function_mode() is None  # type: ignore[no-untyped-call]
    changed = copy.deepcopy(model)
    with torch.no_grad():
        changed.layers[0].self_attn.o_proj.weight.unflatten(1, (HEADS, -1))[:, 0] = 0
    expected = aw.capture(changed, None, inputs)
    assert all(layer.exact for layer in record.fidelity["self"])
    for layer in range(2):
        for head in range(HEADS):
            assert np.array_equal(record.weights(layer, head), expected.weights(layer, head))


def by_hand(model: Model, layer: int, head: int, outputs: Any) -> torch.Tensor:
    """The Llama's output if the outputs of a head before the projection are these, [M, Tq, d]."""
    attention = model.layers[layer].self_attn

    def replaced(_module: Any, args: Any) -> Any:
        (received,) = args
        changed = received.clone().unflatten(-1, (HEADS, -1))
        changed[:, :, head] = outputs
        return (changed.flatten(-2),)

    hook = attention.o_proj.register_forward_pre_hook(replaced)
    try:
        return plain(model)
    finally:
        hook.remove()


def head_values(model: Model, layer: int, head: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(values of a query head's key head, its outputs), [M, T, d] each."""
    kept: dict[str, torch.Tensor] = {}
    attention = model.layers[layer].self_attn
    hooks = [
        attention.v_proj.register_forward_hook(lambda _m, _i, out: kept.update(v=out)),
        attention.o_proj.register_forward_pre_hook(lambda _m, args: kept.update(o=args[0])),
    ]
    plain(model)
    for hook in hooks:
        hook.remove()
    key_heads = model.config.num_key_value_heads
    values = kept["v"].unflatten(-1, (key_heads, -1))[:, :, head * key_heads // HEADS]
    return values, kept["o"].unflatten(-1, (HEADS, -1))[:, :, head]


@pytest.mark.parametrize("mode", ["mean", "self", "uniform"])
def test_what_replaces_a_head(mode: Any) -> None:
    model, (layer, head) = llama(), (1, 3)
    values, outputs = head_values(model, layer, head)
    counts = torch.arange(1, values.shape[1] + 1)[:, None]
    expected = {
        "mean": outputs.mean(dim=1, keepdim=True).expand_as(outputs),
        "self": values,
        # Of a causal model, each query may see the tokens up to its own.
        "uniform": values.cumsum(dim=1) / counts,
    }[mode]
    off = run(model, Ablate(layer, head, mode=mode))
    assert torch.allclose(off, by_hand(model, layer, head, expected), atol=1e-5)
    assert not torch.allclose(off, plain(model), atol=1e-3)


@pytest.mark.parametrize("route", ["interface", "interface, eager", "softmax"])
def test_uniform_attention_equals_queries_of_zero(route: str) -> None:
    build, module, _ = MODELS[route]
    model, layer = build(), layer_of(module)
    uniform = run(model, Ablate(layer, 2, mode="uniform"))
    with torch.no_grad():
        weight = model.get_submodule(module).q_proj.weight
        weight.unflatten(0, (HEADS, -1))[2] = 0
    assert torch.allclose(uniform, plain(model), atol=1e-5)


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("build", [bert, llama])
def test_the_mean_of_a_head_leaves_padding_out(build: Any, left: bool) -> None:
    model, ids, padding = build(), token_ids(6), torch.zeros(1, 3, dtype=torch.long)
    parts = [padding, ids] if left else [ids, padding]
    padded = torch.cat(parts, dim=1)
    places = (padded != 0).long().cumsum(dim=1).sub(1).clamp(min=0)
    inputs = {"attention_mask": (padded != 0).long(), "position_ids": places}
    edit = Ablate(0, 1, mode="mean")
    with undisturbed(model), intervene(model, edit):
        states = model(padded, **inputs).last_hidden_state[padded != 0]
    assert torch.allclose(states, run(model, edit, ids=ids)[0], atol=1e-4)


def test_masks_of_minus_ten_thousand() -> None:
    """A query attends uniformly to the tokens up to its own, and needs one of them."""
    model = tiny("OpenAIGPTModel", "eager")
    changed = IDS.clone()
    changed[0, 3:] = changed[0, 3:].flip(0)
    edit = Ablate(mode="uniform")
    states = [run(model, edit, ids=ids)[0, :3] for ids in (IDS, changed)]
    assert torch.allclose(*states, atol=1e-5)
    with pytest.raises(ValueError, match="query 0 is left without a key"):
        run(model, KnockOut(0, 0))


def test_several_nested_and_in_order() -> None:
    model = llama()
    together = run(model, Ablate(0, 1), KnockOut(5, 2, layers=1))
    with undisturbed(model), intervene(model, Ablate(0, 1)), intervene(model, KnockOut(5, 2, 1)):
        nested = model(input_ids=IDS).last_hidden_state
    assert torch.equal(together, nested)
    assert torch.equal(run(model, Scale(2, 0, 1), Scale(0.5, 0, 1)), plain(model))


def test_generation() -> None:
    """With and without a cache, as the changed model generates."""
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    inputs = {"input_ids": token_ids(6), "attention_mask": torch.ones(1, 6, dtype=torch.long)}
    options = {"max_new_tokens": 8, "do_sample": False, "min_new_tokens": 8}
    changed = copy.deepcopy(model)
    with torch.no_grad():
        changed.model.layers[1].self_attn.o_proj.weight.unflatten(1, (HEADS, -1))[:, :3] = 0
    expected = changed.generate(**inputs, **options)
    assert not torch.equal(expected, model.generate(**inputs, **options))
    for use_cache in (True, False):
        with intervene(model, Ablate(1, [0, 1, 2])):
            assert torch.equal(model.generate(**inputs, **options, use_cache=use_cache), expected)


def test_edges_to_a_token_are_cut_in_every_step_of_a_generation() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    inputs = {"input_ids": token_ids(6), "attention_mask": torch.ones(1, 6, dtype=torch.long)}
    options = {"max_new_tokens": 8, "do_sample": False, "min_new_tokens": 8}
    results = []
    for use_cache in (True, False):
        with intervene(model, KnockOut(range(4, 14), 2)):
            results.append(model.generate(**inputs, **options, use_cache=use_cache))
    assert torch.equal(*results)
    assert not torch.equal(results[0], model.generate(**inputs, **options))


def test_a_position_that_no_text_has() -> None:
    with pytest.raises(ValueError, match=r"keys begin at position 60, but no .* more than 9 keys"):
        run(gpt2(), KnockOut(5, [60, 61]), ids=token_ids(9))


@pytest.mark.parametrize("build", [bert, gpt2, llama, lambda: llama("eager")])
def test_positions_of_a_record_are_refused_where_texts_begin_later(build: Any) -> None:
    model, ids = build(), token_ids(6)
    record = aw.capture(model, None, {"input_ids": ids})
    edit = KnockOut(4, 1, record=record)
    padding = torch.zeros(1, 3, dtype=torch.long)
    whole = token_ids(9)
    left, right = (
        torch.cat([whole, torch.cat(parts, dim=1)]) for parts in ([padding, ids], [ids, padding])
    )
    with undisturbed(model), intervene(model, edit):
        cut = model(input_ids=right, attention_mask=(right != 0).long()).last_hidden_state[1, 4]
    assert torch.allclose(cut, run(model, KnockOut(4, 1), ids=ids)[0, 4], atol=1e-4)
    with (
        undisturbed(model),
        pytest.raises(ValueError, match="text 1 of the batch is padded on the left"),
        intervene(model, edit),
    ):
        model(input_ids=left, attention_mask=(left != 0).long())
    # Without a record, positions are the call's own.
    with undisturbed(model), intervene(model, KnockOut(7, 4)):
        model(input_ids=left, attention_mask=(left != 0).long())


def test_positions_of_a_record_in_a_padded_generation() -> None:
    model, ids = tiny("LlamaForCausalLM", num_key_value_heads=2), token_ids(6)
    edit = KnockOut(4, 1, record=aw.capture(model, None, {"input_ids": ids}))
    padded = torch.cat([token_ids(9), torch.nn.functional.pad(ids, (3, 0))])
    options = {"max_new_tokens": 2, "do_sample": False}
    with pytest.raises(ValueError, match="padded on the left"), intervene(model, edit):
        model.generate(input_ids=padded, attention_mask=(padded != 0).long(), **options)
    with intervene(model, edit):
        model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), **options)


def test_the_first_token_may_be_cut_from_all() -> None:
    model = bert()
    record = aw.capture(model, None, {"input_ids": IDS})
    assert torch.equal(run(model, KnockOut(None, 0, record=record)), run(model, KnockOut(None, 0)))


@pytest.mark.parametrize("inner", [False, True])
def test_compiled_models_are_changed_as_others(inner: bool) -> None:
    model = llama()
    compiled: Any = torch.compile(model, backend="eager", fullgraph=True)
    with undisturbed(model):
        before = compiled(input_ids=IDS).last_hidden_state
    with torch.no_grad(), intervene(model if inner else compiled, Ablate(1, [1, 3])):
        changed = compiled(input_ids=IDS).last_hidden_state
    assert torch.equal(changed, run(model, Ablate(1, [1, 3])))
    with torch.no_grad():
        assert torch.equal(compiled(input_ids=IDS).last_hidden_state, before)


@pytest.mark.parametrize("build", [t5, bart])
def test_stacks_of_an_encoder_decoder(build: Any) -> None:
    model = build()
    inputs = {"input_ids": token_ids(7), "decoder_input_ids": token_ids(5, seed=3)}
    for stack, name in (("encoder", "encoder"), ("decoder", "decoder"), ("cross", "cross")):
        with intervene(model, KnockOut(None, 2, layers=1, heads=0, stack=stack)):
            if stack == "decoder":
                # The first two queries of a causal stack do not see it.
                record = aw.capture(model, None, inputs)
            else:
                record = aw.capture(model, None, inputs)
        assert record.weights(1, 0, name)[:, 2].max() == 0
        assert record.weights(1, 1, name)[:, 2].max() > 0
        assert record.weights(0, 0, name)[:, 2].max() > 0


def test_layers_that_share_their_weights_are_called_one_after_the_other() -> None:
    model = tiny("Albert")
    snapshot = Snapshot(model)
    attention = model.encoder.albert_layer_groups[0].albert_layers[0].attention
    calls: list[int] = []

    def without(_module: Any, args: Any) -> Any:
        calls.append(len(calls))
        changed = args[0].clone().unflatten(-1, (HEADS, -1))
        if calls[-1] == 1:
            changed[:, :, 2] = 0
        return (changed.flatten(-2),)

    hook = attention.dense.register_forward_pre_hook(without)
    expected = plain(model)
    hook.remove()
    assert calls == [0, 1]
    assert torch.equal(run(model, Ablate(1, 2)), expected)
    assert not torch.equal(run(model, Ablate(0, 2)), expected)
    snapshot.assert_unchanged()
    with pytest.raises(ValueError, match="layer 2 of stack 'self' was not called"):
        run(model, Ablate(2, 2))


def test_layers_with_shifted_windows_are_those_of_the_record() -> None:
    built = zoo.build("swin")
    stack = "self shifted 2"
    effect = aw.ablate(built.model, None, built.inputs, heads=[(1, 0), (1, 1)], stack=stack)
    assert effect.record is not None
    before, after = effect.record
    changed = [
        name
        for name in before.stacks
        for number in before.stack(name).numbers
        if not np.array_equal(before.weights(number, 0, name), after.weights(number, 0, name))
    ]
    assert list(dict.fromkeys(changed)) == ["self 3", "self shifted 3", "self 4"]


def test_layers_that_names_do_not_tell_apart() -> None:
    lilt, swin = (zoo.build(name) for name in ("lilt", "swin"))
    for built, reason in ((lilt, "several times in a pass"), (swin, "another number of tokens")):
        with (
            torch.no_grad(),
            pytest.raises(ValueError, match=reason),
            intervene(built.model, Ablate([0, 1])),
        ):
            built.model(**built.inputs)
        with torch.no_grad(), intervene(built.model, Scale(1)):
            built.model(**built.inputs)
        record = aw.capture(built.model, None, built.inputs)
        stack = record.stacks[-1]
        layer = record.stack(stack).layers[-1].number
        effect = aw.ablate(built.model, None, built.inputs, heads=[(layer, 0)], stack=stack)
        assert effect.record is not None
        before, after = effect.record
        for name in record.stacks:
            for each in record.stack(name).layers:
                same = np.array_equal(
                    before.weights(each.number, 0, name), after.weights(each.number, 0, name)
                )
                assert same, "no layer comes after the last one"


def test_gradients_pass_through() -> None:
    model = llama()
    with intervene(model, Scale(0.5, 1, 2), KnockOut(5, 2, layers=0)):
        model(input_ids=IDS).last_hidden_state.square().mean().backward()
    gradient = model.layers[0].self_attn.q_proj.weight.grad
    assert torch.isfinite(gradient).all()
    assert gradient.abs().max() > 0


def test_the_model_is_as_before_after_an_exception() -> None:
    model = llama()
    before, snapshot = plain(model), Snapshot(model)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    hook = model.layers[1].mlp.register_forward_hook(interrupted)
    with pytest.raises(KeyboardInterrupt), intervene(model, Ablate(0, 1)):
        model(input_ids=IDS)
    hook.remove()
    snapshot.assert_unchanged()
    assert torch.equal(plain(model), before)


@pytest.mark.parametrize(
    ("intervention", "error", "message"),
    [
        (Ablate(2), ValueError, r"no layer 2 in stack 'self'; there are 2 layers, 0 to 1"),
        (Ablate(0, stack="cross"), ValueError, "no stack 'cross'; the model has 'self'"),
        ("head 3", TypeError, "'head 3' is no intervention"),
    ],
)
def test_what_does_not_exist(intervention: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message), intervene(llama(), intervention):
        pass


def test_a_head_that_does_not_exist_and_a_layer_that_never_ran() -> None:
    model = llama()
    for edit in (Ablate(1, 4), KnockOut(1, 0, 1, 4)):
        with pytest.raises(ValueError, match="head 4 of layer 1 does not exist: there are 4, from"):
            run(model, edit)
    never = pytest.raises(ValueError, match="layer 1 of stack 'self' was not called")
    with never, intervene(model, Ablate(1, 0)):
        pass


def test_the_model_comes_first() -> None:
    with pytest.raises(TypeError, match=r"model is Ablate; expected a torch.nn.Module, .* first"):
        intervene(Ablate(0), llama())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "off"}, "mode is 'off'; expected one of 'zero'"),
        ({"mode": "resample"}, "give the outputs of another text: attnwidget.Patch"),
        ({"at": "input"}, "at is 'input'; expected one of 'head', 'projection'"),
        ({"at": "projection", "mode": "mean"}, "mode 'mean' replaces the output of a head"),
    ],
)
def test_modes_and_places_that_do_not_exist(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ablate(0, 0, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"heads": "3"}, TypeError, "heads is '3'; expected a number, several as"),
        ({"layers": 1.0}, TypeError, "layers is 1.0; expected a number"),
        ({"heads": [True, False]}, TypeError, r"heads is \[True, False\]; expected a number"),
        ({"layers": []}, ValueError, "layers is empty; give at least one, or None for all"),
    ],
)
def test_numbers_that_are_none(options: Any, error: type[Exception], message: str) -> None:
    for edit in (Ablate, partial(Scale, 0), partial(KnockOut, 1, 0)):
        with pytest.raises(error, match=message):
            edit(**options)


def test_numbers_of_arrays() -> None:
    edit = Ablate(np.int64(1), np.array([0, 3]))
    assert edit == Ablate(1, (0, 3))
    assert KnockOut(torch.tensor(2), np.arange(2)) == KnockOut(2, (0, 1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="keys is empty"):
        KnockOut(2, [])


def test_a_norm_over_all_heads_before_the_projection() -> None:
    """A head that is off at the projection still counts in the norm."""
    built = zoo.build("bitnet")
    model, ids = built.model, built.inputs["input_ids"]
    snapshot = Snapshot(model)
    off = run(model, Ablate(0, 1, at="projection"), ids=ids)
    both = run(model, Ablate(0, 1, at="projection"), Ablate(0, 2, at="projection"), ids=ids)
    assert not torch.equal(off, run(model, Ablate(0, 1), ids=ids))
    with intervene(model, Ablate(0, 1, at="projection")):
        within = aw.capture(model, None, {"input_ids": ids})
    snapshot.assert_unchanged()
    heads = model.config.num_attention_heads
    weight = model.get_submodule("layers.0.self_attn.o_proj").weight
    with torch.no_grad():
        weight.unflatten(1, (heads, -1))[:, 1] = 0
    assert torch.equal(off, plain(model, ids))
    changed = aw.capture(model, None, {"input_ids": ids})
    assert np.array_equal(within.weights(1, 0), changed.weights(1, 0))
    with torch.no_grad():
        weight.unflatten(1, (heads, -1))[:, 2] = 0
    assert torch.equal(both, plain(model, ids))


def test_hooks_of_a_projection_run_once() -> None:
    model, calls = llama(), []
    hook = model.layers[1].self_attn.o_proj.register_forward_hook(lambda *_: calls.append(1))
    run(model, Ablate(1, 1, at="projection"))
    hook.remove()
    assert len(calls) == 1


def test_a_projection_behind_a_gate() -> None:
    built = zoo.build("qwen3_next")
    with pytest.raises(ValueError, match=r"projection of layers.1.self_attn is not known"):
        run(built.model, Ablate(1, 1, at="projection"), ids=built.inputs["input_ids"])


@BY_NAME
def test_a_query_keeps_a_key(case: Any) -> None:
    """Otherwise it would attend to the tokens after it, whose scores are the lowest float."""
    build, module, _ = case
    with pytest.raises(ValueError, match="left without a key"):
        run(build(), KnockOut(0, 0, layer_of(module)))


@pytest.mark.parametrize("build", [bert, gpt2, llama])
def test_another_model_within_is_left_alone(build: Any) -> None:
    model, other = build(), llama("eager")
    expected = plain(other)
    with intervene(model, Ablate(0)):
        assert torch.equal(plain(other), expected)
        plain(model)


class Around(torch.nn.Module):
    """A module of one's own around a model, with layers before and after it."""

    def __init__(self, model: Model, *, held: bool) -> None:
        super().__init__()
        self.before, self.after = torch.nn.Identity(), torch.nn.Linear(32, 2)
        self.after.weight.data.fill_(0.1)
        # Not every module that calls a model has it as a part.
        self.of = model if held else [model]

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        model = self.of[0] if isinstance(self.of, list) else self.of
        output: torch.Tensor = self.after(model(input_ids=self.before(ids)).last_hidden_state)
        return output


@pytest.mark.parametrize("held", [True, False])
def test_the_model_may_run_within_another_module(held: bool) -> None:
    model = llama()
    around = Around(model, held=held)
    with torch.no_grad(), intervene(model, Ablate(1, [1, 3])):
        within = around(IDS)
    assert torch.equal(within, around.after(run(model, Ablate(1, [1, 3]))))


def test_a_part_of_a_model_may_run_within_it() -> None:
    """The encoder of an encoder-decoder, and the base of an adapter."""
    pair = bart()
    inputs = {"input_ids": IDS, "decoder_input_ids": IDS}
    with undisturbed(pair):
        with intervene(pair.encoder, Ablate(1, [1, 3])):
            within = pair(**inputs).last_hidden_state
        with intervene(pair, Ablate(1, [1, 3], stack="encoder")):
            whole = pair(**inputs).last_hidden_state
    assert torch.equal(within, whole)
    base = tiny("LlamaForCausalLM", num_key_value_heads=2)
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj"])
    adapted = peft.get_peft_model(base, config)
    with undisturbed(adapted):
        with intervene(adapted.base_model.model, Ablate(1, [1, 3])):
            within = adapted(input_ids=IDS).logits
        with intervene(adapted, Ablate(1, [1, 3])):
            assert torch.equal(within, adapted(input_ids=IDS).logits)
