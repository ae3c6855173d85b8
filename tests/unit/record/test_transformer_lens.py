"""A TransformerLens cache becomes a record with the cache's own numbers."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attnwidget import AttentionRecord
from tests.unit.records import labels
from tests.unit.tiny import SIZES, Loaded, build, token_ids

pytest.importorskip("transformer_lens")

LENGTH = 6
KINDS: dict[str, dict[str, Any]] = {
    "GPT2LMHeadModel": {"n_embd": 32, "n_head": 4, "n_layer": 2},
    "LlamaForCausalLM": {"num_key_value_heads": 2},
    "BertForMaskedLM": {},
    "BloomForCausalLM": {"n_head": 4, "n_layer": 2},
    "T5ForConditionalGeneration": {"d_model": 32, "num_layers": 2, "num_heads": 4, "d_kv": 8,
                                   "d_ff": 48, "decoder_start_token_id": 0},
}  # fmt: skip

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, minilm: Loaded) -> Run:
    """The cache of a model of this kind, over six tokens."""

    def run_(kind: str, **options: Any) -> Any:
        from transformer_lens.model_bridge import TransformerBridge

        model_class = getattr(transformers, kind)
        sizes = {**SIZES, **KINDS[kind]}
        model = build(model_class, model_class.config_class(**sizes), "eager")
        model.save_pretrained(tmp_path)
        bridge = TransformerBridge.boot_transformers(
            str(tmp_path), hf_model=model, tokenizer=minilm[1], device="cpu"
        )
        with torch.no_grad():
            return bridge.run_with_cache(token_ids(LENGTH), **options)[1]

    return run_


@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize(
    ("kind", "hook", "mask"),
    [
        ("GPT2LMHeadModel", "", "causal"),
        ("LlamaForCausalLM", "rot_", "causal"),
        ("BertForMaskedLM", "", "none"),
    ],
)
def test_every_number_is_that_of_the_cache(
    run: Run, kind: str, hook: str, mask: str, batch: bool
) -> None:
    cache = run(kind)
    own = {key: value[0].numpy() for key, value in cache.items()}
    if not batch:
        cache.remove_batch_dim()
    record = AttentionRecord.from_arrays(cache, labels(LENGTH))
    assert record.stack().numbers == (0, 1)
    for layer in record.stack().layers:
        prefix = f"blocks.{layer.number}.attn.hook_"
        assert layer.program is not None
        assert (layer.program.scale, layer.program.mask) == (pytest.approx(8**-0.5), mask)
        assert layer.fidelity.exact is True
        queries, keys = own[f"{prefix}{hook}q"], own[f"{prefix}{hook}k"]
        assert record.num_kv_heads(layer.number) == keys.shape[1]
        for head in range(4):
            # Query heads share key heads in order.
            shared = head * keys.shape[1] // 4
            assert np.array_equal(record.queries(layer.number, head), queries[:, head])
            assert np.array_equal(record.keys(layer.number, head), keys[:, shared])
            scores = record.scores(layer.number, head)
            expected = own[f"{prefix}attn_scores"][head]
            if kind == "BertForMaskedLM":
                # Here, TransformerLens has the weights once more in place of scores.
                assert np.array_equal(expected, own[f"{prefix}pattern"][head])
                expected = queries[:, head] @ keys[:, shared].T / np.sqrt(8)
            seen = expected > -1e9
            assert np.array_equal(np.isfinite(scores), seen)
            np.testing.assert_allclose(scores[seen], expected[seen], rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(
                record.weights(layer.number, head), own[f"{prefix}pattern"][head], atol=1e-6
            )


def test_a_plain_dict_of_some_layers(run: Run) -> None:
    cache = run("GPT2LMHeadModel", names_filter=lambda name: "blocks.1.attn" in name)
    record = AttentionRecord.from_arrays(dict(cache.items()), labels(LENGTH))
    assert record.stack().numbers == (1,)
    assert record.layer(1).program is not None


def test_patterns_alone(run: Run) -> None:
    cache = run("GPT2LMHeadModel", names_filter=lambda name: name.endswith("hook_pattern"))
    record = AttentionRecord.from_arrays(cache, labels(LENGTH))
    assert record.layer(0).queries is None
    expected = cache["blocks.1.attn.hook_pattern"][0, 3].numpy()
    assert np.array_equal(record.weights(1, 3), expected)


def test_patterns_in_a_list(run: Run) -> None:
    """With vectors as the cache has them, tokens before heads."""
    cache = run("GPT2LMHeadModel")
    lists = [
        [cache[f"blocks.{n}.attn.hook_{name}"] for n in range(2)] for name in ("pattern", "q", "k")
    ]
    record = AttentionRecord.from_arrays(lists[0], labels(LENGTH), queries=lists[1], keys=lists[2])
    assert all(fidelity.exact for fidelity in record.fidelity["self"])


def test_a_bias_that_the_scores_have_besides_is_reported(run: Run) -> None:
    """ALiBi: the weights are kept, and the difference from softmax(scale * q.k) is told."""
    cache = run("BloomForCausalLM")
    record = AttentionRecord.from_arrays(cache, labels(LENGTH))
    [fidelity, _] = record.fidelity["self"]
    assert (fidelity.kept, fidelity.exact) == ("weights", False)
    expected = cache["blocks.0.attn.hook_pattern"][0, 1].numpy()
    assert np.array_equal(record.weights(0, 1), expected)
    assert np.array_equal(record.queries(0, 1), cache["blocks.0.attn.hook_q"][0, :, 1].numpy())


def test_several_stacks_are_taken_one_at_a_time(run: Run) -> None:
    cache = run("T5ForConditionalGeneration", decoder_input=token_ids(4))
    with pytest.raises(ValueError, match="several kinds of attention: decoder_blocks"):
        AttentionRecord.from_arrays(cache, labels(LENGTH))
    cross = {k: v for k, v in cache.items() if re.match("decoder_blocks.[0-9]+.cross_attn.", k)}
    record = AttentionRecord.from_arrays(cross, labels(4), key_tokens=labels(LENGTH))
    expected = cache["decoder_blocks.1.cross_attn.hook_pattern"][0, 2].numpy()
    np.testing.assert_allclose(record.weights(1, 2), expected, atol=1e-6)
    # T5 does not scale.
    assert record.layer(1).program is not None
    assert record.layer(1).program.scale == 1


def test_without_patterns(run: Run) -> None:
    cache = run("GPT2LMHeadModel", names_filter=lambda name: name.endswith("hook_q"))
    with pytest.raises(ValueError, match="without any hook_pattern"):
        AttentionRecord.from_arrays(cache, labels(LENGTH))


def test_a_cache_brings_its_own_vectors(run: Run) -> None:
    cache = run("GPT2LMHeadModel")
    with pytest.raises(ValueError, match="brings its own queries and keys"):
        AttentionRecord.from_arrays(cache, labels(LENGTH), queries=[], keys=[])
