"""One stack of a record in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import SupportsFloat

import numpy as np

from attnwidget.analysis import (
    LENSES,
    METRICS,
    PATTERNS,
    SIGNED_METRICS,
    Numbers,
    pattern_of,
    running_text,
)
from attnwidget.counted import counted
from attnwidget.record import (
    AttentionRecord,
    Fidelity,
    Floats,
    ScoreProgram,
    Stack,
    Tokens,
    runs,
    spans,
)

from .answers import sources
from .lines import Block, beside, by_word, head_name, named, number, one_line, wrapped
from .measured import Bools, Measured, measured

_PER_WORD, _LINKS, _RECEIVERS = 6, 8, 8
_ALL = {**METRICS, **SIGNED_METRICS}
# The metrics of a text by layer, those that a stack has.
_BY_LAYER = ("entropy", "negative", "row_sum", "first", "special")
_OF_NEIGHBOURS = ("previous", "same", "next")
# Of more queries, those with the same first key stand together, without their weights.
_FEW_QUERIES = 26
_RULE_OF = {
    "rests on the first token": "first",
    "rests on special tokens": "special",
    "looks at the previous token": "previous",
    "looks at the next token": "next",
    "looks at the token itself": "same",
}


def stack_blocks(record: AttentionRecord, name: str) -> Iterator[Block]:
    """The lines on a stack: its layers, and what stands out in them."""
    stack = record.stack(name)
    found = measured(stack)

    def block(what: str, rank: int, lines: Iterable[str], longer: Iterable[str] = ()) -> Block:
        return Block(f"{what} ({name})", rank, [*lines], [*longer])

    yield Block(f"Stack {name}", 0, ["", *_heading(name, stack, found)])
    yield block("how exact", 1, _fidelity([layer.fidelity for layer in stack.layers]))
    yield block("row sums", 1, _row_sums(stack))
    yield block("tokens", 2, _tokens(stack, 3), _tokens(stack, 10))
    yield block("patches", 2, _patches(stack, found))
    yield block("all heads", 1, _all_heads(stack, found))
    yield block("entropy by layer", 3, _by_layer(stack, found, _BY_LAYER[:1]))
    yield block("by layer", 4, _by_layer(stack, found, _BY_LAYER[1:]))
    yield block("neighbours by layer", 6, _by_layer(stack, found, _OF_NEIGHBOURS))
    yield block("heads by word", 2, _words(stack, found))
    yield block("highest and lowest", 3, _extremes(found))
    for what, rank, lines in _links(stack, found):
        yield block(what, rank, lines)
    no_sinks = np.ones(len(stack.keys), np.bool_)
    no_sinks[found.sinks] = False
    lead = "Keys with most attention of all heads and queries, no sinks:"
    yield block("keys", 2, _most_received(stack, found, no_sinks, lead))
    yield block("each query", 5, _each_query(stack, found, 5), _each_query(stack, found, 10))
    yield block("between texts", 2, _between_texts(stack, found))
    yield block("the answer's sources", 2, _sources(stack))
    yield block("lenses", 4, _lenses(record, name))


def _heading(name: str, stack: Stack, found: Measured) -> Iterator[str]:
    layers = spans(stack.numbers)
    if layers.startswith("layers"):
        layers = f"{len(stack.layers)} {layers}"
    counts = sorted({layer.num_heads for layer in stack.layers})
    of_keys = sorted({layer.num_kv_heads for layer in stack.layers})
    each = " or ".join(map(str, counts))
    shared = "" if of_keys == counts else f", over {' or '.join(map(str, of_keys))} key heads"
    heads = counted(len(found.heads), "head")
    heads = (
        f"{heads}{shared}"
        if len(stack.layers) == 1
        else f"{each} {'head' if counts == [1] else 'heads'} in each{shared}, {heads}"
    )
    if stack.of_channels and counts == [1]:
        heads = "one map of all channels in each, as head 0"
    kind = "a softmax's weights"
    if stack.signed:
        kind = "signed coefficients, without a softmax"
        kind += " (contributions of channels)" if stack.of_channels else ""
    sides = (
        f"{counted(len(stack.queries), 'token')} attend to each other"
        if found.is_self
        else f"{len(stack.queries):,} queries attend to {counted(len(stack.keys), 'key')}"
    )
    yield f"Stack {name}: {layers}; {heads}; {sides} by {kind}."
    later = np.arange(found.mean.shape[1]) > found.rows[:, None]
    if found.is_self:
        causal = not found.visible[later].any()
        seen = "itself and earlier tokens alone" if causal else "later tokens, too"
        window = [*_windows(stack)]
        limits = f"; {'; '.join(window)}" if window else ""
        yield f"A token sees {seen}{limits}."
    if len(found.rows) < len(stack.queries):
        yield f"Numbers are of {len(found.rows)} evenly spread queries of {len(stack.queries):,}."


def _windows(stack: Stack) -> Iterator[str]:
    by_window: dict[tuple[int, int], list[int]] = {}
    for layer in stack.layers:
        if isinstance(layer.program, ScoreProgram) and layer.program.window is not None:
            by_window.setdefault(layer.program.window, []).append(layer.number)
    for (left, right), numbers in by_window.items():
        yield f"in layers {runs(numbers)} at most {left} to the left and {right} to the right"


def _fidelity(layers: Sequence[Fidelity]) -> Iterator[str]:
    routes = Counter(f"{each.route}, {each.kept}" for each in layers)
    how = "; ".join(f"{one_line(route)}: {counted(n, 'layer')}" for route, n in routes.items())
    exact = sum(each.exact is True for each in layers)
    errors = [
        f"largest error of {what} {max(known):.1g}"
        for what, known in (
            ("weights", [e.weights_error for e in layers if e.weights_error is not None]),
            ("outputs", [e.output_error for e in layers if e.output_error is not None]),
        )
        if known
    ]
    unknown = sum(each.exact is None for each in layers)
    said = [f"exact: {exact} of {counted(len(layers), 'layer')}"]
    said += [f"not compared: {unknown}"] if unknown else []
    said += [*errors, f"tolerance {max(each.tolerance for each in layers):.1g}"] if errors else []
    labels = Counter(each.labels for each in layers if each.labels is not None)
    said += [f"labels {label} in {n}" for label, n in labels.items()]
    yield f"Captured by {how}; {', '.join(said)}."


def _row_sums(stack: Stack) -> Iterator[str]:
    sums = {layer.number: ends for layer in stack.layers if (ends := layer.row_sums) is not None}
    if sums:
        low, high = min(low for low, _ in sums.values()), max(high for _, high in sums.values())
        yield f"Rows of layers {runs(sums)} do not sum to 1, but to {low:.3g} to {high:.3g}."


def _tokens(stack: Stack, lines: int) -> Iterator[str]:
    sides = {"Tokens": stack.queries}
    if stack.queries != stack.keys:
        sides = {"Queries": stack.queries, "Keys": stack.keys}
    for side, tokens in sides.items():
        most = 1 if tokens.patches is not None else lines
        texts = (f"{at} {one_line(label, 24)}" for at, label in enumerate(tokens.labels))
        yield from wrapped(f"{side}:", texts, most=most, between=" ·")
        turns = [f"{role} {start}–{end - 1}" for start, end, role in tokens.turns]
        yield from wrapped("Messages, by their tokens:", turns, most=2)
        if tokens.split is not None:
            last = len(tokens) - 1
            yield f"Text A is tokens 0–{tokens.split - 1}, text B {tokens.split}–{last}."
        if tokens.generated is not None:
            count = len(tokens) - tokens.generated
            yield f"Generated: {counted(count, 'token')}, from {tokens.generated} on."


def _patches(stack: Stack, found: Measured) -> Iterator[str]:
    patches = stack.keys.patches
    if patches is None:
        return
    grids = (
        f"{one_line(grid.name) or 'image ' + str(grid.image + 1)} {grid.rows} x {grid.columns}"
        for grid in patches.grids
    )
    yield from wrapped("Grids of patches, rows x columns:", grids, most=1)
    on = np.array([place is not None for place in patches.of])
    of_all = f"{number(found.received[on].sum())} of all attention"
    lead = f"Patches get {of_all}{beside('even', _even_share(found, on))}; most:"
    yield from _most_received(stack, found, on, lead)


def _most_received(stack: Stack, found: Measured, among: Bools, lead: str) -> list[str]:
    """The keys with most attention, the mean of all heads and queries."""
    received = np.where(among, found.received, 0)
    best = [int(at) for at in np.argsort(-received, kind="stable")[:_RECEIVERS] if received[at] > 0]
    entries = (f"{_place(stack.keys, at)} {number(received[at], 3)}" for at in best)
    return wrapped(lead, entries, most=2)


def _even_share(found: Measured, keys: Bools | list[int]) -> float:
    seen = found.visible / np.maximum(found.visible.sum(axis=1, keepdims=True), 1)
    return float(seen[:, keys].sum(axis=1).mean())


def _place(tokens: Tokens, at: int) -> str:
    """A patch by its row and column, or else a token by its label."""
    placed = None if tokens.patches is None else tokens.patches.grid_of(at)
    if placed is None:
        return named(tokens, at)
    grid, patch = placed
    row, column = divmod(patch, grid.columns)
    return f"{one_line(grid.name) + ' ' if grid.name else ''}row {row} column {column} ({at})"


def _all_heads(stack: Stack, found: Measured) -> Iterator[str]:
    received = found.received
    sinks = sorted(found.sinks, key=lambda at: (-received[at], at))
    if sinks:
        of = "shares of the magnitudes of coefficients" if stack.signed else "attention"
        places = "first token, special tokens" + (", template" if stack.keys.template else "")
        what = (
            f"Sinks by their place ({places}): {counted(len(sinks), 'key')} with "
            f"{number(received[sinks].sum())} of all {of}"
            f"{beside('even', _even_share(found, sinks))};"
        )
        each = (f"{_place(stack.keys, at)} {number(received[at])}" for at in sinks)
        yield from wrapped(what, each, most=2)
    if (left := 1 - float(received.sum())) > 0.005:
        yield f"On no key, as on a learned sink: {number(left)} of the attention."
    means = []
    for name, values in found.metrics.items():
        even = found.even.get(name)
        of_even = "" if even is None else f" (even {_said(name, np.nanmean(even))})"
        means.append(f"{_label(name)} {_said(name, np.nanmean(values))}{of_even}")
    yield from wrapped("Mean of all heads:", means, most=3)


def _label(name: str) -> str:
    return _ALL[name].label if name in _ALL else "share on punctuation"


def _said(name: str, value: SupportsFloat) -> str:
    """A number of a metric with its unit."""
    metric = _ALL.get(name)
    if metric is None or not metric.unit:
        return number(value)
    return f"{number(value, metric.digits)} {metric.unit}"


def _by_layer(stack: Stack, found: Measured, names: Sequence[str]) -> Iterator[str]:
    layers = np.array([layer for layer, _ in found.heads])
    if len(stack.layers) < 2:
        return
    for name in names:
        values = found.metrics.get(name)
        if values is None:
            continue
        entries = (f"{n}: {number(np.nanmean(values[layers == n]))}" for n in stack.numbers)
        yield from wrapped(f"By layer, {_label(name)}:", entries, most=3, between=",")


def _words(stack: Stack, found: Measured) -> Iterator[str]:
    """The heads by the words of one text, which half of the attention decides."""
    words = [
        PATTERNS[pattern_of({name: float(v[at]) for name, v in found.metrics.items()})]
        for at in range(len(found.heads))
    ]
    lead = "Heads by word, where a word needs half of the attention:"
    order, lines = by_word(lead, words, most=2)
    yield from lines
    for word in order:
        rule = _RULE_OF.get(word)
        if rule is None:
            continue
        values, even = found.metrics[rule], found.even[rule]
        own = [at for at in range(len(words)) if words[at] == word]
        own.sort(key=lambda at: (-values[at], at))
        entries = (
            f"{head_name(found.heads[at])} {number(values[at])}{beside('even', even[at])}"
            for at in own[:_PER_WORD]
        )
        yield from wrapped(f"    {word}, most:", entries, most=1)


def _extremes(found: Measured) -> Iterator[str]:
    # Those of one head are the means.
    entries = []
    for name, values in found.metrics.items() if len(found.heads) > 1 else ():
        if name == "entropy_first":
            continue
        ends = int(np.nanargmax(values)), int(np.nanargmin(values))
        high, low = (f"{head_name(found.heads[at])} {_said(name, values[at])}" for at in ends)
        entries.append(f"{_label(name)} {high} to {low}")
    yield from wrapped("Highest to lowest head:", entries, most=3)


def _links(stack: Stack, found: Measured) -> Iterator[tuple[str, int, list[str]]]:
    """(what they are, their rank, their lines) of links."""
    one = "coefficients" if stack.signed else "weights"
    without = "not to sinks" + (" or the query itself" if found.is_self else "")

    def links(numbers: Floats | Numbers, among: Bools, digits: int) -> Iterator[tuple[str, str]]:
        """Links, each with the head that has it."""
        for row, key in found.top(numbers, among, _LINKS):
            query = _place(stack.queries, int(found.rows[row]))
            link = f"{query} → {_place(stack.keys, key)} {number(numbers[row, key], digits)}"
            yield link, head_name(found.heads[found.owner[row, key]])

    kinds = [("", 2, found.linked)]
    if found.is_self and stack.keys.patches is None:
        kinds.append((", between tokens that are no neighbours", 3, found.apart))
    for kind, rank, among in kinds:
        top = links(found.largest, among, 3 if stack.signed else 2)
        entries = (f"{link} in {head}" for link, head in top)
        lead = f"Strongest {one} of a head ({without}){kind}:"
        yield f"strongest links{kind}", rank, wrapped(lead, entries, most=2)
    of = "shares of magnitudes" if stack.signed else "weights"
    lead = f"Strongest {of}, mean of all heads ({without}):"
    top = links(found.mean, found.linked, 3)
    yield "strongest links of all heads", 2, wrapped(lead, (link for link, _ in top), most=2)


def _each_query(stack: Stack, found: Measured, most: int) -> Iterator[str]:
    """The key with most attention of each query; of many, the queries by their key."""
    mean = np.where(found.linked, found.mean, 0)
    best = {row: int(mean[row].argmax()) for row in range(len(mean)) if mean[row].any()}
    if len(found.rows) <= _FEW_QUERIES:
        entries = [
            f"{_place(stack.queries, int(found.rows[row]))} → {_place(stack.keys, key)} "
            f"{number(mean[row, key], 3)}"
            for row, key in best.items()
        ]
        yield from wrapped("First key of each query, mean of all heads:", entries, most=most)
        return
    by_key: dict[int, list[int]] = {}
    for row, key in best.items():
        by_key.setdefault(key, []).append(int(found.rows[row]))
    order = sorted(by_key, key=lambda key: (-len(by_key[key]), key))
    entries = [f"{_place(stack.keys, key)} of queries {runs(by_key[key])}" for key in order]
    yield from wrapped("First key, mean of all heads, by their queries:", entries, most=most)


def _between_texts(stack: Stack, found: Measured) -> Iterator[str]:
    of_queries, of_keys = stack.queries.segments, stack.keys.segments
    if of_queries is None or of_keys is None or stack.keys.split is None:
        return
    rows, keys = np.array(of_queries)[found.rows], np.array(of_keys)
    said = [
        f"from {a} to {b} {number(found.mean[rows == i][:, keys == j].sum(axis=1).mean())}"
        for i, a in enumerate("AB")
        for j, b in enumerate("AB")
        if (rows == i).any()
    ]
    yield from wrapped("Attention between the texts, mean of all heads:", said, most=1)


def _sources(stack: Stack) -> Iterator[str]:
    """The parts of a prompt that an answer looked at."""
    running = running_text(stack)
    if running is not None and running.answered and running.sentences and running.rows:
        yield from sources(stack, running, slice(None), 4)


def _lenses(record: AttentionRecord, name: str) -> Iterator[str]:
    stack = record.stack(name)
    there, absent = [], []
    for lens in LENSES:
        reasons = [lens.why_not(record, name, layer) for layer in stack.numbers]
        known = [why for why in reasons if why is not None]
        if len(known) < len(reasons):
            there.append(lens.name + (f" (not of {counted(len(known), 'layer')})" if known else ""))
        else:
            assert known[0] is not None
            absent.append(f"{lens.name} ({known[0].brief})")
    yield f"Lenses: {', '.join(there)}{'; not ' + ', '.join(absent) if absent else ''}."
