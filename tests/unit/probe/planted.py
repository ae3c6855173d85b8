"""Arrays of attention whose heads are planted by hand, and texts with the same trees."""

from collections.abc import Iterator

import numpy as np

from attnwidget.probe import Annotated, Mention
from attnwidget.record import Floats

GOLD = 1, 2
"""The layer and the head that attends from words to their head words."""

REVERSED = 0, 1
"""The layer and the head that attends from head words to words, as far as one can."""


def trees(count: int, seed: int = 0, *, shuffled: bool = False) -> list[Annotated]:
    """Texts of 4 to 12 words with random trees.

    Args:
        shuffled: True for trees that have nothing to do with those of the same seed.
    """
    random = np.random.default_rng(seed)
    others = np.random.default_rng(seed + 1000)
    texts = []
    for _ in range(count):
        size = int(random.integers(4, 13))
        order = random.permutation(size).tolist()
        heads: list[int | None] = [None] * size
        for place, word in enumerate(order[1:], 1):
            heads[word] = order[int(random.integers(place))]
        relations = [str(random.choice(["nsubj", "obj", "nmod", "nmod:poss"])) for _ in range(size)]
        if shuffled:
            heads = [
                None if head is None else int(others.choice([w for w in range(size) if w != word]))
                for word, head in enumerate(heads)
            ]
        texts.append(Annotated([f"w{word}" for word in range(size)], heads, relations))
    return texts


def planted(texts: list[Annotated], seed: int = 0) -> Iterator[Floats]:
    """Attention [2, 4, words, words] of each: noise, but for the heads that are planted."""
    random = np.random.default_rng(seed)
    for text in texts:
        size = len(text)
        weights = random.dirichlet(np.ones(size), (2, 4, size)).astype(np.float32)
        weights[GOLD] = weights[REVERSED] = 0.5 / size
        for word, head in enumerate(text.heads or ()):
            if head is not None:
                weights[GOLD][word, head] = weights[REVERSED][head, word] = 0.5
        yield weights


def mentioned(count: int, seed: int = 0) -> list[Annotated]:
    """Texts of 20 words with mentions of four entities, and a pronoun among them."""
    random = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        places = sorted(random.choice(20, 8, replace=False).tolist())
        mentions = [Mention(p, p + 1, f"e{random.integers(4)}") for p in places]
        tags = ["PRON" if word % 2 else "NOUN" for word in range(20)]
        words = [f"w{random.integers(12)}" for _ in range(20)]
        texts.append(Annotated(words, mentions=mentions, tags=tags))
    return texts


def resolving(texts: list[Annotated], seed: int = 0) -> Iterator[Floats]:
    """Attention [2, 4, words, words]: the head GOLD links each mention to an earlier one."""
    random = np.random.default_rng(seed)
    for text in texts:
        size = len(text)
        weights = random.dirichlet(np.ones(size), (2, 4, size)).astype(np.float32)
        for number, mention in enumerate(text.mentions):
            for earlier in text.mentions[:number]:
                if earlier.entity == mention.entity:
                    weights[GOLD][mention.start, earlier.start] = 1
        yield weights
