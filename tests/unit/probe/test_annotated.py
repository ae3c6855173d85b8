"""Annotated texts, and those of spaCy."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from attnwidget.probe import Annotated, Mention, annotated


def test_the_head_of_a_mention_is_the_word_that_depends_on_others_outside() -> None:
    mention = Mention(0, 3, "x")
    words = ["the", "dog", "there", "barks"]
    assert Annotated(words, [1, 3, 1, None]).mention_head(mention) == 1
    assert Annotated(words).mention_head(mention) == 2
    # The further part of a mention that is interrupted.
    apart = Mention(0, 1, "x", rest=((2, 3),))
    assert Annotated(words, [2, 3, 3, None], mentions=[apart]).mention_head(apart) == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"words": ["a", " "]}, "a word is empty"),
        ({"words": ["a", "b"], "heads": [1]}, "2 words, but 1 heads"),
        ({"words": ["a", "b"], "heads": [2, None]}, "head of word 0 is 2"),
        ({"words": ["a"], "relations": ["root"]}, "relations need heads"),
        ({"words": ["a"], "segments": [(0, 2)]}, r"words\[0:2\], but the text has 1"),
        ({"words": ["a"], "mentions": [Mention(0, 1, "x", head=1)]}, "none of its words"),
        ({"words": ["a"], "text": "a"}, "text and spans belong together"),
        ({"words": ["a"], "text": "a", "spans": [(0, 2)]}, "outside of the text"),
    ],
)
def test_wrong_annotations_say_what_is_wrong(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Annotated(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"words": {"a": "dog"}}, "words is dict; expected a list of strings"),
        ({"tags": "NV"}, "tags is 'NV'; expected a list of strings, one for each word"),
        ({"relations": np.zeros(2), "heads": [1, None]}, "relations is .*expected a list of str"),
        ({"heads": {1, None}}, "heads is a set, which has no order"),
        ({"mentions": [(0, 1)]}, r"expected a list of attnwidget\.probe\.Mention"),
        ({"segments": [0, 1]}, r"segments is \[0, 1\]; expected \(start, end\) pairs"),
    ],
)
def test_fields_of_another_kind_are_refused(fields: dict[str, object], message: str) -> None:
    """Keys of a dict, and letters of a string, would be read as words and tags."""
    with pytest.raises(TypeError, match=message):
        Annotated(**{"words": ["a", "b"], **fields})  # type: ignore[arg-type]


def test_fields_are_read_once_from_anything_that_lists_them() -> None:
    text = Annotated((word for word in "ab"), heads=np.array([1, 0]), segments={(0, 1)})
    assert (text.words, text.heads, text.segments) == (["a", "b"], [1, 0], [(0, 1)])


@dataclass
class Token:
    """The attributes of spaCy's Token that are used."""

    i: int
    idx: int
    text: str
    dep_: str
    pos_: str
    head: "Token" = field(init=False)


@dataclass
class Span:
    start: int
    end: int
    text: str
    label_: str


class Doc(list[Token]):
    """The attributes of spaCy's Doc that are used."""

    text = "The  dog barks"
    ents = (Span(0, 3, "The  dog", "ANIMAL"),)


def test_a_doc_of_spacy_is_an_annotated_text() -> None:
    the, space, dog, barks = doc = Doc(
        [
            Token(0, 0, "The", "det", "DET"),
            Token(1, 4, " ", "dep", "SPACE"),
            Token(2, 5, "dog", "nsubj", "NOUN"),
            Token(3, 9, "barks", "ROOT", "VERB"),
        ]
    )
    the.head, space.head, dog.head, barks.head = dog, the, barks, barks
    text = annotated(doc)
    assert text.words == ["The", "dog", "barks"]
    assert text.heads == [1, 2, None]
    assert text.relations == ["det", "nsubj", "ROOT"]
    assert text.mentions == [Mention(0, 2, "0 The  dog", kind="ANIMAL")]
    assert text.spans == [(0, 3), (5, 8), (9, 14)]
    # A span has the offsets and numbers of its document.
    span: Any = Doc([space, dog, barks])
    span.text, span.start_char = " dog barks", 4
    span.ents = (Span(2, 3, "dog", "ANIMAL"),)
    text = annotated(span)
    assert [text.text[slice(*each)] for each in text.spans or ()] == ["dog", "barks"]
    assert (text.heads, text.mentions) == ([1, None], [Mention(0, 1, "0 dog", kind="ANIMAL")])
    with pytest.raises(TypeError, match=r"list of words is Annotated\(words\)"):
        annotated(["a", "list"])
