"""What a model has generated: its text, piece by piece, and the probability of each token."""

import numpy as np
import torch

from attnwidget.running.written import texts, written


class _Bytes:
    """A tokenizer of bytes, of which several make a letter, and whose 0 is special."""

    def decode(self, ids: list[int], **options: object) -> str:
        return bytes(each for each in ids if each).decode(errors="replace")


def test_a_token_has_what_it_adds_to_the_text() -> None:
    ids = [*"né😀!".encode(), 0]
    assert texts(_Bytes(), ids) == ["n", "", "é", "", "", "", "😀", "!", ""]


def test_probabilities_are_of_the_logits() -> None:
    logits = torch.tensor([[0.0, 1, 2, 3], [3, 2, 1, 0]])
    first, second = written(None, torch.tensor([3, 1]), list(logits))
    expected = np.exp(logits.numpy()) / np.exp(logits.numpy()).sum(1, keepdims=True)
    assert abs(first.probability - expected[0, 3]) < 1e-6
    assert abs(second.probability - expected[1, 1]) < 1e-6
    assert [round(p, 5) for _, p in second.likeliest] == [
        round(float(p), 5) for p in sorted(expected[1], reverse=True)[:3]
    ]
    assert written(None, torch.zeros(2, 4), list(logits)) == ()
