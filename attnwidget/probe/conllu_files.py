"""Annotated texts from CoNLL-U files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, TypeAlias

from attnwidget.arguments import checked, whole
from attnwidget.extras import extra

from .annotated import Annotated, Mention

# The fields of a mention where "# global.Entity" does not name them, as in CorefUD.
_ENTITY_FIELDS = "eid-etype-head-minspan-infstat-link-identity"

# "(e1-person-1" opens a mention, "e1)" closes it, "(e1-person-1)" has one word.
_BRACKET = re.compile(r"(?P<opens>\()?(?P<content>[^()]+)(?P<closes>\))?")

# A part of a mention that is interrupted: "e1[2/3]".
_PART = re.compile(r"\[(\d+)/(\d+)\]$")

_Token: TypeAlias = Mapping[str, Any]


@checked(window=whole(1, none=True))
def read_conllu(path: PathLike[str] | str, *, window: int | None = None) -> Iterator[Annotated]:
    """Read the sentences of a CoNLL-U file, such as a treebank of Universal Dependencies.

    Words are the syntactic words: the parts of a multiword token ("do" and "n't" of "don't") are
    words of their own, and empty nodes are left out. The text is that of the file, with the spaces
    that it has. `Entity=` annotations, as of GUM and CorefUD, become mentions; of a mention that is
    interrupted, its first part.

    Args:
        path: of the file.
        window: joins consecutive sentences of a document into texts of at most so many words, in
            which mentions may corefer; a longer sentence is a text of its own. None for a text
            for each sentence.

    Yields:
        The texts in order.

    Raises:
        ModuleNotFoundError: conllu is not installed: `pip install 'attnwidget[probe]'`.
        ValueError: the content is no CoNLL-U; window is no number from 1.
        OSError: the file cannot be read.
    """
    with extra("probe", "reading CoNLL-U needs conllu"):
        import conllu
    sentences = _sentences(conllu, path)
    if window is None:
        return (sentence for _, sentence in sentences)
    return _joined(sentences, window)


def _sentences(conllu: Any, path: PathLike[str] | str) -> Iterator[tuple[int, Annotated]]:
    """(number of the document, sentence)."""
    document = 0
    fields = _ENTITY_FIELDS
    with open(path, encoding="utf-8") as lines:
        try:
            for sentence in conllu.parse_incr(lines):
                if any(name.startswith("newdoc") for name in sentence.metadata):
                    document += 1
                fields = sentence.metadata.get("global.Entity", fields)
                yield document, _sentence(sentence, fields.split("-"))
        # A line with too few columns has no key for the others.
        except (conllu.exceptions.ParseException, KeyError) as error:
            raise ValueError(f"{path} is no CoNLL-U: {error}") from error


@dataclass
class _Surface:
    """The text of a sentence as it is written.

    Attributes:
        text: so far.
        spans: of the words.
        space: True if a space follows.
    """

    text: str = ""
    spans: list[tuple[int, int]] = field(default_factory=list)
    space: bool = False

    def add(self, token: _Token, words: list[str]) -> None:
        """Add a token as it is written, with its syntactic words."""
        start = len(self.text) + self.space
        form = str(token["form"])
        self.text += " " * self.space + form
        self.space = (token["misc"] or {}).get("SpaceAfter") != "No"
        if "".join(words) != form:
            self.spans += [(start, start + len(form))] * len(words)
            return
        for word in words:
            self.spans.append((start, start + len(word)))
            start += len(word)


def _sentence(sentence: Iterable[_Token], fields: list[str]) -> Annotated:
    tokens = list(sentence)
    words = [token for token in tokens if isinstance(token["id"], int)]
    place = {token["id"]: number for number, token in enumerate(words)}
    surface = _Surface()
    last_written = 0
    for token in tokens:
        if isinstance(token["id"], int):
            if token["id"] > last_written:
                surface.add(token, [token["form"]])
        elif token["id"][1] == "-":
            first, _, last_written = token["id"]
            parts = [words[place[number]]["form"] for number in range(first, last_written + 1)]
            surface.add(token, parts)
    # Treebanks without trees have no heads.
    has_heads = all(token["head"] is not None for token in words)
    return Annotated(
        words=[token["form"] for token in words],
        heads=[place.get(token["head"]) for token in words] if has_heads else None,
        relations=[token["deprel"] or "" for token in words] if has_heads else None,
        mentions=_mentions(words, fields),
        tags=[token["upos"] or "" for token in words],
        text=surface.text,
        spans=surface.spans,
    )


def _mentions(words: list[_Token], fields: list[str]) -> list[Mention]:
    """The mentions of a sentence in the order of their first words, the longer ones first."""
    mentions = []
    # By name, the starts and the fields of mentions.
    unclosed: dict[str, list[tuple[int, list[str]]]] = {}
    for number, word in enumerate(words):
        for bracket in _BRACKET.finditer((word["misc"] or {}).get("Entity") or ""):
            values = bracket["content"].split("-")
            if bracket["opens"]:
                unclosed.setdefault(values[0], []).append((number, values))
            if bracket["closes"] and unclosed.get(values[0]):
                start, values = unclosed[values[0]].pop()
                mention = _mention(start, number + 1, dict(zip(fields, values, strict=False)))
                if mention is not None:
                    mentions.append(mention)
    return sorted(mentions, key=lambda mention: (mention.start, -mention.end))


def _mention(start: int, end: int, values: Mapping[str, str]) -> Mention | None:
    """A mention; None for a further part of one that is interrupted."""
    name = values.get("eid") or values.get("GRP") or next(iter(values.values()))
    part = _PART.search(name)
    if part is not None:
        if part[1] != "1":
            return None
        name = name[: part.start()]
    head = values.get("head", "")
    inside = start + int(head) - 1 if head.isdigit() else None
    if inside is not None and not start <= inside < end:
        inside = None
    return Mention(start, end, name, inside, values.get("etype", ""))


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
        first, offset = len(words), len(text)
        for head in sentence.heads or ():
            heads.append(None if head is None else head + first)
        for mention in sentence.mentions:
            start, end = mention.start + first, mention.end + first
            head = None if mention.head is None else mention.head + first
            mentions.append(replace(mention, start=start, end=end, head=head))
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
