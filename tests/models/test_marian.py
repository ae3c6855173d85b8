"""Marian (opus-mt-en-fr): an encoder-decoder that translates."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from attnwidget import AttentionRecord, capture
from tests.models.conftest import Agree
from tests.models.trained import Load, Trained
from tests.unit.tiny import references_by_stack

TEXT, TRANSLATION = "The cat drinks milk.", "Le chat boit du lait."
GREEDY, BEAM = {"num_beams": 1}, {"num_beams": 4}

# The words that carry meaning, and those that they translate.
WORDS = {
    TEXT: {"chat": "cat", "boit": "drinks", "lait": "milk"},
    "She reads an old book.": {"lit": "reads", "vieux": "old", "livre": "book"},
    "The children sleep in the house.": {"enfants": "children", "maison": "house"},
    "The black dog chased the small cat.": {
        "chien": "dog", "noir": "black", "petit": "small", "chat": "cat",
    },
    "My mother bought a red car.": {"mère": "mother", "voiture": "car", "rouge": "red"},
}  # fmt: skip


@pytest.fixture(scope="module")
def marian(load: Load) -> Trained:
    return load("marian_en_fr", AutoModelForSeq2SeqLM, AutoTokenizer)


def _encoded(marian: Trained) -> dict[str, torch.Tensor]:
    """The inputs of both sides; the decoder's are the translation after the start token."""
    labels = marian.processor(text_target=TRANSLATION, return_tensors="pt").input_ids
    return {
        **marian.processor(TEXT, return_tensors="pt"),
        "decoder_input_ids": marian.model.prepare_decoder_input_ids_from_labels(labels),
    }


def _captured(marian: Trained, **options: Any) -> AttentionRecord:
    return capture(marian.model, marian.processor, TEXT, **options)


@pytest.mark.parametrize(
    "options",
    [{"target": TRANSLATION}, {"generate": GREEDY}, {"generate": BEAM}],
    ids=["target", "greedy", "beam"],
)
def test_every_weight_is_the_models_own(
    marian: Trained, agree: Agree, options: Mapping[str, Any]
) -> None:
    """Generated or given, token by token or at once: it is the same translation."""
    record = _captured(marian, **options)
    assert record.tokens("encoder")[0] == ["The", "cat", "drinks", "milk", ".", "</s>"]
    assert record.tokens("cross") == (record.tokens("decoder")[0], record.tokens("encoder")[0])
    assert record.tokens("decoder")[0] == ["<pad>", "Le", "chat", "boit", "du", "lait", "."]
    agree(record, **references_by_stack(marian.eager, **_encoded(marian)))


def test_without_a_target_it_translates(marian: Trained) -> None:
    """Generate with the model's own settings, which use beams."""
    record, expected = _captured(marian), _captured(marian, generate=BEAM)
    assert record.tokens("cross") == expected.tokens("cross")
    assert np.array_equal(record.weights(5, 0, "cross"), expected.weights(5, 0, "cross"))


def test_head_5_0_of_the_cross_attention_aligns_words(marian: Trained) -> None:
    """It looks at what the next token will translate."""
    aligned = []
    for text, words in WORDS.items():
        record = capture(marian.model, marian.processor, text, generate=GREEDY)
        decoded, source = record.tokens("cross")
        for word, translated in words.items():
            row = record.weights(5, 0, "cross")[decoded.index(word) - 1]
            aligned.append(source[row.argmax()] == translated)
    assert len(aligned) == 15
    assert all(aligned)
