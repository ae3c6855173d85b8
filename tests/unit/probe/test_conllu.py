"""CoNLL-U files: words, trees and mentions of several dialects; and what is wrong, by its line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from attnwidget.probe import Mention, read_conllu

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

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(content: str | bytes, name: str = "x.conllu") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def sentence(*entities: str, header: str = "eid-etype-head-other") -> str:
    """A flat sentence with these `Entity=`, "" for none, and ".1" before those of empty nodes."""
    lines, number = [f"# global.Entity = {header}"] if header else [], 0
    for entity in entities:
        empty, entity = entity.startswith(".1"), entity.removeprefix(".1")
        number += not empty
        place, head = (f"{number}.1", "_") if empty else (f"{number}", f"{number - 1}")
        misc = f"Entity={entity}" if entity else "_"
        lines.append(f"{place}\tw{number}\t_\tNOUN\t_\t_\t{head}\tdep\t_\t{misc}")
    return "\n".join(lines) + "\n\n"


def test_syntactic_words_in_the_text_as_it_is_written(write: Write) -> None:
    found = read_conllu(write(TREEBANK))
    first, second, _ = found
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
    # It can be read again, and counted.
    assert [len(text) for text in found] == [len(text) for text in found] == [8, 1, 1]
    assert "3 texts, 3 mentions>" in repr(found)


def test_sentences_of_a_document_are_joined(write: Write) -> None:
    both, other = read_conllu(write(TREEBANK), window=100)
    assert both.text == "I don't like du café. It"
    assert (both.spans or ())[8] == (22, 24)
    assert both.heads == [3, 3, 3, None, 6, 6, 3, 3, None]
    assert both.mentions[2] == Mention(8, 9, "e2", 8, "object")
    assert other.words == ["Two"]
    assert len(read_conllu(write(TREEBANK), window=8)) == 3


def test_a_byte_order_mark_and_other_line_ends_are_no_part_of_the_text(write: Write) -> None:
    content = TREEBANK.replace("\n", "\r\n").encode("utf-8-sig")
    assert list(read_conllu(write(content))) == list(read_conllu(write(TREEBANK)))


@pytest.mark.parametrize(
    ("header", "entities"),
    [
        ("eid-etype-head-other", ("(e1-person-2-", "(e2-object-1-)e1)", "(e1-person-1-)")),
        ("etype-eid-head", ("(person-e1-2", "(object-e2-1)e1)", "(person-e1-1)")),
        # GUM from 2.10 on, 2.9, and 2.8, whose closing brackets have all fields.
        ("GRP-etype-infstat", ("(1-person-new", "(2-object-new)1)", "(1-person-giv)")),
        ("entity-GRP-infstat", ("(person-1-new", "(object-2-new)1)", "(person-1-giv)")),
        ("entity-GRP-identity", ("(person-1", "(object-2)person-1)", "(person-1)")),
    ],
)
def test_mentions_by_the_fields_that_the_header_names(
    header: str, entities: tuple[str, ...], write: Write
) -> None:
    (text,) = read_conllu(write(sentence(*entities, header=header)))
    found = [(m.start, m.end, m.entity[-1], m.kind, text.mention_head(m)) for m in text.mentions]
    outer = 1 if "head" in header else 0
    assert found == [
        (0, 2, "1", "person", outer), (1, 2, "2", "object", 1), (2, 3, "1", "person", 2)
    ]  # fmt: skip


def test_interrupted_mentions_have_all_their_parts(write: Write) -> None:
    parts = sentence("(e1[1/2]-x-3-", "e1[1/2])", "", "(e1[2/2]-x-3-)", "(e1-x-1-)")
    (text,) = read_conllu(write(parts))
    assert text.mentions == [
        Mention(0, 2, "e1", 3, "x", rest=((3, 4),)), Mention(4, 5, "e1", 4, "x")
    ]  # fmt: skip
    (both,) = read_conllu(write(sentence("") + parts), window=9)
    assert both.mentions[0] == Mention(1, 3, "e1", 4, "x", rest=((4, 5),))


def test_empty_nodes_count_for_the_head_and_are_no_words(write: Write) -> None:
    """Heads: the second node, which is empty; the third, which is the second word."""
    empty = sentence("(e1-x-2-", ".1", "e1)(e2-x-1-", ".1e2)")
    (text,) = read_conllu(write(empty))
    assert text.mentions == [Mention(0, 2, "e1", None, "x"), Mention(1, 2, "e2", 1, "x")]
    third = sentence("(e1-x-3-", ".1", "e1)")
    assert read_conllu(write(third))[0].mentions[0].head == 1


def test_mentions_without_words_and_unclosed_ones_are_counted(write: Write) -> None:
    left_out = sentence("(e1-x-1-)", ".1(e2-x-1-)", "(e3-x-1-")
    with pytest.warns(UserWarning, match="1 never closed, 1 on empty nodes alone"):
        found = read_conllu(write(left_out))
    assert found.skipped == {"never closed": 1, "on empty nodes alone": 1}
    assert "1 mentions, without 1 never closed, without 1 on empty" in repr(found)


WORD = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n"
RANGE = "\tdu" + "\t_" * 8 + "\n"
WRONG = {
    "a short row": ("1\ta\t_\t_\t_\t_\t0\n", "line 1: 7 columns, expected 10"),
    "spaces": (WORD + WORD.replace("\t", " "), "line 2: 1 columns"),
    "a number": (WORD.replace("1", "one", 1), "line 1: 'one' is no number"),
    "a gap": (WORD + WORD.replace("1", "3", 1), "line 2: 3 comes after word 1"),
    "a head beyond the sentence": (WORD.replace("0", "7"), "line 1: the head of a word is '7'"),
    "a head that is no number": (WORD.replace("0", "x"), "line 1: the head of a word is 'x'"),
    "a range without its words": (WORD + "2-3" + RANGE, "line 2: the words of 2-3 are missing"),
    "a range after its words": (WORD + "1-2" + RANGE, "line 2: 1-2 comes after word 1"),
    "two ranges": ("1-2" + RANGE + "1-3" + RANGE, "line 2: 1-3 comes after word 0"),
    "an empty word": (WORD.replace("a", " "), "line 1: in the sentence that begins here, a word"),
    "no header": (sentence("(e1-x-1-)", header=""), "line 1: Entity= needs a line '# global.Ent"),
    "no entity": (sentence("(x-1)", header="etype-head"), "line 2: .*; there is .'etype', 'head'"),
    "closed alone": (sentence("e1)"), "line 2: a mention of e1 is closed that was not opened"),
    "over sentences": (sentence("(e1-x-1-") + sentence("e1)"), "line 5: .* in another sentence"),
    "no bracket": (sentence("e1"), "line 2: Entity=e1 neither opens nor closes"),
    "a second part alone": (sentence("(e1[2/2]-x-1-)"), "line 2: part 2 of a mention of e1"),
    "a head of a mention": (sentence("(e1-x-2-)"), "line 2: the head of a mention of e1 is wor"),
    "UTF-16": (TREEBANK.encode("utf-16"), "UTF-8 after line 0: .*is it UTF-16"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_by_its_line(name: str, write: Write) -> None:
    content, message = WRONG[name]
    with pytest.raises(ValueError, match=rf"x\.conllu is no .*{message}"):
        read_conllu(write(content))


def test_a_missing_file_is_missed_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_conllu(tmp_path / "none.conllu")
