"""The attention of generated tokens is that of one pass over what was generated."""

import gc
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import peft
import pytest
import torch
import transformers
from transformers import AttentionInterface, AttentionMaskInterface, GenerationConfig
from transformers.generation import utils as generation_utils
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from attnwidget import Ablate, AttentionRecord, capture, intervene
from benchmarks import zoo
from benchmarks.zoo.shrink import shrink
from benchmarks.zoo.weights import randomize
from tests.unit.running.test_stacks import PIXELS, SEEN, llava
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import (
    SIZES,
    Model,
    assert_attention,
    bart,
    bert,
    references,
    t5,
    tiny,
    token_ids,
)
from tests.versions import newer

GROUPED = {"num_key_value_heads": 2}
GPT2 = {"n_embd": 32, "n_head": 4, "n_layer": 2}
LOCAL = {"num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]}

DECODERS: dict[str, Callable[[str], Model]] = {
    "Llama": lambda a: tiny("LlamaForCausalLM", a, **GROUPED),
    "GPT-2": lambda a: tiny("GPT2LMHeadModel", a, **GPT2),
    "Mistral": lambda a: tiny("MistralForCausalLM", a, **GROUPED, sliding_window=4),
    "BLOOM": lambda _: tiny("BloomForCausalLM", "eager", n_layer=2, n_head=4),
    "GPT-Neo": lambda _: tiny("GPTNeoForCausalLM", "eager", **LOCAL, window_size=4),
}
PAIRS: dict[str, Callable[[str], Model]] = {
    "T5": lambda a: t5("T5ForConditionalGeneration", a),
    "Bart": lambda a: bart("BartForConditionalGeneration", a),
}

GREEDY = {"do_sample": False}
SAMPLE = {"do_sample": True, "top_k": 0}
BEAM = {"num_beams": 3, "do_sample": False}
WAYS: dict[str, dict[str, Any]] = {
    "greedy": GREEDY,
    "sampled": SAMPLE,
    "several samples": {**SAMPLE, "num_return_sequences": 2},
    "beam": BEAM,
    "several beams": {**BEAM, "num_return_sequences": 3},
    "sampled beams": {"num_beams": 3, "do_sample": True},
    "a configuration with beams": {
        "generation_config": GenerationConfig(num_beams=3, min_new_tokens=6, max_new_tokens=6)
    },
    "no cache": {**GREEDY, "use_cache": False},
    "beams without a cache": {**BEAM, "use_cache": False},
}  # fmt: skip


class Spelling:
    """A tokenizer that spells a token as its number."""

    all_special_ids = (0, 1, 2)

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [f"t{number}" for number in ids]

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(self.convert_ids_to_tokens(ids))


def _batch() -> dict[str, torch.Tensor]:
    """Three texts, padded on the left."""
    ids, mask = torch.zeros(2, 3, 8, dtype=torch.long)
    for row, length in enumerate((5, 8, 6)):
        ids[row, 8 - length :] = token_ids(length, seed=row)
        mask[row, 8 - length :] = 1
    return {"input_ids": ids, "attention_mask": mask}


def _captured(
    model: Model, inputs: dict[str, torch.Tensor], options: dict[str, Any], item: int = 0
) -> tuple[AttentionRecord, torch.Tensor]:
    """A record, and what the model generates without a capture, but its last token: [1, tokens]."""
    if "generation_config" not in options:
        options = {"max_new_tokens": 6, "eos_token_id": None, **options}
    torch.manual_seed(0)
    record = capture(model, Spelling(), inputs, generate=options, batch_index=item)
    torch.manual_seed(0)
    sequences = model.generate(**inputs, **options)
    each = len(sequences) // len(inputs["input_ids"])
    return record, sequences[item * each, None, :-1]


def _positions(model: Model, mask: torch.Tensor) -> dict[str, torch.Tensor]:
    """Positions as `generate` counts them; BLOOM counts by itself."""
    if "position_ids" not in inspect.signature(model.forward).parameters:
        return {}
    return {"position_ids": (mask.cumsum(1) - 1).clamp(min=0)}


def _assert_decoder(
    record: AttentionRecord, eager: Model, mask: torch.Tensor, sequence: torch.Tensor
) -> None:
    """The record is that of one pass of the eager model over the sequence."""
    grown = torch.ones(1, sequence.shape[1] - mask.shape[1], dtype=torch.long)
    mask = torch.cat([mask, grown], dim=1)
    kept = mask[0].nonzero()[:, 0]
    own = references(eager, sequence, attention_mask=mask, **_positions(eager, mask))["attentions"]
    assert_attention(record, [a[0][:, kept][:, :, kept] for a in own])
    assert record.missing == ()
    assert {f.kept for f in record.fidelity["self"]} == {"queries and keys"}
    expected = [f"t{token}" for token in sequence[0, kept].tolist()]
    assert record.tokens() == (expected, expected)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder(name: str, way: dict[str, Any]) -> None:
    model, mask = DECODERS[name]("sdpa"), torch.ones(1, 8, dtype=torch.long)
    record, sequence = _captured(model, {"input_ids": token_ids(8, seed=1)}, way)
    assert sequence.shape[1] > 9, "too short to prove anything"
    _assert_decoder(record, DECODERS[name]("eager"), mask, sequence)


@pytest.mark.parametrize("item", range(3))
@pytest.mark.parametrize("way", ["greedy", "several samples", "beam", "no cache"])
@pytest.mark.parametrize("name", DECODERS)
def test_an_item_of_a_padded_batch(name: str, way: str, item: int) -> None:
    model, batch = DECODERS[name]("sdpa"), _batch()
    record, sequence = _captured(model, batch, WAYS[way], item)
    mask = batch["attention_mask"][item, None]
    _assert_decoder(record, DECODERS[name]("eager"), mask, sequence)


STATIC = {**GREEDY, "cache_implementation": "static"}


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("name", ["Llama", "GPT-2", "Mistral", "BLOOM"])
def test_a_static_cache(name: str, padded: bool) -> None:
    """Its empty places are seen by nothing, and are not recorded."""
    model = DECODERS[name]("sdpa")
    batch = _batch() if padded else {"input_ids": token_ids(8, seed=1)}
    record, sequence = _captured(model, batch, STATIC)
    mask = batch["attention_mask"][:1] if padded else torch.ones(1, 8, dtype=torch.long)
    _assert_decoder(record, DECODERS[name]("eager"), mask, sequence)


def test_a_sliding_cache_drops_what_is_out_of_sight() -> None:
    """Twice the window and more: its first keys are no longer in the cache at the end."""
    model = DECODERS["Mistral"]("sdpa")
    record, sequence = _captured(
        model, {"input_ids": token_ids(3)}, {**GREEDY, "min_new_tokens": 6}
    )
    mask = torch.ones(1, 3, dtype=torch.long)
    _assert_decoder(record, DECODERS["Mistral"]("eager"), mask, sequence)
    program = record.layer(0).program
    assert program is not None
    assert (program.mask, program.window) == ("window", (3, 0))


def test_values_of_a_generation() -> None:
    """They are those of the pass over the prompt and its answer."""
    model, ids = DECODERS["Llama"]("sdpa"), token_ids(5)
    options = {**GREEDY, "max_new_tokens": 5, "eos_token_id": None}
    record = capture(model, None, {"input_ids": ids}, generate=options, values=True)
    read = model.generate(ids, **options)[:, :-1]
    expected = capture(model, None, {"input_ids": read}, values=True)
    values, own = record.layer(1).values, expected.layer(1).values
    assert values is not None
    assert own is not None
    np.testing.assert_allclose(values, own, rtol=0, atol=1e-6)


def test_generated_tokens_are_causal() -> None:
    record, _ = _captured(DECODERS["Llama"]("sdpa"), {"input_ids": token_ids(5)}, GREEDY)
    program = record.layer(1).program
    assert program is not None
    assert program.mask == "causal"
    assert record.num_kv_heads(1) == 2
    assert record.stack().queries.generated == 5
    assert (
        capture(DECODERS["Llama"]("sdpa"), None, {"input_ids": token_ids(5)})
        .stack()
        .queries.generated
        is None
    )


def test_another_model_may_share_modules_and_run_between_passes() -> None:
    """A processor of logits that scores each continuation, for instance."""
    model = DECODERS["Llama"]("sdpa")

    class Scorer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.base, self.head = model.model, torch.nn.Linear(32, 1)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            scores: torch.Tensor = self.head(self.base(ids, use_cache=False)[0])
            return scores

    scorer = Scorer()

    def process(ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        assert scorer(ids).isfinite().all()
        return logits

    inputs = {"input_ids": token_ids(5)}
    expected, _ = _captured(model, inputs, GREEDY)
    record, _ = _captured(model, inputs, {**GREEDY, "logits_processor": [process]})
    assert record.missing == expected.missing
    assert record.stack().numbers == expected.stack().numbers
    assert np.array_equal(record.weights(1, 3), expected.weights(1, 3))


def test_an_item_that_ends_before_the_others() -> None:
    """The batch's padding was not generated."""
    model = DECODERS["Llama"]("sdpa")
    inputs = {"input_ids": torch.cat([token_ids(6), token_ids(6, seed=1)])}
    free = model.generate(**inputs, max_new_tokens=6, do_sample=False, eos_token_id=None)
    end = int(free[0, 8])  # the third new token
    assert end not in free[0, :8]
    assert end not in free[1]
    record, sequence = _captured(model, inputs, {**GREEDY, "eos_token_id": end})
    assert sequence[0, 8] == end
    assert sequence[0, 9] == 0
    _assert_decoder(
        record, DECODERS["Llama"]("eager"), torch.ones(1, 6, dtype=torch.long), sequence[:, :8]
    )


def test_an_item_that_a_criterion_ends_before_the_others() -> None:
    """If there is an end of a text, generate fills up what a criterion ended."""

    def ended(ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        return torch.tensor([ids.shape[1] >= 11, False, False])

    model, batch = DECODERS["Llama"]("sdpa"), _batch()
    for end, length in ((1, 10), (None, 13)):
        options = {"eos_token_id": end, "pad_token_id": 0, "stopping_criteria": [ended]}
        record, sequence = _captured(model, batch, {**GREEDY, **options})
        mask = batch["attention_mask"][:1]
        _assert_decoder(record, DECODERS["Llama"]("eager"), mask, sequence[:, :length])


@pytest.mark.parametrize("first", [2, 6], ids=["its own start", "a start is put before"])
@pytest.mark.parametrize("name", PAIRS)
def test_padded_prompts_of_a_decoder(name: str, first: int) -> None:
    model = PAIRS[name]("sdpa")
    first = model.config.decoder_start_token_id if first == 2 else first
    ids = torch.tensor([[first, first, first, 5], [first, 7, 8, 9]])
    mask = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
    texts = {"input_ids": torch.cat([token_ids(7), token_ids(7, seed=3)])}
    inputs = {**texts, "decoder_input_ids": ids, "decoder_attention_mask": mask}
    options = {**GREEDY, "max_new_tokens": 5, "eos_token_id": None}
    written = model.generate(**inputs, **options)
    for item, kept in enumerate(mask.bool()):
        record = capture(model, Spelling(), inputs, generate=options, batch_index=item)
        before = written.shape[1] - 5 - len(kept)
        kept = torch.cat([torch.ones(before), kept, torch.ones(4)]).bool()
        labels = [f"t{token}" for token in written[item, :-1][kept].tolist()]
        assert record.tokens("decoder")[0] == labels
        assert record.stack("decoder").queries.generated == len(labels) - 4


@pytest.mark.parametrize("item", range(3))
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", PAIRS)
def test_an_encoder_decoder(name: str, way: dict[str, Any], item: int) -> None:
    model, batch = PAIRS[name]("sdpa"), _batch()
    record, target = _captured(model, batch, way, item)
    mask = batch["attention_mask"][item, None]
    kept = mask[0].nonzero()[:, 0]
    own = references(
        PAIRS[name]("eager"),
        batch["input_ids"][item, None],
        attention_mask=mask,
        decoder_input_ids=target,
    )
    assert record.stacks == ("encoder", "decoder", "cross")
    encoder = [a[0][:, kept][:, :, kept] for a in own["encoder_attentions"]]
    assert_attention(record, encoder, "encoder")
    assert_attention(record, [a[0] for a in own["decoder_attentions"]], "decoder")
    assert_attention(record, [a[0][:, :, kept] for a in own["cross_attentions"]], "cross")
    source = [f"t{token}" for token in batch["input_ids"][item, kept].tolist()]
    written = [f"t{token}" for token in target[0].tolist()]
    assert record.tokens("encoder") == (source, source)
    assert record.tokens("decoder") == (written, written)
    assert record.tokens("cross") == (written, source)
    assert record.missing == ()


def test_an_encoder_decoder_generates_where_nothing_is_said() -> None:
    model = PAIRS["T5"]("sdpa")
    model.generation_config.max_new_tokens = 4
    record = capture(model, Spelling(), {"input_ids": token_ids(7)})
    target = model.generate(token_ids(7))[0, :-1].tolist()
    assert record.tokens("decoder")[0] == [f"t{token}" for token in target]
    cross = record.stack("cross")
    assert (cross.queries.generated, cross.keys.generated) == (1, None), "after the start token"


@pytest.mark.parametrize("layers", [[0], [1]])
def test_chosen_layers(layers: list[int]) -> None:
    model, inputs = DECODERS["Llama"]("sdpa"), {"input_ids": token_ids(5)}
    options = {**GREEDY, "max_new_tokens": 4}
    whole = capture(model, None, inputs, generate=options)
    record = capture(model, None, inputs, generate=options, layers=layers)
    assert record.stack().numbers == tuple(layers)
    assert np.array_equal(record.weights(layers[0], 3), whole.weights(layers[0], 3))


@pytest.mark.parametrize("way", [GREEDY, SAMPLE, BEAM], ids=str)
def test_the_model_is_left_as_it_was(way: dict[str, Any]) -> None:
    model = DECODERS["Llama"]("sdpa").train()
    model.generate(token_ids(5), max_new_tokens=2)  # sets what it sets once
    state = torch.get_rng_state()
    before = Snapshot(model)
    capture(model, None, {"input_ids": token_ids(5)}, generate={**way, "max_new_tokens": 4})
    torch.set_rng_state(state)  # sampling draws numbers, with or without a capture
    before.assert_unchanged()


def test_a_number_of_new_tokens() -> None:
    model, inputs = DECODERS["Llama"]("sdpa"), {"input_ids": token_ids(5)}
    model.generation_config.do_sample = False
    tokens = capture(model, None, inputs, generate=np.int64(4)).stack().queries
    assert (len(tokens), tokens.generated) == (5 + 4 - 1, 5)
    with pytest.raises(TypeError, match="generate is True; expected a number of new tokens"):
        capture(model, None, inputs, generate=True)


def test_a_model_that_does_not_generate() -> None:
    with pytest.raises(TypeError, match=r"BertModel does not generate.*AutoModelForCausalLM"):
        capture(bert(), None, {"input_ids": token_ids(5)}, generate={"max_new_tokens": 2})


def test_an_argument_that_generate_does_not_know() -> None:
    model = DECODERS["Llama"]("sdpa")
    before = Snapshot(model)
    with pytest.raises(ValueError, match="max_new_tokns"):
        capture(model, None, {"input_ids": token_ids(5)}, generate={"max_new_tokns": 2})
    before.assert_unchanged()


def _by_steps(
    eager: Model, inputs: dict[str, torch.Tensor], options: dict[str, Any]
) -> dict[str, list[np.ndarray]]:
    """The attention that a model returns for each step of its generation, step by step."""
    result = eager.generate(
        **inputs,
        **options,
        return_dict_in_generate=True,
        output_attentions=True,
        output_scores=True,
    )
    beams = getattr(result, "beam_indices", None)
    steps = len(result.logits or result.scores)
    rows = [0] * steps if beams is None else [int(row) for row in beams[0] if row >= 0]
    found = {}
    for field in ("attentions", "decoder_attentions", "cross_attentions"):
        if (taken := getattr(result, field, None)) is None:
            continue
        layers: list[list[np.ndarray]] = [[] for _ in taken[0]]
        length = taken[len(rows) - 1][0].shape[-1]
        for step, row in enumerate(rows):
            for layer, weights in zip(layers, taken[step], strict=True):
                own = weights[row].numpy()
                layer.append(np.pad(own, ((0, 0), (0, 0), (0, length - own.shape[-1]))))
        found[field] = [np.concatenate(layer, axis=1) for layer in layers]
    return found


def paligemma(attention: str) -> Model:
    text = {**SIZES, "num_key_value_heads": 2, "head_dim": 8, "model_type": "gemma"}
    vision = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "image_size": 16,
        "num_attention_heads": 4, "patch_size": 4,
    }  # fmt: skip
    return tiny(
        "PaliGemmaForConditionalGeneration",
        attention,
        text_config=text,
        vision_config={**vision, "model_type": "siglip_vision_model"},
        image_token_index=3,
        image_token_id=3,
        projection_dim=32,
        hidden_size=32,
    )


def _decoder(name: str, attention: str) -> Model:
    return tiny(name, attention, is_decoder=True, type_vocab_size=2)


STEPPED: dict[str, Callable[[str], Model]] = {
    **{name: make for name, make in DECODERS.items() if name != "Mistral"},  # its cache forgets
    **PAIRS,
    "RoBERTa": lambda a: _decoder("RobertaForCausalLM", a),
    "BERT": lambda a: _decoder("BertLMHeadModel", a),
    "BERT as it is": lambda a: tiny("BertLMHeadModel", a, type_vocab_size=2),
    "Gemma": lambda a: tiny("GemmaForCausalLM", a, head_dim=8, num_key_value_heads=2),
    "LLaVA": llava,
    "PaliGemma": paligemma,
}


@pytest.mark.parametrize("way", ["greedy", "beam"])
@pytest.mark.parametrize("name", STEPPED)
def test_the_attention_of_each_step(name: str, way: str) -> None:
    model, inputs = STEPPED[name]("sdpa"), {"input_ids": token_ids(7, seed=1)}
    if name in ("LLaVA", "PaliGemma"):
        inputs = {"input_ids": SEEN, "pixel_values": PIXELS}
    if name == "PaliGemma":  # without types, eager attention has another mask than the default's
        inputs["token_type_ids"] = torch.zeros_like(SEEN)
    options = {**WAYS[way], "max_new_tokens": 6, "eos_token_id": None, "suppress_tokens": [3]}
    record = capture(model, Spelling(), inputs, generate=options)
    assert record.replay is not None
    assert record.replay.difference < 1e-5
    assert record.replay.reason == ""
    for field, own in _by_steps(STEPPED[name]("eager"), inputs, options).items():
        stack = {"attentions": "text" if "pixel_values" in inputs else "self"}.get(field)
        for number, expected in enumerate(own):
            layer = record.layer(number, stack or field.removesuffix("_attentions"))
            weights = layer.all_weights(np.arange(layer.shape[0]))
            np.testing.assert_allclose(weights, expected, rtol=0, atol=5e-5)


def _several_tokens_at_once(model: Model) -> dict[str, dict[str, Any]]:
    return {
        "prompt lookup": {"prompt_lookup_num_tokens": 3},
        "an assistant": {"assistant_model": DECODERS["Llama"]("sdpa")},
        "guidance": {"guidance_scale": 2.0},
        "guidance from another prompt": {
            "guidance_scale": 2.0,
            "negative_prompt_ids": token_ids(4, seed=3),
        },
        "a prompt in chunks": {"prefill_chunk_size": 5},
    }


@pytest.mark.parametrize("name", _several_tokens_at_once(None))
def test_what_is_not_one_pass_for_each_token(name: str) -> None:
    """Guessed tokens are read and forgotten; guidance takes two passes, of which one counts."""
    ids = token_ids(4).repeat(1, 3)
    model = DECODERS["Llama"]("sdpa")
    options = {**GREEDY, **_several_tokens_at_once(model)[name]}
    record, sequence = _captured(model, {"input_ids": ids}, options)
    _assert_decoder(record, DECODERS["Llama"]("eager"), torch.ones_like(ids), sequence)


@pytest.mark.parametrize("padded", [False, True])
def test_a_prompt_in_chunks_of_a_padded_batch(padded: bool) -> None:
    model, batch = DECODERS["GPT-2"]("sdpa"), _batch()
    record, sequence = _captured(model, batch, {**GREEDY, "prefill_chunk_size": 3}, 2)
    _assert_decoder(record, DECODERS["GPT-2"]("eager"), batch["attention_mask"][2, None], sequence)


def test_a_prompt_of_which_the_first_tokens_are_in_a_cache() -> None:
    """It stays as it is, and so do the tokens."""
    model, ids = DECODERS["Llama"]("sdpa"), token_ids(8)
    with torch.no_grad():
        cache = model(ids[:, :6], use_cache=True).past_key_values
    name = "cache" if hasattr(generation_utils, "ALL_CACHE_NAMES") else "past_key_values"
    inputs = {"input_ids": ids, name: cache}
    options = {**GREEDY, "max_new_tokens": 5, "eos_token_id": None}
    record = capture(model, Spelling(), inputs, generate=options)
    assert cache.get_seq_length() == 6
    sequence = model.generate(ids, **options)[:, :-1]
    _assert_decoder(record, DECODERS["Llama"]("eager"), torch.ones_like(ids), sequence)


def test_a_cache_that_was_computed_with_gradients_or_is_among_the_options() -> None:
    """GPT-2 adds the positions, which those of the steps would be wrong for."""
    model, ids = DECODERS["GPT-2"]("sdpa"), token_ids(8)
    options = {**GREEDY, "max_new_tokens": 7, "eos_token_id": None}
    sequence = model.generate(ids, **options)[:, :-1]
    name = "cache" if hasattr(generation_utils, "ALL_CACHE_NAMES") else "past_key_values"
    for given in (True, False):
        cache = {name: model(ids[:, :6], use_cache=True).past_key_values}
        inputs, more = {"input_ids": ids, **(cache if given else {})}, {} if given else cache
        record = capture(model, Spelling(), inputs, generate={**options, **more})
        assert cache[name].get_seq_length() == 6
        _assert_decoder(record, DECODERS["GPT-2"]("eager"), torch.ones_like(ids), sequence)


def test_a_prompt_of_which_the_first_tokens_are_in_a_cache_alone() -> None:
    model, ids = DECODERS["Llama"]("sdpa"), token_ids(8)
    with torch.no_grad():
        cache = model(ids[:, :6], use_cache=True).past_key_values
    inputs = {"input_ids": ids[:, 6:], "attention_mask": torch.ones_like(ids)}
    with pytest.raises(ValueError, match=r"give all of input_ids, along with the cache"):
        capture(model, None, {**inputs, "past_key_values": cache}, generate=GREEDY)


def test_a_model_with_an_adapter() -> None:
    """Its generate is that of the model inside, whose positions follow from the padding."""
    batch, config = _batch(), {"target_modules": ["c_attn"], "fan_in_fan_out": True}
    inner = DECODERS["GPT-2"]("sdpa")
    model = peft.PeftModelForCausalLM(inner, peft.LoraConfig(task_type="CAUSAL_LM", **config))
    record, sequence = _captured(model.eval(), batch, GREEDY)
    _assert_decoder(record, DECODERS["GPT-2"]("eager"), batch["attention_mask"][:1], sequence)


def test_a_prompt_that_is_a_mask_alone() -> None:
    model = DECODERS["Llama"]("sdpa")
    inputs = {"attention_mask": torch.ones(1, 1, dtype=torch.long)}
    options = {"max_new_tokens": 4, "eos_token_id": None, **GREEDY}
    record = capture(model, Spelling(), inputs, generate=options)
    sequence = model.generate(**inputs, **options)[:, :-1]
    _assert_decoder(record, DECODERS["Llama"]("eager"), inputs["attention_mask"], sequence)


def test_a_prompt_of_vectors() -> None:
    model, ids = DECODERS["Llama"]("sdpa"), token_ids(5)
    options = {"max_new_tokens": 4, "eos_token_id": None, **GREEDY}
    vectors = model.model.embed_tokens(ids).detach()
    record = capture(model, Spelling(), {"inputs_embeds": vectors}, generate=options)
    expected = capture(model, Spelling(), {"input_ids": ids}, generate=options)
    assert record.layer(0).shape == (8, 8)
    np.testing.assert_allclose(record.weights(1, 3), expected.weights(1, 3), rtol=0, atol=1e-5)
    written = expected.tokens()[0]
    assert record.tokens()[0] == ["0", "1", "2", "3", "4", *written[5:]]
    assert record.stack().queries.generated == 5
    both = {"input_ids": ids, "inputs_embeds": vectors}
    record = capture(model, Spelling(), both, generate=options)
    assert record.tokens()[0] == written
    np.testing.assert_array_equal(record.weights(1, 3), expected.weights(1, 3))


def test_an_image_is_described_from_no_text_at_all() -> None:
    """BLIP writes over the first token of its prompt, and leaves the last one out."""
    text = {**SIZES, "model_type": "blip_text_model", "encoder_hidden_size": 32, "sep_token_id": 2}
    vision = {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "image_size": 16,
        "num_attention_heads": 4, "patch_size": 4, "model_type": "blip_vision_model",
    }  # fmt: skip
    config = {"text_config": text, "vision_config": vision, "image_text_hidden_size": 32}
    model = tiny("BlipForConditionalGeneration", "eager", **config)
    ids = torch.cat([token_ids(4), torch.tensor([[2]])], dim=1)
    for inputs in ({"input_ids": ids.clone()}, {}):
        given = {**inputs, "pixel_values": PIXELS}
        record = capture(model, Spelling(), given, generate={"max_new_tokens": 5})
        read = model.generate(**{k: v.clone() for k, v in given.items()}, max_new_tokens=5)[0, :-1]
        assert record.tokens("text")[0] == [f"t{token}" for token in read.tolist()]
        assert record.layer(0, "text cross").shape == (len(read), 17)
        assert inputs == {} or torch.equal(inputs["input_ids"], ids)


WORDS = {"input_ids": torch.tensor([[7, 8, 9, 10, 11, 12]])}
WAVE = {"input_values": torch.randn(1, 4000, generator=torch.Generator().manual_seed(0))}
FRAMES = {"input_features": torch.randn(1, 64, 80, generator=torch.Generator().manual_seed(0))}


@pytest.mark.parametrize(
    ("kind", "inputs"),
    [
        ("SeamlessM4TForTextToText", WORDS),
        ("SeamlessM4Tv2ForTextToText", WORDS),
        pytest.param(
            "Florence2ForConditionalGeneration", WORDS, marks=newer("4.56", "Florence-2 is in it")
        ),
        ("SpeechT5ForSpeechToText", WAVE),
        ("Speech2TextForConditionalGeneration", FRAMES),
    ],
)
def test_decoders_of_other_names(kind: str, inputs: dict[str, torch.Tensor]) -> None:
    made_by: Any = getattr(transformers, kind)
    torch.manual_seed(0)
    config = shrink(made_by.config_class())
    model = made_by._from_config(config, attn_implementation="eager").eval()
    randomize(model, 0)
    options = {"decoder_start_token_id": 3, "eos_token_id": 2, "pad_token_id": 0}
    model.generation_config.update(**options, forced_bos_token_id=None)
    generate = {"max_new_tokens": 5, "do_sample": True}
    torch.manual_seed(1)
    answer = model.generate(**inputs, **generate)
    torch.manual_seed(1)
    record = capture(model, Spelling(), inputs, generate=generate)
    read = answer[:, :-1]
    own = references(model, **inputs, decoder_input_ids=read)
    for stack in ("decoder", "cross"):
        assert record.tokens(stack)[0] == [f"t{token}" for token in read[0].tolist()]
        assert_attention(record, [a[0] for a in own[f"{stack}_attentions"]], stack)
    source = record.tokens("cross")[1]
    of_text = [f"t{token}" for token in WORDS["input_ids"][0].tolist()]
    assert source == (of_text if inputs is WORDS else [str(n) for n in range(len(source))])
    assert record.layer(0, "encoder" if inputs is not WAVE else "audio").shape[0] == len(source)


def whisper() -> Model:
    model = tiny(
        "WhisperForConditionalGeneration", vocab_size=199, d_model=32, encoder_layers=2,
        decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
        decoder_ffn_dim=64, max_source_positions=50, max_target_positions=40, num_mel_bins=8,
        decoder_start_token_id=3, suppress_tokens=[], begin_suppress_tokens=[],
    )  # fmt: skip
    model.generation_config.no_timestamps_token_id = 97
    model.generation_config.is_multilingual = False
    return model


SOUND = torch.randn(1, 8, 100, generator=torch.Generator().manual_seed(0))


def test_beams_of_whisper_are_refused_in_words() -> None:
    options = {"max_new_tokens": 5, "num_beams": 3}
    with pytest.raises(ValueError, match="does not return the logits of these tokens"):
        capture(whisper(), None, {"input_features": SOUND}, generate=options)


@pytest.mark.parametrize("more", [{}, {"return_timestamps": True}], ids=str)
def test_whisper_begins_with_tokens_of_its_own(more: dict[str, Any]) -> None:
    model = whisper()
    options = {"max_new_tokens": 5, **more}
    record = capture(model, Spelling(), {"input_features": SOUND}, generate=options)
    assert record.stacks == ("encoder", "decoder", "cross")
    first = record.tokens("decoder")[0][:2]
    assert first[0] == "t3"
    assert (first[1] == "t97") == ("return_timestamps" not in more)
    length = record.layer(0, "decoder").shape[0]
    assert record.layer(0, "cross").shape == (length, 50)
    assert record.missing == ()


# Answers that one pass over all tokens does not explain.


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_rotary_embedding_that_depends_on_the_length(dtype: torch.dtype) -> None:
    rope = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 1e4}
    model = tiny("LlamaForCausalLM", max_position_embeddings=8, rope_parameters=rope).to(dtype)
    inputs = {"input_ids": token_ids(6)}
    with pytest.raises(ValueError, match=r"differ.*its rotary embedding \(dynamic\) depends on"):
        capture(model, None, inputs, generate={"max_new_tokens": 8, "eos_token_id": None})


def test_experts_with_room_for_some_tokens() -> None:
    model = t5(
        "SwitchTransformersForConditionalGeneration", "eager", num_experts=2, expert_capacity=1,
        num_sparse_decoder_layers=1, num_decoder_layers=2,
    )  # fmt: skip
    options = {"max_new_tokens": 8, "eos_token_id": None}
    with pytest.raises(ValueError, match=r"its experts have room for a number of tokens"):
        capture(model, None, {"input_ids": token_ids(6)}, generate=options)


def test_a_model_that_takes_no_other_mask_is_refused_with_the_first_reason() -> None:
    model = tiny("XLMWithLMHeadModel", "eager", emb_dim=32, n_layers=2, n_heads=4, n_langs=1)
    model.transformer.embeddings.weight.data.normal_()
    options = {**GREEDY, "max_new_tokens": 5, "eos_token_id": None}
    with pytest.raises(ValueError, match=r"differ from .*: for a reason that is not known"):
        capture(model, None, {"input_ids": token_ids(7)}, generate=options)


def test_quantised_activations() -> None:
    model = DECODERS["Llama"]("sdpa")
    quantised = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear})
    options = {**GREEDY, "max_new_tokens": 5, "eos_token_id": None}
    with pytest.raises(ValueError, match="it is quantised, which may round each pass"):
        capture(quantised, None, {"input_ids": token_ids(7)}, generate=options)


