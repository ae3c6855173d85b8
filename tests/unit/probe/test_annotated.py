"""Annotated texts, and their readers."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from attnwidget.probe import Annotated, Mention, annotated, read_conllu

TREEBANK = """\
# newdoc id = one
# global.Entity = eid-etype-head-other
# text = I don't like du café.
1\tI\tI\tPRON\t_\t_\t4\tnsubj\t_\tEntity=(e1-person-1-)
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_
4\tlike\tlike\tVERB\t_\t_\t0\troot\t_\t_
4.1\tnothing\t_\tNOUN\t_\t_\t_\t_\t4:dep\t_
5-6\tdu\t_\t_\t_\t_\t_\t_\t_\t_
5\tde\tde\tADP\t_\t_\t7\tcase\t_\tEntity=(e2-object-3-
6\tle\tle\tDET\t_\t_\t7\tdet\t_\t_
7\tcafé\tcafé\tNOUN\t_\t_\t4\tnmod:poss\t_\tEntity=e2)|SpaceAfter=No
8\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_

# text = It
1\tIt\tit\tPRON\t_\t_\t0\troot\t_\tEntity=(e2-object-1-)

# newdoc id = two
# text = Two
1\tTwo\ttwo\tNUM\t_\t_\t0\troot\t_\t_

"""


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "x.conllu"
    path.write_text(TREEBANK, encoding="utf-8")
    return path


def test_conllu_has_syntactic_words_in_the_text_as_it_is_written(treebank: Path) -> None:
    first, second, _ = read_conllu(treebank)
    assert first.words == ["I", "do", "n't", "like", "de", "le", "café", "."]
    assert first.text == "I don't like du café."
    assert [first.text[slice(*span)] for span in first.spans or ()] == [
        *("I", "do", "n't", "like", "du", "du", "café", ".")
    ]
    assert first.heads == [3, 3, 3, None, 6, 6, 3, 3]
    assert first.relations is not None
    assert first.relations[6] == "nmod:poss"
    assert first.mentions == [Mention(0, 1, "e1", 0, "person"), Mention(4, 7, "e2", 6, "object")]
    assert second.tags == ["PRON"]


def test_conllu_joins_the_sentences_of_a_document(treebank: Path) -> None:
    both, other = read_conllu(treebank, window=100)
    assert both.text == "I don't like du café. It"
    assert (both.spans or ())[8] == (22, 24)
    assert both.heads == [3, 3, 3, None, 6, 6, 3, 3, None]
    assert both.mentions[2] == Mention(8, 9, "e2", 8, "object")
    assert other.words == ["Two"]
    assert len(list(read_conllu(treebank, window=8))) == 3


def test_files_that_are_no_conllu_are_named(tmp_path: Path) -> None:
    path = tmp_path / "wrong.conllu"
    path.write_text("1\tonly\n\n")
    with pytest.raises(ValueError, match=r"wrong\.conllu is no CoNLL-U"):
        list(read_conllu(path))


def test_the_head_of_a_mention_is_the_word_that_depends_on_others_outside() -> None:
    mention = Mention(0, 3, "x")
    words = ["the", "dog", "there", "barks"]
    assert Annotated(words, [1, 3, 1, None]).mention_head(mention) == 1
    assert Annotated(words).mention_head(mention) == 2


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
    with pytest.raises(TypeError, match=r"list of words is Annotated\(words\)"):
        annotated(["a", "list"])
