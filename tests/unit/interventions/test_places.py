"""Edits at some positions, and at places of a layer, equal hooks of modules that do the same."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import peft
import pytest
import torch

import attnwidget as aw
from attnwidget.interventions.edits import Intervention
from attnwidget.tracing import undisturbed
from tests.unit.interventions.test_intervene import BY_NAME, layer_of, plain, run
from tests.unit.interventions.test_intervene_generation import CACHES, OPTIONS, PROMPT, generated
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import Model, bert, gpt2, llama, t5, tiny, token_ids
from tests.unit.tracing.test_outputs import HEADS, IDS, bloom

Change = Callable[[torch.Tensor], torch.Tensor]

POSITIONS = [2, 5]


@contextmanager
def changing(
    model: Model, module: str, change: Change, *, received: bool = False
) -> Iterator[None]:
    """Change what a module returns, or receives, by a hook."""

    def before(_module: Any, args: Any) -> Any:
        return (change(args[0]), *args[1:])

    def after(_module: Any, _args: Any, output: Any) -> Any:
        return (change(output[0]), *output[1:]) if isinstance(output, tuple) else change(output)

    found = model.get_submodule(module)
    hook = (
        found.register_forward_pre_hook(before) if received else found.register_forward_hook(after)
    )
    try:
        yield
    finally:
        hook.remove()


def at_positions(change: Change, positions: list[int] = POSITIONS) -> Change:
    """The change at these positions of [items, tokens, width] alone."""

    def changed(own: torch.Tensor) -> torch.Tensor:
        new = own.clone()
        new[:, positions] = change(own[:, positions])
        return new

    return changed


def of_heads(heads: list[int], change: Change) -> Change:
    def changed(own: torch.Tensor) -> torch.Tensor:
        new = own.clone().unflatten(-1, (HEADS, -1))
        new[..., heads, :] = change(new[..., heads, :])
        return new.flatten(-2)

    return changed


def times(factor: float, heads: list[int]) -> Change:
    return of_heads(heads, lambda own: factor * own)


@BY_NAME
def test_heads_at_positions(case: Any) -> None:
    build, module, projection = case
    model, layer = build(), layer_of(module)
    snapshot = Snapshot(model)
    other = token_ids(9, seed=3)
    source = aw.head_outputs(model, None, {"input_ids": other})
    edits: list[tuple[Intervention, float]] = [
        (aw.Ablate(layer, [1, 3], positions=POSITIONS), 0),
        (aw.Ablate(layer, [1, 3], positions=range(2, 6, 3), at="projection"), 0),
        (aw.Scale(3, layer, [1, 3], positions=np.array(POSITIONS)), 3),  # type: ignore[arg-type]
        (aw.Scale(3, layer, [1, 3], at="projection", positions=POSITIONS), 3),
    ]
    for edit, factor in edits:
        changed = run(model, edit, ids=IDS)
        with changing(model, projection, at_positions(times(factor, [1, 3])), received=True):
            assert torch.allclose(changed, plain(model), atol=1e-6), edit
    patched = run(model, aw.Patch(source, layer, [1, 3], positions=POSITIONS))
    outputs = torch.tensor(source.layer(layer))[:, [1, 3]][:, :, POSITIONS].transpose(1, 2)
    put = at_positions(of_heads([1, 3], lambda _: outputs))
    with changing(model, projection, put, received=True):
        assert torch.allclose(patched, plain(model), atol=1e-6)
    snapshot.assert_unchanged()


def by_hand(model: Model, change: Change, positions: list[int]) -> Any:
    """Change what the second layer's projection receives, by the positions of the whole text."""
    return changing(
        model,
        "model.layers.1.self_attn.o_proj",
        lambda own: at_positions(
            of_heads([0, 1], change), [each for each in positions if each < own.shape[1]]
        )(own),
        received=True,
    )


@pytest.mark.parametrize("cache", CACHES.values(), ids=CACHES)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_positions_in_generation(options: dict[str, Any], cache: dict[str, Any]) -> None:
    """Of the prompt and of what is generated, with a cache as without one."""
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    with by_hand(model, lambda own: 0 * own, [3, 7, 9]):
        expected = generated(model, **options, use_cache=False)
    assert not torch.equal(expected, generated(model, **options))
    with aw.intervene(model, aw.Ablate(1, [0, 1], positions=[3, 7, 9])):
        assert torch.equal(generated(model, **options, **cache), expected)


