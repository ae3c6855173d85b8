"""Attention that a model of transformers writes out itself: a product, a softmax, a product."""

import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from attnwidget import AttentionRecord, capture
from tests.unit.tiny import (
    Model,
    assert_attention,
    assert_weights,
    eager_attentions,
    tiny,
    token_ids,
)

LENGTH = 12
TEXT = {"input_ids": token_ids(LENGTH)}


class Written(NamedTuple):
    """An architecture, and of its first layer's score program what it must say."""

    name: str
    options: dict[str, Any]
    mask: str = "none"
    biased: str = ""
    attention: str = "eager"
    route: str = "softmax"


GPTJ = {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 64}
XLM = {"emb_dim": 32, "n_layers": 2, "n_heads": 4}
DISENTANGLED = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
SDPA = {"attention": "sdpa", "route": "scaled_dot_product_attention"}

MODELS = {
    "BLOOM": Written("Bloom", {"n_layer": 2, "n_head": 4}, "causal", "bias"),
    "MPT": Written("Mpt", {"d_model": 32, "n_layers": 2, "n_heads": 4}, "causal", "bias"),
    "GPT-J": Written("GPTJ", GPTJ, "causal"),
    "CodeGen": Written("CodeGen", GPTJ, "causal"),
    "GPT-Neo": Written(
        "GPTNeo",
        {"num_layers": 2, "num_heads": 4, "attention_types": [[["local", "global"], 1]],
         "window_size": 4},
        "window",
    ),
    "DeBERTa": Written("Deberta", DISENTANGLED, biased="bias"),
    "DeBERTa v2": Written(
        "DebertaV2", {**DISENTANGLED, "position_buckets": 4, "share_att_key": True}, biased="bias"
    ),
    "MPNet": Written("MPNet", {}, biased="relative"),
    "RoFormer": Written("RoFormer", {}),
    "XLM": Written("XLM", XLM),
    "Flaubert": Written("Flaubert", XLM),
    "Falcon": Written("Falcon", {}, "causal"),
    "Falcon, ALiBi": Written("Falcon", {"alibi": True}, "causal", "bias"),
    "Falcon by torch": Written("Falcon", {}, "causal", **SDPA),
    "BigBird in full": Written("BigBird", {"attention_type": "original_full", "sep_token_id": 3}),
    "ConvBERT": Written("ConvBert", {"embedding_size": 32}),
}  # fmt: skip


@pytest.fixture(params=MODELS)
def written(request: pytest.FixtureRequest) -> Written:
    return MODELS[request.param]


def _model(written: Written, attention: str | None = None) -> Model:
    return tiny(written.name, attention or written.attention, **written.options)


def _capture(written: Written) -> AttentionRecord:
    return capture(_model(written), None, TEXT)


def _route(written: Written) -> str:
    """The route of a capture: each transformers has more architectures on its interface."""
    module = sys.modules[type(_model(written)).__module__]
    is_on_interface = hasattr(module, "ALL_ATTENTION_FUNCTIONS")
    return "attention interface" if is_on_interface else written.route


def test_every_weight_is_the_models_own(written: Written) -> None:
    reference = [own[0] for own in eager_attentions(_model(written, "eager"), TEXT)]
    record = _capture(written)
    assert_attention(record, reference)
    assert record.missing == ()
    assert record.stacks == ("self",)
    assert record.stack().numbers == (0, 1)


def test_it_is_kept_as_queries_keys_and_what_is_added(written: Written) -> None:
    record = _capture(written)
    route = _route(written)
    for layer in record.stack().layers:
        assert layer.fidelity.route == route
        assert layer.fidelity.kept == "queries and keys"
    program = record.layer(0).program
    assert program is not None
    assert program.mask == written.mask
    assert (program.bias is not None) == (written.biased == "bias")
    assert (program.relative is not None) == (written.biased == "relative")


