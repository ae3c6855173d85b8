"""Layers without a softmax: coefficients beside states of the papers, and what models return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import attnwidget as aw
from attnwidget.record import AttentionRecord, Layer, Stack
from benchmarks import zoo
from tests.unit.tiny import token_ids

Numbers = NDArray[np.float64]

DELTA = ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "qwen4_exp", "olmo_hybrid", "lara_mini")
KIMI = ("kimi_linear", "bailing_hybrid", "glm5_next")
MAMBA2 = ("mamba2", "bamba", "falcon_h1", "granitemoehybrid", "nemotron_h", "zamba2")
CHANNELS = (
    "mamba", "falcon_mamba", "jamba", "zamba", "rwkv", "recurrent_gemma", "lfm2_moe", "lfm3",
)  # fmt: skip
FAMILIES = (*DELTA, *KIMI, *MAMBA2, "minimax", "xlstm", *CHANNELS)

# The module of the language model's first layer without a softmax, in models of text alone.
MIXERS = {
    "qwen3_next": "layers.0.linear_attn",
    "kimi_linear": "layers.0.self_attn",
    "mamba2": "layers.0.mixer",
    "minimax": "layers.1.self_attn",
    "xlstm": "blocks.0.mlstm_layer",
}


def built(name: str) -> tuple[torch.nn.Module, dict[str, Any]]:
    """A model that forgets slowly, and its inputs."""
    if name == "xlstm":
        model: torch.nn.Module = _xlstm()
        inputs: dict[str, Any] = {"input_ids": token_ids(40), "use_cache": False}
    else:
        made = zoo.build(name)
        model, inputs = made.model, dict(made.inputs)
    with torch.no_grad():
        for parameter, value in model.named_parameters():
            if parameter.endswith("A_log"):
                value.copy_(torch.linspace(-4, -1, value.numel()).view_as(value))
    return model, inputs


def _xlstm() -> torch.nn.Module:
    from transformers import xLSTMConfig, xLSTMModel

    torch.manual_seed(0)
    config = xLSTMConfig(
        vocab_size=64, hidden_size=32, embedding_dim=32, num_hidden_layers=2, num_blocks=2,
        num_heads=4, qk_dim_factor=1.0, v_dim_factor=1.0, chunk_size=16,
    )  # fmt: skip
    model = xLSTMModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn_like(parameter))
    return model


def signed(record: AttentionRecord) -> Stack:
    return next(record.stack(name) for name in record.stacks if record.stack(name).signed)


def long_text(inputs: dict[str, Any], tokens: int) -> dict[str, Any]:
    """Other inputs of a model of text, of so many tokens."""
    return {**inputs, "input_ids": token_ids(tokens), "attention_mask": torch.ones(1, tokens)}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_layer_is_exact_and_the_model_undisturbed(name: str) -> None:
    model, inputs = built(name)
    if name in ("lfm3", "mamba", "qwen3_next"):
        inputs = {**inputs, "use_cache": True}  # as in real models
    before = model(**inputs).last_hidden_state
    record = aw.capture(model, None, inputs)
    assert torch.equal(model(**inputs).last_hidden_state, before)
    assert record.missing == () or name == "rwkv"  # whose other half shifts tokens by one
    assert all(
        layer.fidelity.exact for each in record.stacks for layer in record.stack(each).layers
    )
    assert signed(record).layers[0].fidelity.rows == len(signed(record).queries)


@pytest.mark.parametrize("name", MIXERS)
def test_contributions_sum_to_what_the_module_returns(name: str) -> None:
    model, inputs = built(name)
    returned: dict[str, torch.Tensor] = {}

    def hook(_: Any, __: Any, output: Any) -> None:
        returned.setdefault("output", output[0] if isinstance(output, tuple) else output)

    watched = model.get_submodule(MIXERS[name]).register_forward_hook(hook)
    record = aw.capture(model, None, inputs, values=True)
    watched.remove()
    layer = signed(record).layers[0]
    assert layer.values is not None
    assert layer.gates is not None
    assert layer.projection is not None
    total = sum(
        (layer.gates[head] * (layer.head_coefficients(head) @ layer.values[head]))
        @ layer.projection[head]
        for head in range(layer.num_heads)
    )
    expected = returned["output"][0].numpy()
    np.testing.assert_allclose(total, expected, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["qwen3_next", "olmo_hybrid", "kimi_linear"])
def test_delta_rules_are_those_of_their_papers(name: str, spy: Any) -> None:
    """S_t = e^g (I - beta k kᵀ) S_(t-1) + beta k vᵀ: Yang et al. 2025, Kimi Team 2025."""
    model, inputs = built(name)
    calls = spy(model, ("query", "key", "value", "g", "beta"))
    layer = signed(aw.capture(model, None, inputs)).layers[0]
    q, k, v, g, beta = (calls[0][each][0].double().numpy() for each in calls[0])
    heads = v.shape[1]
    q, k = (np.repeat(each, heads // each.shape[1], axis=1) for each in (q, k))
    q, k = (each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (q, k))
    for head in range(heads):
        state = np.zeros((k.shape[2], len(v)))  # of unit vectors, so that it reads coefficients
        for t in range(len(v)):
            decay = np.exp(g[t, head]) * np.ones(k.shape[2])
            key = k[t, head]
            state = decay[:, None] * state
            unit = np.eye(len(v))[t]
            state += beta[t, head] * np.outer(key, unit - key @ state)
            row = q[t, head] @ state / np.sqrt(k.shape[2])
            found = layer.head_coefficients(head, np.array([t]))[0]
            np.testing.assert_allclose(found, row, atol=2e-5 * max(np.abs(row).max(), 1e-3))


@pytest.mark.parametrize("name", ["mamba2", "falcon_h1"])
def test_mamba2_is_that_of_its_paper(name: str, spy: Any) -> None:
    """h_t = e^(dt A) h_(t-1) + dt B x, y_t = C h_t + D x: Dao and Gu 2024."""
    model, inputs = built(name)
    calls = spy(model, ("hidden_states", "dt", "A", "B", "C", "D", "dt_bias"))
    layer = signed(aw.capture(model, None, inputs)).layers[0]
    given = {each: value.double().numpy() for each, value in calls[0].items()}
    heads = given["A"].size
    step = given["dt"][0] + given["dt_bias"]
    step = np.logaddexp(0, step)
    b, c = (np.repeat(given[n][0], heads // given[n].shape[2], axis=1) for n in ("B", "C"))
    count = len(step)
    for head in range(heads):
        state = np.zeros((b.shape[2], count))
        for t in range(count):
            state = np.exp(step[t, head] * given["A"][head]) * state
            state[:, t] += step[t, head] * b[t, head]
            row = c[t, head] @ state + given["D"].reshape(heads)[head] * np.eye(count)[t]
            found = layer.head_coefficients(head, np.array([t]))[0]
            np.testing.assert_allclose(found, row, atol=2e-5 * np.abs(row).max())


def _chunk_gated_delta_rule(
    q: Any, k: Any, v: Any, g: Any, beta: Any, scale: Any = None, initial_state: Any = None,
    output_final_state: bool = False, use_qk_l2norm_in_kernel: bool = False,
    cu_seqlens: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """What stands for the kernel of flash-linear-attention, by its arguments."""
    from transformers.models.qwen3_next.modeling_qwen3_next import torch_chunk_gated_delta_rule

    return torch_chunk_gated_delta_rule(
        q, k, v, g=g, beta=beta, use_qk_l2norm_in_kernel=use_qk_l2norm_in_kernel
    )


def _mamba_chunk_scan_combined(
    x: Any, dt: Any, A: Any, B: Any, C: Any, chunk_size: int, D: Any = None, z: Any = None,
    dt_bias: Any = None, initial_states: Any = None, seq_idx: Any = None, cu_seqlens: Any = None,
    dt_softplus: bool = False, dt_limit: Any = (0.0, float("inf")),
    return_final_states: bool = False, return_varlen_states: bool = False,
) -> Any:  # fmt: skip
    """What stands for the kernel of mamba-ssm, by its arguments."""
    from transformers.models.mamba2.modeling_mamba2 import mamba2_chunk_scan

    options = {"D": D, "dt_bias": dt_bias, "dt_softplus": dt_softplus, "dt_limit": dt_limit}
    return mamba2_chunk_scan(x, dt, A, B, C, chunk_size, **options) * (1 if z is None else z)


class _Mixer(torch.nn.Module):
    def __init__(self, kernel: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.kernel = kernel
        self.all = torch.nn.Linear(16, 2 * 24, bias=False)
        self.out = torch.nn.Linear(16, 16, bias=False)
        self.gate: Any = None

    def forward(self, x: torch.Tensor) -> Any:
        q, k, v = self.all(x).unflatten(-1, (2, 24)).split(8, -1)
        strength = x[..., :2].sigmoid()
        if self.kernel == "fla":
            found, _ = _chunk_gated_delta_rule(
                q, k, v, g=-strength, beta=strength, use_qk_l2norm_in_kernel=True
            )
        else:
            rate = torch.tensor([-0.1, -0.5])
            found = _mamba_chunk_scan_combined(
                v, strength, rate, k, q, 4, D=torch.ones(2), z=self.gate, dt_softplus=True
            )
        return self.out(found.flatten(2))


class _Mixing(torch.nn.Module):
    def __init__(self, kernel: str) -> None:
        super().__init__()
        self.mixer = _Mixer(kernel)

    def forward(self, inputs_embeds: torch.Tensor) -> Any:
        return self.mixer(inputs_embeds)


@pytest.mark.parametrize("kernel", ["fla", "mamba_ssm"])
def test_kernels_of_other_packages_are_known_by_their_arguments(kernel: str) -> None:
    model = _Mixing(kernel).eval()
    embedded = torch.randn(1, 9, 16, generator=torch.Generator().manual_seed(1))
    inputs = {"inputs_embeds": embedded}
    layer = signed(aw.capture(model, None, inputs)).layers[0]
    assert layer.num_heads == 2
    assert layer.fidelity.exact
    assert layer.fidelity.weights_error is not None
    if kernel == "mamba_ssm":
        model.mixer.gate = torch.ones(1)
        with pytest.raises(ValueError, match="is called with z, which is not known here"):
            aw.capture(model, None, inputs)


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Keeps the arguments of the function of a model's file that takes these."""

    def watch(model: torch.nn.Module, names: tuple[str, ...]) -> list[dict[str, torch.Tensor]]:
        import inspect
        import sys

        calls: list[dict[str, torch.Tensor]] = []
        code = sys.modules[type(model).__module__]
        for name, function in list(vars(code).items()):
            known = inspect.isfunction(function) and inspect.signature(function).parameters
            if not known or not {*names} <= {*known}:
                continue
            signature = inspect.signature(function)

            def called(
                *args: Any, _own: Any = function, _of: Any = signature, **kwargs: Any
            ) -> Any:
                bound = _of.bind(*args, **kwargs).arguments
                calls.append({each: bound[each].clone() for each in names})
                return _own(*args, **kwargs)

            called.__signature__ = signature  # type: ignore[attr-defined]
            called.__wrapped__ = function  # type: ignore[attr-defined]
            monkeypatch.setattr(code, name, called)
        return calls

    return watch


