"""Questions about records, answered from their arrays, and the share that `describe` answers.

    python -m benchmarks.words --vit DIR --smollm2 DIR [--seed 2000 --draws 40]

Of each of ten records, five kinds of questions are drawn, with a stack, a layer and tokens. Their
answers follow from weights and coefficients alone, by other code than that of `describe`. One is
answered if all of its parts, numbers as they are rounded there, stand in one list of the text.
Some kinds ask for what a text of 60 lines can hold of small records alone, as one link of one head.
The kinds were written with the texts in view; draws from seed 2000 on were not looked at before.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import attnwidget as aw
from attnwidget.record import runs

from . import zoo

PER_RECORD = 5
TEXT = "The quick brown fox jumped over the lazy dog because it was tired."
LONG = Path(__file__).parent / "browser" / "prose.txt"

Answer = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A stack of a record as plain arrays, and a place in it that is asked about."""

    record: aw.AttentionRecord
    name: str
    rng: np.random.Generator

    def __post_init__(self) -> None:
        stack = self.record.stack(self.name)
        heads = [(layer.number, h) for layer in stack.layers for h in range(layer.num_heads)]
        read = self.record.coefficients if stack.signed else self.record.weights
        numbers = np.stack([read(layer, head, self.name) for layer, head in heads]).astype(float)
        sizes = np.abs(numbers)
        sums = sizes.sum(axis=2, keepdims=True)
        shares = sizes / np.where(sums > 0, sums, 1) if stack.signed else numbers
        keys = stack.keys
        own = stack.queries == keys
        template = [
            p
            for piece in keys.pieces or ()
            if piece.template
            for p in range(piece.start, piece.end)
        ]
        rest = sorted({*keys.special, *template, *([0] if own else [])})
        linked = np.ones(shares.shape[1:], bool)
        linked[:, rest] = False
        if own:
            np.fill_diagonal(linked, False)
        found = {
            "stack": stack, "heads": heads, "numbers": numbers, "shares": shares, "own": own,
            "rest": rest, "linked": linked, "mean": shares.mean(axis=0),
            "layer": int(self.rng.choice(stack.numbers)),
            "query": int(self.rng.integers(len(stack.queries))),
            "key": int(self.rng.integers(len(keys))), "head": int(self.rng.integers(len(heads))),
        }  # fmt: skip
        for key, value in found.items():
            object.__setattr__(self, key, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def place(self, tokens: Any, at: int) -> str:
        placed = None if tokens.patches is None else tokens.patches.grid_of(at)
        if placed is None:
            return f"{tokens.labels[at]} ({at})"
        row, column = divmod(placed[1], placed[0].columns)
        return f"row {row} column {column} ({at})"

    def link(self, query: int, key: int, value: str) -> str:
        ends = self.place(self.stack.queries, query), self.place(self.stack.keys, key)
        return f"{ends[0]} → {ends[1]} {value}"

    def per_head(self, values: np.ndarray) -> np.ndarray:
        """The mean over rows that see a key, of [heads, Tq]."""
        seen = self.shares.sum(axis=2) > 0
        return np.where(seen, values, 0).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)


def two(value: float) -> str:
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text


def three(value: float) -> str:
    return f"{value:.3f}"


def _entropies(case: Case) -> np.ndarray:
    w = case.shares
    return case.per_head(-(w * np.log(np.where(w > 0, w, 1))).sum(axis=2))


def _named(case: Case, values: np.ndarray, label: str, pick: Callable[..., Any]) -> Answer:
    at = int(pick(values))
    layer, head = case.heads[at]
    return label, f"{layer}-{head} {two(float(values[at]))}"


def _top(case: Case, numbers: np.ndarray) -> tuple[int, int]:
    at = int(np.where(case.linked, np.abs(numbers), 0).argmax())
    return divmod(at, numbers.shape[-1])


KINDS: dict[str, Callable[[Case], Answer | None]] = {}


