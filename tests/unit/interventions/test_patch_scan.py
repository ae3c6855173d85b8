"""Grids of patches equal patches one by one."""

from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.progress import on_step
from benchmarks import zoo
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import Model, t5, tiny, token_ids

LENGTH = 5
CLEAN, CORRUPT = ({"input_ids": token_ids(LENGTH, seed=seed)} for seed in (0, 1))


def llama() -> Model:
    return tiny("LlamaForCausalLM", num_key_value_heads=2)


def logit(output: Any) -> float:
    return float(output.logits[0, -1, 7])


@pytest.mark.parametrize("at", ["residual mid", "mlp", "head", "values", "weights"])
def test_grids_equal_patches_one_by_one(at: Any) -> None:
    model = llama()
    source = aw.head_outputs(model, None, CLEAN, at=at)
    snapshot = Snapshot(model)

    def share(patch: aw.Patch | None) -> float:
        with torch.no_grad():
            numbers = [logit(model(**each)) for each in (CORRUPT, CLEAN)]
            with aw.intervene(model, *([] if patch is None else [patch])):
                found = logit(model(**CORRUPT))
        return (found - numbers[0]) / (numbers[1] - numbers[0])

    found: list[tuple[int, int, float]] = []
    scores = aw.patch_scan(
        model, None, CLEAN, CORRUPT, metric=logit, at=at, batch_size=3,
        on_score=lambda *cell: found.append(cell),
    )  # fmt: skip
    expected = [
        [share(aw.Patch(source, layer, at=at, positions=n)) for n in range(LENGTH)]
        for layer in range(2)
    ]
    np.testing.assert_allclose(scores.values, expected, atol=1e-5)
    assert sorted(found) == [
        (row, column, number) for (row, column), number in np.ndenumerate(scores.values)
    ]
    assert scores.columns == tuple("01234")
    whole = aw.patch_scan(model, None, CLEAN, CORRUPT, metric=logit, at=at, by="layer", null=False)
    np.testing.assert_allclose(
        whole.values[:, 0], [share(aw.Patch(source, layer, at=at)) for layer in range(2)], atol=1e-5
    )
    assert whole.null is None
    snapshot.assert_unchanged()


def test_the_nulls() -> None:
    model = llama()
    options: dict[str, Any] = {"metric": logit, "at": "head", "by": "head"}
    scores = aw.patch_scan(model, None, CLEAN, CORRUPT, **options)
    assert scores.null is not None
    assert scores.null.shape == scores.values.shape == (2, 4)
    assert scores.null_label == "permuted positions"
    same = aw.patch_scan(model, None, CLEAN, CORRUPT, **options, batch_size=3)
    np.testing.assert_allclose(scores.null, same.null, atol=1e-5)
    # A text's own numbers change nothing, and the clean text's as much as the patch.
    texts = aw.patch_scan(model, None, CLEAN, CORRUPT, **options, null=[CLEAN, CORRUPT])
    np.testing.assert_allclose(texts.null, texts.values / 2, atol=1e-5)
    assert texts.null_label == "patches from 2 unrelated texts"


def test_a_grid_of_a_text() -> None:
    model, tokenizer = aw.default_model()
    texts = ("The lawyer was early.", "The doctor was early.")

    def turn(output: Any) -> float:
        return float(output.last_hidden_state[0, 2, 0])

    scores = aw.patch_scan(model, tokenizer, *texts, metric=turn)
    assert "lawyer / doctor" in scores.columns
    rows = scores.table()
    assert list(rows) == ["layer", "position", "token", "restored", "null"]
    assert len(rows) == scores.values.size
    # All that differs is in one place at first.
    changed = scores.columns.index("lawyer / doctor")
    assert scores.values[0, changed] == pytest.approx(1, abs=1e-4)
    assert np.abs(np.delete(scores.values[0], changed)).max() < 1e-4
    assert "restored at residual pre, layer×position" in repr(scores)
    assert "cells" not in str(scores._repr_html_())[:50]
    with pytest.raises(ValueError, match=r"clean has \d+ tokens, and the corrupt text"):
        aw.patch_scan(model, tokenizer, "The lawyer was very early.", texts[1], metric=turn)
    with pytest.raises(ValueError, match="for both texts: there is nothing to restore"):
        aw.patch_scan(model, tokenizer, texts[0], texts[0], metric=turn)


def test_what_is_kept_of_a_scan_that_is_interrupted() -> None:
    model = llama()
    done = 0

    def stop() -> None:
        nonlocal done
        done += 1
        if done == 4:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted: 4 of 10 cells"), on_step(stop):
        scores = aw.patch_scan(model, None, CLEAN, CORRUPT, metric=logit, null=False, batch_size=2)
    assert int((~np.isnan(scores.values)).sum()) == 4
    assert "4 of 10 known" in repr(scores)


def test_the_logit_difference_and_what_is_refused() -> None:
    model = llama()
    scores = aw.patch_scan(model, None, CLEAN, CORRUPT, token=7, against=9, by="layer")
    assert scores.values[0, 0] == pytest.approx(1, abs=1e-5)
    assert "the logit of '7' less that of '9'" in scores.description

    def scan(**given: Any) -> None:
        aw.patch_scan(model, None, CLEAN, CORRUPT, **{"token": 7, **given})

    for given, message in (
        ({"token": None}, "logit difference is that of token="),
        ({"metric": "loss"}, "metric is 'loss'; expected 'logit difference'"),
        ({"at": "mlp", "by": "head"}, "there are no heads at 'mlp'"),
        ({"layers": 7}, "layer 7 has no 'residual pre', or does not exist"),
        ({"at": "projection"}, "what a projection receives is not kept"),
        ({"stack": "cross"}, "no stack 'cross'"),
        ({"by": "row"}, "by is 'row'; expected one of 'layer×position'"),
    ):
        with pytest.raises(ValueError, match=message):
            scan(**given)
    with pytest.raises(IndexError, match="position 5 does not exist: the text has 5 tokens"):
        scan(position=5)


def test_the_stack_of_an_encoder_decoder() -> None:
    model = t5("T5ForConditionalGeneration")
    target = {"decoder_input_ids": token_ids(4, seed=3)}
    texts = ({**CLEAN, **target}, {**CORRUPT, **target})
    with pytest.raises(ValueError, match=r"several stacks; give stack=, one of \['encoder', "):
        aw.patch_scan(model, None, *texts, token=7)
    found = aw.patch_scan(model, None, *texts, token=7, stack="encoder", by="layer")
    assert found.values[0, 0] == pytest.approx(1, abs=1e-4)
    cross = aw.patch_scan(model, None, *texts, token=7, stack="cross", at="residual mid")
    assert cross.values.shape == (2, 4)
    assert cross.values[1, 3] == pytest.approx(1, abs=1e-4)


def test_layers_of_several_kinds() -> None:
    """Of a hybrid, also layers without a softmax are in the stream."""
    built = zoo.build("qwen3_next")
    corrupt = {"input_ids": built.inputs["input_ids"].flip(1)}
    clean = {"input_ids": built.inputs["input_ids"]}

    def state(output: Any) -> float:
        return float(output[0][0, -1, 0])

    scores = aw.patch_scan(built.model, None, clean, corrupt, metric=state, at="attention")
    assert scores.rows == ("0", "1")
    assert not np.isnan(scores.values).any()