def test_an_intervention_that_is_another_in_each_pass() -> None:
    model = DECODERS["Llama"]("sdpa")
    with (
        pytest.raises(ValueError, match="it is changed by intervene"),
        intervene(model, Ablate(0, 1, mode="mean")),
    ):
        capture(model, None, {"input_ids": token_ids(7)}, generate={"max_new_tokens": 5})


def test_outputs_are_not_kept_until_the_collector_runs() -> None:
    """A refusal, after which a second way is taken, has a traceback with them."""
    model, outputs = STEPPED["BERT as it is"]("sdpa"), list[Any]()
    model.register_forward_hook(lambda _, __, output: outputs.append(ref(output.logits)))
    gc.collect()
    gc.disable()
    try:
        capture(model, None, {"input_ids": token_ids(7)}, generate={"max_new_tokens": 3})
        assert [output() for output in outputs] == [None] * 5
    finally:
        gc.enable()


def test_sound_that_is_longer_than_a_window_is_refused_in_words() -> None:
    sound = {"input_features": SOUND.repeat(1, 1, 3), "attention_mask": torch.ones(1, 300)}
    with pytest.raises(ValueError, match=r"300 frames, which .* reads in windows of 100"):
        capture(whisper(), None, sound, generate={"max_new_tokens": 5})