def kind(question: str) -> Callable[[Any], Any]:
    def add(function: Callable[[Case], Answer | None]) -> Callable[[Case], Answer | None]:
        KINDS[question] = function
        return function

    return add


@kind("Which model, and how many heads has it?")
def _model(case: Case) -> Answer:
    record = case.record
    heads = sum(layer.num_heads for s in record.stacks for layer in record.stack(s).layers)
    return record.model, f"{heads:,} heads"


@kind("How many layers and heads has the stack?")
def _layers(case: Case) -> Answer:
    count = len(case.stack.layers)
    layers = f"{count} layers" if count > 1 else f"layer {case.stack.numbers[0]} alone"
    return f"Stack {case.name}", f"{len(case.heads)} heads", layers


@kind("How many keys does a query choose from?")
def _tokens(case: Case) -> Answer:
    return f"Stack {case.name}", f"{len(case.stack.keys):,} {'tokens' if case.own else 'keys'}"


@kind("Which token stands at position {key}?")
def _token(case: Case) -> Answer:
    return "Tokens: " if case.own else "Keys: ", f" {case.key} {case.stack.keys.labels[case.key]}"


@kind("Do tokens see later ones?")
def _later(case: Case) -> Answer | None:
    if not case.own:
        return None
    later = np.triu(np.abs(case.numbers).max(axis=0), 1).any()
    return ("later tokens, too" if later else "earlier tokens alone",)


@kind("How many layers are exact, and how large is the largest error?")
def _exact(case: Case) -> Answer:
    layers = case.record.fidelity[case.name]
    errors = [e.output_error for e in layers if e.output_error is not None]
    said = f"exact: {sum(e.exact is True for e in layers)} of {len(layers)} layers"
    return (said, f"outputs {max(errors):.1g}") if errors else (said,)


@kind("What is missing?")
def _missing(case: Case) -> Answer:
    missing = case.record.missing
    return ("Missing:", missing[0][:100]) if missing else ("Missing: nothing",)


@kind("Which head gives the first token most, and how much?")
def _first(case: Case) -> Answer:
    values = case.per_head(case.shares[:, :, 0])
    return _named(case, values, "share on first token", np.argmax)


@kind("How much of all attention goes to the first token?")
def _first_mean(case: Case) -> Answer:
    return (
        "Mean of all heads",
        f"share on first token {two(case.per_head(case.shares[:, :, 0]).mean())}",
    )


@kind("How much goes to special tokens, and how much would by even shares?")
def _special(case: Case) -> Answer | None:
    special = list(case.stack.keys.special)
    if not special or special == [0]:
        return None
    values = case.per_head(case.shares[:, :, special].sum(axis=2))
    return "Mean of all heads", f"share on special tokens {two(values.mean())}"


@kind("Which head looks most at the previous token, and how much?")
def _previous(case: Case) -> Answer | None:
    if not case.own or len(case.stack.keys) < 2:
        return None
    values = np.diagonal(case.shares, -1, 1, 2).mean(axis=1)
    return _named(case, values, "share on previous token", np.argmax)


@kind("Which head is the widest, and its entropy?")
def _widest(case: Case) -> Answer | None:
    return None if case.stack.signed else _named(case, _entropies(case), "entropy", np.argmax)


@kind("Which head is the narrowest, and its entropy?")
def _narrowest(case: Case) -> Answer | None:
    return None if case.stack.signed else _named(case, _entropies(case), "entropy", np.argmin)


@kind("What is the mean entropy of layer {layer}?")
def _layer(case: Case) -> Answer | None:
    if case.stack.signed or len(case.stack.layers) < 2:
        return None
    of = [layer == case.layer for layer, _ in case.heads]
    return "By layer, entropy", f"{case.layer}: {two(_entropies(case)[of].mean())}"


@kind("How many heads rest on the first token with half of their attention?")
def _resting(case: Case) -> Answer | None:
    count = int((case.per_head(case.shares[:, :, 0]) >= 0.5).sum())
    said = f"rests on the first token: {count} of {len(case.heads)}"
    return ("Heads by word", said) if count else None


