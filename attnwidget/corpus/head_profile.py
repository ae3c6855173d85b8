"""HeadProfile: what every head of a model does over many texts, as numpy arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from attnwidget.analysis import (
    RESTING_RULES,
    RULES,
    HeadPattern,
    Tabular,
    data_frame,
    head_pattern,
)
from attnwidget.analysis.table import MOST_ROWS
from attnwidget.counted import counted
from attnwidget.record import of_stack

from .accumulators import Estimate
from .example_texts import TextReader, TextSource, chosen_texts
from .similarity import HeadSimilarity, similarity
from .stack_profile import Picked, ProfileMetric, StackProfile
from .storage import load, save

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from typing_extensions import Self


@dataclass(frozen=True)
class Example:
    """A text in which a number of a head is extreme, or usual.

    Attributes:
        index: the number of the text among the texts, counted from 0.
        text: the text, the pair, or the labels of its tokens if it came encoded.
        value: the number.
        pair: the positions of the query and the key with the head's largest weight, without the
            first token and special ones as keys.
    """

    index: int
    text: TextSource
    value: float
    pair: tuple[int, int]


@dataclass(frozen=True)
class Examples:
    """Texts of one number of a head.

    Attributes:
        highest, lowest: up to three texts, the most extreme first.
        median: the text next to the median among a sample of 64 texts, or None.
    """

    highest: tuple[Example, ...]
    median: Example | None
    lowest: tuple[Example, ...]


class HeadProfile(Tabular):
    """Numbers of every head of a model over many texts, and the same of nulls.

    `attnwidget.profile` and `HeadProfile.load` return profiles. They need neither torch nor
    transformers.

    Attributes:
        model: the model's name.
        nulls: the names of the nulls; see `attnwidget.profile`.
        num_texts: the number of texts.
        seed: of all random choices.
        max_tokens: the number of tokens at which longer texts were cut off; None for none.
        metrics: the numbers of each head, by name.
        missing: what could not be read, as "module: reason" or "texts: reason".
    """

    def __init__(
        self,
        stacks: Mapping[str, StackProfile],
        *,
        model: str,
        nulls: Sequence[str],
        num_texts: int,
        seed: int,
        max_tokens: int | None,
        metrics: Sequence[ProfileMetric],
        missing: Sequence[str],
        texts: Mapping[int, TextSource],
        reader: TextReader | None = None,
    ) -> None:
        self._stacks = dict(stacks)
        self._texts = dict(texts)
        self.model = model
        self.nulls = tuple(nulls)
        self.num_texts = num_texts
        self.seed = seed
        self.max_tokens = max_tokens
        self.metrics = {metric.name: metric for metric in metrics}
        self.missing = tuple(missing)
        # Given by `attnwidget.profile`; a profile that was loaded knows no model.
        self._reader = reader

    def __getstate__(self) -> dict[str, Any]:
        # A copy in another process does not know the model.
        return {**self.__dict__, "_reader": None}

    @property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks, as those of `AttentionRecord.stacks`."""
        return tuple(self._stacks)

    def stack(self, stack: str | None = None) -> StackProfile:
        """The heads of a stack; of the first one if `stack` is None.

        Raises:
            KeyError: there is no such stack.
        """
        return of_stack(self._stacks, stack, "this profile")

    def values(self, metric: str, stack: str | None = None) -> Estimate:
        """A metric of all heads of a stack: mean, low, high and count, [layers, heads] each.

        Raises:
            KeyError: there is no such metric or stack.
        """
        self._check_metric(metric)
        return self.stack(stack).estimates[metric]

    @property
    def null(self) -> str | None:
        """The first of `nulls`, which stands beside the heads in views; None without one."""
        return self.nulls[0] if self.nulls else None

    def null_values(
        self, metric: str, stack: str | None = None, null: str | None = None
    ) -> Estimate:
        """A metric of a null, as `values` gives it of the model.

        Args:
            null: its name; the first one if None.

        Raises:
            KeyError: there is no such metric, stack or null, or the profile was made without one.
        """
        self._check_metric(metric)
        if not self.nulls:
            raise KeyError("this profile was made without a null: null=None")
        if null is not None and null not in self.nulls:
            raise KeyError(f"no null {null!r:.200}; this profile has {', '.join(self.nulls)}")
        return self.stack(stack).nulls[null or self.nulls[0]][metric]

    def _check_metric(self, metric: str) -> None:
        if metric not in self.metrics:
            raise KeyError(f"no metric {metric!r:.200}; this profile has {', '.join(self.metrics)}")

    def table(self) -> pd.DataFrame:
        """All numbers as a table of pandas, one row per stack, layer and head.

        Columns: stack, layer, head; and for each metric its `name`, the ends of its interval
        `name_low` and `name_high`, and the same of each null, such as `name_random_weights`,
        `name_random_weights_low` and `name_random_weights_high`.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        columns: dict[str, list[Any]] = {"stack": [], "layer": [], "head": []}
        for name, stack in self._stacks.items():
            for number, heads in zip(stack.numbers, stack.heads, strict=True):
                columns["stack"] += [name] * heads
                columns["layer"] += [number] * heads
                columns["head"] += range(heads)
        for metric in self.metrics:
            for null in (None, *self.nulls):
                column = metric if null is None else f"{metric}_{null.replace(' ', '_')}"
                for end, field in (("", "mean"), ("_low", "low"), ("_high", "high")):
                    columns[column + end] = [
                        number
                        for stack in self._stacks.values()
                        for number in _flat(stack, metric, field, null)
                    ]
        return data_frame(columns)

    def summary(self) -> pd.DataFrame:
        """A table of pandas of what each head does, and the numbers that tell: a row per head.

        Columns: stack, layer, head; words and reasons (see `patterns`); and of each number that a
        rule reads, where it is known, its `name`, and that of the first null, named as in `table`:
        `name_random_weights`. The words are those that views have for one text, where a head that
        rests is only said to rest: here follows what it looks at else, by its `rest_` numbers.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        rows = self.table()
        patterns = [p for name in self._stacks for layer in self.patterns(name) for p in layer]
        kept = {name: rows[name] for name in ("stack", "layer", "head")}
        kept["words"] = [pattern.words for pattern in patterns]
        kept["reasons"] = ["; ".join(pattern.reasons) for pattern in patterns]
        rules = (*RESTING_RULES, *RULES)
        for name in (rule.name(rest=rest) for rest in (False, True) for rule in rules):
            if name in self.metrics:
                kept[name] = rows[name]
                if self.null:
                    column = f"{name}_{self.null.replace(' ', '_')}"
                    kept[column] = rows[column]
        return data_frame(kept).dropna(axis="columns", how="all")

    def _shown(self, rows: pd.DataFrame) -> tuple[str, pd.DataFrame]:
        """The number of heads by word, and of each word but "mixed" the heads that fit it most."""
        patterns = [p for name in self._stacks for layer in self.patterns(name) for p in layer]
        counts = Counter(p.words for p in patterns if p.reasons).most_common()
        mixed = len(patterns) - sum(count for _, count in counts)
        line = " · ".join(f"{words}: {count}" for words, count in (*counts, ("mixed", mixed)))
        telling = {
            at: float(rows[rule.name(rest=pattern.resting not in (None, rule))][at])
            for at, pattern in enumerate(patterns)
            if (rule := pattern.looking or pattern.resting) is not None
        }
        if not telling:
            return line, rows
        ordered = rows.loc[sorted(telling, key=lambda at: -telling[at])]
        each = max(1, MOST_ROWS // len(counts))
        place = [words for words, _ in counts].index
        shown = ordered.groupby("words").head(each)
        shown = shown.sort_values("words", key=lambda words: words.map(place), kind="stable")
        # The reasons have the numbers that count.
        return line, shown[["stack", "layer", "head", "words", "reasons"]]

    def patterns(self, stack: str | None = None) -> tuple[tuple[HeadPattern, ...], ...]:
        """Describe each head in words, by heuristic rules that stand beside them.

        A rule needs a number above a threshold, and .2 above the intervals of those of its nulls
        that this profile has. Many heads rest on the first token or on special ones when there is
        nothing to look for; their words say so, and what they look at is judged by what is left.
        The rules are `attnwidget.analysis.RESTING_RULES` and `RULES`; those whose metrics this
        profile lacks fit no head.

        Returns:
            By layer, in the order of `StackProfile.numbers`, by head.
        """
        shown = self.stack(stack)
        return tuple(
            tuple(
                head_pattern(
                    {name: float(each.mean[layer, head]) for name, each in shown.estimates.items()},
                    {
                        null: {name: float(e.high[layer, head]) for name, e in estimates.items()}
                        for null, estimates in shown.nulls.items()
                    },
                )
                for head in range(count)
            )
            for layer, count in enumerate(shown.heads)
        )

    def similarity(self, stack: str | None = None) -> HeadSimilarity:
        """Compare all heads of a stack, on four rows each of a sample of 64 texts.

        The distance is that of Clark et al. 2019, section 6: the Jensen-Shannon divergence, of
        .999 w + .001 / n for a row of n keys, here its mean over rows. Of a text with more than
        128 tokens, the weights behind the 127th key count as one.

        Raises:
            KeyError: there is no such stack.
            ValueError: there are no sampled rows.
        """
        return similarity(self.stack(stack), self.seed)

    def examples(self, metric: str, layer: int, head: int, stack: str | None = None) -> Examples:
        """The texts in which a head's metric is highest, next to the median, and lowest.

        Args:
            metric: a metric of texts; those of repeated tokens, and those of all texts together,
                have no examples.
            layer: its number in the model.

        Raises:
            KeyError, IndexError: there is no such metric, stack, layer or head.
        """
        self._check_metric(metric)
        shown = self.stack(stack)
        place = list(self.metrics).index(metric), *shown.place(layer, head)

        def example(picked: Picked, at: tuple[int, ...]) -> Example | None:
            text = int(picked.texts[at])
            if text < 0:
                return None
            query, key = picked.pairs[at].tolist()
            return Example(text, self._texts[text], float(picked.values[at]), (query, key))

        count = shown.extremes.texts.shape[-1]
        highest, lowest = (
            tuple(
                found
                for rank in range(count)
                if (found := example(shown.extremes, (side, *place, rank))) is not None
            )
            for side in range(2)
        )
        return Examples(highest, example(shown.medians, place), lowest)

    def text(self, index: int) -> TextSource:
        """A text that is an example: the text, the pair, or the labels of its tokens.

        Raises:
            KeyError: the profile does not have the text.
        """
        if index not in self._texts:
            raise KeyError(f"no text {index}; a profile has the texts of its examples alone")
        return self._texts[index]

    def example_texts(self, count: int) -> list[int]:
        """Up to `count` texts, by index, that together are examples of the most heads."""
        return chosen_texts(self._stacks.values(), count)

    def reader(self, model: torch.nn.Module | None = None, tokenizer: Any = None) -> TextReader:
        """Reads the profile's texts once more.

        Args:
            model, tokenizer: of the profile. Not needed while those that `attnwidget.profile` was
                called with are in memory; without any, no text can be read.

        Raises:
            TypeError: `model` is no torch module.
        """
        if model is not None:
            from attnwidget.running.model import traceable

            own = traceable(model)
            return TextReader(lambda: own, tokenizer, self.max_tokens, self.stacks)
        reader = self._reader or TextReader(lambda: None, None, self.max_tokens)
        return replace(reader, stacks=self.stacks)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the profile to one safetensors file.

        Raises:
            OSError: the file cannot be written; an existing file is unchanged.
        """
        save(
            path,
            self._stacks,
            model=self.model,
            nulls=self.nulls,
            num_texts=self.num_texts,
            seed=self.seed,
            max_tokens=self.max_tokens,
            metrics=list(self.metrics.values()),
            missing=self.missing,
            texts=self._texts,
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a profile written by `save`. Executes nothing; a damaged file gives a ValueError."""
        return load(path, cls)

    def __repr__(self) -> str:
        stacks = "; ".join(
            f"{name}: {counted(len(stack.numbers), 'layer')}, {counted(sum(stack.heads), 'head')}"
            for name, stack in self._stacks.items()
        )
        return f"<HeadProfile {self.model} ({stacks}), {counted(self.num_texts, 'text')}>"


def _flat(stack: StackProfile, metric: str, field: str, null: str | None) -> list[float]:
    """One number per head, of a null unless it is None, in the order of the table."""
    estimate = (stack.estimates if null is None else stack.nulls[null])[metric]
    numbers: list[float] = getattr(estimate, field)[stack.exists].tolist()
    return numbers
