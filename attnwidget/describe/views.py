"""Descriptions of views in words: their choices, and the numbers of their status lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attnwidget.analysis import ATTENTION, running_text
from attnwidget.counted import counted
from attnwidget.plot.attention import Attention, Side
from attnwidget.plot.shown import Shown
from attnwidget.record import Floats, runs
from attnwidget.wire import partner_stacks
from attnwidget.wire.pairing import head_label

from .answers import sources
from .lines import Block, beside, fitted, named, number, one_line, wrapped
from .measured import sinks_by_place
from .scores import grid_lines

_LINKS, _HEADS = 8, 8
# The most weights that are read: about a second, and so few that no display waits for them.
_MOST_WEIGHTS, _MOST_AT_A_DISPLAY = 1 << 26, 1 << 22


def describe_view(shown: Shown, *, at_display: bool = False) -> str:
    """Say what a view shows: its choices, and the numbers of what is locked, or else the highest.

    Args:
        at_display: True to leave out numbers for which a display would wait.
    """
    most = _MOST_AT_A_DISPLAY if at_display else _MOST_WEIGHTS
    return fitted(
        [
            Block("The view", 0, [*_choices(shown)]),
            Block("its numbers", 1, [*_numbers(shown, most)]),
            Block("the head", 2, [*_head(shown)]),
        ]
    )


def alternative(said: str, shown: Shown) -> str:
    """The alternative text of a picture: what it is of, and the first of its numbers."""
    choices = {**shown.choices, "heads": [shown.choices["head"]]}
    one = replace(shown, choices=choices) if shown.view == "head" else shown
    first = next(_numbers(one, _MOST_AT_A_DISPLAY), "")
    return f"{said}. {first.rstrip(';')}".rstrip()


def _numbers(shown: Shown, most: int) -> Iterator[str]:
    """The numbers that the view shows, without its choices."""
    view, difference = shown.view, shown.choices["compared"] == "difference"
    if view == "grid":
        yield from grid_lines(shown.shown_grid)
    elif view in ("model", "map"):
        yield from _all_heads(shown)
    elif view == "text" and not difference:
        stack = shown.record.stack(shown.stack)
        if sum(layer.num_heads for layer in stack.layers) * len(stack.keys) ** 2 <= most:
            yield from _text(shown)
    else:
        attention = shown.attention
        one = replace(attention, heads=[attention.head])
        # The neuron view has one head; of many weights, it is the current one that is read.
        attention = one if view == "neuron" or attention.size > most else attention
        if attention.size <= most:
            yield from _links(attention, shown.choices["key"])


def _choices(shown: Shown) -> Iterator[str]:
    choices, stack = shown.choices, shown.record.stack(shown.stack)
    model = one_line(shown.manifest["model"]) or "an unnamed model"
    texts = shown.manifest["texts"]
    of = f"{model} over {counted(texts, 'text')}" if texts is not None else model
    count = len(shown.record.stacks)
    head = head_label(stack.layer(choices["layer"]), choices["head"], None)
    said = [
        f"{shown.view} view of {of}",
        f"stack {shown.stack}" + (f" (of {count})" if count > 1 else ""),
        f"layer {choices['layer']}, {head[0].lower()}{head[1:]}",
        # A profile that is shown without its model has heads alone.
        f"{len(stack.queries):,} x {len(stack.keys):,} tokens"
        if any(stack.queries.labels)
        else "no text",
    ]
    if choices["heads"] is not None:
        said.append(f"heads drawn {runs(choices['heads'])}")
    if "compared" in shown.manifest:
        said.append(f"compared: {choices['compared']}")
    yield f"{'; '.join(said)}."
    locked = [
        f"{side} {named(tokens, choices[side])}"
        for side, tokens in (("query", stack.queries), ("key", stack.keys))
        if choices[side] is not None
    ]
    locked += [f"also {runs(sorted(choices['also']))}"] if choices["also"] else []
    changed = [
        f"{name} {value}"
        for name in ("lens", "combine", "segments", "words", "parts", "part", "sort", "color")
        if (value := choices[name]) not in ("attention", "none", "all", False, None, "sentences")
        and value not in ("model", "pattern")
    ]
    off = [f"off {', '.join(f'{layer}-{head}' for layer, head in choices['off'])}"]
    changed += off if choices["off"] else []
    changed += [f"{counted(len(choices['cut']), 'link')} cut"] if choices["cut"] else []
    yield f"Locked: {', '.join(locked) or 'nothing'}{'; '.join(['', *changed])}."


def _links(attention: Attention, key: int | None) -> Iterator[str]:
    """The links of what is locked; without a lock, those of the current head."""
    current = attention.numbers(attention.current)
    title = attention.title(attention.current)
    # The title ends with the name of a lens of one's own, which is also that of its numbers.
    title += "" if title.endswith(f" · {attention.measure}") else f", {attention.measure}"
    if not attention.locked:
        signed = attention.by_magnitude and attention.signed
        best = "largest in magnitude" if signed else "highest"
        yield from wrapped(f"{title}, {best} without sinks:", _highest(attention, current), most=2)
        return
    side, by_query = attention.locked_side, attention.side == "query"
    others = attention.keys if by_query else attention.queries
    places = side.indices(attention.locked)
    if not places:
        return
    locked_keys = attention.keys.indices([key]) if by_query and key is not None else []
    for at in locked_keys:
        value = float(_shown(attention, current)[places[0], at])
        yield f"{title}: {_name(side, places[0])} → {_name(others, at)} {number(value, 3)}"
    names = ", ".join(_name(side, at) for at in places)
    sums = ", sums" if len(places) > 1 else ""
    for head in attention.drawn:
        numbers = _shown(attention, attention.numbers(head))
        strip = (numbers[places] if by_query else numbers[:, places].T).sum(axis=0)
        order = np.argsort(-attention.strengths(strip), kind="stable")[:5]
        strongest = [int(at) for at in order if strip[at] != 0]
        arrow = "→" if by_query else "←"
        lead = f"{attention.title(head)}, {attention.measure}{sums}: {names} {arrow}"
        entries = (f"{_name(others, at)} {number(strip[at], 3)}" for at in strongest)
        yield from wrapped(lead, entries, most=1)


def _name(side: Side, at: int) -> str:
    """One of the tokens shown, or a word, with the position of its first token."""
    place = side.shown[at]
    position = place if side.units is None else side.units[place].start
    return f"{one_line(side.labels[at], 24)} ({position})"


def _shown(attention: Attention, numbers: Floats) -> Floats:
    """The numbers of the tokens that are shown, [queries, keys]."""
    shown: Floats = numbers[np.ix_(attention.queries.shown, attention.keys.shown)]
    return shown


def _highest(attention: Attention, numbers: Floats) -> Iterator[str]:
    """The strongest links, but not to sinks."""
    found = _shown(attention, numbers)
    queries, keys = attention.queries, attention.keys
    strengths = np.where(found == 0, -np.inf, attention.strengths(found))
    strengths[:, keys.indices(sinks_by_place(attention.stack))] = -np.inf
    for place in np.argsort(-strengths, axis=None, kind="stable")[:_LINKS]:
        row, column = np.unravel_index(place, found.shape)
        if np.isfinite(strengths[row, column]):
            value = number(found[row, column], 3)
            yield f"{_name(queries, int(row))} → {_name(keys, int(column))} {value}"


def _all_heads(shown: Shown) -> Iterator[str]:
    heads, of_b = shown.heads, None
    if shown.choices["compared"] == "difference":
        other = partner_stacks(shown.manifest)[shown.stack]
        of_b = replace(heads, stack_name=other, similarity=None)
    counts = Counter(_words(shown))
    entries = (f"{word}: {count}" for word, count in counts.most_common())
    whose = "" if of_b is None else " of A"
    yield from wrapped(f"{counted(len(heads.names), 'head')}, by word{whose}:", entries, most=2)
    wanted = [shown.choices["sort"], shown.color]
    wanted += [shown.places.get("x"), shown.places.get("y")] if shown.view == "map" else []
    chosen = [name for name in dict.fromkeys(wanted) if name in heads.metrics]
    for name in chosen or list(heads.metrics)[:1]:
        metric = heads.metrics[name]
        values, label, digits = heads.values(metric), metric["label"], metric["digits"]
        # The user's own numbers, as those of the comparison, are of the two together.
        differs = of_b is not None and all(name != each["name"] for each in shown.metrics)
        if of_b is not None and differs:
            if name not in of_b.metrics:
                continue
            values, label = of_b.values(of_b.metrics[name]) - values, f"{label}, B − A"
        values = values[heads.exist]
        order = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable").tolist()
        known = [at for at in order if np.isfinite(values[at])]
        if not known:
            continue
        unit = f" in {metric['unit']}" if metric["unit"] else ""
        lead = f"{label}{unit}, mean {number(np.nanmean(values), digits)}"
        null = None if differs else heads.null_range(metric)
        if null is not None:
            ends = " to ".join(number(end, digits) for end in null)
            lead += f", 95% of the null {ends}"
        named_heads = [f"{heads.names[at]} {number(values[at], digits)}" for at in known]
        yield from wrapped(f"{lead}, highest:", named_heads[:_HEADS], most=1)
        yield from wrapped("    lowest:", named_heads[::-1][:3], most=1)


def _words(shown: Shown) -> Iterator[str]:
    """The word of each head of the stack: that of its pattern, or the user's own."""
    patterns = shown.manifest["patterns"]
    kinds, own = patterns["kinds"], patterns.get("words", {}).get(shown.stack)
    for place, layer in enumerate(patterns["values"][shown.stack]):
        yield from (kinds[kind] for kind in layer) if own is None else own[place]


