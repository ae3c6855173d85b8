"""Stacks, heads, items and labels of models of one's own, which are read from their numbers."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import peft
import pytest
import torch
import transformers
from torch import nn

from attnwidget import ablate, capture, profile
from tests.unit.running.test_stacks import Names
from tests.unit.tiny import Model, bert, llama, tiny, token_ids

WIDTH, HEADS = 32, 4
T = torch.Tensor


class Mixing(nn.Module):
    """Attention whose heads a function splits; keeps its weights [batch, heads, Tq, Tk]."""

    def __init__(self, attend: Callable[[T, T, T], tuple[T, T]]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.attend = attend

    def forward(self, x: T, y: T | None = None) -> T:
        inputs = (x, x if y is None else y, x if y is None else y)
        vectors = (
            part(each).unflatten(-1, (HEADS, -1))
            for part, each in zip(self.parts, inputs, strict=True)
        )
        product, self.seen = self.attend(*vectors)
        return product


def heads_first(q: T, k: T, v: T) -> tuple[T, T]:
    q, k, v = (x.permute(2, 0, 1, 3) for x in (q, k, v))
    weights = (q @ k.mT).softmax(-1)
    return (weights @ v).permute(1, 2, 0, 3).flatten(2), weights.transpose(0, 1)


def heads_first_in_a_function(q: T, k: T, v: T) -> tuple[T, T]:
    q, k, v = (x.permute(2, 0, 1, 3) for x in (q, k, v))
    product = nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)
    return product.permute(1, 2, 0, 3).flatten(2), (q @ k.mT).softmax(-1).transpose(0, 1)


def scores_by_query(q: T, k: T, v: T) -> tuple[T, T]:
    weights = torch.einsum("bqhd,bkhd->bqhk", q, k).softmax(-1)
    return torch.einsum("bqhk,bkhd->bqhd", weights, v).flatten(2), weights.transpose(1, 2)


def heads_last(q: T, k: T, v: T) -> tuple[T, T]:
    weights = torch.einsum("bqhd,bkhd->bqkh", q, k).softmax(2)
    return torch.einsum("bqkh,bkhd->bqhd", weights, v).flatten(2), weights.permute(0, 3, 1, 2)


def groups(q: T, k: T, v: T) -> tuple[T, T]:
    """Two groups of two heads that share their keys."""
    q = q.unflatten(2, (2, 2)).permute(0, 2, 3, 1, 4)
    k, v = (x[:, :, ::2].transpose(1, 2)[:, :, None] for x in (k, v))
    weights = (q @ k.mT).softmax(-1)
    return (weights @ v).permute(0, 3, 1, 2, 4).flatten(2), weights.flatten(1, 2)


def heads_before_items(q: T, k: T, v: T) -> tuple[T, T]:
    """Heads and items in one dimension, heads first."""
    count = len(q)
    q, k, v = (x.permute(2, 0, 1, 3).flatten(0, 1) for x in (q, k, v))
    weights = torch.bmm(q, k.mT).softmax(-1)
    product = torch.bmm(weights, v).unflatten(0, (HEADS, count)).permute(1, 2, 0, 3).flatten(2)
    return product, weights.unflatten(0, (HEADS, count)).transpose(0, 1)


def items_before_heads(q: T, k: T, v: T) -> tuple[T, T]:
    count = len(q)
    q, k, v = (x.transpose(1, 2).flatten(0, 1) for x in (q, k, v))
    weights = torch.bmm(q, k.mT).softmax(-1)
    product = torch.bmm(weights, v).unflatten(0, (count, HEADS)).transpose(1, 2).flatten(2)
    return product, weights.unflatten(0, (count, HEADS))


class One(nn.Module):
    """Token embeddings and two layers of attention."""

    def __init__(self, attend: Callable[[T, T, T], tuple[T, T]]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embeddings = nn.Embedding(64, WIDTH)
        self.layers = nn.ModuleList(Mixing(attend) for _ in range(2))

    def forward(self, input_ids: T) -> T:
        x: T = self.embeddings(input_ids)
        for layer in self.layers:
            x = x + layer(x)
        return x


@pytest.mark.parametrize("length", [HEADS, 7])
@pytest.mark.parametrize("count", [1, 3, HEADS])
@pytest.mark.parametrize(
    "attend",
    [
        heads_first,
        heads_first_in_a_function,
        scores_by_query,
        heads_last,
        groups,
        heads_before_items,
        items_before_heads,
    ],
    ids=lambda f: f.__name__,
)
def test_the_dimensions_of_heads_and_items(
    attend: Callable[[T, T, T], tuple[T, T]], count: int, length: int
) -> None:
    model = One(attend).eval()
    ids = torch.cat([token_ids(length, seed=n) for n in range(count)])
    index = count - 1
    record = capture(model, None, {"input_ids": ids}, batch_index=index)
    model(ids)
    for layer, module in zip(record.stack().layers, model.layers, strict=True):
        own = module.seen[index].detach().numpy()
        assert (layer.num_heads, *layer.shape) == own.shape
        weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
        np.testing.assert_allclose(weights, own, atol=1e-6)
        assert layer.fidelity.exact


class TwiceAttention(Mixing):
    """Attention by its name, with a softmax of its weights: a changed key changes all of a row."""

    def __init__(self) -> None:
        super().__init__(twice)


def twice(q: T, k: T, v: T) -> tuple[T, T]:
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    weights = (q @ k.mT).softmax(-1).softmax(-1)
    return (weights @ v).transpose(1, 2).flatten(2), weights


def test_keys_in_which_no_change_is_seen() -> None:
    model = One(twice).eval()
    model.layers = nn.ModuleList(TwiceAttention() for _ in range(2))
    record = capture(model, None, {"input_ids": token_ids(6)})
    assert record.stacks == ("self",)
    for layer, module in zip(record.stack().layers, model.layers, strict=True):
        weights = np.stack([layer.head_weights(head) for head in range(HEADS)])
        np.testing.assert_allclose(weights, module.seen[0].detach().numpy(), atol=1e-6)


@pytest.mark.parametrize(
    "attend",
    [heads_first, heads_first_in_a_function, scores_by_query, heads_last, heads_before_items],
    ids=lambda f: f.__name__,
)
def test_interventions_and_profiles_find_the_same_heads(
    attend: Callable[[T, T, T], tuple[T, T]],
) -> None:
    model = One(attend).eval()
    ids = torch.cat([token_ids(7, seed=n) for n in range(3)])
    inputs, metric = {"input_ids": ids}, lambda output: float(output[1].square().sum())
    effect = ablate(model, None, inputs, heads=[(1, 2)], batch_index=1, metric=metric)
    module = model.layers[1]

    def without(q: T, k: T, v: T) -> tuple[T, T]:
        product, weights = attend(q, k, v)
        product.unflatten(2, (HEADS, -1))[:, :, 2] = 0
        return product, weights

    module.attend = without
    assert effect.metric is not None
    assert effect.metric[1] == pytest.approx(metric(model(ids)), rel=1e-5)
    module.attend = attend
    found = profile(model, None, [{"input_ids": ids}], metrics=["entropy"], null=[])
    model(ids)
    own = module.seen.detach().double()
    entropy = -(own * own.log()).sum(-1).mean(dim=(0, 2))
    np.testing.assert_allclose(found.values("entropy").mean[1], entropy, atol=1e-4)


class Two(nn.Module):
    """An encoder-decoder whose cross-attention has a name of its own."""

    def __init__(self, name: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embeddings = nn.Embedding(64, WIDTH)
        self.decoder = nn.ModuleList(
            nn.ModuleDict({"self_attn": Mixing(heads_first), name: Mixing(scores_by_query)})
            for _ in range(2)
        )
        self.name = name

    def forward(self, input_ids: T, decoder_input_ids: T) -> T:
        x, y = self.embeddings(input_ids), self.embeddings(decoder_input_ids)
        for layer in self.decoder:
            y = y + layer["self_attn"](y)
            y = y + layer[self.name](y, x)
        return y


def names(ids: torch.Tensor) -> tuple[str, ...]:
    return tuple(f"w{token}" for token in ids.tolist())


@pytest.mark.parametrize("target", [5, 6])
@pytest.mark.parametrize("name", ["src_attn", "context_attn", "attn2"])
def test_cross_attention_of_any_name(name: str, target: int) -> None:
    model = Two(name).eval()
    source, target_ids = token_ids(5), token_ids(target, seed=1)
    record = capture(model, Names(), {"input_ids": source, "decoder_input_ids": target_ids})
    assert list(record.stacks) == ["decoder", "cross"]
    for stack, keys in (("decoder", target_ids), ("cross", source)):
        shown = record.stack(stack)
        assert shown.numbers == (0, 1)
        assert shown.queries.labels == names(target_ids[0])
        assert shown.keys.labels == names(keys[0])


def test_cross_attention_between_parts_of_other_names() -> None:
    """Its parts are a text_encoder and a text_decoder, and the first source is padded."""
    sizes = {
        "vocab_size": 64, "hidden_size": 32, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48,
        "decoder_ffn_dim": 48, "t2u_vocab_size": 64, "speech_encoder_layers": 1, "pad_token_id": 0,
    }  # fmt: skip
    torch.manual_seed(0)
    model = transformers.SeamlessM4TForTextToText(transformers.SeamlessM4TConfig(**sizes)).eval()
    source = torch.cat([token_ids(5), token_ids(5, seed=2)])
    mask = torch.ones_like(source)
    mask[0, 3:] = 0
    target = torch.cat([token_ids(5, seed=1)] * 2)
    inputs = {"input_ids": source, "attention_mask": mask, "decoder_input_ids": target}
    record = capture(model, Names(), inputs)
    sides = {
        name: (record.stack(name).queries.labels, record.stack(name).keys.labels)
        for name in record.stacks
    }
    of_source, of_target = names(source[0, :3]), names(target[0])
    assert sides == {
        "encoder": (of_source, of_source),
        "decoder": (of_target, of_target),
        "cross": (of_target, of_source),
    }


def test_an_encoder_that_reads_two_texts() -> None:
    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = bert()

        def forward(self, input_ids: T, doc_ids: T) -> T:
            first, second = self.bert(input_ids), self.bert(doc_ids)
            return first.last_hidden_state.mean() + second.last_hidden_state.mean()

    ids, others = token_ids(6), token_ids(6, seed=1)
    record = capture(Both().eval(), Names(), {"input_ids": ids, "doc_ids": others})
    assert [record.stack(name).queries.labels for name in record.stacks] == [
        names(ids[0]),
        names(others[0]),
    ]


@pytest.mark.parametrize("index", [0, 2])
def test_a_sequence_before_its_items(index: int) -> None:
    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            layer = nn.TransformerEncoderLayer(16, HEADS, 32, dropout=0.0)
            self.encoder = nn.TransformerEncoder(layer, 1)

        def forward(self, src: T) -> T:
            output: T = self.encoder(src)
            return output

    model, src = Encoder().eval(), torch.randn(6, 3, 16, generator=torch.Generator().manual_seed(0))
    alone = capture(model, None, {"src": src[:, index : index + 1]})
    record = capture(model, None, {"src": src}, batch_index=index)
    assert record.layer(0).shape == (6, 6)
    np.testing.assert_allclose(record.weights(0, 1), alone.weights(0, 1), atol=1e-6)
    with pytest.raises(IndexError, match="the batch has 3 items"):
        capture(model, None, {"src": src}, batch_index=3)


@pytest.mark.parametrize("folded", [False, True])
def test_windows_of_an_image_are_no_heads(folded: bool) -> None:
    """Four windows of four heads, in dimensions of their own or with the items."""

    class Windows(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.patches, self.parts = nn.Conv2d(3, WIDTH, 4, 4), nn.Linear(WIDTH, 3 * WIDTH)

        def forward(self, x: T) -> T:
            x = self.patches(x).permute(0, 2, 3, 1).unflatten(2, (2, 4)).unflatten(1, (2, 4))
            x = x.transpose(2, 3).flatten(3, 4)  # [items, 2, 2, tokens, width]
            x = x.flatten(0, 2) if folded else x.flatten(1, 2)
            q, k, v = (each.transpose(-2, -3) for each in self.split(x))
            weights = (q @ k.mT).softmax(-1)
            self.seen = weights.view(-1, 4, *weights.shape[-3:])
            return weights @ v

        def split(self, x: T) -> tuple[T, ...]:
            return self.parts(x).unflatten(-1, (3, HEADS, -1)).unbind(-3)

    pixels = torch.rand(3, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    model = Windows().eval()
    record = capture(model, None, {"x": pixels}, batch_index=1)
    model(pixels)
    for head in range(HEADS):
        own = torch.block_diag(*model.seen[1, :, head]).detach().numpy()
        np.testing.assert_allclose(record.weights(0, head), own, rtol=0, atol=1e-6)


def test_choices_are_items_of_their_own() -> None:
    """A batch of two questions with three choices each, one of them padded."""
    ids = torch.stack([token_ids(5, seed) for seed in range(6)]).view(2, 3, 5)
    mask = torch.ones_like(ids)
    mask[1, 1, 3:] = 0
    model = transformers.BertForMultipleChoice(bert().config).eval()
    for item, length in ((0, 5), (4, 3)):
        inputs = {"input_ids": ids, "attention_mask": mask}
        record = capture(model, Names(), inputs, batch_index=item)
        row = ids.view(6, 5)[item, :length]
        assert record.tokens()[0] == list(names(row))
        alone = capture(model.bert, None, {"input_ids": row[None]})
        np.testing.assert_allclose(record.weights(1, 2), alone.weights(1, 2), rtol=0, atol=1e-5)
    with pytest.raises(IndexError, match="6 items"):
        capture(model, Names(), {"input_ids": ids}, batch_index=6)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("kind", [peft.PromptTuningConfig, peft.PrefixTuningConfig])
def test_a_soft_prompt_comes_before_the_text(kind: Any, padded: bool) -> None:
    """Or, as a prefix, before its keys alone."""
    torch.manual_seed(0)
    config = kind(task_type="CAUSAL_LM", num_virtual_tokens=3)
    model = peft.get_peft_model(tiny("LlamaForCausalLM", num_key_value_heads=2), config).eval()
    ids = token_ids(6)
    mask = torch.ones_like(ids)
    if padded:
        mask[0, 4:] = 0
    record = capture(model, Names(), {"input_ids": ids, "attention_mask": mask})
    text = names(ids[0, : 4 if padded else 6])
    with_prompt = ("[virtual 1]", "[virtual 2]", "[virtual 3]", *text)
    stack = record.stack()
    assert stack.queries.labels == (text if kind is peft.PrefixTuningConfig else with_prompt)
    assert stack.keys.labels == with_prompt


def test_learned_queries_are_no_words() -> None:
    class Latents(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embeddings = nn.Embedding(64, WIDTH)
            self.latents = nn.Parameter(torch.randn(1, 6, WIDTH))
            self.reads, self.mixes = Mixing(heads_first), Mixing(heads_first)

        def forward(self, input_ids: T) -> T:
            x = self.embeddings(input_ids)
            latents = self.reads(self.latents.expand(len(x), -1, -1), x)
            output: T = self.mixes(latents)
            return output

    ids, positions = token_ids(6), tuple("012345")
    record = capture(Latents().eval(), Names(), {"input_ids": ids})
    reads, mixes = record.stack("cross"), record.stack("self")
    assert (reads.queries.labels, reads.keys.labels) == (positions, names(ids[0]))
    assert (mixes.queries.labels, mixes.keys.labels) == (positions, positions)


class Listed(nn.Module):
    """Attention of several kinds in one numbered list, by letters.

    "s" is self-attention, "c" reads the other text, "l" lets latents read the text, "m" mixes them,
    and "t" lets the text read the latents.
    """

    def __init__(self, kinds: str, count: int = 6) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.kinds = kinds
        self.embeddings = nn.Embedding(64, WIDTH)
        self.latents = nn.Parameter(torch.randn(1, count, WIDTH))
        self.layers = nn.ModuleList(Mixing(items_first) for _ in kinds)

    def forward(self, input_ids: T, context_ids: T | None = None) -> T:
        x, z = self.embeddings(input_ids), self.latents.expand(len(input_ids), -1, -1)
        y = None if context_ids is None else self.embeddings(context_ids)
        for kind, layer in zip(self.kinds, self.layers, strict=True):
            read = {"s": x, "c": y, "l": x, "m": z, "t": z}[kind]
            if kind in "lm":
                z = z + layer(z, read)
            else:
                x = x + layer(x, read)
        return x + z if x.shape == z.shape else x


def items_first(q: T, k: T, v: T) -> tuple[T, T]:
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    weights = (q @ k.mT).softmax(-1)
    return (weights @ v).transpose(1, 2).flatten(2), weights


def by_layer(record: Any) -> dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """(stack, labels of queries, labels of keys) of each module."""
    return {
        layer.fidelity.module: (
            name.split()[0],
            record.stack(name).queries.labels,
            record.stack(name).keys.labels,
        )
        for name in record.stacks
        for layer in record.stack(name).layers
    }


@pytest.mark.parametrize("length", [6, 4])
def test_layers_of_several_kinds_in_one_list(length: int) -> None:
    """A decoder whose list has self-attention and cross-attention in turn."""
    ids, context = token_ids(length), token_ids(6, seed=1)
    inputs = {"input_ids": ids, "context_ids": context}
    found = by_layer(capture(Listed("scsc").eval(), Names(), inputs))
    own, other = names(ids[0]), names(context[0])
    assert found == {
        "layers.0": ("self", own, own),
        "layers.1": ("cross", own, other),
        "layers.2": ("self", own, own),
        "layers.3": ("cross", own, other),
    }


def test_latents_of_a_text_as_long_as_they() -> None:
    ids, positions = token_ids(6), tuple("012345")
    found = by_layer(capture(Listed("lmlt").eval(), Names(), {"input_ids": ids}))
    own = names(ids[0])
    assert found == {
        "layers.0": ("cross", positions, own),
        "layers.1": ("self", positions, positions),
        "layers.2": ("cross", positions, own),
        "layers.3": ("cross", own, positions),
    }


def reverses(ids: T) -> T:
    return ids.flip(1)


def shifts(ids: T) -> T:
    return nn.functional.pad(ids[:, :-1], (1, 0))


def rolls(ids: T) -> T:
    return ids.roll(2, 1)


def deals(ids: T) -> T:
    """Every other token first."""
    return torch.cat([ids[:, ::2], ids[:, 1::2]], 1)


@pytest.mark.parametrize("order", [reverses, shifts, rolls, deals], ids=lambda f: f.__name__)
def test_tokens_in_another_order_have_no_words(order: Callable[[T], T]) -> None:
    class Ordered(One):
        def forward(self, input_ids: T) -> T:
            output: T = super().forward(order(input_ids))
            return output

    record = capture(Ordered(items_first).eval(), Names(), {"input_ids": token_ids(7)})
    assert record.tokens() == ([*"0123456"], [*"0123456"])


@pytest.mark.parametrize(("name", "known"), [("input_ids", True), ("words", False)])
def test_tokens_with_tags(name: str, known: bool) -> None:
    """Two inputs are one sequence: only the usual name tells which has the words."""

    class Tagged(One):
        def both(self, tags: T, ids: T) -> T:
            x = self.embeddings(ids) + self.embeddings(tags + 1)
            for layer in self.layers:
                x = x + layer(x)
            return x

    class Usual(Tagged):
        def forward(self, tags: T, input_ids: T) -> T:  # type: ignore[override]
            return self.both(tags, input_ids)

    class Own(Tagged):
        def forward(self, tags: T, words: T) -> T:  # type: ignore[override]
            return self.both(tags, words)

    ids, model = token_ids(6), (Usual if known else Own)(items_first).eval()
    record = capture(model, Names(), {"tags": token_ids(6, seed=1), name: ids})
    assert record.stacks == ("self",)
    assert record.tokens()[0] == (list(names(ids[0])) if known else [*"012345"])


@pytest.mark.parametrize("first", [(1, 1), (2, 1), (2, 2)], ids=str)
@pytest.mark.parametrize("attend", [groups, heads_before_items, heads_last, scores_by_query])
def test_a_first_text_that_leaves_axes_open_is_not_the_last_word(
    attend: Callable[[T, T, T], tuple[T, T]], first: tuple[int, int]
) -> None:
    model = One(attend).eval()
    with suppress(ValueError):
        capture(model, None, {"input_ids": token_ids(first[1]).repeat(first[0], 1)})
    ids = torch.cat([token_ids(6, seed=n) for n in range(3)])
    record = capture(model, Names(), {"input_ids": ids}, batch_index=2)
    model(ids)
    own = model.layers[1].seen[2].detach().numpy()
    weights = np.stack([record.weights(1, head) for head in range(HEADS)])
    np.testing.assert_allclose(weights, own, atol=1e-6)
    assert record.tokens()[1] == list(names(ids[2]))


@pytest.mark.parametrize("count", [1, 2])
def test_items_in_modules_calls_one_after_the_other(count: int) -> None:
    """What a module computes of one item is not that of another."""

    class OneByOne(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embeddings = nn.Embedding(64, WIDTH)
            self.attention = nn.MultiheadAttention(WIDTH, HEADS)

        def forward(self, input_ids: T) -> T:
            x = self.embeddings(input_ids)
            return torch.stack([self.attention(each, each, each)[0] for each in x])

    ids = torch.cat([token_ids(6, seed=n) for n in range(count)])
    model = OneByOne().eval()
    if count == 1:
        assert capture(model, Names(), {"input_ids": ids}).stack().numbers == (0,)
    else:
        with pytest.raises(ValueError, match="it reads items one after the other"):
            capture(model, Names(), {"input_ids": ids}, batch_index=1)


def test_models_run_once_when_they_are_known() -> None:
    """Only where names and shapes leave several readings does a model run more often."""

    def passes(model: Model, inputs: dict[str, T]) -> int:
        count = 0

        def add(*_: object) -> None:
            nonlocal count
            count += 1

        handle = model.register_forward_pre_hook(add)
        capture(model, None, inputs)
        handle.remove()
        return count

    ids = {"input_ids": token_ids(6)}
    # Three short ones tell what else mixes tokens.
    for model, first in ((llama(), 1), (bert(), 1), (One(scores_by_query), 3)):
        assert passes(model, ids) == first + 3
        assert passes(model, ids) == 1


def test_a_cache_among_the_inputs_stays_as_it_was() -> None:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    ids = token_ids(10)
    with torch.no_grad():
        cache = model(input_ids=ids[:, :6], use_cache=True).past_key_values
    inputs = {"input_ids": ids[:, 6:], "past_key_values": cache}
    shapes = [capture(model, None, inputs).layer(0).shape for _ in range(2)]
    effect = ablate(model, None, inputs, heads=[])
    assert shapes == [(4, 10), (4, 10)]
    assert effect.logits is not None
    np.testing.assert_array_equal(*effect.logits)
    assert cache.get_seq_length() == 6


@pytest.mark.parametrize("name", ["kv_cache", "layer_past", "mems"])
def test_a_cache_of_another_name_stays_as_it_was(name: str) -> None:
    class Remembers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embeddings, self.keys = nn.Embedding(64, WIDTH), nn.Linear(WIDTH, WIDTH)

        def forward(self, ids: T, **given: list[T]) -> T:
            [cache] = given.values()
            q = self.keys(self.embeddings(ids))
            cache.append(q)
            k = torch.cat(cache, 1)
            q, k = (x.unflatten(-1, (HEADS, -1)).transpose(1, 2) for x in (q, k))
            return (q @ k.mT).softmax(-1) @ k

    model = Remembers().eval()
    cache = [model.keys(model.embeddings(token_ids(5))).detach()]
    inputs = {"ids": token_ids(3), name: cache}
    assert [capture(model, Names(), inputs).layer(0).shape for _ in range(2)] == [(3, 8)] * 2
    assert len(cache) == 1


def test_a_state_of_the_model_itself_is_that_of_one_pass() -> None:
    """Passes that read its structure leave no trace in attributes and buffers."""

    class Counts(One):
        def __init__(self) -> None:
            super().__init__(items_first)
            self.register_buffer("longest", torch.zeros(1))
            self.kept: T | None = None

        def forward(self, input_ids: T) -> T:
            self.longest += 1
            self.kept = input_ids if self.kept is None else torch.cat([self.kept, input_ids])
            output: T = super().forward(input_ids)
            return output

    model, ids = Counts().eval(), token_ids(6)
    capture(model, None, {"input_ids": ids})
    assert model.kept is not None
    assert torch.equal(model.kept, ids)
    assert model.longest.item() == 1


class Classifier(nn.Module):
    """A head of one's own on an encoder, which takes less than its tokenizer returns."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = bert()

    def forward(self, input_ids: T, attention_mask: T) -> T:
        output: T = self.bert(input_ids, attention_mask).last_hidden_state[:, 0]
        return output


