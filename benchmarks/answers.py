"""The sources of copied words in answers, found by attention, by a cut, by position, by chance.

    python -m benchmarks.answers

SmolLM2-135M-Instruct answers 20 questions over three texts of ten sentences, each in three orders
of the sentences, greedily. A word of an answer counts if it stands in exactly one sentence of the
text and not in the question: that sentence is its source. Said for each way of finding it is the
share of words whose source it puts first of the ten, with 95% intervals of a bootstrap over
questions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import attnwidget as aw
from attnwidget.progress import on_step

from .browser.models import smollm2

SYSTEM = "You answer questions from the text that you are given, in one short sentence."
BAKERY = """The bakery on Mill Lane opened in 1954.
Its founder, Oskar Brandt, learned his trade in Vienna.
The oven is heated with beech wood from the Solling hills.
Every morning, a grey van delivers rolls to the hospital.
The poppy seed cake has won a medal in Leipzig.
On Sundays, the shop sells only pretzels and coffee.
A stone lion stands above the door.
The cellar was flooded by the river in 1987.
Two apprentices live in the rooms under the roof.
The recipe book is kept in a blue iron box."""
BRIDGE = """The iron bridge at Kelton was finished in 1862.
Its engineer, Margaret Howe, also designed the water tower.
The rivets were made in a foundry near Bristol.
Trains crossed it until a landslide closed the line.
Today, cyclists pay a toll of forty pence.
A pair of falcons nests below the northern arch.
The handrails were painted green after the war.
Each spring, divers inspect the pillars for cracks.
An old signal lamp hangs in the pub beside the road.
The annual race over the bridge begins at noon."""
GARDEN = """The herb garden of Saint Clare covers two acres.
It was planted by Brother Anselm against the plague.
Lavender grows along the southern wall.
The bees belong to a widow called Ines Duarte.
A sundial of slate tells the hours.
Visitors enter through the wooden gate behind the chapel.
The well has never run dry since 1703.
In October, the monks sell apple cider.
A cat named Pepper sleeps in the greenhouse.
The gardener keeps his tools in a disused confessional."""
QUESTIONS = {
    BAKERY: (
        "Where did the founder learn his trade?",
        "What heats the oven?",
        "Where does the van deliver rolls?",
        "What has the cake won?",
        "What stands above the door?",
        "Who lives under the roof?",
        "Where is the recipe book kept?",
    ),
    BRIDGE: (
        "Who designed the bridge?",
        "Where were the rivets made?",
        "What do cyclists pay?",
        "Which birds nest below the arch?",
        "What do divers inspect?",
        "Where does the signal lamp hang?",
        "When does the race begin?",
    ),
    GARDEN: (
        "Who planted the garden?",
        "What grows along the wall?",
        "To whom do the bees belong?",
        "Where do visitors enter?",
        "What do the monks sell?",
        "Where does the gardener keep his tools?",
    ),
}
ORDERS = 3
WORD = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class Copied:
    """A word of an answer: its question, the place of its source, and the ways that find it."""

    question: int
    source: int
    found: dict[str, bool]
    loss: float
    others: tuple[float, ...]


def copied_words(found: aw.Answer, sentences: list[str], question: int) -> Iterator[Copied]:
    """The copied words of an answer, by the cuts and the attention of all sentences."""
    parts = [found.parts.index(each) + 1 for each in sentences]
    cuts = found.cut()
    asked = set(WORD.findall(found.parts[-1].lower()))
    counted = set()
    for match in WORD.finditer(found.text):
        word = match[0].lower()
        places = [at for at, each in enumerate(sentences) if word in WORD.findall(each.lower())]
        if len(places) != 1 or word in asked or word in counted:
            continue
        counted.add(word)
        ends = np.cumsum([len(token.text) for token in found.tokens])
        own = [n for n, end in enumerate(ends) if end > match.start()]
        last = next(n for n, end in enumerate(ends) if end >= match.end())
        first, source = own[0], places[0]
        table = found.table((first, last + 1)).loc[parts]
        changes = cuts[np.array(parts) - 1, first : last + 1].sum(axis=1)
        ways = {
            "attention, mean of heads, sinks out": int(table["share"].argmax()) == source,
            "the same beside an even share": int((table["share"] / table["even"]).argmax())
            == source,
            "the cut": int(changes.argmin()) == source,
            "the longest sentence": int(np.argmax([len(each) for each in sentences])) == source,
            "the first": source == 0,
            "the last": source == len(sentences) - 1,
        }
        others = tuple(float(c) for at, c in enumerate(changes) if at != source)
        yield Copied(question, source, ways, float(changes[source]), others)


def main() -> None:
    """Print a table of the ways."""
    model, tokenizer = smollm2()
    random, words, number = np.random.default_rng(0), list[Copied](), 0
    for text, questions in QUESTIONS.items():
        for question in questions:
            for _ in range(ORDERS):
                sentences = [text.split("\n")[at] for at in random.permutation(10)]
                user = f"{' '.join(sentences)}\n\n{question}"
                chat = [
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": user},
                ]
                with on_step(lambda: None):
                    found = aw.answer(model, tokenizer, chat, generate={"max_new_tokens": 40})
                words += copied_words(found, sentences, number)
                print(f"{question} {found.text}", file=sys.stderr)
            number += 1
    print(f"{len(words)} copied words in the answers to {number} questions; chance 0.10")
    for way in words[0].found:
        right = np.array([word.found[way] for word in words])
        low, high = interval(right, np.array([word.question for word in words]))
        print(f"{way:38} {right.mean():.2f} [{low:.2f}, {high:.2f}]")
    losses = np.array([word.loss for word in words])
    others = np.array([each for word in words for each in word.others])
    print(f"loss by the cut of the source: median {np.median(losses):.2f} nats")
    low, high = np.quantile(others, [0.025, 0.975])
    print(
        f"95% of other cuts: {low:.2f} to {high:.2f} nats; below -0.5: {(others < -0.5).mean():.1%}"
    )


def interval(right: np.ndarray, question: np.ndarray) -> tuple[float, float]:
    """The 95% interval of a mean, drawing questions."""
    random, numbers = np.random.default_rng(0), np.unique(question)
    of = {number: right[question == number] for number in numbers}
    means = [
        np.concatenate([of[n] for n in random.choice(numbers, len(numbers))]).mean()
        for _ in range(2000)
    ]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


if __name__ == "__main__":
    main()
