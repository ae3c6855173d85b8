"""The sources of an answer: attention by sentence of its prompt, and cuts that check it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from attnwidget.analysis import (
    RunningText,
    Tabular,
    TextShares,
    counted_keys,
    part_shares,
    running_text,
    text_shares,
)
from attnwidget.analysis.table import data_frame
from attnwidget.arguments import segment, two_numbers, whole_number
from attnwidget.counted import counted
from attnwidget.record import AttentionRecord, Stack, Written

from .off import Cut

if TYPE_CHECKING:
    import pandas as pd
    import torch

    from .effect import Doubles
    from .rerun import Rerun

Named = int | str
"""A part of a prompt: its number as the view has it, from 1, words that stand in it alone, or the
name of a segment."""

# The most characters of an answer in its repr.
_LONGEST = 100

Looked = str | Sequence[int] | None
"""Tokens of an answer: words of it; their first number, from 0, and the one after the last; or None
for all."""


def answer(
    x: torch.nn.Module | AttentionRecord,
    tokenizer: Any = None,
    text: Any = None,
    text_pair: str | None = None,
    *,
    generate: int | Mapping[str, Any] = 100,
    target: str | None = None,
    stack: str | None = None,
    segments: Iterable[tuple[int, int, str]] | None = None,
) -> Answer:
    """Find what a model's answer was written from: its attention by sentence, and cuts of these.

        found = aw.answer(model, tokenizer, [{"role": "user", "content": "…"}], generate=40)
        found.cut()
        found.table("village mill")
        aw.show(found)

    Attention is read at the row before each token, which wrote it. It is a guess of the source:
    `Answer.cut` tells what the answer loses without a part.

    Args:
        x: the model; or a record of a text that it generated, which has no cuts.
        tokenizer, text, text_pair, target: see `attnwidget.capture`; text may be messages.
        generate: the number of new tokens, or arguments for `model.generate`.
        stack: the stack whose attention and links are meant; None for the first whose queries were
            generated and whose text is known.
        segments: parts of the prompt in place of its sentences, as (start, end, name): the
            positions of the first token and of the one after the last, as views take them.

    Raises:
        TypeError, ValueError: see `attnwidget.capture`; or nothing was generated, or the text or
            the places of its tokens in it are not known; or a segment is not of the prompt.
    """
    named = None if segments is None else tuple(segments)
    if isinstance(x, AttentionRecord):
        return Answer(x, _stack_of(x, stack), named=named)
    # Imported here, so that a record is read without torch.
    from attnwidget.capture import captured_pass

    from .rerun import Rerun

    read = captured_pass(x, tokenizer, text, text_pair, generate=generate, target=target)
    rerun = Rerun(x, tokenizer, read.inputs, read.generation)
    return Answer(read.record, _stack_of(read.record, stack), rerun, named)


def _stack_of(record: AttentionRecord, name: str | None) -> str:
    # Layers without a softmax have shares of magnitudes alone.
    softmax_first = sorted(record.stacks, key=lambda each: record.stack(each).signed)
    names = softmax_first if name is None else [name]
    for each in names:
        found = running_text(record.stack(each))
        written = record.replay is not None and bool(record.replay.written)
        if found is not None and found.answered and found.sentences and written:
            return each
    raise ValueError(
        "this record has no answer with its text: capture a chat or a prompt "
        "with generate=, and with a fast tokenizer, which tells the places of tokens"
    )


@dataclass(frozen=True, repr=False)
class Answer(Tabular):
    """An answer with its sources: attention by part of the prompt, and the effects of cuts.

    Attributes:
        record: the record.
        stack: the name of the stack whose attention is read.
        rerun: the model with its text, which measures cuts; None for a record alone.
        named: the parts of the prompt, as (start, end, name); None for its sentences.
    """

    record: AttentionRecord
    stack: str
    rerun: Rerun | None = None
    named: tuple[tuple[int, int, str], ...] | None = None

    def __post_init__(self) -> None:
        if self.named is None:
            return
        # Not by _running, which has the parts of segments that are in order.
        found = running_text(self._of_stack)
        last = 0 if found is None else found.prompt - 1
        named = []
        for each in self.named:
            try:
                named.append(segment(each))
                if named[-1][1] > last + 1:
                    raise ValueError
            except (TypeError, ValueError):
                raise ValueError(
                    f"segments are {each!r:.100}; expected (start, end, name) of tokens of the "
                    f"prompt, which are 0 to {last}"
                ) from None
        object.__setattr__(self, "named", tuple(named))
        if not self._running.sentences:
            raise ValueError("there are no parts: give segments, or None for sentences")

    @property
    def tokens(self) -> tuple[Written, ...]:
        """The tokens of the answer: text, probability, and what else was likely."""
        assert self.record.replay is not None
        return self.record.replay.written

    @property
    def text(self) -> str:
        """The answer."""
        return "".join(each.text for each in self.tokens)

    @property
    def parts(self) -> tuple[str, ...]:
        """The texts of the parts of the prompt, in order; the first is number 1.

        That of an image is "image", or "image 1" of several; that of a video is "video".
        """
        return tuple(map(self._running.text_of, self._running.sentences))

    def cut(self) -> Doubles:
        """Cut the answer's links to each part of the prompt in turn, in one batch of passes.

        The prompt is read as it was; only the rows that wrote the answer no longer see the part. A
        row that is a token of it keeps the link to itself. Links are cut in all layers, also where
        no softmax mixes the tokens (see `KnockOut`); convolutions still pass on the last few.

        Returns:
            The change of the log probability of each token of the answer, in nats,
            [parts, tokens].

        Raises:
            ValueError: there is no model, or its attention cannot be cut.
            ReferenceError: the model was deleted.
        """
        cuts = [Cut(self._keys(part)) for part in range(1, len(self.parts) + 1)]
        return self._changes(cuts)

    def shuffled(self) -> Doubles:
        """The shares that places get when the sentences stand in other orders: a null of shares.

        The same answer is read after eight random orders of the sentences within their messages,
        token by token.

        Returns:
            By token of the answer and by part, the mean share of another sentence that stands at
            its place, as a multiple of an even share, [tokens, parts]; NaN for a part that is alone
            in its message, or sinks alone.

        Raises:
            ValueError: there is no model, its prompt is more than tokens of text, or the parts are
                not its sentences.
            ReferenceError: the model was deleted.
        """
        if self.named is not None:
            raise ValueError("only sentences are put in other orders, and these are segments")
        keys = counted_keys(self._running, self._shares.sinks)
        return self._model().shuffled(self.stack, self._running, keys)

    def without(self, part: Named) -> str:
        """The answer that the model writes if none of its tokens sees a part of the prompt.

        With sampling, by the same random numbers as before.

        Raises:
            ValueError, ReferenceError: see `cut`; or there is no such part.
        """
        keys, rerun = self._keys(part), self._model()
        if (self.stack, Cut(keys)) not in rerun.measured:
            self._changes([Cut(keys)])
        return rerun.answer_without(self.stack, self._running.rows.start, keys)

    def table(self, of: Looked = None) -> pd.DataFrame:
        """The parts of the prompt: their share of attention, an even share, and the effect of cuts.

        Args:
            of: the tokens of the answer that are looked at.

        Returns:
            A row per part, by its number: text (before it, the name of a segment), share (of what
            the prompt gets beyond sinks, mean of all heads), even (the null: each token as much);
            shuffled, after it, the null of `shuffled`; and, once a cut was measured, cut (the
            change of the tokens' log probability without it, nats; NaN where it was not).

        Raises:
            ValueError: there are no such tokens.
            ModuleNotFoundError: pandas is not installed: pip install 'attnwidget[analysis]'.
        """
        numbers, columns = self.columns(of)
        table = data_frame(columns)
        table.index = numbers
        table.index.name = "part"
        return table

    def columns(self, of: Looked = None) -> tuple[list[int], dict[str, list[Any]]]:
        """The numbers of the parts of the prompt, and the columns of `table`, without pandas."""
        rows = self._rows(of)
        texts, found = self.parts, part_shares(self._running, self._shares, rows)
        columns: dict[str, list[Any]] = {
            **({} if self.named is None else {"name": [self.named[n.number][2] for n in found]}),
            "text": [texts[each.number] for each in found],
            "share": [each.share for each in found],
            "even": [each.even for each in found],
        }
        numbers = [each.number + 1 for each in found]
        if self.rerun is None:
            return numbers, columns
        ratios = self.rerun.shuffles.get(self.stack)
        if ratios is not None and self.named is None:
            places = [each.even * float(ratios[rows, each.number].mean()) for each in found]
            if not np.isnan(places).all():
                columns["shuffled"] = places
        cuts = [self.rerun.measured.get((self.stack, Cut(self._keys(n)))) for n in numbers]
        if any(cuts):
            columns["cut"] = [
                float("nan") if cut is None else float(cut.changes[rows].sum()) for cut in cuts
            ]
        return numbers, columns

    def heads(self, part: Named, of: Looked = None) -> pd.DataFrame:
        """Every head's attention on a part of the prompt, the largest first.

        Returns:
            A row per head: layer, head, share (of the head's attention, sinks left out but
            counted), elsewhere (the same of the answer's other tokens; NaN for all of it).

        Raises:
            ValueError: there are no such tokens, or no such part.
            ModuleNotFoundError: pandas is not installed.
        """
        rows, number = self._rows(of), self._number(part)
        weights = self._shares.heads[:, number - 1]
        others = np.ones(len(weights), bool)
        others[rows] = False
        nowhere = np.full(weights.shape[1], np.nan)
        elsewhere = weights[others].mean(axis=0) if others.any() else nowhere
        names = self._heads
        share = weights[rows].mean(axis=0)
        order = np.argsort(-share, kind="stable")
        return data_frame(
            {
                "layer": [names[at][0] for at in order],
                "head": [names[at][1] for at in order],
                "share": share[order].tolist(),
                "elsewhere": elsewhere[order].tolist(),
            }
        )

    def check_heads(
        self, part: Named, of: Looked = None, *, count: int = 8, draws: int = 10, seed: int = 0
    ) -> dict[str, float]:
        """Cut a part in the heads that look most at it, in all others, and in as many at random.

        Args:
            part: the part of the prompt.
            of: the tokens of the answer.
            count: the number of heads.
            draws: the number of sets of random heads.
            seed: of the draws.

        Returns:
            The change of the tokens' log probability in nats: "these", "others", "all", and the
            median of "random".

        Raises:
            ValueError, ReferenceError: see `cut`.
        """
        rows, keys = self._rows(of), self._keys(part)
        number = self._number(part)
        share = self._shares.heads[rows, number - 1].mean(axis=0)
        most = np.argsort(-share, kind="stable")[:count].tolist()
        rest = [at for at in range(len(share)) if at not in most]
        random = np.random.default_rng(seed)
        drawn = [random.choice(len(share), len(most), replace=False).tolist() for _ in range(draws)]
        sets = [most, rest, None, *drawn]
        cuts = [
            Cut(keys, None if each is None else frozenset(self._heads[at] for at in each))
            for each in sets
        ]
        these, others, everywhere, *by_chance = self._changes(cuts)[:, rows].sum(axis=1).tolist()
        return {
            "these": these,
            "others": others,
            "all": everywhere,
            "random": float(np.median(by_chance)),
        }

    def span(self, of: Looked) -> tuple[int, int]:
        """The tokens of the answer that are looked at: the first, and the one after the last.

        Raises:
            ValueError: there are no such tokens, or the words stand in it more than once.
        """
        rows = self._rows(of)
        return rows.start, rows.stop

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= _LONGEST else f"{self.text[:_LONGEST]}…"
        many = f"{counted(len(self.tokens), 'token')}, {counted(len(self.parts), 'part')}"
        return f"<Answer {text!r}, {many}>"

    @cached_property
    def _of_stack(self) -> Stack:
        return self.record.stack(self.stack)

    @cached_property
    def _running(self) -> RunningText:
        found = running_text(self._of_stack)
        assert found is not None
        if self.named is None:
            return found
        return replace(found, sentences=tuple((start, end) for start, end, _ in self.named))

    @cached_property
    def _shares(self) -> TextShares:
        return text_shares(self._of_stack, self._running)

    @cached_property
    def _heads(self) -> list[tuple[int, int]]:
        layers = self._of_stack.layers
        return [(layer.number, head) for layer in layers for head in range(layer.num_heads)]

    def _changes(self, cuts: Sequence[Cut]) -> Doubles:
        found = self._model().cut(self.stack, [each.probability for each in self.tokens], cuts)
        changes: Doubles = found[1:] - found[0]
        return changes

    def _model(self) -> Rerun:
        if self.rerun is None:
            raise ValueError(
                "a cut runs the model, which a record does not have: answer(model, tokenizer, text)"
            )
        return self.rerun

    def _keys(self, part: Named) -> tuple[int, ...]:
        return tuple(range(*self._running.sentences[self._number(part) - 1]))

    def _number(self, part: Named) -> int:
        if isinstance(part, str):
            names = [name for _, _, name in self.named or ()]
            if names.count(part) == 1:
                return names.index(part) + 1
            found = [at for at, text in enumerate(self.parts, 1) if part in text]
            if len(found) != 1:
                many = f"in parts {', '.join(map(str, found))}" if found else "in no part"
                raise ValueError(f"{part!r:.100} stands {many} of the prompt; give its number")
            return found[0]
        try:
            number = whole_number(part)
        except TypeError:
            number = 0
        if not 1 <= number <= len(self.parts):
            raise ValueError(f"there is no part {part!r:.100}: they are 1 to {len(self.parts)}")
        return number

    def _rows(self, of: Looked) -> slice:
        count = len(self.tokens)
        if of is None:
            return slice(0, count)
        if isinstance(of, str):
            return self._rows_of(of)
        try:
            first, end = two_numbers((of.start, of.stop) if isinstance(of, range) else of)
        except (TypeError, ValueError):
            first = end = -1
        if not 0 <= first < end <= count:
            raise ValueError(
                f"{of!r:.100} are no tokens of the answer: give words of it, or the first and the "
                f"one after the last, of 0 to {count}"
            )
        return slice(first, end)

    def _rows_of(self, words: str) -> slice:
        at = self.text.find(words)
        if at < 0 or not words.strip() or self.text.find(words, at + 1) >= 0:
            many = "more than once" if at >= 0 else "nowhere"
            raise ValueError(f"{words!r:.100} stands {many} in the answer {self.text!r:.200}")
        ends = np.cumsum([len(each.text) for each in self.tokens]).tolist()
        starts = [0, *ends[:-1]]
        start, end = at, at + len(words)
        own = [n for n in range(len(ends)) if starts[n] < end and ends[n] > start]
        return slice(own[0], own[-1] + 1)