def test_what_a_forward_pass_does_not_take_is_left_out_and_said() -> None:
    model, ids = Classifier().eval(), token_ids(6)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    with pytest.warns(UserWarning, match="token_type_ids is left out: Classifier does not take"):
        record = capture(model, Names(), {**inputs, "token_type_ids": torch.zeros_like(ids)})
    assert record.tokens()[0] == list(names(ids[0]))
    offsets = torch.zeros(1, 6, 2, dtype=torch.long)
    with pytest.warns(UserWarning, match="offset_mapping is left out"):
        capture(model, Names(), {**inputs, "offset_mapping": offsets})
    with pytest.raises(ValueError, match="does not take 'pixels'; its forward takes"):
        capture(model, Names(), {**inputs, "pixels": torch.zeros(1, 3, 8, 8)})


@pytest.mark.parametrize("masked", [False, True])
def test_token_ids_of_any_name(masked: bool) -> None:
    class Idx(One):
        def forward(self, idx: T, targets: T | None = None) -> T:  # type: ignore[override]
            return super().forward(idx)

    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = bert()

        def forward(self, ids: T, mask: T) -> T:
            output: T = self.bert(ids, mask).last_hidden_state
            return output

    model = Masked() if masked else Idx(heads_first)
    ids = token_ids(6)
    mask = torch.tensor([[1, 1, 1, 1, 0, 0]])
    own = {"ids": ids, "mask": mask} if masked else {"idx": ids}
    usual = {"input_ids": ids, "attention_mask": mask} if masked else {"input_ids": ids}
    for inputs in (own, usual):
        record = capture(model.eval(), Names(), inputs)
        assert record.tokens()[0] == list(names(ids[0, : 4 if masked else 6]))


