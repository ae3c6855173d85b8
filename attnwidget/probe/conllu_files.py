"""Annotated texts from CoNLL-U files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from os import PathLike

from attnwidget.arguments import checked, whole
from attnwidget.warning import warn

from .annotated import Annotated, Mention
from .conllu_mentions import Mentions, Token, Wrong

_COLUMNS = 10


class Treebank(list[Annotated]):
    """The texts of a CoNLL-U file, in order.

    Attributes:
        name: the path of the file.
        skipped: the numbers of mentions that were left out, by the reason.
    """

    def __init__(self, texts: Iterable[Annotated], name: str, skipped: Mapping[str, int]) -> None:
        super().__init__(texts)
        self.name = name
        self.skipped = skipped

    def __repr__(self) -> str:
        mentions = sum(len(text.mentions) for text in self)
        without = "".join(f", without {count:,} {why}" for why, count in self.skipped.items())
        return f"<Treebank {self.name}: {len(self):,} texts, {mentions:,} mentions{without}>"


@checked(window=whole(1, none=True))
def read_conllu(path: PathLike[str] | str, *, window: int | None = None) -> Treebank:
    """Read the sentences of a CoNLL-U file, such as a treebank of Universal Dependencies.

    Words are the syntactic words: the parts of a multiword token ("do" and "n't" of "don't") are
    words of their own, and empty nodes are left out. The text is that of the file, with the spaces
    that it has; features are not read. `Entity=` annotations, as of GUM and CorefUD, become
    mentions, by the fields that the file's line "# global.Entity = ..." names. Mentions that are
    never closed, or whose words are empty nodes alone, are left out and counted, with a warning.

    Args:
        path: of the file, in UTF-8.
        window: joins consecutive sentences of a document into texts of at most so many words, in
            which mentions may corefer; a longer sentence is a text of its own. None for a text
            for each sentence.

    Raises:
        ValueError: the content is no CoNLL-U: the message has the line. Mentions have no line
            "# global.Entity", or one without the field "eid" (or GUM's "GRP"); one is closed that
            was not opened, or in another sentence; window is no number from 1.
        OSError: the file cannot be read.
    """
    mentions = Mentions()
    sentences = list(_sentences(path, mentions))
    skipped = mentions.left_out()
    if skipped:
        counts = ", ".join(f"{count:,} {why}" for why, count in skipped.items())
        warn(f"mentions of {path} are left out: {counts}")
    texts = (sentence for _, sentence in sentences)
    joined = texts if window is None else _joined(sentences, window)
    return Treebank(joined, str(path), skipped)


def _sentences(path: PathLike[str] | str, mentions: Mentions) -> Iterator[tuple[int, Annotated]]:
    """(number of the document, sentence)."""
    document, line, tokens = 0, 0, list[Token]()
    try:
        # A byte-order mark is no part of the text.
        with open(path, encoding="utf-8-sig") as lines:
            for line, content in enumerate(chain(lines, [""]), 1):
                text = content.rstrip("\r\n")
                # The last sentence ends with the file.
                if not text.strip():
                    if tokens:
                        yield document, _sentence(tokens, mentions)
                    tokens = []
                elif text.startswith("#"):
                    name, _, value = (part.strip() for part in text[1:].partition("="))
                    if name.split()[:1] == ["newdoc"]:
                        document += 1
                        mentions.document = document
                    elif name == "global.Entity":
                        mentions.fields = value.split("-")
                else:
                    tokens.append(_token(line, text, tokens))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is no UTF-8 after line {line}: {error.reason}; is it UTF-16, or of another "
            "encoding? Save it as UTF-8"
        ) from error
    except Wrong as error:
        raise ValueError(f"{path} is no CoNLL-U that can be read: {error}") from error


def _token(line: int, text: str, before: list[Token]) -> Token:
    """Read a line, and check that its number follows from those before it in the sentence."""
    columns = text.split("\t")
    if len(columns) != _COLUMNS:
        raise Wrong(line, f"{len(columns)} columns, expected {_COLUMNS}, with tabs between them")
    last = max((token.last for token in before if token.is_word), default=0)
    number = re.fullmatch(r"(\d+)(?:-(\d+)|(\.\d+))?", columns[0])
    if number is None:
        raise Wrong(line, f"{columns[0]!r} is no number of a word, a range or an empty node")
    if number[3]:
        return Token(line, 0, 0, columns)
    first = int(number[1])
    token = Token(line, first, int(number[2] or first), columns)
    covered = max((token.last for token in before), default=0)
    if first != last + 1 or token.last < first or (number[2] and first <= covered):
        raise Wrong(line, f"{columns[0]} comes after word {last}")
    return token


def _sentence(tokens: list[Token], mentions: Mentions) -> Annotated:
    words = [token for token in tokens if token.is_word]
    # As it is written, with the characters of each word.
    text, space = "", ""
    spans: list[tuple[int, int]] = []
    for token in tokens:
        if token.last > len(words):
            raise Wrong(token.line, f"the words of {token.columns[0]} are missing")
        if token.first <= len(spans):  # within a range, or an empty node
            continue
        start = len(text) + len(space)
        text += space + token.form
        space = "" if token.misc("SpaceAfter") == "No" else " "
        forms = [word.form for word in words[token.first - 1 : token.last]]
        is_split = "".join(forms) == token.form
        for form in forms:
            spans.append((start, start + len(form if is_split else token.form)))
            start += len(form) * is_split
    # Treebanks without trees have no heads.
    has_heads = all(word.columns[6] != "_" for word in words)
    named = [
        ["" if word.columns[at] == "_" else word.columns[at] for word in words] for at in (3, 7)
    ]
    try:
        return Annotated(
            words=[word.form for word in words],
            heads=[_head(word, len(words)) for word in words] if has_heads else None,
            relations=named[1] if has_heads else None,
            mentions=mentions.of(tokens),
            tags=named[0],
            text=text,
            spans=spans,
        )
    except ValueError as error:
        raise Wrong(tokens[0].line, f"in the sentence that begins here, {error}") from error


def _head(word: Token, count: int) -> int | None:
    head = word.columns[6]
    if not head.isdecimal() or int(head) > count:
        raise Wrong(word.line, f"the head of a word is {head!r}; expected a number up to {count}")
    return int(head) - 1 if int(head) else None


def _joined(sentences: Iterable[tuple[int, Annotated]], window: int) -> Iterator[Annotated]:
    """Consecutive sentences of a document as texts of at most `window` words."""
    waiting: list[Annotated] = []
    current, count = 0, 0
    for document, sentence in sentences:
        if waiting and (document != current or count + len(sentence) > window):
            yield _join(waiting)
            waiting, count = [], 0
        waiting.append(sentence)
        current, count = document, count + len(sentence)
    if waiting:
        yield _join(waiting)


def _join(sentences: list[Annotated]) -> Annotated:
    words: list[str] = []
    heads: list[int | None] = []
    relations: list[str] = []
    tags: list[str] = []
    mentions: list[Mention] = []
    spans: list[tuple[int, int]] = []
    text = ""
    has_heads = all(sentence.heads is not None for sentence in sentences)
    for sentence in sentences:
        offset = len(text)
        places = range(len(words), len(words) + len(sentence))
        heads += [None if head is None else places[head] for head in sentence.heads or ()]
        mentions += [mention.moved(places) for mention in sentence.mentions]
        spans += [(start + offset, end + offset) for start, end in sentence.spans or ()]
        words += sentence.words
        relations += sentence.relations or ()
        tags += sentence.tags or ()
        text += f"{sentence.text} "
    return Annotated(
        words=words,
        heads=heads if has_heads else None,
        relations=relations if has_heads else None,
        mentions=mentions,
        tags=tags,
        text=text.rstrip(" "),
        spans=spans,
    )
