"""Values and output projections: from them follows what a layer of attention adds."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attnwidget import AttentionRecord, capture
from attnwidget.record import Layer
from tests.unit.handwritten import HEADS, LENGTH, SCALE, WIDTH, Handwritten
from tests.unit.handwritten import TEXT as HANDWRITTEN
from tests.unit.tiny import Model, bert, gpt2, llama, t5, tiny, token_ids

TEXT = {"input_ids": token_ids(9)}

# By the name of the module whose output is the projected attention, without the bias that is the
# same for all tokens.
MODELS: dict[str, tuple[Model, str]] = {
    "grouped key heads": (llama(), "layers.1.self_attn.o_proj"),
    "another linear layer": (gpt2(), "h.1.attn.c_proj"),
    "a dense layer of its own": (bert(), "encoder.layer.1.attention.output.dense"),
    "no bias": (t5("T5Encoder"), "encoder.block.1.layer.0.SelfAttention.o"),
    "softmax written out": (
        tiny("GPTJ", "eager", n_embd=32, n_head=4, n_layer=2, rotary_dim=4),
        "h.1.attn.out_proj",
    ),
    "multi-query": (tiny("Falcon"), "h.1.self_attention.dense"),
}


def _sum_of_heads(layer: Layer) -> np.ndarray:
    """[Tq, d_model]: every head's weights . values . projection, added up."""
    assert layer.values is not None
    assert layer.projection is not None
    shared = layer.num_heads // len(layer.values)
    return np.sum(
        [
            layer.head_weights(head) @ layer.values[head // shared] @ layer.projection[head]
            for head in range(layer.num_heads)
        ],
        axis=0,
    )


def _captured(model: Model, module: str, **options: Any) -> tuple[AttentionRecord, np.ndarray]:
    """A record, and what the module gave in the first pass, but for its bias: [tokens, d_model]."""
    outputs: list[torch.Tensor] = []
    found = model.get_submodule(module)
    handle = found.register_forward_hook(lambda _module, _args, output: outputs.append(output))
    record = capture(model, None, TEXT, values=True, **options)
    handle.remove()
    bias = getattr(found, "bias", None)
    output = outputs[0][0] - (0 if bias is None else bias)
    return record, output.detach().numpy()


@pytest.mark.parametrize("case", MODELS.values(), ids=MODELS)
def test_heads_add_up_to_the_output(case: tuple[Model, str]) -> None:
    record, output = _captured(*case)
    layer = record.layer(1)
    assert np.abs(output).max() > 0.1, "too small to prove anything"
    np.testing.assert_allclose(_sum_of_heads(layer), output, rtol=0, atol=2e-5)


def test_values_are_shared_as_keys_are() -> None:
    layer = capture(llama(), None, TEXT, values=True).layer(0)
    assert layer.values is not None
    assert layer.values.shape == (2, 9, 8)


def test_keys_that_are_alike_do_not_drop_values() -> None:
    model = bert()
    with torch.no_grad():
        for layer in model.encoder.layer:
            layer.attention.self.key.weight.zero_()
    record, output = _captured(model, "encoder.layer.1.attention.output.dense")
    np.testing.assert_allclose(_sum_of_heads(record.layer(1)), output, rtol=0, atol=2e-5)


def test_outputs_that_are_cut_are_not_taken_for_gated_ones() -> None:
    class Padded(Handwritten):
        """Attention over whole blocks of tokens, of which the text's own are projected."""

        def __init__(self) -> None:
            super().__init__(lambda q, k, v: ((q @ k.mT * SCALE).softmax(-1) @ v, None))
            self.projection = torch.nn.Linear(HEADS * WIDTH, HEADS * WIDTH)

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            whole = torch.nn.functional.pad(input_ids, (0, 8 - LENGTH))
            heads = super().forward(whole)[:, :, :LENGTH]
            return self.projection(heads.transpose(1, 2).flatten(2))

    layer = capture(Padded().eval(), None, HANDWRITTEN, values=True).layer(0)
    assert layer.values is not None
    assert layer.gates is None
    assert layer.projection is None


def test_they_are_recorded_only_if_asked_for() -> None:
    layer = capture(llama(), None, TEXT).layer(0)
    assert layer.values is None
    assert layer.projection is None


def test_they_are_recorded_in_a_generation() -> None:
    model = tiny_causal()
    record = capture(model, None, TEXT, values=True, generate={"max_new_tokens": 3})
    plain = capture(model, None, {"input_ids": record_ids(model)}, values=True)
    ours, expected = record.layer(1), plain.layer(1)
    assert ours.values is not None
    assert expected.values is not None
    np.testing.assert_allclose(ours.values, expected.values, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(ours.projection, expected.projection)


def tiny_causal() -> Model:
    config = llama().config
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return transformers.LlamaForCausalLM(config).eval()


def record_ids(model: Model) -> torch.Tensor:
    """The tokens that the model has read when it has generated three tokens."""
    return model.generate(**TEXT, max_new_tokens=3)[:, :-1]