@pytest.mark.parametrize("name", ["qwen3_next", "kimi_linear", "bamba", "minimax", "jamba"])
@pytest.mark.parametrize("left", [False, True])
def test_an_item_of_a_padded_batch_is_as_it_is_alone(name: str, left: bool) -> None:
    model, _ = built(name)
    ids, mask = token_ids(3 * 24).view(3, 24) + 1, torch.ones(3, 24, dtype=torch.long)
    padding = slice(0, 7) if left else slice(17, 24)
    mask[1, padding], ids[1, padding] = 0, 0
    batch = {"input_ids": ids, "attention_mask": mask}
    found = signed(aw.capture(model, None, batch, batch_index=1)).layers[0]
    kept = ids[1:2, 7:] if left else ids[1:2, :17]
    alone = signed(aw.capture(model, None, {"input_ids": kept})).layers[0]
    assert found.shape == (17, 17)
    assert found.fidelity.exact
    for head in range(found.num_heads):
        expected = alone.head_coefficients(head)
        limit = 2e-5 * np.abs(expected).max()
        np.testing.assert_allclose(found.head_coefficients(head), expected, atol=limit)


@pytest.mark.parametrize("name", ["qwen3_next", "kimi_linear", "mamba2", "minimax"])
def test_beyond_a_chunk_of_the_kernel(name: str) -> None:
    model, inputs = built(name)
    layer = signed(aw.capture(model, None, long_text(inputs, 140))).layers[0]
    assert layer.fidelity.exact
    far = [np.abs(np.tril(layer.head_coefficients(n), -70)).max() for n in range(layer.num_heads)]
    assert max(far) > 0