def test_scores_are_what_went_into_the_softmax(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to one number for each row, which a softmax does not see."""
    model = _model(written, "eager")
    logits: list[np.ndarray] = []

    def noted(original: Any) -> Any:
        def noting(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
            if tensor.shape[-2:] == (LENGTH, LENGTH):
                logits.append(tensor.detach().clone().numpy())
            return original(tensor, *args, **kwargs)

        return noting

    with monkeypatch.context() as patch, torch.no_grad():
        # The method is what the function of torch.nn.functional calls.
        for owner in (torch, torch.Tensor):
            patch.setattr(owner, "softmax", noted(owner.softmax))
        model(**TEXT)
    record = capture(model, None, TEXT)
    assert len(logits) == record.num_layers() == 2
    for layer, own in enumerate(logits):
        own = own.reshape(-1, LENGTH, LENGTH)
        for head in range(record.num_heads(layer)):
            scores = record.scores(layer, head)
            seen = np.isfinite(scores)
            assert seen.any(axis=1).all()
            assert (own[head][~seen] < -9e3).all()
            difference = np.where(seen, own[head] - np.where(seen, scores, 0), np.nan)
            spread = np.nanmax(difference, axis=1) - np.nanmin(difference, axis=1)
            assert spread.max() < 1e-4 * max(1, np.abs(scores[seen]).max())


def test_queries_and_keys_are_those_of_the_product() -> None:
    """BLOOM's, by hand from its fused projection."""
    model = _model(MODELS["BLOOM"])
    first = model.h[0]
    with torch.no_grad():
        hidden = model.word_embeddings_layernorm(model.word_embeddings(TEXT["input_ids"]))
        fused = first.self_attention.query_key_value(first.input_layernorm(hidden))
    query, key, _ = fused[0].unflatten(-1, (4, 3, 8)).permute(2, 1, 0, 3).numpy()
    record = capture(model, None, TEXT)
    for head in range(4):
        np.testing.assert_allclose(record.queries(0, head), query[head], rtol=0, atol=1e-5)
        np.testing.assert_allclose(record.keys(0, head), key[head], rtol=0, atol=1e-5)


def test_layers_alternate_between_local_and_all() -> None:
    first, second = (x.program for x in _capture(MODELS["GPT-Neo"]).stack().layers)
    assert first is not None
    assert second is not None
    assert (first.mask, first.window) == ("window", (3, 0))
    assert (second.mask, second.window) == ("causal", None)


def test_a_padded_batch() -> None:
    """One item of several, padded on the left, as BLOOM is."""
    ids, mask = torch.zeros(2, 2, 9, dtype=torch.long)
    ids[0], ids[1, 4:] = token_ids(9), token_ids(5, seed=1)
    mask[0], mask[1, 4:] = 1, 1
    inputs = {"input_ids": ids, "attention_mask": mask}
    model = _model(MODELS["BLOOM"])
    reference = [own[1, :, 4:, 4:] for own in eager_attentions(model, inputs)]
    assert_attention(capture(model, None, inputs, batch_index=1), reference)


@pytest.mark.parametrize(("batch", "length"), [(4, 4), (1, 4), (4, 9), (2, 1), (1, 1)])
def test_lengths_and_batches_as_long_as_there_are_heads(
    written: Written, batch: int, length: int
) -> None:
    """Sizes alone do not tell such dimensions apart. ConvBERT has two heads."""
    inputs = {"input_ids": torch.cat([token_ids(length, seed=n) for n in range(batch)])}
    reference = eager_attentions(_model(written, "eager"), inputs)
    record = capture(_model(written), None, inputs, batch_index=batch - 1)
    assert record.num_layers() == len(reference)
    for layer, own in enumerate(reference):
        assert record.layer(layer).shape == (length, length)
        assert record.layer(layer).fidelity.exact is True
        for head, weights in enumerate(own[batch - 1]):
            assert_weights(record.weights(layer, head), weights)
