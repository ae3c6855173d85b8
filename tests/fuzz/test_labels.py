"""Labels become words and messages, whatever signs they are made of."""

import json
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from attnwidget.analysis.words import words
from attnwidget.record import Tokens
from attnwidget.wire.text import sendable
from tests.fuzz.campaign import campaign
from tests.hostile import TEXTS

PARTS = [
    *TEXTS,
    "##",
    "##ing",
    "◌",
    "🦜 1/3",
    "🦜 2/3",
    "a 1/2 + b",
    " + ",
    "␣",
    "1/",
    "/2",
    "Ġthe",
]


def test_words_of_any_labels() -> None:
    def make(random: Random) -> bytes:
        labels, numbers = [], []
        for _ in range(random.randint(1, 12)):
            text = "".join(random.choices(PARTS, k=random.randint(1, 3)))
            at = random.randrange(len(text) + 1)
            labels.append(text[at:] + text[:at])
            numbers.append(random.choice((None, 0, 1, 2, 3, -1, 0.5)))
        return json.dumps([labels, numbers]).encode()

    def check(data: bytes) -> bool:
        labels, numbers = json.loads(data)
        try:
            tokens = Tokens(tuple(labels), words=tuple(numbers))
        except ValueError:
            return False
        found = words(tokens)
        assert found
        json.dumps([sendable(label) for label in found.labels], ensure_ascii=False).encode()
        assert len(found.of) == len(labels)
        # The form that the view takes: in order, each with a token.
        assert sorted(set(found.of)) == list(range(len(found.labels)))
        return True

    campaign("words", 2000, make, check)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_sent(text: str) -> None:
    sent = sendable(text)
    assert sent.encode().decode() == sent
    if not any("\ud800" <= sign <= "\udfff" for sign in text):
        assert sent == text