@pytest.mark.parametrize("name", ["qwen3_next", "mamba2", "minimax", "jamba"])
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_in_half_precision(name: str, kind: torch.dtype) -> None:
    model, inputs = built(name)
    record = aw.capture(model.to(kind), None, inputs)
    assert all(layer.fidelity.exact for layer in signed(record).layers)


@pytest.mark.parametrize("name", ["qwen3_next", "mamba2", "minimax", *CHANNELS])
def test_under_autocast_an_output_is_rounded_whatever_its_type(name: str) -> None:
    model, inputs = built(name)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        record = aw.capture(model, None, inputs)
    assert all(layer.fidelity.exact for layer in signed(record).layers)
    assert all(layer.fidelity.tolerance >= 0.03 for layer in signed(record).layers)


def test_layers_are_chosen_by_their_numbers() -> None:
    model, inputs = built("falcon_h1")
    record = aw.capture(model, None, inputs, layers=[1])
    assert record.stacks == ("self", "linear")
    assert [record.stack(name).numbers for name in record.stacks] == [(1,), (1,)]


def test_what_goes_on_from_a_state_is_named() -> None:
    model, inputs = built("mamba2")
    ids = inputs["input_ids"]
    cache = model(input_ids=ids[:, :6], use_cache=True).cache_params
    with pytest.raises(ValueError, match=r"layers\.0\.mixer: it goes on from the state of earlier"):
        aw.capture(model, None, {"input_ids": ids[:, 6:7], "cache_params": cache})


