"""Profiles: their texts, nulls, own metrics, errors, tables and files."""

import gc
import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import accelerate
import numpy as np
import pandas as pd
import pytest
import torch

import attnwidget as aw
from attnwidget.corpus import storage
from attnwidget.corpus.example_texts import chosen_texts
from attnwidget.corpus.repeated import repeated_tokens
from attnwidget.corpus.stack_profile import Picked, StackProfile
from attnwidget.record import Floats, Tokens
from tests.unit.corpus.planted import Planted
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import Loaded, Model, bert, gpt2, llama, t5, tiny, token_ids

TEXTS = ["The dog slept.", "A cat, too, was tired.", "Nobody knew why."]
FEW = ["previous", "induction", "variability"]


def encoded(*lengths: int) -> list[dict[str, torch.Tensor]]:
    return [{"input_ids": token_ids(length, seed=n)} for n, length in enumerate(lengths)]


class Phrase(str):
    """A string whose end can be seen."""

    __slots__ = ("__weakref__",)


def test_a_generator_is_never_held(minilm: Loaded) -> None:
    """At most the texts that are read ahead, and those of examples, are in memory."""
    alive: weakref.WeakSet[Phrase] = weakref.WeakSet()
    most = 0

    def texts() -> Iterator[str]:
        nonlocal most
        for number in range(1500):
            text = Phrase(f"Number {number}.")
            alive.add(text)
            most = max(most, len(alive))
            yield text

    model = llama(vocab_size=32000, max_position_embeddings=128)
    found = aw.profile(model, minilm[1], texts(), metrics=["first"], null=None, batch_size=2)
    gc.collect()
    assert found.num_texts == 1500
    assert most < 600


def test_every_kind_of_source_gives_the_same(minilm: Loaded, tmp_path: Path) -> None:
    model, tokenizer = minilm
    file = tmp_path / "texts.txt"
    file.write_text("\n".join([TEXTS[0], "", *TEXTS[1:]]) + "\n", encoding="utf-8")
    sources: dict[str, Any] = {
        "list": TEXTS,
        "generator": (text for text in TEXTS),
        "file": file,
        "encoded": tokenizer(TEXTS, padding=True, return_tensors="pt"),
        "batches": [tokenizer(text, return_tensors="pt") for text in TEXTS],
    }
    tables = {
        name: aw.profile(model, tokenizer, source, metrics=FEW, null=None).table()
        for name, source in sources.items()
    }
    for table in tables.values():
        for column in table:
            if column != "stack":
                np.testing.assert_allclose(table[column], tables["list"][column], atol=1e-5)


def test_a_column_of_a_data_set(minilm: Loaded) -> None:
    datasets = pytest.importorskip("datasets")
    column = datasets.Dataset.from_dict({"text": TEXTS})["text"]
    assert aw.profile(*minilm, column, metrics=["first"], null=None).num_texts == 3


def test_texts_without_tokens_are_left_out_and_named(minilm: Loaded) -> None:
    found = aw.profile(*minilm, ["", *TEXTS, ""], metrics=["first"], null=None)
    assert found.num_texts == 3
    assert found.missing == ("texts: 2 have no tokens but special ones",)


def test_pairs_of_an_encoder_decoder(minilm: Loaded) -> None:
    """Whose texts all have another length than their targets, so that no cross-attention is one of
    a text to itself; in the nulls' repeated tokens it is."""
    model = t5(vocab_size=32000, max_position_embeddings=128)
    pairs = [(text, text[::-1] + "!?!") for text in TEXTS]
    found = aw.profile(model, minilm[1], pairs, metrics=["first", "induction"])
    assert found.stacks == ("encoder", "decoder", "cross")
    with pytest.raises(ValueError, match=r"has a decoder.*give pairs.*text 0 is a single one"):
        aw.profile(model, minilm[1], TEXTS)


