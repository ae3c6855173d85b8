"""Networks with random weights of many architectures: no head of theirs gets words."""

import pytest
import torch

import attnwidget as aw
from attnwidget.running.random_weights import with_random_weights
from benchmarks import zoo
from tests.unit.benchmarks.test_coverage_sample import EXACT

# Architectures that read text alone.
KINDS = (
    "encoders",
    "encoders with relative positions",
    "decoders",
    "decoders with shared keys",
    "latent attention",
    "selected keys",
    "linear biases",
    "softcaps",
    "sinks",
    "windows of text",
    "mixtures of experts",
    "encoders and decoders",
)
WITHOUT_SOFTMAX = EXACT["without a softmax in some layers"]


@pytest.mark.parametrize("name", [n for kind in KINDS for n in EXACT[kind]] + WITHOUT_SOFTMAX)
def test_heads_of_random_networks_have_no_words(name: str) -> None:
    """The weights of the zoo are larger than those that a model begins with."""
    built = zoo.build(name)
    model = with_random_weights(built.model, 0).eval()
    texts = []
    for seed in range(8):
        order = torch.Generator().manual_seed(seed)
        text = dict(built.inputs)
        for side in {"input_ids", "decoder_input_ids"} & set(text):
            ids = text[side]
            text[side] = ids[:, torch.randperm(ids.shape[1], generator=order)]
        texts.append(text)
    # What a recurrence has written last is strongest by itself: its words need the null.
    null = "random weights" if name in WITHOUT_SOFTMAX else None
    found = aw.profile(model, None, texts, null=null, seed=1)
    patterns = [layer for stack in found.stacks for layer in found.patterns(stack)]
    assert {head.words for layer in patterns for head in layer} == {"mixed"}
