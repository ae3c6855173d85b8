"""Mentions of entities in CoNLL-U: the `Entity=` of GUM and CorefUD.

See https://ufal.mff.cuni.cz/corefud for the format.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .annotated import Mention

# The names of fields of `Entity=` that have a mention's entity, and its class.
_ENTITY = ("eid", "GRP")
_KIND = ("etype", "entity")

# "(e1-person-1" opens a mention, "e1)" closes it, "(e1-person-1)" has one word.
_BRACKET = re.compile(r"\([^()]+\)?|[^()]+\)?")

# A part of a mention that is interrupted: "e1[2/3]".
_PART = re.compile(r"(.+)\[(\d+)/(\d+)\]")


class Wrong(Exception):
    """An error in a line of the file."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")


@dataclass(frozen=True)
class Token:
    """A line of a sentence: a word, the range of a multiword token, or an empty node.

    Attributes:
        line: its number.
        first, last: the numbers of its words; of a word, both are its own, of an empty node 0.
    """

    line: int
    first: int
    last: int
    columns: list[str]

    @property
    def form(self) -> str:
        return self.columns[1]

    @property
    def is_word(self) -> bool:
        return 0 < self.first == self.last

    def misc(self, name: str) -> str:
        pairs = (pair.partition("=") for pair in self.columns[9].split("|"))
        return next((value for key, _, value in pairs if key == name), "")


@dataclass
class _Open:
    """A mention that is not closed yet.

    Attributes:
        sentence: the tokens of its sentence.
        nodes: the numbers of its words among all words and empty nodes, as far as they are known.
        start: the number of the first one of this part.
        values: its fields.
    """

    sentence: list[Token]
    nodes: list[int]
    start: int
    values: Mapping[str, str]


class Mentions:
    """Reads the mentions of sentences, one after the other.

    Attributes:
        fields: of a mention, in their order; None until the file names them.
        document: the number of the document, of which GUM's numbers of entities are.
    """

    def __init__(self) -> None:
        self.fields: list[str] | None = None
        self.document = 0
        # By entity, those that are open, and those of which more parts follow.
        self._open: dict[str, list[_Open]] = {}
        self._parts: dict[str, list[_Open]] = {}
        self._skipped = Counter[str]()

    def left_out(self) -> dict[str, int]:
        """The numbers of mentions that were left out, by the reason, once all are read."""
        unclosed = sum(len(each) for each in (*self._open.values(), *self._parts.values()))
        found = {"never closed": unclosed, **self._skipped}
        return {why: count for why, count in found.items() if count}

    def of(self, sentence: list[Token]) -> list[Mention]:
        """The mentions of a sentence in the order of their first words, the longer ones first."""
        nodes = [token for token in sentence if token.is_word or not token.first]
        found = []
        for place, node in enumerate(nodes):
            for bracket in _BRACKET.findall(node.misc("Entity")):
                closed = self._bracket(sentence, node, place, bracket)
                if closed is not None:
                    found.append(self._mention(nodes, node, *closed))
        known = [mention for mention in found if mention is not None]
        return sorted(known, key=lambda mention: (mention.start, -mention.end))

    def _bracket(
        self, sentence: list[Token], node: Token, place: int, bracket: str
    ) -> tuple[str, _Open] | None:
        """Read a bracket: the mention that it completes, with the name of its entity, or None."""
        if self.fields is None or not set(_ENTITY) & set(self.fields):
            raise Wrong(
                node.line,
                "Entity= needs a line '# global.Entity = ...' before it that names the fields of a "
                f"mention, with eid or GRP among them; there is {self.fields or 'none'}",
            )
        opens, closes = bracket[0] == "(", bracket[-1] == ")"
        content = bracket.strip("()").split("-")
        values = dict(zip(self.fields, content, strict=False))
        if len(content) == 1:  # a closing bracket mostly has the entity alone
            values = {next(name for name in self.fields if name in _ENTITY): content[0]}
        name = next((values[field] for field in _ENTITY if field in values), "")
        part = _PART.fullmatch(name)
        name, number, parts = (part[1], int(part[2]), int(part[3])) if part else (name, 1, 1)
        key = f"{self.document} {name}" if "GRP" in self.fields else name
        if not name or not (opens or closes):
            raise Wrong(node.line, f"Entity={bracket} neither opens nor closes a mention")
        if opens:
            waiting = self._parts.get(key, [])
            if number == 1:
                one = _Open(sentence, [], place, values)
            elif waiting and waiting[-1].sentence is sentence:
                one = waiting.pop()
                one.start = place
            else:
                raise Wrong(node.line, f"part {number} of a mention of {name} has none before it")
            self._open.setdefault(key, []).append(one)
        if not closes:
            return None
        if not self._open.get(key):
            raise Wrong(node.line, f"a mention of {name} is closed that was not opened")
        one = self._open[key].pop()
        if one.sentence is not sentence:
            raise Wrong(node.line, f"a mention of {name} was opened in another sentence")
        one.nodes += range(one.start, place + 1)
        if number < parts:
            self._parts.setdefault(key, []).append(one)
            return None
        return name, one

    def _mention(self, nodes: list[Token], node: Token, name: str, one: _Open) -> Mention | None:
        """A mention; None, and counted, if its words are empty nodes alone."""
        words = [nodes[at].first - 1 for at in one.nodes if nodes[at].first]
        if not words:
            self._skipped["on empty nodes alone"] += 1
            return None
        head = None
        if "head" in one.values:
            at = one.values["head"]
            if not at.isdecimal() or not 0 < int(at) <= len(one.nodes):
                raise Wrong(node.line, f"the head of a mention of {name} is word {at!r} of it")
            head = nodes[one.nodes[int(at) - 1]].first - 1
        kind = next((one.values[field] for field in _KIND if field in one.values), "")
        (start, end), *rest = _ranges(words)
        return Mention(start, end, name, None if head == -1 else head, kind, tuple(rest))


def _ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as (start, end) of those that follow each other."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number:
            found[-1] = (found[-1][0], number + 1)
        else:
            found.append((number, number + 1))
    return found