@newer("4.51", "Qwen3 is in it")
def test_half_precision_that_sends_a_token_to_other_experts() -> None:
    """The largest difference of many tokens grows with their number; that of most does not."""
    model = tiny(
        "Qwen3MoeForCausalLM", num_key_value_heads=2, head_dim=8, num_experts=8,
        num_experts_per_tok=2, moe_intermediate_size=32, num_hidden_layers=8, initializer_range=0.2,
    ).to(torch.bfloat16)  # fmt: skip
    options = {**GREEDY, "max_new_tokens": 40, "eos_token_id": None}
    for seed in range(2):
        record = capture(model, None, {"input_ids": token_ids(12, seed=seed)}, generate=options)
        assert record.replay is not None
        assert record.replay.typical is not None
        assert record.replay.typical < 0.04


def test_half_precision_is_said_to_be_another_pass() -> None:
    model = DECODERS["Llama"]("sdpa").to(torch.bfloat16)
    options = {"max_new_tokens": 6, "eos_token_id": None}
    record = capture(model, None, {"input_ids": token_ids(6)}, generate=options)
    assert record.replay is not None
    assert record.replay.typical is not None
    assert record.replay.typical <= record.replay.tolerance == 8e-2
    if record.replay.difference > 1e-5:
        assert record.replay.reason.startswith("it computes in half precision")
    assert all(fidelity.exact for fidelity in record.fidelity["self"])


