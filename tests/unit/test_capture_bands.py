"""Attention within bands and blocks, beside attention over all keys with the same projections."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from attnwidget import capture
from attnwidget.record import Floats
from tests.unit.tiny import Model, tiny, token_ids

HEADS = 4


def longformer(**options: Any) -> Model:
    """Two layers, with windows of eight and of four."""
    return tiny("Longformer", "eager", attention_window=[8, 4], **options)


def led() -> Model:
    sizes = {"d_model": 32, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS,
             "encoder_layers": 2, "decoder_layers": 1, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
             "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64,
             "init_std": 0.4, "attention_window": [8, 4]}  # fmt: skip
    return tiny("LED", "eager", **sizes)


def pegasus_x() -> Model:
    """The second layer's blocks of four are shifted by two; there are three global tokens."""
    sizes = {"d_model": 32, "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS,
             "encoder_layers": 2, "decoder_layers": 1, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
             "init_std": 0.4, "block_size": 4, "num_global_tokens": 3}  # fmt: skip
    return tiny("PegasusX", "eager", **sizes)


def two_texts(model: Model, length: int, *, pad_left: bool = False) -> dict[str, torch.Tensor]:
    """A text of this length, and one that is padded by four."""
    ids = torch.cat([token_ids(length), token_ids(length, seed=1)])
    mask = torch.ones_like(ids)
    mask[1, slice(4) if pad_left else slice(-4, None)] = 0
    inputs = {"input_ids": ids, "attention_mask": mask}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.cat([token_ids(3), token_ids(3)])
    return inputs


class Watched:
    """The inputs and outputs of each attention module in the encoder, while a model runs."""

    def __init__(self, model: Model, name: str) -> None:
        self.modules = [m for m in model.modules() if type(m).__name__ == name]
        self.hidden: list[Any] = []
        self.outputs: list[Any] = []

        def hook(_: Any, args: Any, kwargs: Any, output: Any) -> None:
            self.hidden.append(
                [
                    t.double()
                    for t in (*args, *kwargs.values())
                    if isinstance(t, torch.Tensor) and t.is_floating_point()
                ]
            )
            self.outputs.append([t for t in output if isinstance(t, torch.Tensor)])

        removals = [m.register_forward_hook(hook, with_kwargs=True) for m in self.modules]
        self.remove = lambda: [removal.remove() for removal in removals]


def projected(module: Any, name: str, hidden: torch.Tensor) -> Floats:
    """[heads, T, d] of hidden states [T, width], in float64."""
    linear = getattr(module, name)
    bias = 0 if linear.bias is None else linear.bias.double()
    vectors = hidden @ linear.weight.double().T + bias
    array: Floats = vectors.unflatten(1, (HEADS, -1)).transpose(0, 1).detach().numpy()
    return array


def softmaxed(query: Floats, keys: Floats, seen: Sequence[int]) -> Floats:
    """The weights of all keys for one query, over those that it sees."""
    scores = keys[list(seen)] @ query / np.sqrt(len(query))
    row = np.zeros(len(keys))
    row[list(seen)] = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    return row


def longformer_attention(
    module: Any, hidden: torch.Tensor, kept: Sequence[int], places: Sequence[int]
) -> tuple[Floats, Floats]:
    """Weights [heads, T, T] and outputs [heads, T, d_v] of one text, query by query.

    Args:
        kept: the positions that are not padding.
        places: those of global tokens.
    """
    q, k, v = (projected(module, name, hidden) for name in ("query", "key", "value"))
    of_global = [projected(module, f"{n}_global", hidden) for n in ("query", "key", "value")]
    side = module.one_sided_attn_window_size
    weights, outputs = np.zeros((HEADS, len(kept), len(kept))), np.zeros((HEADS, len(kept), 8))
    for head in range(HEADS):
        for row, position in enumerate(kept):
            if position in places:
                query, keys, values = (vectors[head] for vectors in of_global)
                whole = softmaxed(query[position], keys, kept)
            else:
                near = [key for key in kept if abs(key - position) <= side or key in places]
                whole, values = softmaxed(q[head, position], k[head], near), v[head]
            weights[head, row] = whole[list(kept)]
            outputs[head, row] = whole @ values
    return weights, outputs