@pytest.mark.parametrize("cache", CACHES.values(), ids=CACHES)
@pytest.mark.parametrize("at", ["residual pre", "residual mid", "mlp", "keys", "values", "queries"])
def test_places_in_generation(at: Any, cache: dict[str, Any]) -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    modules = {
        "residual pre": ("model.layers.1", True),
        "mlp": ("model.layers.1.mlp", False),
        "keys": ("model.layers.1.self_attn.k_proj", False),
        "values": ("model.layers.1.self_attn.v_proj", False),
        "queries": ("model.layers.1.self_attn.q_proj", False),
    }
    positions = [1, 3, 7, 9]

    def scaled(own: torch.Tensor) -> torch.Tensor:
        here = [each for each in positions if each < own.shape[1]]
        return at_positions(lambda each: -4 * each, here)(own)

    with ExitStack() as stack:
        if at in modules:
            module, received = modules[at]
            stack.enter_context(changing(model, module, scaled, received=received))
        else:
            stack.enter_context(mid_changed(model.model.layers[1], scaled))
        expected = generated(model, do_sample=False, use_cache=False)
    assert not torch.equal(expected, generated(model, do_sample=False))
    with aw.intervene(model, aw.Scale(-4, 1, at=at, positions=positions)):
        assert torch.equal(generated(model, do_sample=False, **cache), expected)


@pytest.mark.parametrize("cache", CACHES.values(), ids=CACHES)
@pytest.mark.parametrize("at", ["head", "keys", "weights", "residual post"])
def test_patches_of_a_prompt_in_generation(at: Any, cache: dict[str, Any]) -> None:
    """A prompt's tokens get what was there in another one; those after it have none."""
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    other = {"input_ids": token_ids(PROMPT.shape[1], seed=4)}
    source = aw.head_outputs(model, None, other, at=at)
    patch = aw.Patch(source, 0, at=at, positions=[1, 4, 5])
    with aw.intervene(model, patch):
        expected = generated(model, do_sample=False, use_cache=False)
        assert torch.equal(generated(model, do_sample=False, **cache), expected)
    assert not torch.equal(generated(model, do_sample=False), expected)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("name", ["Mamba", "Mistral", "GPT2LMHead"])
def test_streams_of_caches_of_other_kinds(name: str, cached: bool) -> None:
    """States, windows, and the caches of old."""
    options, layers = {
        "Mamba": ({}, "backbone.layers"),
        "Mistral": ({"sliding_window": 5, "num_key_value_heads": 2}, "model.layers"),
        "GPT2LMHead": ({"n_embd": 32, "n_head": 4, "n_layer": 2}, "transformer.h"),
    }[name]
    model = tiny(f"{name}Model" if "Head" in name else f"{name}ForCausalLM", "eager", **options)
    positions = [1, 3, 5, 7, 9]

    def minus(own: torch.Tensor) -> torch.Tensor:
        return at_positions(lambda each: -each, [n for n in positions if n < own.shape[1]])(own)

    with changing(model, f"{layers}.1", minus, received=True):
        expected = generated(model, do_sample=False, use_cache=False)
    assert not torch.equal(generated(model, do_sample=False), expected)
    with aw.intervene(model, aw.Scale(-1, 1, at="residual pre", positions=positions)):
        assert torch.equal(generated(model, do_sample=False, use_cache=cached), expected)


