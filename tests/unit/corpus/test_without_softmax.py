"""Profiles of layers without a softmax: the metrics of their records, in a stack of their own."""

import numpy as np
import pytest
import torch

import attnwidget as aw
from benchmarks import zoo

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


def test_metrics_of_coefficients_are_named_only_where_there_are_any() -> None:
    built = zoo.build("llama")
    assert "negative" not in aw.profile(built.model, None, [built.inputs], null=None).metrics
