"""Real architectures with few, random weights, and what their own eager attention gives."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import transformers
from torch.overrides import TorchFunctionMode

from attnwidget import AttentionRecord

# Every class of transformers is untyped to us.
Model = Any

# A model with its tokenizer.
Loaded = tuple[Model, Any]

VOCABULARY = 64

SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    # The usual 0.02 makes all attention nearly uniform, and a wrong mask or scale hard to see.
    "initializer_range": 0.4,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def tiny(name: str, attention: str = "sdpa", **options: Any) -> Model:
    """The model `name` or `<name>Model` in evaluation mode; the same weights each time."""
    model_class = getattr(transformers, name, None) or getattr(transformers, f"{name}Model")
    return build(model_class, model_class.config_class(**{**SIZES, **options}), attention)


def build(model_class: Any, config: Any, attention: str = "sdpa") -> Model:
    """A model in evaluation mode; the same weights for the same configuration."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = model_class._from_config(copy.deepcopy(config), attn_implementation=attention)
    return model.eval()


def llama(attention: str = "sdpa", **options: Any) -> Model:
    """A decoder whose four query heads share two key heads."""
    return tiny("Llama", attention, **{"num_key_value_heads": 2, **options})


def bert(attention: str = "sdpa", **options: Any) -> Model:
    return tiny("Bert", attention, **options)


def gpt2(attention: str = "sdpa", **options: Any) -> Model:
    return tiny("GPT2", attention, **{"n_embd": 32, "n_head": 4, "n_layer": 2, **options})


def t5(kind: str = "T5", attention: str = "sdpa", **options: Any) -> Model:
    """An encoder-decoder ("T5") or its encoder alone ("T5Encoder")."""
    sizes = {"d_model": 32, "num_layers": 2, "num_heads": 4, "d_kv": 8, "d_ff": 48}
    return tiny(kind, attention, **{**sizes, "decoder_start_token_id": 0, **options})


def bart(kind: str = "Bart", attention: str = "sdpa", **options: Any) -> Model:
    """An encoder-decoder whose encoder has two layers, and whose decoder has three."""
    sizes = {"d_model": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 2,
             "encoder_layers": 2, "decoder_layers": 3, "encoder_ffn_dim": 48,
             "decoder_ffn_dim": 48, "init_std": 0.4, "decoder_start_token_id": 2}  # fmt: skip
    # The names of its layers differ from those of other models.
    return tiny(kind, attention, **{**sizes, "num_hidden_layers": 2, **options})


def token_ids(length: int, seed: int = 0) -> torch.Tensor:
    """[1, length], none of them special."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, VOCABULARY, (1, length), generator=generator)


class Reference(np.ndarray):
    """Attention weights in float64, as a model with eager attention computes them.

    Two passes of one model in float32 differ by their rounding, which depends on the processor and
    grows from layer to layer: sharpened weights of tiny models may move by more than 1e-5.

    Attributes:
        rounding: how far the same model in float32 lies from float64, in any of its layers.
    """

    rounding: float

    def __array_finalize__(self, source: Any) -> None:
        self.rounding = getattr(source, "rounding", 0.0)


def references(model: Model, *args: Any, **inputs: Any) -> dict[str, list[Reference]]:
    """The attentions of a float32 model with eager attention.

    Args:
        model: is called with `args` and `inputs`, once in float32 and once in float64.

    Returns:
        Field of the output, as "attentions" or "encoder_attentions" -> [batch, heads, Tq, Tk] of
        each layer that has attention.
    """
    assert model.config._attn_implementation == "eager"
    double = copy.deepcopy(model).double()
    if hasattr(double, "set_experts_implementation"):
        double.set_experts_implementation("eager")  # the grouped product knows no float64
    doubled = [_double(value) for value in args]
    with Float64():
        exact = returned(double, *doubled, **{name: _double(x) for name, x in inputs.items()})
    single = returned(model, *args, **inputs)
    rounding = max(
        float(np.abs(a - b).max())
        for field, layers in exact.items()
        for a, b in zip(layers, single[field], strict=True)
    )
    found = {field: [layer.view(Reference) for layer in layers] for field, layers in exact.items()}
    for layers in found.values():
        for layer in layers:
            layer.rounding = rounding
    return found


def references_by_stack(model: Model, **inputs: Any) -> dict[str, list[Reference]]:
    """`references` by the names of a record's stacks."""
    found = references(model, **inputs)
    if "cross_attentions" not in found:
        return {"self": found["attentions"]}
    return {stack: found[f"{stack}_attentions"] for stack in ("encoder", "decoder", "cross")}


class Float64(TorchFunctionMode):
    """Compute in float64 even where a model's code casts to float32, as for a softmax."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is torch.Tensor.float:
            return args[0].double()
        known = {name: _not_single(value) for name, value in (kwargs or {}).items()}
        if func is torch.full and isinstance((*args, known.get("fill_value"))[1], float):
            # It would be of the default type, which lacks the least number of float64.
            known.setdefault("dtype", torch.float64)
        return func(*map(_not_single, args), **known)


def _not_single(value: Any) -> Any:
    return torch.float64 if value is torch.float32 else value


def _double(value: Any) -> Any:
    real = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if real else value


def returned(model: Model, *args: Any, **inputs: Any) -> dict[str, list[np.ndarray]]:
    """The attention that a model returns, in its own precision: field -> layers, as float64."""
    with torch.no_grad():
        output = model(*args, **inputs, output_attentions=True)
    found = {
        field: [layer.double().numpy() for layer in layers if layer is not None]
        for field, layers in output.items()
        if field.endswith("attentions") and layers is not None
    }
    return {field: layers for field, layers in found.items() if layers}


def eager_attentions(model: Model, inputs: Any) -> list[Reference]:
    """`references` of a model with one stack: [batch, heads, Tq, Tk] per layer."""
    return references(model, **inputs)["attentions"]


def allowed(own: np.ndarray) -> float:
    """The largest differences of captured weights to a reference, or to the same forward pass.

    One float32 computation of a model's weights may lie several times as far from float64 as
    another; a wrong mask, scale or bias moves them by orders of magnitude more.
    """
    return max(1e-5, 32 * getattr(own, "rounding", 0.0))


def assert_weights(weights: np.ndarray, own: np.ndarray) -> None:
    """Captured weights are those of the model, in arrays of any one shape."""
    np.testing.assert_allclose(weights, own, rtol=0, atol=allowed(own))


def assert_attention(
    record: AttentionRecord, reference: Sequence[np.ndarray], stack: str | None = None
) -> None:
    """A stack's weights are, layer by layer, those of the reference: [heads, Tq, Tk] each."""
    layers = record.stack(stack).layers
    assert len(layers) == len(reference)
    for layer, own in zip(layers, reference, strict=True):
        assert (layer.num_heads, *layer.shape) == own.shape
        assert layer.fidelity.exact is True
        assert own.max() > 2 * own.mean(), "too uniform to prove anything"
        weights = np.stack([layer.head_weights(head) for head in range(layer.num_heads)])
        assert_weights(weights, own)
