"""A profile in words: what every head does over many texts, beside its nulls."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnwidget.analysis import HeadPattern
from attnwidget.corpus import HeadProfile
from attnwidget.counted import counted
from attnwidget.record import spans

from .lines import Block, by_word, fitted, head_name, missing_block, number, one_line, wrapped

_PER_WORD, _EXAMPLES = 5, 3


def describe_profile(profile: HeadProfile) -> str:
    """Say what a profile holds, what heads do by its words, and the heads with extreme numbers."""
    nulls = f"beside {' and '.join(profile.nulls)}" if profile.nulls else "without a null"
    cut = "" if profile.max_tokens is None else f", cut off at {profile.max_tokens:,} tokens"
    head = (
        f"Profile of {one_line(profile.model) or 'an unnamed model'} over "
        f"{counted(profile.num_texts, 'text')}{cut}, {nulls}; seed {profile.seed}."
    )
    blocks = [Block("The profile", 0, [head]), missing_block(profile.missing)]
    for name in profile.stacks:
        blocks += _stack(profile, name)
    return fitted(blocks)


def _stack(profile: HeadProfile, name: str) -> Iterator[Block]:
    stack = profile.stack(name)
    heads = [
        (layer, head)
        for layer, count in zip(stack.numbers, stack.heads, strict=True)
        for head in range(count)
    ]
    patterns = [pattern for layer in profile.patterns(name) for pattern in layer]
    line = f"Stack {name}: {spans(stack.numbers)}; {counted(len(heads), 'head')}."
    yield Block(f"Stack {name}", 0, ["", line])
    yield Block(f"heads by word ({name})", 1, [*_words(profile, name, heads, patterns)])
    yield Block(f"numbers ({name})", 2, [*_numbers(profile, name, heads)])
    yield Block(f"examples ({name})", 3, [*_examples(profile, name, heads, patterns)])


def _words(
    profile: HeadProfile, name: str, heads: list[tuple[int, int]], patterns: list[HeadPattern]
) -> Iterator[str]:
    order, lines = by_word("Heads by word:", [pattern.words for pattern in patterns], most=3)
    yield from lines
    for words in order:
        own = [at for at, pattern in enumerate(patterns) if pattern.words == words]
        if not patterns[own[0]].reasons:
            continue
        telling = {at: _deciding(profile, name, patterns[at], at) for at in own}
        own.sort(key=lambda at: (-telling[at], at))
        entries = (
            f"{head_name(heads[at])} {'; '.join(_labelled(profile, patterns[at]))}"
            for at in own[:_PER_WORD]
        )
        yield from wrapped(f"    {words}, most:", entries, most=2)


def _labelled(profile: HeadProfile, pattern: HeadPattern) -> Iterator[str]:
    """The reasons of a head, which begin with the name of a metric, by its label."""
    for reason in pattern.reasons:
        name, _, numbers = reason.partition(" ")
        yield f"{profile.metrics[name].label} {numbers}"


def _deciding(profile: HeadProfile, name: str, pattern: HeadPattern, at: int) -> float:
    """The number by which a head has its last word."""
    rule = pattern.looking or pattern.resting
    assert rule is not None
    stack = profile.stack(name)
    metric = rule.name(rest=pattern.resting not in (None, rule))
    return float(stack.estimates[metric].mean[stack.exists][at])


def _numbers(profile: HeadProfile, name: str, heads: list[tuple[int, int]]) -> Iterator[str]:
    stack = profile.stack(name)
    yield "Each number: mean of all heads; highest head, with 95% interval; lowest; means of nulls."
    for metric, about in profile.metrics.items():
        estimate = profile.values(metric, name)
        mean, low, high = (
            each[stack.exists] for each in (estimate.mean, estimate.low, estimate.high)
        )
        if np.isnan(mean).all():
            continue
        top, bottom = int(np.nanargmax(mean)), int(np.nanargmin(mean))
        interval = "" if np.isnan(low[top]) else f" ({number(low[top])} to {number(high[top])})"
        against = ""
        for null in profile.nulls:
            of_null = profile.null_values(metric, name, null).mean[stack.exists]
            if np.isnan(of_null).all():
                continue
            against += f"; {null} {number(np.nanmean(of_null))}"
            if not np.isnan(of_null[top]):
                against += f", {number(of_null[top])} at {head_name(heads[top])}"
        unit = f" {about.unit}" if about.unit else ""
        yield (
            f"    {metric} ({about.label}): {number(np.nanmean(mean))}{unit}; "
            f"{head_name(heads[top])} {number(mean[top])}{interval}; "
            f"{head_name(heads[bottom])} {number(mean[bottom])}{against}"
        )


def _examples(
    profile: HeadProfile, name: str, heads: list[tuple[int, int]], patterns: list[HeadPattern]
) -> Iterator[str]:
    """The text in which the first head of some words has its highest number."""
    known = [at for at, pattern in enumerate(patterns) if pattern.looking is not None]
    known.sort(key=lambda at: (-_deciding(profile, name, patterns[at], at), at))
    said: list[str] = []
    for at in known:
        rule, rests = patterns[at].looking, patterns[at].resting is not None
        assert rule is not None
        found = profile.examples(rule.name(rest=rests), *heads[at], name)
        if rule.words in said or not found.highest:
            continue
        said.append(rule.words)
        best = found.highest[0]
        text = best.text if isinstance(best.text, str) else " | ".join(map(str, best.text))
        yield (
            f"Example, {head_name(heads[at])} {rule.words} {number(best.value)}: text "
            f"{best.index} of 0 to {profile.num_texts - 1}, “{one_line(text, 90)}”"
        )
        if len(said) == _EXAMPLES:
            return
