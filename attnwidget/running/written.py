"""The tokens of an answer: text, probability, and what else was likely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from attnwidget.record import Written

from .labels import text_tokenizer, token_labels

_LIKELIEST = 3
# What a tokenizer reads of the first bytes of a letter.
_INCOMPLETE = "\ufffd"


def written(
    tokenizer: Any, ids: torch.Tensor, logits: Sequence[torch.Tensor]
) -> tuple[Written, ...]:
    """The tokens of an answer; none if a step generates several numbers, as those of a codec.

    Args:
        ids: of the answer, [tokens].
        logits: of each step, [vocabulary].
    """
    if ids.ndim != 1 or len(ids) != len(logits):
        return ()
    own = ids.tolist()
    # On one processor, exponentials of one vocabulary after the other: all at once may be large.
    steps = [step.float().softmax(0).cpu() for step in logits]
    best = [step.topk(min(_LIKELIEST, len(step))) for step in steps]
    others = [each.indices.tolist() for each in best]
    labels = token_labels(tokenizer, own)
    tokens = []
    for at, (token, label, text) in enumerate(zip(own, labels, texts(tokenizer, own), strict=True)):
        names = [token_labels(tokenizer, [other])[0] for other in others[at]]
        likeliest = tuple(zip(names, map(float, best[at].values), strict=True))
        tokens.append(Written(label, text, min(1.0, float(steps[at][token])), likeliest))
    return tuple(tokens)


def texts(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """The text that each token adds: "" for a special one, and for a part of a letter."""
    decode = getattr(text_tokenizer(tokenizer), "decode", None)
    if decode is None:
        return [""] * len(ids)

    def read(begin: int, end: int) -> str:
        return str(
            decode(ids[begin:end], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        )

    found, begin, whole = [], 0, 0
    for at in range(len(ids)):
        # With the token before, since a tokenizer drops a space at the start of a text.
        before, text = read(begin, whole), read(begin, at + 1)
        added = "" if text.endswith(_INCOMPLETE) else text[len(before) :]
        found.append(added)
        if added:
            begin, whole = whole, at + 1
    return found