@kind("What is the strongest link of one head beside sinks and itself, and in which?")
def _strongest(case: Case) -> Answer | None:
    owner = np.abs(case.numbers).argmax(axis=0)
    largest = np.take_along_axis(case.numbers, owner[None], 0)[0]
    query, key = _top(case, largest)
    if not case.linked.any():
        return None
    layer, head = case.heads[int(owner[query, key])]
    # Of equal ones, another may come first.
    said = (three if case.stack.signed else two)(float(largest[query, key]))
    return "of a head", f"{said} in {layer}-{head}"


@kind("What is the strongest link, mean of all heads?")
def _strongest_mean(case: Case) -> Answer | None:
    if not case.linked.any():
        return None
    query, key = _top(case, case.mean)
    return "mean of all heads", case.link(query, key, three(case.mean[query, key]))


@kind("Which token gets most attention beside sinks?")
def _receiver(case: Case) -> Answer | None:
    received = case.mean.mean(axis=0)
    received[case.rest] = 0
    at = int(received.argmax())
    return "Keys with most attention", f"{case.place(case.stack.keys, at)} {three(received[at])}"


@kind("What does query {query} look at most, mean of all heads?")
def _query(case: Case) -> Answer | None:
    row = np.where(case.linked[case.query], case.mean[case.query], 0)
    key = int(row.argmax())
    if row[key] == 0:
        return None
    if len(case.stack.queries) <= 26:
        return "First key", case.link(case.query, key, three(row[key]))
    firsts = np.where(case.linked, case.mean, 0).argmax(axis=1)
    same = [at for at, first in enumerate(firsts) if first == key and case.linked[at].any()]
    return "First key", f"{case.place(case.stack.keys, key)} of queries {runs(same)}"


@kind("What does one head, {head}, give from query {query} to key {key}?")
def _one(case: Case) -> Answer | None:
    value = float(case.numbers[case.head, case.query, case.key])
    if value == 0:
        return None
    layer, head = case.heads[case.head]
    return (case.link(case.query, case.key, f"{two(value)} in {layer}-{head}"),)


@kind("Which share of the coefficients is negative?")
def _negative(case: Case) -> Answer | None:
    if not case.stack.signed:
        return None
    below = -np.minimum(case.numbers, 0).sum(axis=2)
    sums = np.abs(case.numbers).sum(axis=2)
    values = case.per_head(below / np.where(sums > 0, sums, 1))
    return "Mean of all heads", f"negative share {two(values.mean())}"


@kind("To what do rows sum, in the mean, and in which head to most?")
def _sums(case: Case) -> Answer | None:
    if not case.stack.signed:
        return None
    return _named(case, case.per_head(case.numbers.sum(axis=2)), "sum of a row", np.argmax)


@kind("How much goes from text A to text B?")
def _between(case: Case) -> Answer | None:
    split = case.stack.keys.split
    if split is None or not case.own:
        return None
    return "between the texts", f"from A to B {two(case.mean[:split, split:].sum(axis=1).mean())}"


@kind("How many rows and columns of patches are there?")
def _grid(case: Case) -> Answer | None:
    patches = case.stack.keys.patches
    return (
        None
        if patches is None
        else ("Grids", f"{patches.grids[0].rows} x {patches.grids[0].columns}")
    )


@kind("What did the model write?")
def _written(case: Case) -> Answer | None:
    replay = case.record.replay
    if replay is None or not replay.written:
        return None
    return "Generated", "".join(each.text for each in replay.written)[:60]


@kind("Which sentence was the answer written from, and its share?")
def _source(case: Case) -> Answer | None:
    try:
        table = aw.answer(case.record, stack=case.name).table()
    except ValueError:
        return None
    best = table.sort_values("share", ascending=False, kind="stable").iloc[0]
    return "Of what the rest of the prompt gets", str(best["text"])[:40], two(float(best["share"]))