def test_two_arguments_that_may_be_tokens() -> None:
    class Pair(One):
        def forward(self, src: T, tgt: T) -> T:  # type: ignore[override]
            return super().forward(src)

    with pytest.raises(ValueError, match=r"its forward takes src, tgt; .* such as {'src': ids}"):
        capture(Pair(heads_first).eval(), TextNames(), "w1 w2")


def test_what_a_forward_pass_takes_first_is_named_first() -> None:
    class Lengths(One):
        def forward(self, tokens: T, lengths: T) -> T:  # type: ignore[override]
            return super().forward(tokens)

    class Anything(nn.Module):
        def forward(self, *inputs: T) -> T:
            return inputs[0]

    class Passes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = One(heads_first)

        def forward(self, **given: T) -> T:
            output: T = self.inner(**given)
            return output

    with pytest.raises(ValueError, match=r"such as {'tokens': ids}"):
        capture(Lengths(heads_first).eval(), TextNames(), "w1 w2")
    with pytest.raises(ValueError, match="takes nothing by name: wrap the model"):
        capture(Anything().eval(), TextNames(), "w1 w2")
    with pytest.raises(ValueError, match=r"does not take these inputs .*'mask'.* mapping"):
        capture(Passes().eval(), Names(), {"input_ids": token_ids(6), "mask": token_ids(6)})