@contextmanager
def mid_changed(layer: Any, change: Change) -> Iterator[None]:
    """Change the stream between attention and MLP of a Llama's layer, which is written anew."""

    def forward(hidden_states: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        attention, _ = layer.self_attn(hidden_states=layer.input_layernorm(hidden_states), **kwargs)
        mid = change(hidden_states + attention)
        result: torch.Tensor = mid + layer.mlp(layer.post_attention_layernorm(mid))
        return result

    layer.forward = forward
    try:
        yield
    finally:
        del layer.forward


# By place, a module whose output it is, or whose argument (True).
STREAMS: dict[str, tuple[Callable[[], Model], dict[str, tuple[str, bool]]]] = {
    "Llama": (
        llama,
        {
            "embedding": ("layers.0", True),
            "residual pre": ("layers.1", True),
            "residual post": ("layers.0", False),
            "attention": ("layers.1.self_attn", False),
            "mlp": ("layers.1.mlp", False),
        },
    ),
    "GPT-2": (
        gpt2,
        {
            "residual pre": ("h.1", True),
            "residual post": ("h.0", False),
            "attention": ("h.1.attn", False),
            "mlp": ("h.1.mlp", False),
        },
    ),
    "BERT": (
        bert,
        {
            "residual pre": ("encoder.layer.1", True),
            "residual mid": ("encoder.layer.1.attention.output", False),
            "residual post": ("encoder.layer.0", False),
            "attention": ("encoder.layer.1.attention.output.dense", False),
            "mlp": ("encoder.layer.1.output.dense", False),
        },
    ),
    "a factor": (
        lambda: tiny("Granite", num_key_value_heads=2, residual_multiplier=0.3),
        {"attention": ("layers.1.self_attn", False), "mlp": ("layers.1.mlp", False)},
    ),
    "both at once": (
        lambda: tiny("GPTNeoX"),
        {"attention": ("layers.1.attention", False), "mlp": ("layers.1.mlp", False)},
    ),
    "tokens in one axis": (
        lambda: tiny("OPT", ffn_dim=48, word_embed_proj_dim=32),
        {"attention": ("decoder.layers.1.self_attn", False)},
    ),
    "shared layers": (
        lambda: tiny("Albert", embedding_size=16, num_hidden_layers=1),
        {"residual mid": ("encoder.albert_layer_groups.0.albert_layers.0.attention", False)},
    ),
}


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name, (_, places) in STREAMS.items() for at in places]
)
def test_places_of_streams(name: str, at: Any) -> None:
    build, places = STREAMS[name]
    model, (module, received) = build(), places[at]
    layer = layer_of(module)
    layers = None if at == "embedding" else layer
    snapshot = Snapshot(model)
    source = aw.head_outputs(model, None, {"input_ids": token_ids(9, seed=3)}, at=at)
    there = torch.tensor(source.layer(0 if at == "embedding" else layer))[:, 0]

    def averaged(own: torch.Tensor) -> torch.Tensor:
        return at_positions(lambda _: own.mean(dim=1, keepdim=True))(own)

    edits: list[tuple[Intervention, Change]] = [
        (aw.Ablate(layers, at=at, positions=POSITIONS), at_positions(lambda own: 0 * own)),
        (aw.Ablate(layers, at=at, mode="mean", positions=POSITIONS), averaged),
        (aw.Scale(3, layers, at=at), lambda own: 3 * own),
        (
            aw.Patch(source, layers, at=at, positions=POSITIONS),
            at_positions(lambda _: there[:, POSITIONS]),
        ),
        (aw.Patch(source, layers, at=at), lambda _: there.expand(2, -1, -1)),
    ]
    for edit, change in edits:

        def shaped(own: torch.Tensor, change: Change = change) -> torch.Tensor:
            return change(own.reshape(*IDS.shape, -1)).reshape(own.shape)

        changed = run(model, edit)
        with changing(model, module, shaped, received=received):
            assert torch.allclose(changed, plain(model), atol=1e-5), edit
        assert not torch.allclose(changed, plain(model), atol=1e-3)
    snapshot.assert_unchanged()


def test_the_middle_of_a_layer_that_no_module_returns() -> None:
    model = llama()
    for positions, change in ((None, lambda own: 3 * own), (POSITIONS, lambda own: 0 * own)):
        edit = aw.Scale(3, 1, at="residual mid")
        if positions is not None:
            edit = aw.Scale(0, 1, at="residual mid", positions=positions)
        with mid_changed(model.layers[1], at_positions(change, positions or list(range(9)))):
            expected = plain(model)
        assert torch.allclose(run(model, edit), expected, atol=1e-5)


def test_streams_of_an_encoder_decoder() -> None:
    model = t5("T5ForConditionalGeneration")
    inputs = {"input_ids": token_ids(7), "decoder_input_ids": token_ids(5, seed=3)}

    def logits(*edits: Intervention) -> torch.Tensor:
        with undisturbed(model), aw.intervene(model, *edits):
            found: torch.Tensor = model(**inputs).logits
        return found

    for stack, module in (("decoder", "layer.0"), ("cross", "layer.1")):
        changed = logits(aw.Ablate(1, stack=stack, at="residual mid", positions=2))
        with changing(model, f"decoder.block.1.{module}", at_positions(lambda own: 0 * own, [2])):
            assert torch.allclose(changed, logits(), atol=1e-5)
    changed = logits(aw.Scale(2, 0, stack="encoder", at="mlp"))
    with changing(model, "encoder.block.0.layer.1.DenseReluDense", lambda own: 2 * own):
        assert torch.allclose(changed, logits(), atol=1e-5)
    with pytest.raises(ValueError, match=r"several stacks; give stack=, one of \['encoder', "):
        logits(aw.Ablate(0, at="mlp"))