WRONG: dict[str, tuple[Any, str]] = {
    "a string": ("A text.", "texts is a string; give a list"),
    "a number": (3, "texts is 3; expected texts"),
    "numbers": ([3], "text 0 is int; expected a string"),
    "a triple": ([("a", "b", "c")], "text 0 is a tuple, but no pair of strings"),
    "rows of a data set": ([{"text": "a"}], "give one column"),
    "lists of ids": ([{"input_ids": [[1, 2]]}], "the input_ids of text 0 must be a tensor"),
    "a table": (pd.DataFrame({"text": TEXTS}), "texts is DataFrame; .*one of its columns"),
    "nothing": ([], "there are no texts"),
    "too long a text": (encoded(65), "takes at most 64: give max_tokens=64"),
    "ids outside of the vocabulary": (
        [{"input_ids": torch.tensor([[99]])}],
        "do not fit the model",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_texts_that_are_none(name: str) -> None:
    texts, message = WRONG[name]
    with pytest.raises((TypeError, ValueError), match=message):
        aw.profile(bert(), None, texts, null=None)


WRONG_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "metric": ({"metrics": ["previos"]}, "no metric 'previos'; the metrics are entropy"),
    "one metric": ({"metrics": "previous"}, "metrics is 'previous'; expected names"),
    "no metrics": ({"metrics": []}, "metrics is empty"),
    "a metric twice": ({"metrics": ["first", "first"]}, "'first' twice"),
    "a nameless metric": ({"metrics": [lambda weights, tokens: 0.0]}, "a name of its own"),
    "a number": ({"metrics": [3]}, "metrics has a int"),
    "null": ({"null": "random"}, "null is 'random'; expected 'random weights', 'shuffled', 'pos"),
    "nulls": ({"null": ["position", "position"]}, "null has a name twice: position, position"),
    "a null of its own": ({"null": 3}, "null is 3; expected a name, several, or None"),
    "batch size": ({"batch_size": 0}, "batch_size is 0"),
    "tokens": ({"max_tokens": 0}, "max_tokens is 0"),
    "engine": ({"engine": "spark"}, "engine is 'spark'; expected one of 'ray', None"),
    "no workers": ({"engine": "ray"}, "num_workers is None; give the number of Ray's workers"),
    "workers of nothing": ({"num_workers": 2}, "gpus_per_worker are those of engine=.ray"),
    "seed": ({"seed": -1}, "seed is -1; expected a number from 0"),
}


@pytest.mark.parametrize("name", WRONG_OPTIONS)
def test_options_that_are_none(name: str) -> None:
    options, message = WRONG_OPTIONS[name]
    with pytest.raises((TypeError, ValueError), match=message):
        aw.profile(bert(), None, encoded(5), **options)


def test_a_metric_of_ones_own() -> None:
    seen: list[tuple[tuple[int, int], int]] = []

    def last_key(weights: Floats, tokens: Tokens) -> float:
        """Share on the last key."""
        seen.append(((weights.shape[0], weights.shape[1]), len(tokens)))
        return weights[:, -1].mean()

    model = bert()
    found = aw.profile(model, None, encoded(5, 7), metrics=["first", last_key], null=None)
    assert set(seen) == {((5, 5), 5), ((7, 7), 7)}
    assert found.metrics["last_key"].description == "Share on the last key."
    records = [aw.capture(model, None, text) for text in encoded(5, 7)]
    expected = np.mean([record.weights(1, 2)[:, -1].mean() for record in records])
    assert found.values("last_key").mean[1, 2] == pytest.approx(expected, abs=1e-6)

    def no_number(weights: Floats, tokens: Tokens) -> Any:
        return weights[0]

    with pytest.raises(TypeError, match="no_number returned ndarray; expected one number"):
        aw.profile(model, None, encoded(5), metrics=[no_number], null=None)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("stop")], ids=repr)