def _text(shown: Shown) -> Iterator[str]:
    """The parts of the prompt, for the tokens of the answer that are looked at, or for all rows."""
    stack = shown.record.stack(shown.stack)
    running, found = running_text(stack), shown.answer
    if running is None or not running.sentences or not running.rows:
        return
    first, end = (0, len(running.rows)) if found is None else shown.looked_at(found)
    if found is not None:
        text = "".join(token.text for token in found.tokens[first:end])
        yield f"Answer, tokens {first}–{end - 1}: “{one_line(text, 200)}”"
    if shown.lens.name != ATTENTION.name:
        yield f"In words, by attention alone; the view shows {shown.lens.label.lower()}."
    yield from sources(stack, running, slice(first, end), _LINKS)


def _head(shown: Shown) -> Iterator[str]:
    """The numbers of the current head."""
    if shown.choices["compared"] == "difference":
        return
    heads, layer, head = shown.heads, shown.choices["layer"], shown.choices["head"]
    place = heads.stack.numbers.index(layer), head
    entries = []
    for metric in heads.metrics.values():
        value, digits = heads.values(metric)[place], metric["digits"]
        if np.isfinite(value):
            unit = f" {metric['unit']}" if metric["unit"] else ""
            null = beside("null", heads.null(metric)[place], digits)
            entries.append(f"{metric['label']} {number(value, digits)}{unit}{null}")
    label = head_label(heads.stack.layer(layer), head, None)
    name = f"{label} of layer {layer}" if label.startswith("All") else f"Head {layer}-{head}"
    yield from wrapped(f"{name}:", entries, most=6)