def test_the_last_token_of_each_text() -> None:
    model = bert()
    mask = torch.ones_like(IDS)
    mask[1, 6:] = 0
    inputs = {"input_ids": IDS, "attention_mask": mask}

    def states(*edits: Intervention) -> torch.Tensor:
        with undisturbed(model), aw.intervene(model, *edits):
            found: torch.Tensor = model(**inputs).last_hidden_state
        return found

    def last(own: torch.Tensor) -> torch.Tensor:
        new = own.clone()
        new[0, 8], new[1, 5] = 0, 0
        return new

    expected = {
        "head": ("encoder.layer.1.attention.output.dense", True),
        "values": ("encoder.layer.1.attention.self.value", False),
        "mlp": ("encoder.layer.1.output.dense", False),
    }
    for at, (module, received) in expected.items():
        changed = states(aw.Ablate(1, at=at, positions="last"))  # type: ignore[arg-type]
        with changing(model, module, last, received=received):
            assert torch.allclose(changed, states(), atol=1e-5), at


def test_positions_by_text_and_what_they_cannot_be() -> None:
    model, tokenizer = aw.default_model()
    text = "The lawyer who the judges admired was early."
    record = aw.capture(model, tokenizer, text)
    edit = aw.Ablate(0, 2, positions="the judges", record=record)
    assert edit.of_record
    assert edit.positions == tuple(aw.analysis.positions(record.stack().keys, "the judges"))
    assert aw.Scale(0, positions="was early", record=record).positions != edit.positions
    for make in (aw.Ablate, lambda **given: aw.Scale(2, **given)):
        with pytest.raises(ValueError, match=r"positions has the text 'x': give record="):
            make(positions="x")
        with pytest.raises(ValueError, match="positions has -1; positions count from 0"):
            make(positions=[1, -1])
        with pytest.raises(ValueError, match="positions is empty"):
            make(positions=[])
        with pytest.raises(TypeError, match="record is str"):
            make(positions=1, record="x")
        with pytest.raises(ValueError, match="heads are mixed at 'mlp': leave heads out"):
            make(heads=1, at="mlp")
        with pytest.raises(ValueError, match="at is 'lips'; expected one of 'head', 'projection'"):
            make(at="lips")
    llamas = llama()
    for at in ("head", "mlp", "keys"):
        with pytest.raises(ValueError, match=r"positions begin at .* 9, but no text .* 9 tok"):
            run(llamas, aw.Ablate(positions=[9], at=at))  # type: ignore[arg-type]
    padded = {"input_ids": IDS, "attention_mask": torch.ones_like(IDS)}
    padded["attention_mask"][0, :2] = 0
    own = aw.capture(llamas, None, {"input_ids": token_ids(9)})
    for at in ("head", "mlp"):
        with (
            pytest.raises(ValueError, match=r"padded on the left .*: Ablate\(..., record"),
            aw.intervene(llamas, aw.Ablate(1, at=at, positions=1, record=own)),  # type: ignore[arg-type]
        ):
            llamas(**padded)


def test_places_that_a_model_does_not_have() -> None:
    with pytest.raises(ValueError, match="layer 0 of layers has no 'residual mid': nothing is add"):
        run(tiny("GPTNeoX"), aw.Ablate(at="residual mid"))
    with pytest.raises(ValueError, match=r"no layer 5 in layers; there are 2 layers, 0 to 1"):
        run(llama(), aw.Ablate(5, at="mlp"))
    with pytest.raises(ValueError, match="no 'attention': it is not one attention"):
        run(llama_of_stages(), aw.Ablate(0, at="attention"))
    with pytest.raises(ValueError, match="source is of at='mlp', and the patch of 'attention'"):
        aw.Patch(aw.head_outputs(llama(), None, {"input_ids": IDS}, at="mlp"), at="attention")
    with pytest.raises(ValueError, match="computes scores by code of its own"):
        run(bloom(), aw.Scale(2, 1, at="keys"))


def llama_of_stages() -> Model:
    """A Llama whose layers are stages of two each."""
    model = llama(num_hidden_layers=4)

    class Stage(torch.nn.Module):
        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(layers)

        def forward(self, hidden_states: torch.Tensor, **kwargs: Any) -> torch.Tensor:
            for layer in self.layers:
                hidden_states = layer(hidden_states, **kwargs)
            return hidden_states

    model.layers = torch.nn.ModuleList(Stage(model.layers[n : n + 2]) for n in (0, 2))
    return model


