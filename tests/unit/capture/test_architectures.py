"""Architectures with a twist, tiny and random: for coverage, not for what their heads do."""

from typing import Any, NamedTuple

import pytest
import torch

from attnwidget import AttentionRecord, capture
from tests.unit.tiny import assert_attention, eager_attentions, t5, tiny, token_ids

LENGTH = 12


class Twist(NamedTuple):
    """An architecture, and what its first layer's score program must say."""

    name: str
    options: dict[str, Any]
    first: dict[str, Any]
    attention: str = "sdpa"


GROUPED = {"num_key_value_heads": 2}
CAUSAL = {"mask": "causal", "window": None}
# A sliding window of four is a token and the three before it.
SLIDING = {"mask": "window", "window": (3, 0)}

TWISTS = {
    "BERT": Twist("Bert", {}, {"mask": "none"}),
    "Llama": Twist("Llama", GROUPED, CAUSAL),
    "Llama, eager": Twist("Llama", GROUPED, CAUSAL, "eager"),
    "GPT-2": Twist("GPT2", {"n_embd": 32, "n_head": 4, "n_layer": 2}, CAUSAL),
    "GPT-2 scaled by layer": Twist(
        "GPT2",
        {"n_embd": 32, "n_head": 4, "n_layer": 2, "scale_attn_by_inverse_layer_idx": True},
        CAUSAL,
    ),
    "sliding window": Twist("Mistral", {**GROUPED, "sliding_window": 4}, SLIDING),
    "softcap": Twist(
        "Gemma2",
        {
            **GROUPED,
            "head_dim": 8,
            "query_pre_attn_scalar": 8,
            "sliding_window": 4,
            "attn_logit_softcapping": 4.0,
        },
        {**SLIDING, "softcap": 4.0},
        "eager",
    ),
    "sinks": Twist(
        "GptOss",
        {
            **GROUPED,
            "head_dim": 8,
            "sliding_window": 4,
            "num_local_experts": 2,
            "num_experts_per_tok": 1,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        },
        SLIDING,
        "eager",
    ),
    "local attention to both sides": Twist(
        "ModernBert",
        {
            "local_attention": 4,
            "global_attn_every_n_layers": 2,
            "cls_token_id": 1,
            "sep_token_id": 2,
            "initializer_cutoff_factor": 100.0,
        },
        {"mask": "none"},
    ),
}


@pytest.fixture(params=TWISTS)
def twist(request: pytest.FixtureRequest) -> Twist:
    return TWISTS[request.param]


def _capture(twist: Twist) -> AttentionRecord:
    model = tiny(twist.name, twist.attention, **twist.options)
    return capture(model, None, {"input_ids": token_ids(LENGTH)})


def test_every_weight_is_the_models_own(twist: Twist) -> None:
    record = _capture(twist)
    eager = tiny(twist.name, "eager", **twist.options)
    reference = [own[0] for own in eager_attentions(eager, {"input_ids": token_ids(LENGTH)})]
    assert all(own[:, 4:].max() > 0.5 for own in reference), "too uniform to prove anything"
    assert_attention(record, reference)


def test_it_is_kept_as_a_program_and_exact(twist: Twist) -> None:
    record = _capture(twist)
    for fidelity in record.fidelity["self"]:
        assert fidelity.kept == "queries and keys"
        assert fidelity.exact is True
        assert fidelity.weights_error is not None
        assert fidelity.output_error is not None
    program = record.layer(0).program
    for name, value in twist.first.items():
        assert getattr(program, name) == value


def test_layers_alternate_between_window_and_all() -> None:
    gemma = _capture(TWISTS["softcap"]).layer(1).program
    assert gemma is not None
    assert (gemma.mask, gemma.softcap) == ("causal", 4.0)
    modern = _capture(TWISTS["local attention to both sides"]).layer(1).program
    assert modern is not None
    assert (modern.mask, modern.window) == ("window", (2, 2))


def test_a_scale_of_each_layers_own() -> None:
    record = _capture(TWISTS["GPT-2 scaled by layer"])
    scales = [layer.program.scale for layer in record.stack().layers if layer.program]
    assert scales == pytest.approx([8**-0.5, 8**-0.5 / 2])


def test_sinks_take_their_share() -> None:
    """gpt-oss gives part of every row to a sink, which belongs to no key."""
    model = tiny("GptOss", "eager", **TWISTS["sinks"].options)
    with torch.no_grad():
        for layer in model.layers:
            layer.self_attn.sinks.copy_(torch.tensor([-2.0, 0.0, 2.0, 4.0]))
    record = capture(model, None, {"input_ids": token_ids(LENGTH)})
    program = record.layer(1).program
    assert program is not None
    assert program.sinks is not None
    assert program.sinks.tolist() == [-2, 0, 2, 4]
    assert record.fidelity["self"][1].exact is True
    assert record.weights(1, 3).sum(axis=1).min() < 0.9


def test_a_bias_of_relative_positions() -> None:
    """T5 adds one to every score, per head, and has no scale."""
    text = {"input_ids": token_ids(LENGTH)}
    record = capture(t5("T5Encoder"), None, text)
    program = record.layer(0).program
    assert program is not None
    assert program.scale == 1
    assert program.bias is None
    assert program.relative is not None
    assert program.relative.shape == (4, 2 * LENGTH - 1)
    # Not without it: each head has its own, of which every diagonal has one number.
    assert len({tuple(row) for row in program.relative.tolist()}) == 4
    reference = eager_attentions(t5("T5Encoder", "eager"), text)
    assert_attention(record, [own[0] for own in reference])
