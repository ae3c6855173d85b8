"""A model is captured in the state in which it is: compiled, quantised, offloaded, adapted."""

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import accelerate
import peft
import pytest
import torch

from attnwidget import capture
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import (
    Model,
    assert_attention,
    eager_attentions,
    llama,
    returned,
    tiny,
    token_ids,
)

TEXT = {"input_ids": token_ids(9)}

Build = Callable[..., Model]


def bloom(attention: str = "eager", **options: Any) -> Model:
    return tiny("Bloom", "eager", n_layer=2, n_head=4, **options)


@pytest.fixture(params=[llama, bloom])
def build(request: pytest.FixtureRequest) -> Build:
    """By either route of capture."""
    found: Build = request.param
    return found


def _reference(model: Model) -> list[Any]:
    return [own[0] for own in eager_attentions(model, TEXT)]


def compiled(model: Model, _: Path) -> Model:
    return torch.compile(model, backend="eager")


def compiled_in_place(model: Model, _: Path) -> Model:
    model.compile(backend="eager")
    return model


def with_a_compiled_layer(model: Model, _: Path) -> Model:
    layers = model.layers if hasattr(model, "layers") else model.h
    layers[1].compile(backend="eager")
    return model


def in_training(model: Model, _: Path) -> Model:
    return model.train()


def with_checkpoints(model: Model, _: Path) -> Model:
    model.train().gradient_checkpointing_enable({"use_reentrant": False})
    return model


def on_the_cpu_until_needed(model: Model, _: Path) -> Model:
    return accelerate.cpu_offload(model, execution_device=torch.device("cpu"))


def on_disk_until_needed(model: Model, folder: Path) -> Model:
    return accelerate.disk_offload(model, folder, execution_device=torch.device("cpu"))


def in_parts(model: Model, folder: Path) -> Model:
    """One layer on disk, the rest in memory."""
    layers = "layers" if hasattr(model, "layers") else "h"
    places = {name: "cpu" for name, _ in model.named_children() if name != layers}
    places |= {f"{layers}.0": "cpu", f"{layers}.1": "disk"}
    return accelerate.dispatch_model(
        model, places, main_device="cpu", offload_dir=folder, force_hooks=True
    )


STATES = [
    compiled, compiled_in_place, with_a_compiled_layer, in_training, with_checkpoints,
    on_the_cpu_until_needed, on_disk_until_needed, in_parts,
]  # fmt: skip


@pytest.mark.parametrize("state", STATES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_state_changes_nothing(
    state: Callable[[Model, Path], Model], build: Build, tmp_path: Path, default_stance: None
) -> None:
    expected = _reference(build("eager"))
    model = state(build(attention_dropout=0.5), tmp_path)
    with torch.no_grad():
        model(**TEXT)
    before = Snapshot(model) if state is not compiled else None
    for _ in range(2):
        record = capture(model, None, TEXT)
        assert_attention(record, expected)
        assert record.missing == ()
    if before is not None:
        before.assert_unchanged()


def test_a_model_with_flex_attention() -> None:
    """Its mask is a function."""
    model = llama("flex_attention")
    before = Snapshot(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record = capture(model, None, TEXT)
    assert_attention(record, _reference(llama("eager")))
    program = record.layer(0).program
    assert program is not None
    assert program.mask == "causal"
    before.assert_unchanged()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_written_out_softmax_in_other_precisions(dtype: torch.dtype) -> None:
    """Compare the first layer: in lower precision, two runs drift apart from layer to layer."""
    model = bloom().to(dtype)
    record = capture(model, None, TEXT)
    tolerance = {torch.bfloat16: 3e-2, torch.float16: 5e-3}.get(dtype, 1e-5)
    for fidelity in record.fidelity["self"]:
        assert fidelity.exact is True
        assert fidelity.tolerance == tolerance
        assert fidelity.kept == "queries and keys"
    own = returned(model, **TEXT)["attentions"][0][0]
    for head in range(4):
        assert abs(record.weights(0, head) - own[head]).max() < tolerance


def test_a_quantised_model() -> None:
    """To eight bits: its own numbers, which are not those of the model that it was made from.

    Compared with the same kind of attention: activations are rounded to eight bits as well, so
    that another order of summation may move them by a whole step.
    """
    quantise = torch.ao.quantization.quantize_dynamic

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = quantise(llama("eager"), {torch.nn.Linear}, dtype=torch.qint8)
    own = [layer[0] for layer in returned(model, **TEXT)["attentions"]]
    assert_attention(capture(model, None, TEXT), own)
    assert abs(own[1] - _reference(llama("eager"))[1]).max() > 1e-2


@pytest.mark.parametrize("merged", [False, True])
def test_a_model_with_an_adapter(merged: bool) -> None:
    """Low-rank updates of queries and values, which are not merged by looking."""

    def adapted(attention: str) -> Model:
        config = peft.LoraConfig(target_modules=["q_proj", "v_proj"], r=4, init_lora_weights=False)
        with torch.random.fork_rng():
            torch.manual_seed(1)
            model = peft.get_peft_model(llama(attention), config)
        if merged:
            model.merge_adapter()
        return model.train()

    model = adapted("sdpa")
    before = Snapshot(model)
    reference = _reference(adapted("eager").eval())
    record = capture(model, None, TEXT)
    assert_attention(record, reference)
    before.assert_unchanged()
    assert abs(reference[1] - _reference(llama("eager"))[1]).max() > 1e-2


def test_training_goes_on_with_checkpoints() -> None:
    """The pass that is repeated for the gradients leaves no trace in a capture."""
    model = with_checkpoints(llama(), Path())
    expected = copy.deepcopy(model)
    capture(model, None, TEXT)
    for each in (model, expected):
        each(**TEXT).last_hidden_state.sum().backward()
    for mine, own in zip(model.parameters(), expected.parameters(), strict=True):
        assert torch.equal(mine.grad, own.grad)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Bloom", {"n_layer": 2, "n_head": 4}),
        ("GPTJ", {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 64}),
        ("DebertaV2", {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}),
        ("Falcon", {}),
        ("Llama", {"num_key_value_heads": 2}),
    ],
)
def test_outputs_during_a_capture_are_bitwise_equal(name: str, options: dict[str, Any]) -> None:
    model = tiny(name, "sdpa" if name in ("Falcon", "Llama") else "eager", **options)
    with torch.no_grad():
        before = model(**TEXT).last_hidden_state
    during: list[Any] = []
    handle = model.register_forward_hook(lambda _module, _args, output: during.append(output))
    capture(model, None, TEXT)
    handle.remove()
    assert torch.equal(during[0].last_hidden_state, before)
    with torch.no_grad():
        assert torch.equal(model(**TEXT).last_hidden_state, before)
