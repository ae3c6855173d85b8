"""Real architectures with few, random weights, and what their own eager attention gives."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import transformers

from attnwidget import AttentionRecord

# Every class of transformers is untyped to us.
Model = Any

# With its tokenizer.
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
    # Its layers have names of their own.
    return tiny(kind, attention, **{**sizes, "num_hidden_layers": 2, **options})


def token_ids(length: int, seed: int = 0) -> torch.Tensor:
    """[1, length], none of them special."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, VOCABULARY, (1, length), generator=generator)


def eager_attentions(model: Model, inputs: Any) -> list[np.ndarray]:
    """What a model loaded with eager attention says itself: [batch, heads, Tq, Tk] per layer."""
    assert model.config._attn_implementation == "eager"
    with torch.no_grad():
        attentions = model(**inputs, output_attentions=True).attentions
    return [layer.float().numpy() for layer in attentions]


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
        np.testing.assert_allclose(weights, own, rtol=0, atol=1e-5)
