"""What cannot be captured is said in words that help."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from traitlets import TraitError

from attnwidget import capture, show
from tests.unit.tiny import Loaded, Model, bert, gpt2, llama, t5, tiny, token_ids

TEXT = {"input_ids": token_ids(9)}


@pytest.mark.parametrize("model", ["bert-base-uncased", None, 3, torch.nn.Linear])
def test_a_model_that_is_no_module(model: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a torch\.nn\.Module"):
        capture(model, None, TEXT)


def test_a_string_without_a_tokenizer(minilm: Loaded) -> None:
    with pytest.raises(TypeError, match=r"tokenizer is needed.*AutoTokenizer"):
        capture(minilm[0], None, "A text.")


@pytest.mark.parametrize("text", [["one text", "another"], 3, None, b"bytes", token_ids(3)])
def test_a_text_that_is_neither_string_nor_mapping(minilm: Loaded, text: Any) -> None:
    with pytest.raises(TypeError, match=f"text is {type(text).__name__}.*expected a string"):
        capture(*minilm, text)


def test_several_texts_are_sent_one_after_the_other(minilm: Loaded) -> None:
    with pytest.raises(TypeError, match=r"several texts.*one after the other"):
        capture(*minilm, ["one text", "another"])


def test_a_pair_beside_tokenized_inputs(minilm: Loaded) -> None:
    model, tokenizer = minilm
    with pytest.raises(TypeError, match="text_pair goes with a string"):
        capture(model, tokenizer, tokenizer("A text.", return_tensors="pt"), "Another.")


@pytest.mark.parametrize("inputs", [{}, {"pixel_values": torch.zeros(1, 3, 8, 8)}])
def test_inputs_without_tokens(inputs: Any) -> None:
    with pytest.raises(ValueError, match="no input_ids"):
        capture(llama(), None, inputs)


def test_inputs_that_are_no_tensors(minilm: Loaded) -> None:
    model, tokenizer = minilm
    with pytest.raises(ValueError, match='return_tensors="pt"'):
        capture(model, tokenizer, tokenizer("A text."))


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_text_for_an_encoder(minilm: Loaded, text: str) -> None:
    with pytest.raises(ValueError, match=f"the text '{text}' gives no tokens"):
        capture(*minilm, text)


def test_an_empty_text_for_a_decoder(smollm2: Loaded) -> None:
    with pytest.raises(ValueError, match="the text '' gives no tokens"):
        capture(*smollm2, "")


@pytest.mark.parametrize("text", ["🦜", "[MASK]", "[UNK] [UNK]"])
def test_a_text_of_special_tokens_is_a_text(minilm: Loaded, text: str) -> None:
    """What the vocabulary does not know becomes [UNK], which is a token like any other."""
    record = capture(*minilm, text)
    labels, _ = record.tokens()
    assert labels[0] == "[CLS]"
    assert labels[-1] == "[SEP]"
    assert len(labels) > 2


def test_inputs_that_are_all_padding() -> None:
    inputs = {**TEXT, "attention_mask": torch.zeros(1, 9, dtype=torch.long)}
    with pytest.raises(ValueError, match="no tokens"):
        capture(llama(), None, inputs)


@pytest.mark.parametrize("index", [1, -1])
def test_a_batch_index_that_does_not_exist(index: int) -> None:
    with pytest.raises(IndexError, match=f"batch_index {index}: the batch has 1 item"):
        capture(llama(), None, TEXT, batch_index=index)


@pytest.mark.parametrize("build", [gpt2, bert])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_text_that_is_too_long(build: Callable[[str], Model], attention: str) -> None:
    with pytest.raises(ValueError, match=r"the text has 70 tokens; .*Model takes at most 64"):
        capture(build(attention), None, {"input_ids": token_ids(70)})


def test_an_encoder_decoder() -> None:
    with pytest.raises(ValueError, match=r"encoder-decoder.*get_encoder"):
        capture(t5(), None, TEXT)


@pytest.mark.parametrize("name", ["T5", "Bart"])
def test_what_is_proposed_for_an_encoder_decoder_works(name: str) -> None:
    model = t5() if name == "T5" else tiny("Bart", d_model=32, encoder_attention_heads=4)
    record = capture(model.get_encoder(), None, TEXT)
    assert all(fidelity.exact for fidelity in record.fidelity["self"])


def test_a_model_without_attention() -> None:
    with pytest.raises(ValueError, match="MambaModel has no attention"):
        capture(tiny("Mamba", "eager"), None, TEXT)


def test_a_module_that_is_no_language_model() -> None:
    mlp = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    with pytest.raises((TypeError, ValueError), match=r"Sequential.*attention"):
        capture(mlp, None, TEXT)


def test_attention_that_cannot_be_seen_is_named() -> None:
    """BLOOM computes it in its own forward."""
    with pytest.raises(ValueError, match=r"BloomAttention.*not through.*attention interface"):
        capture(tiny("Bloom", "eager", n_layer=2, n_head=4), None, TEXT)


def test_attention_over_more_than_the_tokens() -> None:
    model = gpt2(add_cross_attention=True)
    inputs = {**TEXT, "encoder_hidden_states": torch.zeros(1, 4, 32)}
    with pytest.raises(ValueError, match="from 9 to 4 positions, but the text has 9 tokens"):
        capture(model, None, inputs)


def test_an_error_of_the_model_itself_comes_through() -> None:
    with pytest.raises(IndexError, match="out of range"):
        capture(llama(), None, {"input_ids": torch.tensor([[3, 999, 4]])})


def test_show_without_a_text(minilm: Loaded) -> None:
    with pytest.raises(TypeError, match="needs a tokenizer and a text"):
        show(*minilm)


def test_show_refuses_a_choice_that_does_not_exist(minilm: Loaded) -> None:
    with pytest.raises(TraitError, match="layer 99 does not exist: this record has 0 to 5"):
        show(*minilm, "A text.", layer=99)