@pytest.mark.parametrize("null", ["random weights", "shuffled", None])
def test_a_profile_that_is_stopped_leaves_the_model_as_it_was(error: Any, null: Any) -> None:
    def stop(weights: Floats, tokens: Tokens) -> float:
        if len(tokens) == 7:
            raise error
        return 0.0

    model = llama().train()
    before = Snapshot(model)
    aw.profile(model, None, encoded(5), metrics=["first", "induction"], null=null)
    before.assert_unchanged()
    with pytest.raises(type(error)) as caught:
        aw.profile(model, None, encoded(5, 7), metrics=[stop], null=null)
    assert caught.value is error
    before.assert_unchanged()


@pytest.mark.parametrize("build", [bert, gpt2, llama])
def test_random_weights_are_those_of_the_architecture(build: Any) -> None:
    model = build(initializer_range=0.02)
    found = aw.profile(model, None, encoded(20, 30), null="random weights", seed=3)
    again = aw.profile(model, None, encoded(20, 30), null="random weights", seed=3)
    other = aw.profile(model, None, encoded(20, 30), null="random weights", seed=4)
    entropies = [f.null_values("entropy").mean for f in (found, again, other)]
    assert np.array_equal(entropies[0], entropies[1])
    assert not np.array_equal(entropies[0], entropies[2])
    # Weights of the usual size give nearly uniform attention.
    np.testing.assert_allclose(entropies[0], found.values("entropy").mean, atol=0.05)


def test_a_model_on_several_devices() -> None:
    """Two names of one device, because there may be one alone."""
    device_map = {"embed_tokens": "cpu", "rotary_emb": "cpu", "norm": "cpu",
                  "layers": torch.device("cpu")}  # fmt: skip
    model = accelerate.dispatch_model(llama(), device_map, force_hooks=True)
    found = aw.profile(model, None, encoded(9, 12), metrics=FEW)
    whole = aw.profile(llama(), None, encoded(9, 12), metrics=FEW)
    assert found.table().equals(whole.table())
    model.hf_device_map["layers"] = "disk"
    with pytest.raises(ValueError, match=r'a part of the model is on disk.*null="position"'):
        aw.profile(model, None, encoded(9), metrics=FEW)


def test_a_module_that_cannot_be_initialised() -> None:
    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(1))

    with pytest.raises(ValueError, match=r'no reset_parameters.*use null="shuffled"'):
        aw.profile(Scaled(), None, encoded(5))


def test_attention_that_cannot_be_read_is_named() -> None:
    """Its mask is of a kind that nothing says how to read."""
    model = bert()

    def unknown(module: Any, query: Any, key: Any, value: Any, mask: Any, **options: Any) -> Any:
        return (value + 1).transpose(1, 2), None

    from transformers import AttentionInterface

    AttentionInterface.register("unknown", unknown)
    try:
        model.set_attn_implementation("unknown")
        with pytest.raises(ValueError, match=r"no attention of BertModel could.*output"):
            aw.profile(model, None, encoded(5), metrics=["first"], null=None)
    finally:
        AttentionInterface._global_mapping.pop("unknown")


def test_a_table_of_all_heads() -> None:
    nulls = ("shuffled", "random weights", "position", "best offset")
    found = aw.profile(llama(), None, encoded(9, 12, 30), metrics=FEW, null=nulls)
    table = found.table()
    assert list(table.columns[:6]) == ["stack", "layer", "head", *(
        f"previous{end}" for end in ("", "_low", "_high")
    )]  # fmt: skip
    assert table[["layer", "head"]].values.tolist() == [[n, h] for n in (0, 1) for h in range(4)]
    assert table["previous"].tolist() == found.values("previous").mean.ravel().tolist()
    assert list(table.columns[3:18:3]) == [
        "previous", *(f"previous_{null.replace(' ', '_')}" for null in nulls)
    ]  # fmt: skip
    for null in nulls:
        expected = found.null_values("induction", null=null).low.ravel()
        assert table[f"induction_{null.replace(' ', '_')}_low"].tolist() == expected.tolist()
    assert np.array_equal(found.null_values("previous").mean, found.stack().null["previous"].mean)
    with pytest.raises(KeyError, match="no null 'shufled'; this profile has shuffled, random"):
        found.null_values("previous", null="shufled")
    assert (table["previous_low"] <= table["previous"]).all()
    without = aw.profile(llama(), None, encoded(9), metrics=FEW, null=None)
    assert list(without.table().columns)[3:] == [
        f"{name}{end}" for name in FEW for end in ("", "_low", "_high")
    ]
    with pytest.raises(KeyError, match="made without a null"):
        without.null_values("previous")


