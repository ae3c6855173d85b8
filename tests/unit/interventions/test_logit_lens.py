"""The lens of every layer and position, beside the model's own modules."""

from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from benchmarks import zoo
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import bert, t5, tiny, token_ids

INPUTS = {"input_ids": token_ids(9)}
# Of every kind: norms of both forms, before and after, parallel blocks, experts, soft caps, scaled
# logits, an unembedding behind other modules, recurrences, streams of several copies.
DECODERS = [
    "bert",
    "bloom",
    "cohere2",
    "ctrl",
    "deepseek_v4",
    "falcon",
    "falcon_h1",
    "gemma2",
    "gemma3_text",
    "gpt2",
    "gpt_neox",
    "gptj",
    "granite",
    "jamba",
    "llama",
    "mamba",
    "mixtral",
    "modernbert-decoder",
    "mpt",
    "olmo",
    "olmo2",
    "opt",
    "phi",
    "qwen3_next",
    "rwkv",
    "xglm",
]


def log_probabilities(model: Any, inputs: Any = INPUTS) -> np.ndarray:
    with torch.no_grad():
        found: np.ndarray = torch.log_softmax(model(**inputs).logits[0].double(), dim=-1).numpy()
    return found


@pytest.mark.parametrize("name", DECODERS)
def test_the_last_row_is_the_models_own(name: str) -> None:
    built = zoo.build_decoder(name)
    snapshot = Snapshot(built.model)
    found = aw.logit_lens(built.model, None, built.inputs, top=3)
    snapshot.assert_unchanged()
    own = log_probabilities(built.model, built.inputs)
    assert np.allclose(found.log_probabilities[-1], own.max(axis=1), atol=1e-5)
    assert np.allclose(found.probabilities[-1], -np.sort(-np.exp(own))[:, :3], atol=1e-6)
    assert (found.ranks[-1] == 1).all()
    assert found.rows[0] == "embeddings"
    assert found.ranks[0].max() > 1


def test_rows_are_the_final_norm_and_the_unembedding() -> None:
    model = tiny("LlamaForCausalLM")
    found = aw.logit_lens(model, None, INPUTS, token=7)
    with torch.no_grad():
        states = model.model(**INPUTS, output_hidden_states=True).hidden_states[:-1]
        logits = [model.lm_head(model.model.norm(each))[0].double() for each in states]
    for row, expected in enumerate(logits):
        logs = torch.log_softmax(expected, dim=-1)
        assert np.allclose(found.log_probabilities[row], logs[:, 7], atol=1e-5)
        ranks = (expected > expected[:, 7:8]).sum(dim=1) + 1
        assert np.array_equal(found.ranks[row], ranks)
        # Eight others are all of them.
        nulls = [np.median(np.delete(ranks.numpy(), at)) for at in range(9)]
        assert np.array_equal(found.null[row], nulls)
        assert found.guesses(row)[0].token == str(int(expected[-1].argmax()))
    assert found.rows == ("embeddings", "0", "1")
    assert set(found.followed) == {"7"}
    table = found.table()
    assert len(table) == 27
    assert list(table["rank"]) == found.ranks.ravel().tolist()


def test_what_it_follows_and_shows() -> None:
    _, tokenizer = aw.default_model()
    model = tiny("LlamaForCausalLM", vocab_size=len(tokenizer))
    found = aw.logit_lens(model, tokenizer, "the dog ran", token="dog")
    assert set(found.followed) == {"dog"}
    assert found.tokens[1] == "the"
    assert repr(found).startswith("<LogitLens, 3 rows × 5 positions; at the last, 'dog' rank ")
    alone = aw.logit_lens(model, None, {"input_ids": torch.tensor([[5]])})
    assert np.isnan(alone.null).all()
    assert alone.rows[-1] == "1"


def test_models_that_have_no_such_rows() -> None:
    with pytest.raises(ValueError, match="BertModel has no unembedding"):
        aw.logit_lens(bert(), None, INPUTS)
    built = zoo.build_decoder("xlm")
    with pytest.raises(ValueError, match="no list of layers each of which"):
        aw.logit_lens(built.model, None, built.inputs)
    with pytest.raises(ValueError, match="top is 0; expected a number from 1"):
        aw.logit_lens(tiny("LlamaForCausalLM"), None, INPUTS, top=0)


def test_a_decoder_beside_an_encoder() -> None:
    model = t5("T5ForConditionalGeneration")
    inputs = {**INPUTS, "decoder_input_ids": token_ids(4)}
    found = aw.logit_lens(model, None, inputs)
    own = log_probabilities(model, inputs)
    assert np.allclose(found.log_probabilities[-1], own.max(axis=1), atol=1e-5)
