"""What mixes tokens without a softmax is named, whatever it is called."""

import pytest
import torch
from torch import nn

from attnwidget import capture
from attnwidget.running.mixers import mixing_modules
from benchmarks import zoo
from tests.unit.tiny import bert, gpt2, llama, t5, tiny, token_ids

# The modules that mix tokens in models of several families, beside what is captured.
HYBRIDS = {
    "rwkv": ["blocks.0.feed_forward.time_shift", "blocks.1.feed_forward.time_shift"],
    "mobilebert": ["embeddings"],
}


@pytest.mark.parametrize("name", HYBRIDS)
def test_what_mixes_tokens_beside_the_layers_is_missing(name: str) -> None:
    built = zoo.build(name)
    with pytest.warns(UserWarning, match="not in this record"):
        record = capture(built.model, None, built.inputs)
    assert [each.partition(":")[0] for each in record.missing] == HYBRIDS[name]
    with pytest.raises(IndexError, match="`missing` names what is not in the record"):
        record.layer(99)


@pytest.mark.parametrize(
    "make", [bert, gpt2, llama, t5, lambda: tiny("Mixtral", num_key_value_heads=2)]
)
def test_models_of_softmax_alone_miss_nothing(make: object) -> None:
    model = make()  # type: ignore[operator]
    inputs = {"input_ids": token_ids(8)}
    if "decoder" in dict(model.named_children()):
        inputs["decoder_input_ids"] = token_ids(5)
    assert capture(model, None, inputs).missing == ()


class Blend(nn.Module):
    """Adds half of the token before, under a name that says nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 0.5 * torch.roll(x, 1, dims=1)


def test_a_module_of_ones_own_after_another_one() -> None:
    """The second is found as well, although its input has changed with what the first returns."""
    model = llama()
    for layer in model.layers:
        layer.post_attention_layernorm = nn.Sequential(layer.post_attention_layernorm, Blend())
    with pytest.warns(UserWarning, match="not in this record"):
        record = capture(model, None, {"input_ids": token_ids(8)})
    assert record.missing == tuple(
        f"layers.{n}.post_attention_layernorm.1: Blend mixes tokens by no softmax" for n in (0, 1)
    )


def test_a_module_that_is_put_in_later_is_found() -> None:
    model = llama()
    assert capture(model, None, {"input_ids": token_ids(8)}).missing == ()
    norm = model.layers[1].post_attention_layernorm
    model.layers[1].post_attention_layernorm = nn.Sequential(norm, Blend())
    with pytest.warns(UserWarning, match="not in this record"):
        record = capture(model, None, {"input_ids": token_ids(8)})
    assert len(record.missing) == 1


@pytest.mark.filterwarnings("ignore:torch:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_layers_that_are_quantized_with_one_scale_do_not_mix_tokens() -> None:
    quantized = torch.ao.quantization.quantize_dynamic(llama(), {nn.Linear}, dtype=torch.qint8)
    assert mixing_modules(quantized, {"input_ids": token_ids(12)}) == ()


class Counted(nn.Module):
    """Returns something else each time, of every token alone."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = [0.0]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps[0] += 1
        return x + self.steps[0]


def test_what_is_never_the_same_has_not_mixed_tokens() -> None:
    model = llama()
    model.norm = nn.Sequential(model.norm, Counted())
    assert capture(model, None, {"input_ids": token_ids(8)}).missing == ()
