"""Two texts of as many tokens, and a metric that differs between both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, SupportsIndex

import torch

from attnwidget.analysis import align
from attnwidget.arguments import whole_number
from attnwidget.counted import counted, with_minus
from attnwidget.record import Tokens
from attnwidget.running.forward import run_model
from attnwidget.running.one_text import OneText, one_text
from attnwidget.running.vocabulary import label_of, token_id

from .by_layer import HeadOutputs, Place
from .read_outputs import read_pass
from .sites import Site, SiteFinder, Sites, followed, sites_of, usual_stacks
from .skipping import row_of
from .text_output import kept_positions

Text = str | Mapping[str, Any]

Measured = Callable[[Any], Any] | Literal["logit difference"]


@dataclass(frozen=True)
class TwoTexts:
    """A clean and a corrupt text, and a metric that differs between both.

    Attributes:
        model: the model, to be used undisturbed.
        clean, corrupt: the texts.
        metric: from the output for one text to a number.
        name: of the metric.
        before, after: the metric of the corrupt text, and of the clean one.
        sites: the attention calls of the model.
        interface_only: True if it has no others than those of transformers' interface.
        stack: the name of the chosen stack.
    """

    model: torch.nn.Module
    clean: OneText
    corrupt: OneText
    metric: Callable[[Any], Any]
    name: str
    before: float
    after: float
    sites: Sites
    interface_only: bool
    stack: str

    def share(self, number: float) -> float:
        """A change of the metric as a share of that from the corrupt text to the clean one."""
        return number / (self.after - self.before)

    def restored(self, output: Any, row: int, rows: int) -> float:
        """The share of the metric that is restored in a row of a batch of the corrupt text."""
        return self.share(float(self.metric(row_of(output, row, rows))) - self.before)

    @property
    def both(self) -> str:
        """The meaning of the numbers 0 and 1, in words."""
        return (
            f"0 is that of the corrupt text, {with_minus(self.before, '.4g')}, and 1 that of the "
            f"clean one, {with_minus(self.after, '.4g')}"
        )

    def labels(self, length: int) -> tuple[str, ...]:
        """The labels of positions: tokens, or those of both texts where they differ."""
        for name in ("text", "target"):
            a, b = getattr(self.clean.sequences, name), getattr(self.corrupt.sequences, name)
            if a is not None and b is not None and len(a) == len(b) == length:
                return tuple(
                    x if x == y else f"{x} / {y}" for x, y in zip(a.labels, b.labels, strict=True)
                )
        return tuple(map(str, range(length)))

    def read(self, at: Place, text: OneText) -> HeadOutputs:
        """The numbers at a place of all layers for a text.

        Raises:
            ValueError: the model has no such place.
        """
        run = partial(run_model, self.model, text.batch, all_logits=True)
        read = read_pass(self.model, at, 1, run, sites=self.sites.found, stack=self.stack)
        if self.stack not in read.layers:
            reason = read.missing[0] if read.missing else "no layer has them"
            raise ValueError(f"the {at} of stack {self.stack!r} are not known: {reason}")
        return read


def two_texts(
    model: torch.nn.Module,
    tokenizer: Any,
    clean: Text,
    corrupt: Text,
    metric: Measured,
    token: str | SupportsIndex | None,
    against: str | SupportsIndex | None,
    position: int,
    stack: str | None,
) -> TwoTexts:
    """Run an undisturbed model on both texts.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.patch_scan`.
    """
    given = one_text(model, tokenizer, corrupt)
    other = like(model, tokenizer, clean, given, "clean")
    measure, name = _metric(model, tokenizer, given, metric, token, against, position)
    plain, sites, traced = followed(model, given.batch, SiteFinder())
    only = traced.by_interface and not any(site.signed for site in sites.found)
    chosen = _stack(sites.found, stack)
    before = float(measure(plain))
    after = float(measure(run_model(model, other.batch, all_logits=True)))
    if not abs(after - before) > 1e-6 * max(abs(after), abs(before)):
        raise ValueError(f"{name} is {before:.4g} for both texts: there is nothing to restore")
    return TwoTexts(model, other, given, measure, name, before, after, sites, only, chosen)


def like(model: torch.nn.Module, tokenizer: Any, text: Text, given: OneText, name: str) -> OneText:
    """The text, which has as many tokens as the one that is given.

    Raises:
        ValueError: it has another number of tokens.
    """
    found = one_text(model, tokenizer, text)
    own, other = found.batch.texts[0], given.batch.texts[0]
    for a, b in ((own.tokens, other.tokens), (own.target, other.target)):
        if a is not None and b is not None and len(a) != len(b):
            raise ValueError(
                f"{name} has {len(a)} tokens, and the corrupt text {len(b)}: a patch is of as many"
                f"{_where(a, b)}"
            )
    return found


def _where(a: Tokens, b: Tokens) -> str:
    """The place where two texts have different numbers of tokens, in words."""
    try:
        found = align(a, b, "tokens")
    except ValueError:
        return ""
    for pair in found.pairs:
        if len(pair.a) != len(pair.b):
            return (
                f"; {pair.label_a!r} is {counted(len(pair.a), 'token')} (from {pair.a.start}), "
                f"{pair.label_b!r} {counted(len(pair.b), 'token')} (from {pair.b.start})"
            )
    alone = [("it", a, n) for n in found.only_a]
    alone += [("the corrupt text", b, n) for n in found.only_b]
    return "".join(f"; {who} alone has {of.labels[n]!r} at {n}" for who, of, n in alone[:1])


def _metric(
    model: torch.nn.Module,
    tokenizer: Any,
    given: OneText,
    metric: Callable[[Any], float] | str,
    token: str | SupportsIndex | None,
    against: str | SupportsIndex | None,
    position: int,
) -> tuple[Callable[[Any], Any], str]:
    """The metric, of an output for one text, and its name; a tensor, if the metric returns one."""
    if callable(metric):
        called = getattr(metric, "__name__", "<lambda>")
        return metric, called.replace("<lambda>", "the metric")
    if metric != "logit difference":
        raise ValueError(f"metric is {metric!r}; expected 'logit difference', or a function")
    if token is None:
        raise ValueError("the logit difference is that of token=, less that of against=")
    wanted = token_id(model, tokenizer, token)
    less = None if against is None else token_id(model, tokenizer, against)
    place = whole_number(position)

    def logit(output: Any) -> torch.Tensor:
        logits = getattr(output, "logits", None)
        if not isinstance(logits, torch.Tensor) or logits.ndim != 3:
            raise ValueError(f"{type(model).__name__} returns no logits of tokens: give metric=")
        kept = kept_positions(model, given.row, logits.shape[1])
        if not -len(kept) <= place < len(kept):
            raise IndexError(f"position {place} does not exist: the text has {len(kept)} tokens")
        of_place = logits[0, int(kept[place])].double()
        return of_place[wanted] if less is None else of_place[wanted] - of_place[less]

    name = f"the logit of {label_of(tokenizer, wanted)!r}"
    return logit, name if less is None else f"{name} less that of {label_of(tokenizer, less)!r}"


def _stack(sites: Sequence[Site], stack: str | None) -> str:
    usual = usual_stacks(sites) if stack is None else [sites_of(sites, stack)[0].stack]
    if len(usual) > 1:
        raise ValueError(f"the model has several stacks; give stack=, one of {usual}")
    return usual[0]
