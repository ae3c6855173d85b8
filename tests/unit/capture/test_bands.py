"""Attention within bands and blocks, beside attention over all keys with the same projections."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from attnwidget import capture
from attnwidget.capture import recorder
from attnwidget.interventions.editor import intervene
from attnwidget.interventions.edits import Ablate, KnockOut, Scale
from attnwidget.record import Floats
from tests.unit.snapshot import Snapshot
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


def reformer(**options: Any) -> Model:
    """Two layers of local attention, in chunks of four."""
    sizes = {"attention_head_size": 8, "attn_layers": ["local"] * 2, "local_attn_chunk_length": 4,
             "feed_forward_size": 48, "axial_pos_embds": False}  # fmt: skip
    return tiny("Reformer", "eager", **sizes, **options)


def bigbird() -> Model:
    """In blocks of two, of which one is random."""
    sizes = {"attention_type": "block_sparse", "block_size": 2, "num_random_blocks": 1}
    return tiny("BigBird", "eager", **sizes)


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


@pytest.mark.parametrize("is_decoder", [False, True])
@pytest.mark.parametrize("length", [13, 4])
def test_chunks_and_the_one_before(is_decoder: bool, length: int) -> None:
    """The last chunk is before the first one, as Reformer rolls them."""
    model = reformer(is_decoder=is_decoder)
    inputs = two_texts(model, length)
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    inputs["attention_mask"][1, -1] = 0
    watched = Watched(model, "LocalSelfAttention")
    with torch.no_grad():
        model(**inputs)
    watched.remove()
    chunks = -(-length // 4)
    for item in (0, 1):
        record = capture(model, None, inputs, batch_index=item)
        kept = inputs["attention_mask"][item].nonzero()[:, 0].tolist()
        for layer, module, [hidden, *_], [output, *_] in zip(
            record.stack().layers, watched.modules, watched.hidden, watched.outputs, strict=True
        ):
            q, k, v = (projected(module, name, hidden[item]) for name in ("query", "key", "value"))
            for head, row in itertools.product(range(HEADS), range(len(kept))):
                seen = [
                    key for key in kept
                    if (row // 4 - key // 4) % chunks < 2 and not (is_decoder and key > row)
                ]  # fmt: skip
                whole = softmaxed(q[head, row], k[head], seen)
                found = layer.all_weights(np.arange(len(kept)))[head, row]
                assert np.abs(found - whole[kept]).max() < 1e-5
                own = output[item, row, head * 8 : (head + 1) * 8].numpy()
                assert np.abs(whole @ v[head] - own).max() < 1e-4
            assert layer.fidelity.exact


@pytest.mark.parametrize("length", [15, 16])
def test_blocks_that_a_query_has_twice(length: int) -> None:
    """In evaluation mode, BigBird's random block is the first one, which is also a global one."""
    model = bigbird()
    inputs = {"input_ids": token_ids(length)}
    watched = Watched(model, "BigBirdBlockSparseAttention")
    with torch.no_grad():
        model(**inputs)
    watched.remove()
    record = capture(model, None, inputs)
    assert record.missing == ()
    for layer, module, [hidden, *_], [output, *_] in zip(
        record.stack().layers, watched.modules, watched.hidden, watched.outputs, strict=True
    ):
        q, k, v = (projected(module, name, hidden[0]) for name in ("query", "key", "value"))
        for head, row in itertools.product(range(HEADS), range(length)):
            block = row // 2
            blocks = [0, *{0, block - 1, block, block + 1, 7}]
            if block in (0, 7):
                blocks = list(range(8))
            seen = [key for n in blocks for key in (2 * n, 2 * n + 1) if key < length]
            scores = k[head, seen] @ q[head, row] / np.sqrt(8)
            shares = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
            whole = np.bincount(seen, shares, minlength=16)
            found = layer.all_weights(np.arange(length))[head, row]
            assert np.abs(found - whole[:length]).max() < 1e-5
            own = output[0, row, head * 8 : (head + 1) * 8].numpy()
            assert np.abs(whole @ v[head] - own).max() < 1e-4