def test_a_summary_says_what_heads_do_beside_the_null(minilm: Loaded) -> None:
    found = aw.profile(*minilm, TEXTS, metrics=["first", "previous", "rest_previous"])
    rows = found.summary().set_index(["layer", "head"])
    numbers = [f"{name}{of}" for name in found.metrics for of in ("", "_random_weights")]
    assert list(rows.columns) == ["stack", "words", "reasons", *numbers]
    pattern = found.patterns()[0][2]
    assert rows.loc[0, 2]["words"] == pattern.words == "looks at the previous token"
    assert rows.loc[0, 2]["reasons"] == "; ".join(pattern.reasons)
    expected = found.null_values("previous").mean[0, 2]
    assert rows.loc[0, 2]["previous_random_weights"] == expected
    shown = found._repr_html_()
    assert shown is not None
    assert "&lt;HeadProfile" in shown
    assert pattern.words in shown
    assert "previous_low" not in shown


def test_a_notebook_shows_the_heads_that_fit_their_words_most(minilm: Loaded) -> None:
    found = aw.profile(*minilm, TEXTS, metrics=["first", "previous", "rest_previous"])
    rows, shown = found.summary(), found._repr_html_()
    assert shown is not None
    counts = rows["words"].value_counts()
    for words, count in counts.items():
        assert f"{words}: {count}" in shown
    cells = np.reshape(re.findall("<td>(.*)</td>", shown), (-1, 5))
    assert f"{len(cells)} of 72 heads" in shown
    assert set(cells[:, 3]) == set(counts.index) - {"mixed"}
    words = "looks at the previous token"
    there = cells[cells[:, 3] == words]
    largest = rows[rows["words"] == words].nlargest(len(there), "previous")
    assert there[:, 2].astype(int).tolist() == largest["head"].tolist()


def test_examples_are_the_extreme_texts(minilm: Loaded) -> None:
    model, tokenizer = minilm
    found = aw.profile(model, tokenizer, TEXTS, metrics=["first", "induction"], null=None)
    shares = [
        aw.capture(model, tokenizer, text).weights(2, 5)[:, 0].mean(dtype=float) for text in TEXTS
    ]
    examples = found.examples("first", 2, 5)
    order = np.argsort(shares)
    assert [example.index for example in examples.lowest] == order.tolist()
    assert [example.index for example in examples.highest] == order[::-1].tolist()
    assert examples.highest[0].text == TEXTS[order[-1]]
    assert examples.highest[0].value == pytest.approx(shares[order[-1]], abs=1e-6)
    weights = aw.capture(model, tokenizer, TEXTS[order[0]]).weights(2, 5)[:, 1:-1]
    query, key = np.unravel_index(weights.argmax(), weights.shape)
    assert examples.lowest[0].pair == (query, key + 1)
    assert examples.median is not None
    assert examples.median.index == order[1]
    assert found.examples("induction", 0, 0).highest == ()
    with pytest.raises(IndexError, match="layer 6 does not exist"):
        found.examples("first", 6, 0)
    with pytest.raises(TypeError, match=r"head is \[0\]; expected one number"):
        found.examples("first", 0, [0])  # type: ignore[arg-type]


