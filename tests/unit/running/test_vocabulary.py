"""A tokenizer of another model is noticed where its ids fit."""

from typing import Any

import pytest
import torch

import attnwidget as aw
from attnwidget.running.vocabulary import doubt_of, token_id
from tests.unit.tiny import VOCABULARY, Loaded, tiny

# Embeddings of published models, and the tokens of a tokenizer.
OWN = {
    "BERT": (30522, 30522),
    "T5": (32128, 32100),
    "Phi-2": (51200, 50295),
    "OPT": (50272, 50265),
    "Qwen2.5": (151936, 151665),
    "NLLB": (256206, 256204),
    "DeBERTa-v3": (128100, 128001),
    "BERT and a token of the user's": (30522, 30523),
    "letters": (81, 79),
}
OTHERS = {
    "MiniLM, SmolLM2": (30522, 49152),
    "SmolLM2, MiniLM": (49152, 30522),
    "GPT-2, SmolLM2": (50257, 49152),
    "BERT uncased, cased": (30522, 28996),
    "BERT cased, uncased": (28996, 30522),
}


class Sized:
    """A tokenizer of so many tokens, of which some are special."""

    def __init__(self, size: int, *special: int) -> None:
        self.size, self.all_special_ids = size, special
        self.added_tokens_decoder: dict[int, str] = {}

    def __len__(self) -> int:
        return self.size

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [f"w{token}" for token in ids]


@pytest.mark.parametrize("name", OWN | OTHERS)
def test_by_the_sizes_of_published_models(name: str) -> None:
    embedded, tokens = (OWN | OTHERS)[name]
    model: Any = torch.nn.Module()
    model.get_input_embeddings = lambda: torch.nn.Embedding(embedded, 1, device="meta")
    doubt = doubt_of(model, Sized(tokens))
    assert doubt is None if name in OWN else f"{tokens:,} tokens, and Module {embedded:,}" in doubt


def test_an_id_that_the_model_does_not_predict() -> None:
    model = tiny("LlamaForCausalLM")
    assert token_id(model, None, VOCABULARY - 1) == VOCABULARY - 1
    for wrong in (-1, VOCABULARY):
        with pytest.raises(ValueError, match=f"has no token {wrong}: there are {VOCABULARY}, from"):
            token_id(model, None, wrong)
    with pytest.raises(ValueError, match="has no token -1: ids count from 0"):
        token_id(torch.nn.Identity(), None, -1)


def test_by_special_tokens_that_a_configuration_states() -> None:
    model, size = tiny("LlamaForCausalLM", eos_token_id=7), VOCABULARY - 1
    assert doubt_of(model, Sized(size, 0, 1, 2, 7)) is None
    said = doubt_of(model, Sized(size, 0, 1, 2))
    assert said is not None
    assert "eos_token_id of LlamaForCausalLM is 7, which is 'w7'" in said
    # Added tokens are special, too; and as many tokens as the model has are its own.
    added = Sized(size, 0, 1, 2)
    added.added_tokens_decoder = {7: "<end>"}
    assert doubt_of(model, added) is None
    assert doubt_of(model, Sized(VOCABULARY, 0, 1, 2)) is None
    # What a class says of all its models may be left as it is.
    assert doubt_of(tiny("LlamaForCausalLM", pad_token_id=None), Sized(size)) is None


def test_in_records_and_profiles(minilm: Loaded) -> None:
    model, tokenizer = tiny("Bert", vocab_size=49152), minilm[1]
    with pytest.warns(UserWarning, match="^the tokenizer is likely another model's: it has 30,522"):
        record = aw.capture(model, tokenizer, "The dog ran.")
    assert record.missing[0].startswith("the tokenizer is likely another model's: it has 30,522")
    with pytest.warns(UserWarning, match="likely another model's"):
        aw.profile(model, tokenizer, ["The dog ran."], metrics=["first"], null=None)