@newer("4.56", "a function of one's own has a mask of its own")
@pytest.mark.parametrize("wrong", [9, 17])
def test_a_single_pass_that_is_not_what_the_record_says_is_found_out(
    wrong: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its function scales differently while it reads one token."""

    def attention(module: Any, query: Any, key: Any, *args: Any, **kwargs: Any) -> Any:
        if key.shape[2] == wrong:
            kwargs = {**kwargs, "scaling": kwargs["scaling"] / 3}
        return sdpa_attention_forward(module, query, key, *args, **kwargs)

    monkeypatch.setitem(AttentionInterface._global_mapping, "ours", attention)
    monkeypatch.setitem(AttentionMaskInterface._global_mapping, "ours", sdpa_mask)
    options = {"max_new_tokens": 20, "eos_token_id": None}
    with pytest.raises(ValueError, match="has no single attention"):
        capture(DECODERS["Llama"]("ours"), None, {"input_ids": token_ids(8)}, generate=options)


def test_the_distance_is_saved_and_shown(tmp_path: Path) -> None:
    model = DECODERS["Llama"]("sdpa")
    record = capture(model, None, {"input_ids": token_ids(5)}, generate={"max_new_tokens": 4})
    record.save(tmp_path / "a.safetensors")
    assert AttentionRecord.load(tmp_path / "a.safetensors").replay == record.replay
    assert record.replay is not None
    assert f"logits within {record.replay.difference:.0e} of its generation's" in repr(record)


@pytest.mark.parametrize("way", ["greedy", "beam", "no cache"])
def test_a_language_model_that_sees(way: str) -> None:
    """Its vision tower runs once."""
    model, eager = llava("sdpa"), llava("eager")
    inputs = {"input_ids": SEEN, "pixel_values": PIXELS}
    options = {**WAYS[way], "max_new_tokens": 5, "eos_token_id": None, "suppress_tokens": [3]}
    record = capture(model, Spelling(), inputs, generate=options)
    sequence = model.generate(**inputs, **options)[:1, :-1]
    assert record.stacks == ("text", "vision")
    # The image tokens are named after their patches.
    grid = (f"{row},{column}" for row in range(4) for column in range(4))
    labels = [next(grid) if token == 3 else f"t{token}" for token in sequence[0].tolist()]
    assert record.tokens("text")[0] == labels
    text = references(eager, sequence, pixel_values=PIXELS)["attentions"]
    vision = references(eager.model.vision_tower, PIXELS)["attentions"]
    assert_attention(record, [a[0] for a in text], "text")
    assert_attention(record, [a[0] for a in vision], "vision")


def test_tokens_that_see_images() -> None:
    """What each token sees has a row for each of the answer's tokens, too."""
    built = zoo.build("idefics")
    torch.manual_seed(0)
    model = transformers.IdeficsForVisionText2Text(built.model.config).eval()
    options = {**GREEDY, "max_new_tokens": 4, "eos_token_id": None, "pad_token_id": 0}
    length = model.generate(**built.inputs, **options).shape[1]
    record = capture(model, None, built.inputs, generate=options)
    assert record.layer(0, "self").shape == (length - 1, length - 1)
    assert record.replay is not None
    assert record.replay.difference < 1e-5


def test_a_model_that_does_not_read_its_answer_again_says_so() -> None:
    class Stubborn(transformers.LlamaForCausalLM):
        def forward(self, *args: Any, **given: Any) -> Any:
            if given["input_ids"].shape[1] > 5:
                raise RuntimeError("only step by step")
            return super().forward(*args, **given)

    model = Stubborn(DECODERS["Llama"]("sdpa").config).eval()
    with pytest.raises(ValueError, match="not read its answer again in one pass: only step"):
        capture(model, None, {"input_ids": token_ids(5)}, generate={"max_new_tokens": 3})


def test_an_answer_has_the_words_of_its_text(smollm2: Any) -> None:
    tokenizer, text, answer = smollm2[1], " The dog was tired", " because it ran."
    model = tiny("LlamaForCausalLM", vocab_size=len(tokenizer), **GROUPED)
    whole = tokenizer(text + answer)["input_ids"]
    forced = {"prefix_allowed_tokens_fn": lambda _, ids: [whole[len(ids)]]}
    prompt = len(tokenizer(text)["input_ids"])
    options = {**forced, "max_new_tokens": len(whole) - prompt}
    found = capture(model, tokenizer, text, generate=options).stack().queries
    # The model has not read the last token.
    read = capture(model, tokenizer, text + answer.removesuffix(".")).stack().queries
    assert (found.words, found.offsets) == (read.words, read.offsets)
    assert found.generated == prompt