def test_a_saved_profile_is_the_same(tmp_path: Path, minilm: Loaded) -> None:
    found = aw.profile(*minilm, [*TEXTS, ("A pair", "of texts.")], metrics=["first", "previous"])
    path = tmp_path / "profile.safetensors"
    found.save(path)
    loaded = aw.HeadProfile.load(path)
    assert loaded.table().equals(found.table())
    assert repr(loaded) == repr(found)
    assert loaded.examples("first", 1, 1) == found.examples("first", 1, 1)
    for name in ("thumbnails", "numbers", "heads"):
        assert np.array_equal(getattr(loaded.stack(), name), getattr(found.stack(), name))
    assert np.array_equal(loaded.stack().rows.weights, found.stack().rows.weights)
    message = r"is an attnwidget profile, not a record: .*attnwidget.show"
    with pytest.raises(ValueError, match=message):
        aw.AttentionRecord.load(path)


@pytest.mark.parametrize("part", [0, 0.01, 0.3, 0.9])
def test_a_damaged_file(tmp_path: Path, part: float) -> None:
    path = tmp_path / "profile.safetensors"
    aw.profile(llama(), None, encoded(5), metrics=["first"], null=None).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(ValueError, match=r"profile\.safetensors is not a readable safetensors"):
        aw.HeadProfile.load(path)


HOSTILE: dict[str, tuple[str, str]] = {
    "more heads": (r'"heads": \[4, 4\]', '"heads": [4, 99999]'),
    "heads that do not fit": (r'"heads": \[4, 4\]', '"heads": [4, 5]'),
    "no layers": (r'"numbers": \[0, 1\]', '"numbers": []'),
    "another number of metrics": (r'"metrics": \[', '"metrics": [{"name": "x", "label": "x", '
                                  '"unit": "", "description": ""}, '),
    "a newer version": ('"version": 1', '"version": 2'),
    "a text for a count": ('"num_texts": 1', '"num_texts": "1"'),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_description_that_does_not_fit_its_arrays(tmp_path: Path, name: str) -> None:
    from safetensors import safe_open
    from safetensors.numpy import save_file

    path = tmp_path / "profile.safetensors"
    aw.profile(llama(), None, encoded(5), metrics=["first"], null=None).save(path)
    with safe_open(path, "numpy") as file:
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        text = file.metadata()[storage._KIND.key]
    old, new = HOSTILE[name]
    changed = re.sub(old, new, text)
    assert changed != text
    save_file(arrays, path, metadata={storage._KIND.key: changed})
    with pytest.raises(ValueError, match=r"safetensors (is a damaged|has profile format 2)"):
        aw.HeadProfile.load(path)


def test_a_record_is_no_profile(tmp_path: Path) -> None:
    path = tmp_path / "record.safetensors"
    aw.capture(llama(), None, encoded(5)[0]).save(path)
    message = r"is an attnwidget record, not a profile: attnwidget.show\(path\)"
    with pytest.raises(ValueError, match=message):
        aw.HeadProfile.load(path)


def test_the_metrics_of_a_record_are_those_of_a_profile_of_its_text() -> None:
    model: Model = gpt2()
    [text] = encoded(12)
    table = aw.analysis.metrics(aw.capture(model, None, text))
    found = aw.profile(model, None, [text], metrics=["entropy", "rest_previous"], null=None)
    assert table[["stack", "layer", "head"]].values.tolist()[5] == ["self", 1, 1]
    for name in ("entropy", "rest_previous"):
        expected = found.values(name).mean.ravel()
        np.testing.assert_allclose(table[name], expected, atol=1e-5)


def test_copying_is_what_the_heads_write_about_the_tokens_that_they_read() -> None:
    """By the definition, from the model's own matrices."""
    model = tiny("LlamaForCausalLM", num_key_value_heads=2)
    found = aw.profile(model, None, encoded(5), metrics=["copying"], null=None)
    ids = repeated_tokens(model, None, 0).tensors["input_ids"]
    unembedding = model.lm_head.weight.detach().numpy()
    unembedding = unembedding - unembedding.mean(axis=0)
    expected = np.zeros((2, 4))
    for row in ids:
        record = aw.capture(model, None, {"input_ids": row[None]}, values=True)
        for layer, head in np.ndindex(2, 4):
            output = model.model.layers[layer].self_attn.o_proj.weight.detach().numpy()
            values = record.layer(layer).values
            assert values is not None
            written = values[head // 2] @ output[:, 8 * head : 8 * head + 8].T
            raised = (written * unembedding[row]).sum(axis=1) > 0
            expected[layer, head] += (record.weights(layer, head) @ raised).mean() / len(ids)
    np.testing.assert_allclose(found.values("copying").mean, expected, atol=1e-5)
    assert found.values("copying").count.tolist() == [[10] * 4] * 2
    without = aw.profile(bert(), None, encoded(5), metrics=["copying"], null=None)
    assert not without.values("copying").count.any()


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "GPT2LMHeadModel", "GPTNeoXForCausalLM"])
def test_copying_by_weights_is_that_of_the_whole_circuit(name: str) -> None:
    """The eigenvalues of the matrix from tokens to logits, most of which are zero."""
    model = tiny(name, n_embd=32, n_head=4, n_layer=2)
    values = {
        "LlamaForCausalLM": lambda n: model.model.layers[n].self_attn.v_proj.weight.T,
        "GPT2LMHeadModel": lambda n: model.transformer.h[n].attn.c_attn.weight[:, 64:],
        "GPTNeoXForCausalLM": lambda n: (
            model.gpt_neox.layers[n]
            .attention.query_key_value.weight.T.unflatten(1, (4, 3, 8))[:, :, 2]
            .flatten(1)
        ),
    }
    outputs = {
        "LlamaForCausalLM": lambda n: model.model.layers[n].self_attn.o_proj.weight.T,
        "GPT2LMHeadModel": lambda n: model.transformer.h[n].attn.c_proj.weight,
        "GPTNeoXForCausalLM": lambda n: model.gpt_neox.layers[n].attention.dense.weight.T,
    }
    found = aw.profile(model, None, encoded(5), metrics=["copying_weights"], null=None)
    embedding = model.get_input_embeddings().weight.detach()
    unembedding = model.get_output_embeddings().weight.detach()
    for layer, head in np.ndindex(2, 4):
        heads = slice(8 * head, 8 * head + 8)
        read, written = values[name](layer)[:, heads], outputs[name](layer)[heads]
        eigenvalues = np.linalg.eigvals((embedding @ read @ written @ unembedding.T).detach())
        expected = eigenvalues.sum().real / np.abs(eigenvalues).sum()
        got = found.values("copying_weights").mean[layer, head]
        assert got == pytest.approx(expected, abs=1e-3)


