"""Profiles of layers without a softmax: the metrics of their records, in a stack of their own."""

import importlib
import json
import re

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.record import Floats, Tokens
from benchmarks import zoo
from tests.unit.tokenizing import unigram

METRICS = ("entropy", "distance", "previous", "first", "negative", "row_sum")
NULLS = ("position", "random weights")


@pytest.mark.parametrize("name", ["bamba", "jamba"])  # by head, and by channel
def test_metrics_are_the_means_of_records(name: str) -> None:
    built = zoo.build(name)
    texts = []
    for seed in range(3):
        order = torch.Generator().manual_seed(seed)
        ids = built.inputs["input_ids"]
        texts.append(
            {**built.inputs, "input_ids": ids[:, torch.randperm(ids.shape[1], generator=order)]}
        )
    profile = aw.profile(built.model, None, texts, metrics=METRICS, null=NULLS)
    tables = [aw.analysis.metrics(aw.capture(built.model, None, text)) for text in texts]
    assert profile.stacks == ("self", "linear")
    assert not profile.missing
    found = profile.stack("linear")
    for metric in METRICS[1:]:
        rows = [table[table["stack"] == "linear"][metric].to_numpy() for table in tables]
        mean = np.mean(rows, axis=0)
        np.testing.assert_allclose(found.estimates[metric].mean[found.exists], mean, atol=1e-6)
        assert np.isfinite(found.nulls["random weights"][metric].mean[found.exists]).all()
    # A softmax has an entropy, and places alone know no sign.
    assert np.isnan(found.estimates["entropy"].mean).all()
    assert np.isnan(found.nulls["position"]["entropy"].mean).all()
    assert np.isnan(found.nulls["position"]["negative"].mean).all()
    assert np.isnan(profile.stack("self").estimates["negative"].mean).all()


def test_a_function_of_the_user_gets_coefficients_or_nothing() -> None:
    built = zoo.build("bamba")

    def sums(weights: Floats, _: Tokens) -> float:
        return float(weights.sum(axis=1).mean())

    null = ("position", "best offset", "random weights")
    profile = aw.profile(built.model, None, [built.inputs], metrics=["row_sum", sums], null=null)
    found = profile.stack("linear")
    own = found.estimates
    np.testing.assert_allclose(own["sums"].mean, own["row_sum"].mean, rtol=1e-5)
    assert np.isfinite(found.nulls["random weights"]["sums"].mean).all()
    for name in ("position", "best offset"):
        assert np.isnan(found.nulls[name]["sums"].mean).all()
        assert np.isfinite(profile.stack("self").nulls[name]["sums"].mean).all()


def test_metrics_of_coefficients_are_named_only_where_there_are_any() -> None:
    built = zoo.build("llama")
    assert "negative" not in aw.profile(built.model, None, [built.inputs], null=None).metrics


def test_a_profile_from_before_is_shown_with_its_model() -> None:
    """It has the layers with a softmax alone."""
    built, tokenizer = zoo.build("bamba"), unigram()
    found = aw.profile(built.model, tokenizer, ["the lazy dog"], metrics=["first"], null=None)
    assert found.stacks == ("self", "linear")
    assert aw.show(found, built.model, tokenizer).record.stacks == found.stacks
    del found._stacks["linear"]
    record = aw.show(found, built.model, tokenizer).record
    assert record.stacks == ("self",)
    assert "linear: the profile has no such layers" in record.missing


def test_a_long_text_leaves_those_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map of channels has a limit; of a padded batch, texts within it are read."""
    mixing = importlib.import_module("attnwidget.capture.mixing")
    monkeypatch.setattr(mixing, "_MOST_TOKENS", 8)
    built = zoo.build("jamba")
    lengths = torch.tensor([5, 8, 12])
    mask = (torch.arange(12) < lengths[:, None]).long()
    batch = {"input_ids": built.inputs["input_ids"][:, :12].repeat(3, 1) * mask}
    batch["attention_mask"] = mask
    profile = aw.profile(built.model, None, [batch], metrics=["first"], null=None)
    assert profile.stack("linear").estimates["first"].count.tolist() == [[2]]
    assert profile.stack("self").estimates["first"].count.max() == 3
    [missing] = profile.missing
    assert "is too long for a map by contribution" in missing


def test_an_example_that_is_too_long_for_a_map_of_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    mixing = importlib.import_module("attnwidget.capture.mixing")
    monkeypatch.setattr(mixing, "_MOST_TOKENS", 12)
    built, tokenizer = zoo.build("jamba"), unigram()
    texts = [text for n in range(20) for text in (f"a fox {n}", "the lazy dog " * 3 + "ab" * n)]
    profile = aw.profile(built.model, tokenizer, texts, metrics=["first"], null=None)
    examples = profile.examples("first", 1, 0, "self")
    long = [each for each in (*examples.highest, *examples.lowest) if each.index % 2]
    # Also where a long one would be shown first.
    others = [at for at in profile.example_texts(99) if at != long[0].index]
    monkeypatch.setattr(aw.HeadProfile, "example_texts", lambda _, most: [long[0].index, *others])
    widget = aw.show(profile, built.model, tokenizer)
    with pytest.raises(ValueError, match=r"was read without 'linear': .* is too long for a map"):
        widget.open_example(long[0], 1, 0, "self")
    assert widget.record.stacks == profile.stacks
    page = aw.to_html(profile, built.model, tokenizer)
    [content] = re.findall(r"data-content>(.*?)</script>", page, re.DOTALL)
    records = json.loads(content)["records"]
    stacks = [[stack["name"] for stack in each["manifest"]["stacks"]] for each in records]
    assert len(profile.missing) == 1
    assert {tuple(names) for names in stacks} == {("self", "linear")}