@pytest.mark.parametrize("build", [longformer, pegasus_x])
def test_the_model_is_left_as_it_was(build: Any) -> None:
    """Also where it is stopped within its attention."""
    model = build().train()
    inputs = two_texts(model, 13)
    before = Snapshot(model)
    capture(model, None, inputs)
    before.assert_unchanged()

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    [*_, projection] = [m for n, m in model.named_modules() if n.endswith(("value", "v_proj"))]
    removal = projection.register_forward_hook(stop)
    with pytest.raises(KeyboardInterrupt):
        capture(model, None, inputs)
    removal.remove()
    before.assert_unchanged()


# A model, the inputs that it has beside tokens, and the projection of a layer's head outputs.
CHANGED = {
    "Longformer": (longformer, [], "encoder.layer.1.attention.output.dense"),
    "Longformer with global tokens": (longformer, [0, 5], "encoder.layer.1.attention.output.dense"),
    "Pegasus-X": (lambda: pegasus_x().encoder, [], "layers.1.self_attn.out_proj"),
}


def changed_inputs(model: Model, places: list[int]) -> dict[str, torch.Tensor]:
    inputs = {name: x for name, x in two_texts(model, 13).items() if "decoder" not in name}
    if places:
        inputs["global_attention_mask"] = torch.zeros(2, 13, dtype=torch.long)
        inputs["global_attention_mask"][:, places] = 1
    return inputs


@pytest.mark.parametrize("name", CHANGED)
def test_a_head_off_equals_its_part_of_the_projection_at_zero(name: str) -> None:
    build, places, projection = CHANGED[name]
    model = build()
    inputs = changed_inputs(model, places)
    with torch.no_grad():
        plain = model(**inputs).last_hidden_state
        with intervene(model, Scale(1)):
            assert torch.allclose(model(**inputs).last_hidden_state, plain, atol=1e-6)
        with intervene(model, Ablate(1, [2])):
            off = model(**inputs).last_hidden_state
        assert not torch.allclose(off, plain, atol=1e-2)
        model.get_submodule(projection).weight.unflatten(1, (HEADS, -1))[:, 2] = 0
        assert torch.allclose(off, model(**inputs).last_hidden_state, atol=1e-5)


@pytest.mark.parametrize("name", CHANGED)
def test_edges_are_cut_or_refused(name: str) -> None:
    """Weights alone cannot be changed: the softmaxes of a band and of global tokens are several."""
    build, places, _ = CHANGED[name]
    model = build()
    inputs = changed_inputs(model, places)
    before = Snapshot(model)
    if places:
        refused = pytest.raises(ValueError, match=r"the scores of .* cannot be changed")
        with refused, intervene(model, KnockOut(5, 6)):
            model(**inputs)
    else:
        plain = capture(model, None, inputs)
        with intervene(model, KnockOut(5, 6)):
            cut = capture(model, None, inputs)
        for layer in (0, 1):
            expected = plain.layer(layer).all_weights(np.arange(13))
            found = cut.layer(layer).all_weights(np.arange(13))
            assert cut.layer(layer).fidelity.exact
            assert not found[:, 5, 6].any()
            if layer == 0:
                assert expected[:, 5, 6].all()
                expected[:, 5, 6] = 0
                expected /= expected.sum(axis=2, keepdims=True)
                assert np.abs(found - expected)[:, 3:].max() < 1e-5
    before.assert_unchanged()


def test_weights_that_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    model = longformer()
    inputs = changed_inputs(model, [0])
    of_layer = 4 * HEADS * 13**2
    monkeypatch.setattr(recorder, "MOST_BYTES", of_layer)
    with pytest.raises(ValueError, match=r"4 heads times 13 x 13 tokens in each.*layers=\[0, 1\]"):
        capture(model, None, inputs)
    assert capture(model, None, inputs, layers=[1]).stack().numbers == (1,)
    monkeypatch.setattr("attnwidget.tracing.explicit.MOST_BYTES", of_layer)
    with pytest.raises(ValueError, match=r"13 x 13 tokens, of 2 in a batch.*a shorter text"):
        capture(model, None, inputs)