def test_texts_are_chosen_that_are_examples_of_the_most_heads() -> None:
    """Text 5 is among the highest of three heads, and no other text of more than one."""
    extremes = np.full((2, 1, 1, 4, 3), -1)
    extremes[0, 0, 0, :, 0] = [1, 2, 3, 4]
    extremes[0, 0, 0, :3, 2] = 5
    stack = _with_examples(extremes)
    assert chosen_texts([stack], 1) == [5]
    assert chosen_texts([stack], 9) == [5, 4]


def _with_examples(extremes: np.ndarray) -> Any:
    none = Picked(np.full((1, 1, 4), -1), np.zeros((1, 1, 4)), np.full((1, 1, 4, 2), -1))
    highest = Picked(extremes, np.zeros(extremes.shape), np.full((*extremes.shape, 2), -1))
    stack = object.__new__(StackProfile)
    for name, value in (("extremes", highest), ("medians", none)):
        object.__setattr__(stack, name, value)
    return stack


def test_a_model_of_unknown_vocabulary_has_no_induction() -> None:
    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.planted = Planted()

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = self.planted(input_ids)
            return result

    found = aw.profile(Plain(), None, encoded(9), null=None)
    [reason] = found.missing
    assert reason.startswith("repeated tokens: the model does not say how many tokens")
    assert found.values("previous").mean[0, 0] == 1
    assert not found.values("induction").count.any()
    with pytest.raises(ValueError, match="pass the tokenizer, or other metrics"):
        aw.profile(Plain(), None, encoded(9), metrics=["induction"], null=None)
