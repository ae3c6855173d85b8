"""Layers from which annotations can be read off, of a model that is planted by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.probe import Annotated
from tests.unit.tiny import Loaded

LETTERS = "abcdefgh"


class Planted(torch.nn.Module):
    """The states of layer 0 and 1 have the token alone; those of layer 2 also the one before."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.embeddings = torch.nn.Embedding(size, 16)
        torch.nn.init.normal_(self.embeddings.weight, generator=torch.Generator().manual_seed(0))

    def forward(
        self, input_ids: torch.Tensor, output_hidden_states: bool, **_: torch.Tensor
    ) -> SimpleNamespace:
        own = self.embeddings(input_ids)
        nothing = torch.zeros_like(own)
        before = torch.cat([nothing[:, :1], own[:, :-1]], dim=1)
        alone, both = torch.cat([own, nothing], dim=-1), torch.cat([own, before], dim=-1)
        return SimpleNamespace(hidden_states=(alone, alone, both))


def test_a_task_is_solved_at_the_layer_that_has_what_it_needs(minilm: Loaded) -> None:
    random = np.random.default_rng(0)
    texts = []
    for _ in range(80):
        words = list(random.choice(list(LETTERS), 12))
        # The tag of a word is that of the letter before it.
        texts.append(
            Annotated(words, tags=["first", *("low" if w < "e" else "high" for w in words[:-1])])
        )
    tokenizer = minilm[1]
    found = aw.probe.layers(Planted(len(tokenizer)), tokenizer, texts)
    assert list(found.scores) == ["tags"]
    score = found.scores["tags"]
    assert score.cumulative[1] < 0.7
    assert score.accuracy.value > 0.98
    assert 1.9 < score.expected_layer < 2.1
    assert score.mixing.argmax() == 2
    assert found.num_texts == (40, 40)
    assert found.table()["task"].tolist() == ["tags"]
    assert found.metrics(3)["layer adds to tags"].values().shape == (2, 3)
    with pytest.raises(ValueError, match="too few annotations for 'entities'"):
        aw.probe.layers(Planted(len(tokenizer)), tokenizer, texts, tasks=["entities"])
    with pytest.raises(ValueError, match="there is no task 'x'"):
        aw.probe.layers(Planted(len(tokenizer)), tokenizer, texts, tasks=["x"])
