"""Architectures that every supported version of transformers has, as each version loads them.

How they reach their softmax (the interface, torch's function, products of their own) depends on
the version. What is captured must not: it is what the same weights give with eager attention.
"""

import copy
import sys
from typing import Any, NamedTuple

import pytest
import torch
import transformers
from transformers import modeling_utils

from attnwidget import AttentionRecord, capture
from attnwidget.default_model import default_model
from tests.unit import tiny
from tests.unit.tiny import Model, Reference, assert_weights, references_by_stack

SIZES = {**tiny.SIZES, "decoder_start_token_id": 1}
GPT = {"n_embd": 32, "n_head": 4, "n_layer": 2}
SEQ2SEQ = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "init_std": 0.4,
}  # fmt: skip
DISENTANGLED = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}

ENCODERS: dict[str, dict[str, Any]] = {
    "BertModel": {},
    "RobertaModel": {},
    "MPNetModel": {},
    "AlbertModel": {"embedding_size": 32},
    "DistilBertModel": {"dim": 32, "n_heads": 4, "n_layers": 2, "hidden_dim": 48},
    "DebertaModel": DISENTANGLED,
    "DebertaV2Model": DISENTANGLED,
    "MistralModel": {"num_key_value_heads": 2, "sliding_window": 4},
}
DECODERS: dict[str, dict[str, Any]] = {
    "LlamaForCausalLM": {"num_key_value_heads": 2},
    "Qwen2ForCausalLM": {"num_key_value_heads": 2},
    "GPT2LMHeadModel": GPT,
    "GPTJForCausalLM": {"rotary_dim": 4, **GPT},
    "GPTNeoForCausalLM": {
        "num_layers": 2, "num_heads": 4, "window_size": 4,
        "attention_types": [[["global", "local"], 1]],
    },
    "GPTNeoXForCausalLM": {},
    "BloomForCausalLM": {"n_layer": 2, "n_head": 4},
    "FalconForCausalLM": {},
    "OPTForCausalLM": {"ffn_dim": 48, "word_embed_proj_dim": 32},
}  # fmt: skip
ENCODER_DECODERS: dict[str, dict[str, Any]] = {
    "T5ForConditionalGeneration": {
        "d_model": 32, "num_layers": 2, "num_heads": 4, "d_kv": 8, "d_ff": 48,
    },
    "BartForConditionalGeneration": SEQ2SEQ,
    "MarianMTModel": {**SEQ2SEQ, "decoder_start_token_id": 0},
}  # fmt: skip
ARCHITECTURES = {**ENCODERS, **DECODERS, **ENCODER_DECODERS}

NEW_TOKENS = 5
GREEDY = {"max_new_tokens": NEW_TOKENS, "min_new_tokens": NEW_TOKENS, "do_sample": False}
BEAM = {**GREEDY, "num_beams": 3}


class Twins(NamedTuple):
    """A model as it is loaded by default, and the same weights with eager attention."""

    model: Model
    eager: Model


def _twins(name: str) -> Twins:
    model_class = getattr(transformers, name)
    config = model_class.config_class(**{**SIZES, **ARCHITECTURES[name]})
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = model_class._from_config(copy.deepcopy(config))
        eager = model_class._from_config(config, attn_implementation="eager")
    eager.load_state_dict(model.state_dict())
    return Twins(model.eval(), eager.eval())


def _ids(length: int, seed: int = 0) -> torch.Tensor:
    """[1, length], none of them special."""
    return torch.randint(3, 64, (1, length), generator=torch.Generator().manual_seed(seed))


def _assert_same(record: AttentionRecord, own: dict[str, list[Reference]]) -> None:
    assert set(record.stacks) == set(own)
    assert record.missing == ()
    for stack, layers in own.items():
        assert record.num_layers(stack) == len(layers)
        for number, [heads] in enumerate(layers):
            assert record.fidelity[stack][number].exact is True
            for head, weights in enumerate(heads):
                assert_weights(record.weights(number, head, stack), weights)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_weight_is_the_models_own(name: str) -> None:
    model, eager = _twins(name)
    inputs = {"input_ids": _ids(9)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = _ids(5, seed=1)
    _assert_same(capture(model, None, inputs), references_by_stack(eager, **inputs))


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
@pytest.mark.parametrize("name", [*DECODERS, *ENCODER_DECODERS])
def test_every_weight_of_a_generation(name: str, options: dict[str, Any]) -> None:
    """It is what a single pass over all that was generated gives."""
    model, eager = _twins(name)
    inputs = {"input_ids": _ids(7)}
    record = capture(model, None, inputs, generate=options)
    with torch.no_grad():
        # The last generated token has not been read.
        generated = model.generate(**inputs, **options)[:, :-1]
    if model.config.is_encoder_decoder:
        own = references_by_stack(eager, **inputs, decoder_input_ids=generated)
    else:
        own = references_by_stack(eager, input_ids=generated)
    _assert_same(record, own)


@pytest.mark.parametrize("name", ["BertModel", "LlamaForCausalLM", "BloomForCausalLM"])
def test_padding_is_cut_off(name: str) -> None:
    model, eager = _twins(name)
    ids = torch.cat([_ids(9), torch.zeros_like(_ids(9))])
    ids[1, :6] = _ids(6, seed=1)
    inputs = {"input_ids": ids, "attention_mask": (ids != 0).long()}
    record = capture(model, None, inputs, batch_index=1)
    _assert_same(record, references_by_stack(eager, input_ids=ids[1:, :6]))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_model_and_transformers_are_left_as_they_were(name: str) -> None:
    model, _ = _twins(name)
    inputs = {"input_ids": _ids(9)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = _ids(5, seed=1)

    def state() -> list[Any]:
        files = [sys.modules[file] for file in {type(m).__module__ for m in model.modules()}]
        registry = modeling_utils.ALL_ATTENTION_FUNCTIONS
        return [
            dict(registry),
            dict(vars(type(registry))),
            {
                file.__name__: {key: id(value) for key, value in vars(file).items()}
                for file in files
            },
            [module._forward_pre_hooks for module in model.modules()],
            model.config.to_dict(),
        ]

    with torch.no_grad():
        before = model(**inputs)[0]
    was = state()
    capture(model, None, inputs)
    assert state() == was
    with torch.no_grad():
        assert torch.equal(model(**inputs)[0], before)


def test_the_default_model() -> None:
    model, tokenizer = default_model()
    record = capture(model, tokenizer, "The dog was tired.", "It ran.")
    tokens, _ = record.tokens()
    assert tokens == [
        "[CLS]", "the", "dog", "was", "tired", ".", "[SEP]", "it", "ran", ".", "[SEP]",
    ]  # fmt: skip
    assert record.stack().queries.segments == (0,) * 7 + (1,) * 4
    assert all(fidelity.exact for fidelity in record.fidelity["self"])
    # Head 2 of layer 0 looks at the token before.
    previous = record.weights(0, 2).diagonal(-1)
    assert previous.mean() > 0.8