def test_a_model_s_error_is_cut_in_ours() -> None:
    class Encodes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = bert()

        def forward(self, input: T) -> T:
            raise TypeError(f"{'x' * 200} {self.bert}")

    with pytest.raises(ValueError, match=r"argument 'input' \(x{150}…\): if that is a mapping"):
        capture(Encodes().eval(), Names(), {"input_ids": token_ids(6)})


class TextNames(Names):
    def __call__(self, *_: object, **__: object) -> dict[str, T]:
        return {"input_ids": token_ids(6)}


@pytest.mark.parametrize("name", ["x", "images"])
def test_an_image_of_any_name(name: str) -> None:
    class Patches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.patches = nn.Conv2d(3, WIDTH, 8, 8)
            layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2)

        def see(self, pixels: T) -> T:
            output: T = self.encoder(self.patches(pixels).flatten(2).mT)
            return output

    class X(Patches):
        def forward(self, x: T) -> T:
            return self.see(x)

    class Images(Patches):
        def forward(self, images: T) -> T:
            return self.see(images)

    pixels = torch.rand(1, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    model = {"x": X, "images": Images}[name]().eval()
    record = capture(model, None, {name: pixels})
    assert record.tokens()[0][:5] == ["0,0", "0,1", "0,2", "0,3", "1,0"]
    assert record.images
    assert record.layer(0).fidelity.labels == "checked"
    in_order = capture(model, None, {name: pixels}, image=False)
    assert in_order.tokens() == record.tokens()
    assert in_order.layer(0).fidelity.labels == "assumed"


def test_a_model_that_takes_no_changed_inputs_has_assumed_labels() -> None:
    class Fussy(One):
        def forward(self, input_ids: T) -> T:
            if not torch.equal(input_ids, token_ids(6)):
                raise ValueError("other words")
            output: T = super().forward(input_ids)
            return output

    record = capture(Fussy(items_before_heads), Names(), {"input_ids": token_ids(6)})
    assert record.tokens()[0] == list(names(token_ids(6)[0]))
    assert record.layer(0).fidelity.labels == "assumed"
    assert capture(llama(), None, {"input_ids": token_ids(6)}).layer(0).fidelity.labels == "checked"