@pytest.mark.parametrize("build", [longformer, led])
@pytest.mark.parametrize("pad_left", [False, True], ids=["padded right", "padded left"])
@pytest.mark.parametrize(
    ("length", "places"),
    [
        pytest.param(13, [[], []], id="no global tokens"),
        pytest.param(13, [[0, 5, 12], [6]], id="several, of another number in each text"),
        pytest.param(16, [[0], []], id="one, in one text alone"),
        pytest.param(6, [[3], [4]], id="shorter than the window"),
    ],
)
def test_a_band_and_global_tokens(
    build: Any, pad_left: bool, length: int, places: list[list[int]]
) -> None:
    model = build()
    inputs = two_texts(model, length, pad_left=pad_left)
    if any(places):
        inputs["global_attention_mask"] = torch.zeros(2, length, dtype=torch.long)
        for item, positions in enumerate(places):
            inputs["global_attention_mask"][item, positions] = inputs["attention_mask"][
                item, positions
            ]
    watched = Watched(model, f"{'LEDEncoder' if build is led else 'Longformer'}SelfAttention")
    with torch.no_grad():
        model(**inputs)
    watched.remove()
    for item in (0, 1):
        record = capture(model, None, inputs, batch_index=item)
        kept = inputs["attention_mask"][item].nonzero()[:, 0].tolist()
        stack = record.stack("encoder" if build is led else "self")
        seen = [p for p in places[item] if p in kept]
        for layer, module, [hidden, *_], [output, *_] in zip(
            stack.layers, watched.modules, watched.hidden, watched.outputs, strict=True
        ):
            weights, outputs = longformer_attention(module, hidden[item], kept, seen)
            found = layer.all_weights(np.arange(len(kept)))
            assert np.abs(found - weights).max() < 1e-5
            own = output[item, kept].unflatten(1, (HEADS, -1)).transpose(0, 1).numpy()
            assert np.abs(outputs - own).max() < 1e-4, "the reference is not what the model does"
            assert (layer.queries is None) == any(places)
            assert layer.fidelity.exact
        assert weights.max() > 0.5, "too uniform to prove anything"


def pegasus_attention(
    module: Any, hidden: list[torch.Tensor], kept: Sequence[int], *, shift: int
) -> tuple[Floats, Floats]:
    """Weights and outputs of one text's global tokens and then of its own, query by query.

    Args:
        hidden: of the tokens, with those that fill blocks, and of the global tokens.
        kept: the positions of tokens that are not padding, after the global ones.
        shift: the number of positions that fill the first block.
    """
    tokens, before = hidden
    names = ("q_proj", "k_proj", "v_proj")
    q, k, v = (projected(module, name, torch.cat([before, tokens])) for name in names)
    count = len(before)
    places = [*range(count), *(count + shift + position for position in kept)]
    weights, outputs = (
        np.zeros((HEADS, len(places), len(places))),
        np.zeros((HEADS, len(places), 8)),
    )
    for head in range(HEADS):
        for row, place in enumerate(places):
            block = (place - count) // module.block_size
            seen = [
                key for key in places
                if place < count or key < count or (key - count) // module.block_size == block
            ]  # fmt: skip
            whole = softmaxed(q[head, place], k[head], seen)
            weights[head, row] = whole[places]
            outputs[head, row] = whole @ v[head]
    return weights, outputs


@pytest.mark.parametrize("length", [12, 13, 6])
@pytest.mark.parametrize("item", [0, 1])
def test_blocks_and_the_encoders_own_global_tokens(length: int, item: int) -> None:
    model = pegasus_x()
    inputs = two_texts(model, length)
    watched = Watched(model, "PegasusXGlobalLocalAttention")
    with torch.no_grad():
        model(**inputs)
    watched.remove()
    record = capture(model, None, inputs, batch_index=item, values=True)
    kept = inputs["attention_mask"][item].nonzero()[:, 0].tolist()
    labels, _ = record.tokens("encoder")
    assert labels[:5] == ["[global 1]", "[global 2]", "[global 3]", "0", "1"]
    for number, layer in enumerate(record.stack("encoder").layers):
        module, hidden = watched.modules[number], watched.hidden[number]
        of_item = [hidden[0][item], hidden[1][item]]
        weights, outputs = pegasus_attention(module, of_item, kept, shift=2 * number)
        found = layer.all_weights(np.arange(3 + len(kept)))
        assert np.abs(found - weights).max() < 1e-5
        assert weights.max() > 0.5, "too uniform to prove anything"
        merged = outputs.transpose(1, 0, 2).reshape(len(outputs[0]), -1)
        after = merged @ module.out_proj.weight.detach().double().numpy().T
        own = watched.outputs[number][0][item, [2 * number + p for p in kept]]
        assert np.abs(after[3:] - own.numpy()).max() < 1e-4
        assert layer.queries is not None
        assert layer.fidelity.exact