@pytest.mark.parametrize("by_position", [False, True])
@pytest.mark.parametrize("at", ["head", "residual pre", "values"])
def test_the_mean_over_texts(at: Any, by_position: bool) -> None:
    model, tokenizer = aw.default_model()
    texts = ["The lawyer was early.", "The judges were late."]
    over = aw.mean_outputs(model, tokenizer, texts, at=at, by_position=by_position)
    read = [aw.head_outputs(model, tokenizer, text, at=at).layer(1) for text in texts]
    axes = 0 if by_position else (0, 2)
    expected = np.concatenate(read).mean(axis=axes, keepdims=True)
    np.testing.assert_allclose(over.layer(1), expected, atol=1e-6)
    edit = aw.Ablate(1, mode="mean", at=at, over=over, positions=2)
    with aw.intervene(model, edit):
        record = aw.capture(model, tokenizer, texts[0])
        within = aw.head_outputs(model, tokenizer, texts[0], at=at).layer(1)
    if at != "values":  # other values of the same calls
        np.testing.assert_allclose(
            within[0, :, 2], expected[0, :, 2 if by_position else 0], atol=1e-6
        )
    how = "2 texts, by position" if by_position else "2 texts"
    assert f"at position 2 with the mean over {how} of" in record.model
    with pytest.raises(ValueError, match="over is a mean at"):
        aw.Ablate(1, over=over)


def made(kind: str) -> tuple[Model, str]:
    """(a Llama, or a model around it, and the path to its layers)."""
    model = tiny("LlamaForCausalLM", num_key_value_heads=2, attention_dropout=0.0)
    if kind == "half precision":
        return model.bfloat16(), "model.layers"
    if kind == "adapter":
        config = peft.LoraConfig(target_modules=["down_proj"], init_lora_weights=False)
        return peft.get_peft_model(model, config).eval(), "base_model.model.model.layers"
    if kind == "training":
        return bert(hidden_dropout_prob=0.3).train(), "encoder.layer"
    return model, "model.layers"


@pytest.mark.parametrize("kind", ["half precision", "adapter", "training", "a context within"])
def test_streams_elsewhere(kind: str) -> None:
    model, layers = made(kind)
    module = "1.output.dropout" if kind == "training" else "1.mlp"

    def output() -> torch.Tensor:
        torch.manual_seed(0)
        with torch.no_grad():
            found: torch.Tensor = model(input_ids=IDS)[0]
        return found

    with changing(model, f"{layers}.{module}", at_positions(lambda own: -own)):
        expected = output()
    outer = [aw.Scale(1, 0, at="residual mid")] if kind == "a context within" else []
    with (
        aw.intervene(model, *outer),
        aw.intervene(model, aw.Scale(-1, 1, at="mlp", positions=POSITIONS)),
    ):
        assert torch.equal(output(), expected)
    assert not torch.equal(output(), expected)


def test_gradients_go_through_streams() -> None:
    model = llama()
    weight = model.layers[0].mlp.down_proj.weight

    def gradient() -> torch.Tensor:
        found: torch.Tensor = torch.autograd.grad(
            model(input_ids=IDS).last_hidden_state.square().sum(), weight
        )[0]
        return found

    with aw.intervene(model, aw.Scale(-1, 1, at="residual mid", positions=POSITIONS)):
        found = gradient()
    with mid_changed(model.layers[1], at_positions(lambda own: -own)):
        assert torch.allclose(found, gradient(), rtol=1e-4, atol=1e-4)


def test_every_head_with_its_mean_over_texts() -> None:
    model, tokenizer = aw.default_model()
    text = "The lawyer was early."
    over = aw.mean_outputs(model, tokenizer, ["The judges were late.", "It was early."])
    scores = aw.ablation_scan(model, tokenizer, text, source=over, layers=1, null=False)
    assert "its outputs replaced by their mean over 2 texts" in scores.description
    with aw.intervene(model, aw.Ablate(1, 2, mode="mean", over=over)):
        after = model(**tokenizer(text, return_tensors="pt")).last_hidden_state
    before = model(**tokenizer(text, return_tensors="pt")).last_hidden_state
    turn = 1 - torch.cosine_similarity(before, after, dim=-1).mean()
    assert scores.values()[0, 2] == pytest.approx(float(turn), abs=1e-5)
    keys = aw.head_outputs(model, tokenizer, text, at="keys")
    with pytest.raises(ValueError, match="source is of at='keys'; expected head outputs"):
        aw.ablation_scan(model, tokenizer, text, source=keys)
