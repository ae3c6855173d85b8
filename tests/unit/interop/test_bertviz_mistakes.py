"""Errors of BertViz's functions say what to do."""

from typing import Any

import pytest
import torch
import transformers

from attnwidget.interop.bertviz import head_view, model_view, neuron_view
from tests.unit.records import labels, some_weights
from tests.unit.several import ATTENTION, DECODER, ENCODER, SEVERAL, TOKENS
from tests.unit.tiny import Loaded, bart, bert, gpt2, tiny, token_ids

IDS = token_ids(7)
KINDS = {
    "BERT": bert,
    "GPT-2": gpt2,
    "RoBERTa": lambda attention: tiny("Roberta", attention),
    "DistilBERT": lambda attention: tiny(
        "DistilBert", attention, dim=32, n_heads=4, n_layers=2, hidden_dim=48
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_the_last_output(kind: str, attention: str) -> None:
    """It is attention, or what else it is, and where attention is to be had, is said."""
    model: Any = KINDS[kind](attention=attention)
    with torch.no_grad():
        outputs = model(IDS, output_attentions=attention == "eager")
    last = outputs[-1]
    if last is outputs.get("attentions"):
        head_view(last, TOKENS, html_action="return")
        return
    with pytest.raises(ValueError, match=r"outputs\.attentions"):
        head_view(last, TOKENS)
    if attention == "eager":
        head_view(outputs.attentions, TOKENS, html_action="return")


@pytest.mark.parametrize(
    ("attention", "message"),
    [
        (None, "attention is None.*eager"),
        ((), r"attention is empty.*outputs\.attentions of a model loaded with"),
        ((None, None), "attention, or a layer of it, is None.*eager"),
        (torch.zeros(1, 7, 32), r"\[1, 7, 32\].*hidden states"),
        (torch.zeros(1, 2), r"\[1, 2\].*logits of a classifier"),
        ((torch.zeros(1, 7, 32),) * 3, r"attention\[0\].*the shape of hidden states"),
        (transformers.DynamicCache(), "past_key_values"),
        (((torch.rand(1, 4, 7, 8),) * 2,) * 3, "past_key_values are no attention"),
        (tuple(layer.repeat(2, 1, 1, 1) for layer in ATTENTION), r"a batch of 2.*layer\[:1\]"),
        (tuple(layer[:, :, :6, :6] for layer in ATTENTION), "from 6 to 6 tokens.*7 query and 7"),
        (tuple(layer * 1.1 for layer in ATTENTION), "call model.eval"),
        (tuple(layer.log() for layer in ATTENTION), "not scores"),
    ],
)
@pytest.mark.parametrize("view", [head_view, model_view])
def test_attention(view: Any, attention: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        view(attention, TOKENS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attention": ATTENTION, "tokens": TOKENS}, "self-attention alone, but encoder_attention"),
        ({"tokens": TOKENS}, "tokens goes with attention"),
        ({"sentence_b_start": 3}, "sentence_b_start goes with attention"),
        ({"encoder_tokens": None}, "encoder_tokens is None, but encoder_attention needs it"),
        ({"decoder_tokens": None}, "decoder_tokens is None, but decoder_attention needs it"),
        (
            {"encoder_tokens": labels(5), "decoder_tokens": TOKENS},
            "encoder_attention: .*encoder_tokens and decoder_tokens the other way round",
        ),
        (
            {"encoder_attention": DECODER, "decoder_attention": ENCODER},
            "encoder_attention: .*the other way round",
        ),
        ({"cross_attention": DECODER}, "cross_attention: layer 0 attends from 5 to 5"),
        ({"cross_attention": ()}, "cross_attention is empty"),
        ({"include_layers": [3]}, "layer 3 does not exist: there are 3 layers, 0 to 2"),
        ({"include_layers": [2]}, r"leaves nothing of encoder_attention.*2 layers, 0 to 1"),
    ],
)
@pytest.mark.parametrize("view", [head_view, model_view])
def test_encoder_and_decoder(view: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        view(**{**SEVERAL, **change})


def test_attention_of_an_encoder_decoder_passed_as_its_own() -> None:
    """`outputs[-1]` of BART is the attention of its encoder."""
    model: Any = bart(attention="eager")
    outputs = model(IDS, decoder_input_ids=token_ids(5), output_attentions=True)
    with pytest.raises(ValueError, match="from 7 to 7 tokens, but there are 5 query"):
        head_view(outputs[-1], labels(5))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tokens": None}, ValueError, "tokens is None, but attention needs it"),
        (
            {"tokens": "letters"},
            TypeError,
            "tokens is 'letters'; expected a list with one label per token",
        ),
        ({"tokens": IDS[0]}, TypeError, "convert_ids_to_tokens"),
        ({"tokens": [TOKENS]}, TypeError, "tokens are not strings.*of one text"),
        ({"tokens": TOKENS[1:]}, ValueError, "7 to 7 tokens, but there are 6 query"),
        ({"sentence_b_start": 7}, ValueError, "can start at 1 to 6"),
        ({"sentence_b_start": 0}, ValueError, "can start at 1 to 6"),
        ({"sentence_b_start": "4"}, TypeError, "expected a position"),
        ({"sentence_b_start": True}, TypeError, "expected a position"),
        ({"include_layers": []}, ValueError, "include_layers is empty"),
        ({"include_layers": 2}, TypeError, "include_layers is 2; expected several numbers"),
        ({"include_layers": [1, 3]}, ValueError, "layer 3 does not exist: there are 3 layers"),
        ({"include_layers": [-1]}, ValueError, "layer -1 does not exist"),
        ({"include_layers": [0.5]}, TypeError, r"\[0.5\]; expected several numbers"),
        ({"html_action": "show"}, ValueError, "'show'; expected one of 'view', 'return'"),
    ],
)
@pytest.mark.parametrize("view", [head_view, model_view])
def test_options(view: Any, options: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        view(**{"attention": ATTENTION, "tokens": TOKENS, **options})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"layer": 3}, ValueError, "layer 3 does not exist: this stack has 3 layers, 0 to 2"),
        ({"layer": 0, "include_layers": [1, 2]}, ValueError, "2 layers, 1 to 2"),
        ({"heads": [4]}, ValueError, "head 4 does not exist: this record has 0 to 3"),
        ({"heads": []}, ValueError, "heads is empty"),
        ({"heads": [True]}, ValueError, r"heads is \[True\]; expected several"),
    ],
)
def test_options_of_the_head_view(options: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        head_view(ATTENTION, TOKENS, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"include_heads": [4]}, "head 4 does not exist"),
        ({"include_heads": []}, "include_heads is empty"),
        ({"display_mode": "blue"}, "display_mode is 'blue'; expected one of 'dark', 'light'"),
    ],
)
def test_options_of_the_model_view(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model_view(ATTENTION, TOKENS, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sentence_a": ""}, ValueError, "sentence_a is empty"),
        ({"layer": 6}, ValueError, "6 layers, 0 to 5"),
        ({"head": 12}, ValueError, "head 12 does not exist: this record has 0 to 11"),
        ({"display_mode": "auto"}, ValueError, "display_mode is 'auto'"),
        ({"html_action": None}, ValueError, "html_action is None"),
    ],
)
def test_neuron_view(minilm: Loaded, options: dict[str, Any], error: type, message: str) -> None:
    model, tokenizer = minilm
    arguments = {"model_type": "bert", "sentence_a": "A text.", **options}
    with pytest.raises(error, match=message):
        neuron_view.show(model, tokenizer=tokenizer, **arguments)


def test_neuron_view_without_a_model_type(minilm: Loaded) -> None:
    with pytest.raises(TypeError, match=r"show\(model, model_type, tokenizer, sentence_a\)"):
        neuron_view.show(*minilm, "A text.", "Another.")  # type: ignore[arg-type]


def test_a_class_that_transformers_does_not_have() -> None:
    with pytest.raises(ImportError, match="BertForEverything"):
        from attnwidget.interop.bertviz.transformers_neuron_view import (  # noqa: F401
            BertForEverything,
        )


def test_weights_of_some_steps_are_joined() -> None:
    """BertViz cannot show what generate() returns."""
    whole = torch.from_numpy(some_weights(2, 7, 7)).tril()
    steps = [(whole[None, :, :5, :5],), (whole[None, :, 5:6, :6],), (whole[None, :, 6:],)]
    assert head_view(tuple(steps), TOKENS, html_action="return") is not None
