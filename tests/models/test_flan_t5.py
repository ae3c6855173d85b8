"""Flan-T5: an encoder-decoder with a bias of relative positions and no scale."""

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from attnwidget import capture
from tests.models.conftest import Agree
from tests.models.trained import Load, Trained
from tests.unit.tiny import references_by_stack

TEXT = "translate English to German: The house is wonderful."
TARGET = "Das Haus ist wunderbar."


@pytest.fixture(scope="module")
def flan_t5(load: Load) -> Trained:
    return load("flan_t5", AutoModelForSeq2SeqLM, AutoTokenizer)


def test_every_weight_is_the_models_own(flan_t5: Trained, agree: Agree) -> None:
    record = capture(flan_t5.model, flan_t5.processor, TEXT, target=TARGET)
    inputs = flan_t5.processor(TEXT, return_tensors="pt")
    target = flan_t5.processor(TARGET, return_tensors="pt").input_ids
    agree(record, **references_by_stack(flan_t5.eager, **inputs, labels=target))


@pytest.mark.parametrize("beams", [1, 3])
def test_every_weight_of_a_generation(flan_t5: Trained, agree: Agree, beams: int) -> None:
    options = {"num_beams": beams, "max_new_tokens": 12}
    record = capture(flan_t5.model, flan_t5.processor, TEXT, generate=options)
    inputs = flan_t5.processor(TEXT, return_tensors="pt")
    with torch.no_grad():
        ids = flan_t5.model.generate(**inputs, **options)
    # The last generated token has not been read.
    agree(record, **references_by_stack(flan_t5.eager, **inputs, decoder_input_ids=ids[:, :-1]))


def test_the_bias_is_kept_by_relative_position(flan_t5: Trained) -> None:
    record = capture(flan_t5.model, flan_t5.processor, TEXT, target=TARGET)
    for stack in ("encoder", "decoder"):
        length = len(record.tokens(stack)[0])
        for layer in record.stack(stack).layers:
            assert layer.program is not None
            assert layer.program.scale == 1
            assert layer.program.bias is None
            assert layer.program.relative is not None
            assert layer.program.relative.shape == (6, 2 * length - 1)
    cross = record.layer(0, "cross").program
    assert cross is not None
    assert (cross.bias, cross.relative) == (None, None)
