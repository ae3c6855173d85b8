"""Cross-attention heads as aligners: how often a word's largest weight lies on its translation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.arguments import check_fields, checked, entries, list_of, one_of, two_numbers, whole
from attnwidget.progress import step_done
from attnwidget.record import Arc, AttentionRecord, Floats, Tokens
from attnwidget.running.labels import text_tokenizer

from .annotated import WORDS, Annotated
from .best_heads import BestHead, Contest, Decisions, marked
from .cut_words import LeftOut
from .halves import Halves, Null
from .results import ProbeScores, compared
from .shares import Share
from .word_attention import ArrayAttention, Heads, WordAttention, padded
from .word_tokens import span_of, tokens_by_labels, tokens_of_words

if TYPE_CHECKING:
    import torch

Moment: TypeAlias = Literal["writes", "reads"]
"""The row that counts for a target word: that which makes it, or that which reads it."""

_MOMENTS: tuple[Moment, Moment] = ("writes", "reads")
_OFFSETS = tuple(range(-5, 6))

# The only kind of decisions.
_LINKED = "linked words"


@dataclass(frozen=True)
class Aligned:
    """A sentence, its translation, and which words translate which.

    Attributes:
        source, target: the words of both.
        links: (target word, source word) by their indices. A target word may have several.

    Raises:
        TypeError, ValueError: something is no list of words, or a link names a word that is not
            there.
    """

    source: Sequence[str]
    target: Sequence[str]
    links: Sequence[tuple[int, int]]

    def __post_init__(self) -> None:
        pairs = "(target word, source word) pairs, as [(0, 0)]"
        links = list_of(two_numbers, pairs, any_order=True)
        check_fields(self, source=WORDS, target=WORDS, links=links)
        Annotated(self.source), Annotated(self.target)
        for target, source in self.links:
            if not (0 <= target < len(self.target) and 0 <= source < len(self.source)):
                raise ValueError(
                    f"the link {(target, source)} lies outside of the {len(self.target)} target "
                    f"and {len(self.source)} source words; expected (target word, source word)"
                )

    @property
    def sources(self) -> dict[int, set[int]]:
        """The source words of each linked target word."""
        linked: dict[int, set[int]] = {}
        for target, source in self.links:
            linked.setdefault(target, set()).add(source)
        return linked


@dataclass(frozen=True, kw_only=True)
class AlignmentScores(BestHead, ProbeScores):
    """The scores of the cross-attention head that aligns words best; see `alignment`.

    The decisions are those of linked target words: right if the largest weight lies on a source
    word that they are linked with. Texts are pairs of sentences. `table()` has the best head and
    what it is compared with: chosen by, accuracy, low, high.

    Attributes:
        moment: "writes" if the row that makes a target word finds its source, "reads" if the row
            that reads it does.
        diagonal: the accuracy of the source word at the same place in its sentence.
        offset: the best fixed offset from a target word to its source word.
        offset_accuracy: the share of words whose source word is there.
        by_moment: the accuracy of every head at either moment, arrays [layers, heads]; of arrays,
            at the moment "writes" alone.
    """

    moment: Moment
    diagonal: Share
    offset: int
    offset_accuracy: Share
    by_moment: Mapping[Moment, Numbers] = field(repr=False)

    def _rows(self) -> list[dict[str, Any]]:
        shares = {
            f"head {self.layer}-{self.head}, {self.moment}": self.accuracy,
            "same place in the sentence": self.diagonal,
            f"offset {self.offset:+d}": self.offset_accuracy,
            "best head of random weights": self.null_accuracy,
        }
        return compared("chosen by", shares)

    def on_pair(
        self, model: torch.nn.Module, tokenizer: Any, pair: Aligned
    ) -> tuple[AttentionRecord, dict[str, Any]]:
        """The attention over a pair, and options of `attnwidget.show` for the head in it.

        The options have the links of the pair, which the view draws solid where the head finds
        them. It judges each link by the largest weight of a token. The probe adds up the tokens of
        a word, and counts a target word as found by any of its links, so the two can differ.

        Args:
            model, tokenizer: those that were probed.

        Raises:
            TypeError: the pair is no Aligned.
        """
        record = _captured(model, tokenizer, _checked(pair))
        source, target = _members(tokenizer, pair, record)
        shift = 1 if self.moment == "writes" else 0
        arcs = [
            Arc(span_of(target[written], -shift), span_of(source[read]))
            for written, read in pair.links
            if target[written].any() and source[read].any()
        ]
        place = {"layer": self.layer, "head": self.head, "heads": [self.head]}
        return record, {"stack": "cross", **place, "arcs": arcs}


@checked(null=one_of(Null, None), seed=whole(0))
def alignment(
    model: torch.nn.Module | Iterable[tuple[Any, Aligned]],
    tokenizer: Any = None,
    pairs: Iterable[Aligned] | None = None,
    *,
    held_out: Iterable[Any] | None = None,
    null: Null | None = "random weights",
    seed: int = 0,
) -> AlignmentScores:
    """Find the cross-attention head that aligns words best.

    For each linked word of the translation, a head's prediction is the source word with the
    largest weight. The row of a token is that of the step which reads it; the step before makes
    it. Both are tried, and head, moment and offset are chosen on some pairs and scored on others.

    Args:
        model: an encoder-decoder; or (weights [layers, heads, target words, source words],
            Aligned) of rows that make the words, without tokenizer and pairs.
        tokenizer: its tokenizer.
        pairs: `Aligned` sentences. The translation is given to the model.
        held_out: the pairs for the scores. None to hold out every second pair.
        null: "random weights" reads the pairs with a newly initialised model as well; None does
            not. Arrays have none.
        seed: of random weights and the bootstrap, from 0.

    Returns:
        The scores, with 95% intervals by a bootstrap over pairs.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: the model has no cross-attention; there are no links to choose by or to score.
    """
    if tokenizer is None and pairs is None:
        if not isinstance(model, Iterable):
            raise TypeError(
                "expected a model, its tokenizer and pairs; or pairs of an array [layers, heads, "
                "target words, source words] and an Aligned"
            )
        expected = "(weights [layers, heads, target words, source words], Aligned)"
        given = list[Any](entries("pairs", model, expected))
        source: ArrayAttention[Aligned] | _CrossAttention = ArrayAttention(
            "cross", expected, lambda pair: (_checked(pair), pair.target, pair.source)
        )
    else:
        if tokenizer is None or pairs is None:
            raise TypeError("alignment needs a model, its tokenizer and pairs of sentences")
        given = list[Any](entries("pairs", pairs, "a list of Aligned"))
        source = _CrossAttention(model, tokenizer, null, seed)
    halves = Halves(source, given, held_out)
    # Of arrays, the moment "writes" alone.
    contest = Contest(halves, _decisions, seed, lambda each: each.reshape(-1, *each.shape[-4:]))
    contest.run("pairs")
    if not (contest.chosen and contest.counts):
        raise ValueError(
            f"there are no linked words {'to score' if contest.chosen else 'to choose by'}; give "
            "more pairs, or held_out"
        )
    moment, _, _ = contest.chosen[_LINKED]
    diagonal, offset = (contest.rule(_LINKED, name) for name in ("diagonal", "offset"))
    by_moment = np.where(halves.heads.exists, contest.scored[_LINKED]["own"].values, np.nan)
    scores = contest.scores(
        _LINKED,
        "aligns words",
        "The share of linked target words whose source word the head finds",
        ("same place", diagonal.accuracy),
    )
    return AlignmentScores(
        **vars(contest.best(_LINKED)),
        moment=_MOMENTS[moment],
        diagonal=diagonal.accuracy,
        offset=_OFFSETS[offset.chosen],
        offset_accuracy=offset.accuracy,
        by_moment=dict(zip(_MOMENTS, by_moment, strict=False)),
        heads={"links": scores},
        num_texts=halves.num_texts,
        lost=halves.left_out.words,
    )


class _CrossAttention:
    """Reads pairs of sentences with a model, and with random weights."""

    def __init__(self, model: Any, tokenizer: Any, null: Null | None, seed: int) -> None:
        self.heads = Heads("cross")
        self.left_out = LeftOut()
        self._tokenizer = tokenizer
        self._models = [model]
        if null is not None:
            from attnwidget.running.random_weights import with_random_weights

            self._models.append(with_random_weights(model, seed))

    def read(self, pairs: Iterable[Any]) -> Iterator[WordAttention[Aligned]]:
        """The weights of each pair, but for those of which one sentence has no words."""
        for index, pair in enumerate(pairs):
            has_tokens = _has_tokens(self._tokenizer, _checked(pair).source)
            read = self._read(index, pair) if has_tokens else None
            count = len(pair.source) + len(pair.target)
            kept = 0 if read is None else len(read.text.source) + len(read.text.target)
            self.left_out.add(count, count, kept)
            if read is not None:
                yield read
            step_done()

    def _read(self, index: int, pair: Aligned) -> WordAttention[Aligned] | None:
        """The weights of a pair; None if a sentence has no words that have tokens."""
        records = [_captured(model, self._tokenizer, pair) for model in self._models]
        for record in records:
            self.heads.add(record.stack("cross"), record.missing)
        members = _members(self._tokenizer, pair, records[0])
        source, target = (each.sum(axis=1) > 0 for each in members)
        if not (source.any() and target.any()):
            return None
        kept = members[0][source], members[1][target]
        own, *nulls = (_between_words(record, kept) for record in records)
        words = _with_words(pair, source, target)
        return WordAttention(index, words, own, nulls[0] if nulls else None)


def _has_tokens(tokenizer: Any, words: Sequence[str]) -> bool:
    """True if there are tokens but special ones."""
    from attnwidget.running.inputs import labelled

    tokens = labelled(tokenizer, text_tokenizer(tokenizer)(" ".join(words))["input_ids"])
    return len(tokens.special) < len(tokens)


def _with_words(pair: Aligned, source: NDArray[np.bool_], target: NDArray[np.bool_]) -> Aligned:
    """A pair with some of its words, True for each that is left, and the links of these."""
    sources, targets = (
        {word: place for place, word in enumerate(np.flatnonzero(kept).tolist())}
        for kept in (source, target)
    )
    return Aligned(
        [pair.source[word] for word in sources],
        [pair.target[word] for word in targets],
        [(targets[t], sources[s]) for t, s in pair.links if t in targets and s in sources],
    )


def _decisions(pair: Aligned) -> Decisions:
    """The choice of a source word for each linked target word."""
    sources, size = pair.sources, len(pair.source)
    stretch = size / max(len(pair.target), 1)
    offsets = [[t + offset in linked for t, linked in sources.items()] for offset in _OFFSETS]
    diagonal = [[int((t + 0.5) * stretch) in linked for t, linked in sources.items()]]
    return Decisions(
        np.array(list(sources), np.int64),
        np.ones((len(sources), size), bool),
        marked(list(sources.values()), size),
        {_LINKED: np.ones(len(sources), np.float32)},
        {"offset": np.array(offsets, np.float32), "diagonal": np.array(diagonal, np.float32)},
    )


def _checked(pair: Any) -> Aligned:
    """A pair, or a TypeError if it is no Aligned."""
    if not isinstance(pair, Aligned):
        raise TypeError(f"a pair is {type(pair).__name__}; expected attnwidget.probe.Aligned")
    return pair


def _captured(model: Any, tokenizer: Any, pair: Aligned) -> AttentionRecord:
    from attnwidget.capture import capture

    record = capture(model, tokenizer, " ".join(pair.source), target=" ".join(pair.target))
    if "cross" not in record.stacks:
        raise ValueError(f"{type(model).__name__} has no cross-attention to align words by")
    return record


def _members(tokenizer: Any, pair: Aligned, record: AttentionRecord) -> tuple[Floats, Floats]:
    """The tokens of each source word and of each target word, as the decoder reads them."""
    stack = record.stack("cross")
    source = tokens_of_words(tokenizer, Annotated(pair.source), stack.keys)
    # The first token of a decoder begins the text.
    read = Tokens(stack.queries.labels[1:])
    target = tokens_by_labels(Annotated(pair.target), read, None)
    return source, np.pad(target, ((0, 0), (1, 0)))


def _between_words(record: AttentionRecord, members: tuple[Floats, Floats]) -> Floats:
    """Weights [moments, layers, heads, target words, source words]."""
    source, target = members
    mean = target / target.sum(axis=1, keepdims=True).clip(1)
    # The step before the one that reads a token makes it.
    rows = np.stack([np.roll(mean, -1, axis=1), mean])
    layers = [
        np.stack([rows @ (layer.head_weights(head) @ source.T) for head in range(layer.num_heads)])
        for layer in record.stack("cross").layers
    ]
    weights: Floats = np.moveaxis(padded(layers), 2, 0)
    return weights