def test_a_generated_text_is_read_again_as_a_whole() -> None:
    from transformers import Mamba2ForCausalLM

    base, inputs = built("mamba2")
    model = Mamba2ForCausalLM(base.config).eval()
    record = aw.capture(model, None, {"input_ids": inputs["input_ids"]}, generate=5)
    assert record.replay is not None
    assert record.replay.difference <= record.replay.tolerance
    assert len(signed(record).queries) == inputs["input_ids"].shape[1] + 4
    assert all(layer.fidelity.exact for layer in signed(record).layers)


def test_shares_of_channels_sum_to_one() -> None:
    model, inputs = built("zamba")
    layer: Layer = signed(aw.capture(model, None, inputs)).layers[0]
    sums = sum(layer.head_coefficients(head).sum(axis=1) for head in range(layer.num_heads))
    np.testing.assert_allclose(sums, 1, atol=1e-4)


def _lfm2(**options: Any) -> torch.nn.Module:
    from transformers import Lfm2Config, Lfm2Model

    torch.manual_seed(0)
    config = Lfm2Config(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2,
        layer_types=["conv", "conv", "full_attention", "conv"], **options,
    )  # fmt: skip
    return Lfm2Model(config).eval()


def test_a_bias_of_a_convolution_is_no_contribution_of_a_token() -> None:
    model = _lfm2(conv_bias=True)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("conv.bias"):
                parameter.normal_().mul_(0.01)
    layer = signed(aw.capture(model, None, {"input_ids": token_ids(12)})).layers[0]
    assert layer.fidelity.exact
    np.testing.assert_allclose(layer.head_coefficients(0).sum(axis=1), 1, atol=1e-5)


def test_layers_keep_their_numbers_where_one_is_unknown() -> None:
    model: Any = _lfm2()
    first = model.layers[0].conv
    kind = type(first)

    class Doubled(kind):  # type: ignore[misc, valid-type]
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return 2 * super().forward(*args, **kwargs)

    first.__class__ = Doubled
    with pytest.warns(UserWarning, match="no linear layer that returns its module's output"):
        record = aw.capture(model, None, {"input_ids": token_ids(12)})
    assert signed(record).numbers == (1, 3)


def test_a_class_of_another_file_inherits_the_function_of_its_own() -> None:
    model, inputs = built("mamba2")
    modules = [each for each in model.modules() if type(each).__module__.startswith("transformers")]
    for each in modules:
        each.__class__ = type(f"Own{type(each).__name__}", (type(each),), {"__module__": __name__})
    record = aw.capture(model, None, inputs)
    assert record.missing == ()
    assert signed(record).layers[0].fidelity.exact


def test_a_step_of_a_convolution_has_no_map() -> None:
    model: Any = _lfm2()
    ids = token_ids(7)
    cache = model(input_ids=ids[:, :6], use_cache=True).past_key_values
    with pytest.warns(UserWarning, match="it goes on from the state of earlier tokens"):
        record = aw.capture(model, None, {"input_ids": ids[:, 6:], "past_key_values": cache})
    assert not any(record.stack(name).signed for name in record.stacks)
