"""A dependency parser that knows nothing but attention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.analysis import HeadScores, Numbers
from attnwidget.counted import counted
from attnwidget.record import Floats

from .annotated import Annotated, dependencies
from .best_heads import DIRECTIONS
from .halves import Null, Pairs, opened, reading
from .results import ProbeScores, compared
from .shares import Share, Shares
from .word_attention import pair_features

_LEARNING_RATE = 2e-3


@dataclass(frozen=True, kw_only=True)
class ParserScores(ProbeScores):
    """The scores of an attention parser on held-out texts; see `attention_parser`.

    `heads` has the coefficients w ("attends") and u ("is attended to") of every head; `table()` the
    parser and what it is compared with: parser, accuracy, low, high.

    Attributes:
        count: the words that have a head word, without punctuation.
        accuracy: the share of words whose head word is found (unlabelled attachment score).
        right_branching: that of the next word.
        distance: that of a parser that knows the signed distance of two words alone.
        null_accuracy: that of a parser of a network with random weights, or None.
    """

    count: int
    accuracy: Share
    right_branching: Share
    distance: Share
    null_accuracy: Share | None

    def _rows(self) -> list[dict[str, Any]]:
        shares = {
            "attention": self.accuracy,
            "next word": self.right_branching,
            "distance": self.distance,
            "attention of random weights": self.null_accuracy,
        }
        return compared("parser", shares)


def attention_parser(
    model: torch.nn.Module | Pairs,
    tokenizer: Any = None,
    texts: Iterable[Any] | None = None,
    *,
    held_out: Iterable[Any] | None = None,
    null: Null | None = "random weights",
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
) -> ParserScores:
    """Parse by the weights of all heads together (Clark et al. 2019, section 5).

    The probability that word j is the head word of word i is proportional to
    exp(sum over heads k of w_k a^k_ij + u_k a^k_ji), with the weights a of each head between the
    words. The numbers w and u are fitted by Adam with a learning rate of .002, one step per text,
    each text once. Punctuation is not parsed, but may be found; the root is not parsed.

    Args:
        texts: Annotated texts with heads and relations; the other arguments are those of
            `relations`.

    Returns:
        Unlabelled attachment scores on held-out texts, with 95% intervals by a bootstrap over
        texts, beside those of the next word, of distances alone, and of random weights.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: a text has no heads or relations, or is too long for the model; there are no
            words to parse; an array has a wrong shape.
    """
    halves = opened(model, tokenizer, texts, held_out, null, seed, batch_size, max_tokens)
    parsers: dict[str, _PairSoftmax] = {}
    shares = defaultdict[str, Shares](lambda: Shares((), seed))
    with reading(halves.left_out):
        for read in halves.first():
            words, heads = _parsed(read.text)
            for name, features in pair_features(read).items():
                if len(words):
                    parser = parsers.setdefault(name, _PairSoftmax(len(features)))
                    parser.fit(features, words, heads)
        for read in halves.held_out():
            words, heads = _parsed(read.text)
            shares["next word"].add(read.index, (heads == words + 1).sum(), len(words))
            for name, features in pair_features(read).items():
                if len(words) and name in parsers:
                    hits = (parsers[name].predict(features, words) == heads).sum()
                    shares[name].add(read.index, hits, len(words))
    if not parsers or not shares["next word"].count:
        raise ValueError("there are no texts, or none with a word that has a head word")
    own, null_own = (
        parsers[name].coefficients.reshape(2, *halves.heads.shape) if name in parsers else None
        for name in ("own", "null")
    )
    assert own is not None
    coefficients: dict[str, HeadScores] = {
        direction: halves.heads.scores(
            f"parser, {direction}",
            "The coefficient of the head in a parser that adds up the weights of all heads",
            own[number],
            None if null_own is None else null_own[number],
            signed=True,
            measured_on=counted(halves.num_texts[0], "text"),
        )
        for number, direction in enumerate(DIRECTIONS)
    }
    return ParserScores(
        count=shares["own"].count,
        accuracy=shares["own"].share(),
        right_branching=shares["next word"].share(),
        distance=shares["distance"].share(),
        null_accuracy=None if null_own is None else shares["null"].share(),
        heads=coefficients,
        num_texts=halves.num_texts,
        lost=halves.left_out.words,
    )


def _parsed(text: Annotated) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The words to parse, and their head words."""
    pairs = [(word, head) for word, head, relation in dependencies(text) if relation != "punct"]
    words, heads = np.array(pairs, np.int64).reshape(-1, 2).T
    return words, heads


class _PairSoftmax:
    """p(j | i) proportional to exp(coefficients · features of i and j), for all j but i."""

    def __init__(self, features: int) -> None:
        self._weights = torch.zeros(features, requires_grad=True)
        self._optimizer = torch.optim.Adam([self._weights], _LEARNING_RATE)

    @property
    def coefficients(self) -> Numbers:
        """float64 [features]."""
        found: Numbers = self._weights.detach().double().numpy()
        return found

    def fit(self, features: Floats, words: NDArray[np.int64], targets: NDArray[np.int64]) -> None:
        """Take a step towards the words' targets in one text.

        Args:
            features: float32 [features, words, words].
            words: those of the text that have a target.
        """
        with torch.enable_grad():
            loss = torch.nn.functional.cross_entropy(
                self._scores(features, words), torch.from_numpy(targets)
            )
            self._optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()

    def predict(self, features: Floats, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """The most likely target of each word."""
        with torch.no_grad():
            found: NDArray[np.int64] = self._scores(features, words).argmax(dim=1).numpy()
        return found

    def _scores(self, features: Floats, words: NDArray[np.int64]) -> torch.Tensor:
        scores = torch.einsum("f,fij->ij", self._weights, torch.from_numpy(features[:, words]))
        itself = torch.zeros(scores.shape, dtype=torch.bool)
        itself[torch.arange(len(words)), torch.from_numpy(words)] = True
        return scores.masked_fill(itself, -torch.inf)
