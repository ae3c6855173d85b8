"""Errors about inputs that cannot be captured say what to do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from traitlets import TraitError

from attnwidget import capture, show
from benchmarks import zoo
from tests.unit.tiny import Loaded, Model, bart, bert, gpt2, llama, t5, tiny, token_ids

TEXT = {"input_ids": token_ids(9)}


@pytest.mark.parametrize("model", ["bert-base-uncased", None, 3, torch.nn.Linear])
def test_a_model_that_is_no_module(model: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a torch\.nn\.Module"):
        capture(model, None, TEXT)


def test_a_model_within_another_object(minilm: Loaded) -> None:
    model, tokenizer = minilm
    pipeline = transformers.pipeline("feature-extraction", model=model, tokenizer=tokenizer)
    with pytest.raises(TypeError, match=r"FeatureExtractionPipeline.*pass its \.model"):
        capture(pipeline, None, TEXT)  # type: ignore[arg-type]


def test_a_model_without_numbers() -> None:
    with torch.device("meta"):
        model = transformers.BertModel(bert().config)
    with pytest.raises(ValueError, match=r"device 'meta'.*from_pretrained"):
        capture(model, None, TEXT)


def test_a_model_that_takes_a_mapping(minilm: Loaded) -> None:
    class OfMapping(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = minilm[0]

        def forward(self, batch: dict[str, torch.Tensor]) -> Any:
            return self.model(batch["input_ids"])

    with pytest.raises(ValueError, match=r"argument 'batch' .*takes input_ids and attention_mask"):
        capture(OfMapping(), minilm[1], {"input_ids": token_ids(5)})


def test_a_tokenizer_that_takes_no_calls(minilm: Loaded) -> None:
    model, tokenizer = minilm
    with pytest.raises(TypeError, match=r"tokenizers\.Tokenizer.*PreTrainedTokenizerFast"):
        capture(model, tokenizer.backend_tokenizer, "A text.")


@pytest.mark.parametrize("wrapper", ["DataParallel", "compile", "sentences"])
def test_a_model_within_another_is_found(wrapper: str) -> None:
    class Sentences(torch.nn.Sequential):
        """As of sentence_transformers."""

        __module__ = "sentence_transformers.models"

    model = bert()
    within = {
        "DataParallel": torch.nn.DataParallel,
        "compile": torch.compile,
        "sentences": Sentences,
    }
    record = capture(within[wrapper](model), None, TEXT)
    np.testing.assert_array_equal(record.weights(0, 0), capture(model, None, TEXT).weights(0, 0))


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
    with pytest.raises(TypeError, match="text_pair needs a string"):
        capture(model, tokenizer, tokenizer("A text.", return_tensors="pt"), "Another.")


@pytest.mark.parametrize("inputs", [{}, {"input_ids": [[3, 4]]}, {"use_cache": False}])
def test_inputs_without_tensors(inputs: Any) -> None:
    with pytest.raises(ValueError, match='no tensors; use return_tensors="pt"'):
        capture(llama(), None, inputs)


def test_token_ids_without_a_batch() -> None:
    """More dimensions than two are well: some models of sound take several tokens at once."""
    with pytest.raises(ValueError, match=r"input_ids must be a tensor \[batch, tokens\]"):
        capture(llama(), None, {"input_ids": torch.ones(3, dtype=torch.long)})


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
    """An unknown word becomes [UNK], which is a token like any other."""
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
        capture(llama(), None, TEXT, batch_index=np.int64(index))
    with pytest.raises(TypeError, match="batch_index is '0'; expected a number"):
        capture(llama(), None, TEXT, batch_index="0")


@pytest.mark.parametrize("build", [gpt2, bert])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_text_that_is_too_long(build: Callable[[str], Model], attention: str) -> None:
    with pytest.raises(ValueError, match=r"the text has 70 tokens; .*Model takes at most 64"):
        capture(build(attention), None, {"input_ids": token_ids(70)})


@pytest.mark.parametrize("build", [t5, bart])
def test_an_encoder_without_its_decoder(build: Callable[[], Model]) -> None:
    record = capture(build().get_encoder(), None, TEXT)
    assert record.num_layers() == 2
    assert all(fidelity.exact for fidelity in record.fidelity["self"])


def test_a_model_without_attention() -> None:
    with pytest.raises(
        ValueError,
        match=r"FNetBasicFourierTransform mixes tokens by no softmax",
    ):
        capture(tiny("FNet", "eager"), None, TEXT)


def test_a_module_that_is_no_language_model() -> None:
    mlp = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    with pytest.raises(ValueError, match="Sequential has no attention"):
        capture(mlp, None, {"input": torch.ones(2, 4)})


class SigmoidAttention(torch.nn.Module):
    """Weighs values by no softmax."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x @ x.mT) @ x


def test_attention_that_cannot_be_seen_is_named() -> None:
    model = torch.nn.Sequential(torch.nn.Embedding(64, 8), SigmoidAttention())
    with pytest.raises(ValueError, match=r"no attention of Sequential.*1: SigmoidAttention"):
        capture(model, None, {"input": token_ids(9)})


class Failing(torch.nn.Module):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return input[9]


def test_an_error_of_the_model_itself_comes_through() -> None:
    with pytest.raises(IndexError, match="out of bounds"):
        capture(Failing(), None, {"input": torch.ones(3)})


@pytest.mark.parametrize(
    ("build", "options"),
    [(gpt2, {}), (bert, {}), (lambda: t5("T5ForConditionalGeneration"), {"target": "dog"})],
)
def test_the_tokenizer_of_another_model(
    minilm: Loaded, build: Callable[[], Model], options: dict[str, str]
) -> None:
    model = build()
    size = model.get_input_embeddings().num_embeddings
    message = rf"ids do not fit .* an id [\d,]+, and \w+ has {size} tokens; the tokenizer is likely"
    with pytest.raises(ValueError, match=message):
        capture(model, minilm[1], "A dog.", **options)


def test_the_tokenizer_of_another_model_for_the_decoder_alone(minilm: Loaded) -> None:
    inputs = {"input_ids": token_ids(4)}
    with pytest.raises(ValueError, match="the tokenizer is likely another model's"):
        capture(t5("T5ForConditionalGeneration"), minilm[1], inputs, target="A dog.")


def test_show_refuses_a_choice_that_does_not_exist(minilm: Loaded) -> None:
    with pytest.raises(
        TraitError, match="layer 99 does not exist: this stack has 6 layers, 0 to 5"
    ):
        show(*minilm, "A text.", layer=99)


def test_attention_without_a_softmax_over_keys() -> None:
    built = zoo.build("reformer")
    with pytest.raises(ValueError, match="sorts keys into chunks by random hashes"):
        capture(built.model, None, built.inputs, layers=[1])