def records(vit: Path | None, smollm: Path | None) -> Iterator[tuple[str, aw.AttentionRecord]]:
    model, tokenizer = aw.default_model()
    yield "MiniLM, a sentence", aw.capture(model, tokenizer, TEXT)
    yield "MiniLM, a pair", aw.capture(model, tokenizer, TEXT, "Then it slept in the warm sun.")
    long = LONG.read_text("utf-8")[:1200]
    yield "MiniLM, a page, two layers", aw.capture(model, tokenizer, long, layers=[1, 4])
    weights = np.random.default_rng(5).dirichlet(np.full(9, 0.3), size=(3, 2, 9))
    words = ["a", "bird", "sang", "and", "the", "old", "tree", "was", "still"]
    yield "arrays", aw.AttentionRecord.from_arrays(weights, words, model="of arrays")
    for name in ("t5", "qwen3_next", "minimax", "gpt_oss"):
        built = zoo.build(name)
        yield name, aw.capture(built.model, None, built.inputs)
    if smollm is not None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        [file] = smollm.glob("*.gguf")
        chat = [
            {"role": "system", "content": "You answer in one short sentence."},
            {"role": "user", "content": "The bakery opened in 1954. A stone lion stands above its "
             "door. The oven is heated with beech wood. What heats the oven?"},
        ]  # fmt: skip
        options: dict[str, Any] = {"gguf_file": file.name}
        llm = AutoModelForCausalLM.from_pretrained(smollm, **options).eval()
        reader = AutoTokenizer.from_pretrained(smollm, **options)
        generate = {"max_new_tokens": 16, "do_sample": False}
        yield "SmolLM2, a chat", aw.capture(llm, reader, chat, generate=generate)
    if vit is not None:
        from transformers import AutoImageProcessor, AutoModel

        across, down = np.meshgrid(np.linspace(0, 255, 224), np.linspace(0, 255, 224))
        pixels = np.stack([across, down, 255 - across], axis=2).astype(np.uint8)
        pixels[60:120, 90:150] = (250, 40, 30)
        processor = AutoImageProcessor.from_pretrained(vit)
        read = processor(images=pixels, return_tensors="pt")
        yield "ViT, a picture", aw.capture(AutoModel.from_pretrained(vit).eval(), processor, read)


def lists(text: str, stack: str) -> list[str]:
    """The lines on the record and on one stack, each with those that go on with it."""
    head, *sections = text.replace("\n    ", " ").split("\n\n")
    own = [section for section in sections if section.startswith(f"Stack {stack}:")]
    return "\n".join([head, *own]).splitlines()


def asked(
    record: aw.AttentionRecord, rng: np.random.Generator
) -> Iterator[tuple[str, str, Answer]]:
    """(stack, question, answer)"""
    order = [list(KINDS)[at] for at in rng.permutation(len(KINDS))]
    count = 0
    for question in order:
        case = Case(record, str(rng.choice(record.stacks)), rng)
        answer = KINDS[question](case)
        if answer is not None:
            yield case.name, question.format(**vars(case)), answer
            count += 1
        if count == PER_RECORD:
            return


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--vit", type=Path)
    parser.add_argument("--smollm2", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="of the first draw, which is shown")
    parser.add_argument("--draws", type=int, default=1)
    args = parser.parse_args()
    seeds = range(args.seed, args.seed + args.draws)
    right = dict.fromkeys(seeds, 0)
    for number, (name, record) in enumerate(records(args.vit, args.smollm2)):
        text = aw.describe(record)
        print(f"{name}: {len(text.splitlines())} lines")
        for seed in seeds:
            for stack, question, answer in asked(record, np.random.default_rng([seed, number])):
                found = any(all(part in line for part in answer) for line in lists(text, stack))
                right[seed] += found
                if seed == args.seed:
                    said = f"{stack}: {question} {' · '.join(answer)}"
                    print(f"  {'yes' if found else 'NO '} {said}")
    count = PER_RECORD * (number + 1)
    print(f"of {count}, by draw: {', '.join(map(str, right.values()))}")
    print(f"mean {np.mean([*right.values()]):.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
