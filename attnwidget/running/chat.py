"""Chats: messages as the text that a model reads, and which part of it is whose.

Templates trim messages, move them and cut them, so that neither prefixes nor a search tell where
they went. Here the template runs a second time with every letter, sign and emoji of the contents
replaced by a character that occurs once. This counts only if it is the same text but for these.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

from attnwidget.record import Piece
from attnwidget.warning import warn

from .labels import text_tokenizer

Messages: TypeAlias = "Sequence[Mapping[str, Any]]"
"""A chat, as [{"role": "user", "content": "Why?"}]; a content may be a list of text parts."""

_EXPECTED = 'expected messages, as [{"role": "user", "content": "Why?"}]'
_REPLY = "assistant"
IMAGE, VIDEO = "image", "video"
"""The types of parts of a message that are pictures."""
PICTURES = IMAGE, VIDEO
# What templates look for in a message stays as it is, as <think>; so does what they trim.
_KEPT = re.compile(r"<[^<>\s]+>|[\s!-/:-@\[-`{-~]")
_BLANK = re.compile(r"\s")
_TAG = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_PRIVATE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


@dataclass(frozen=True)
class Chat:
    """A chat as a template has written it.

    Attributes:
        text: all of it, with the special tokens that the template writes.
        pieces: its characters by message, without gaps; empty if they could not be told.
        messages: with their contents in the form in which the template writes them.
    """

    text: str
    pieces: tuple[Piece, ...]
    messages: Messages


def is_chat(text: Any) -> bool:
    """True for a list that is to be messages, right or wrong ones."""
    several = isinstance(text, Sequence) and not isinstance(text, (str, bytes))
    return several and not any(isinstance(each, str) for each in text)


def render(tokenizer: Any, messages: Messages, *, generation_prompt: bool) -> Chat:
    """Write messages by the chat template of a tokenizer or processor.

    Args:
        generation_prompt: True to end with what the model's answer begins with.

    Raises:
        TypeError: these are no messages, or there is no template.
        ValueError: there are none, or the template refuses them.
    """
    contents = [content_of(message, at) for at, message in enumerate(messages)]
    if not contents:
        raise ValueError(f"the chat is empty; {_EXPECTED}")
    apply = _template(tokenizer)
    given: list[Mapping[str, Any]] = list(messages)
    asked = [isinstance(message.get("content"), str) for message in given]
    # Templates for images write lists of parts.
    other = [not each and not has_images(given) for each in asked]
    best = None
    for form in (asked, other):
        try:
            written = _Written(apply, given, contents, form, generation_prompt)
        except ValueError:
            if best is None:
                raise
            continue
        if best is None or len(written.lost) < len(best.lost):
            best = written
        if not best.lost:
            break
    assert best is not None
    if best.form is not asked:
        kind = "list of parts" if any(asked) else "string"
        warn(f"the chat template writes no content in this form: each is given as a {kind}")
    if best.lost:
        warn(f"the chat template leaves out message {' and '.join(map(str, best.lost))}")
    pieces = best.pieces()
    if not pieces:
        warn("which text is whose is not known: the chat template changes contents")
    return Chat(best.text, pieces, best.messages)


def pieces_of(
    chat: Chat | None, offsets: Sequence[tuple[int, int] | None]
) -> tuple[Piece, ...] | None:
    """The pieces of a chat by token: a token is of the piece in which its first sign stands."""
    if chat is None or not chat.pieces or not offsets:
        return None
    ends = [piece.end for piece in chat.pieces]
    pieces: list[Piece] = []
    at = 0
    for token, span in enumerate(offsets):
        if span is not None:
            start, end = span
            sign = start + len(chat.text[start:end]) - len(chat.text[start:end].lstrip(" "))
            at = max(at, min(bisect_right(ends, min(sign, max(start, end - 1))), len(ends) - 1))
        of = chat.pieces[at]
        if pieces and pieces[-1] == replace(of, start=pieces[-1].start, end=token):
            pieces[-1] = replace(of, start=pieces[-1].start, end=token + 1)
        else:
            pieces.append(replace(of, start=token, end=token + 1))
    return tuple(pieces)


def content_of(message: Any, at: int) -> str:
    """The text of a message, without its images and videos.

    Raises:
        TypeError: it is no message.
    """
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise TypeError(
            f"message {at} is {message!r:.100}, without a role; {_EXPECTED}; of several texts or "
            "images, one after the other"
        )
    content = message.get("content")
    if content is None and "tool_calls" in message:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        raise TypeError(f"the content of message {at} is {content!r:.100}; {_EXPECTED}")
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
        if kind not in PICTURES and not (
            isinstance(part, Mapping) and isinstance(part.get("text"), str)
        ):
            raise TypeError(
                f"message {at} has a part {kind!r}; expected text, as "
                '{"type": "text", "text": "Why?"}, an image, as {"type": "image", "image": image}, '
                'or a video, as {"type": "video", "video": frames}: for sound, pass what '
                "processor.apply_chat_template returns with tokenize=True, return_dict=True and "
                'return_tensors="pt"'
            )
    return "".join(_texts(content))


def _texts(content: Sequence[Mapping[str, Any]]) -> list[str]:
    return [part["text"] for part in content if part.get("type") not in PICTURES]


def has_images(messages: Messages) -> bool:
    """True if a message of a chat has an image or a video."""
    return any(
        isinstance(part, Mapping) and part.get("type") in PICTURES
        for message in messages
        if isinstance(message, Mapping) and isinstance(message.get("content"), Sequence)
        for part in message["content"]
    )


_Apply: TypeAlias = "Callable[[Sequence[Mapping[str, Any]], bool], str]"


def _template(tokenizer: Any) -> _Apply:
    """The function that writes messages."""
    owners = (tokenizer, text_tokenizer(tokenizer))
    owner = next((each for each in owners if getattr(each, "chat_template", None)), None)
    if owner is None:
        raise TypeError(
            f"text is a chat, but {type(tokenizer).__name__} has no chat template: give the "
            "tokenizer of a model that was trained on chats, or a string"
        )

    def apply(messages: Sequence[Mapping[str, Any]], generation_prompt: bool) -> str:
        try:
            text = owner.apply_chat_template(
                list(messages), tokenize=False, add_generation_prompt=generation_prompt
            )
        except ImportError:
            raise
        except Exception as error:  # whatever a template does
            raise ValueError(_refused(messages, error)) from error
        return str(text)

    return apply


def _refused(messages: Sequence[Mapping[str, Any]], error: Exception) -> str:
    roles = list(dict.fromkeys(message["role"] for message in messages))
    said = f"the chat template refuses these messages: {error}"
    if "system" in str(error).lower():
        return f"{said}: put the system message's text into the first user message"
    return f"{said} (their roles are {', '.join(map(repr, roles))})"


class _Written:
    """Messages with contents in one form, string or parts, and the text that results.

    Attributes:
        form: True for each message whose content is a string.
        messages: in this form.
        text: the template's own text.
        lost: the messages of which nothing is in the text.
    """

    def __init__(
        self,
        apply: _Apply,
        messages: Sequence[Mapping[str, Any]],
        contents: Sequence[str],
        form: Sequence[bool],
        generation_prompt: bool,
    ) -> None:
        self._apply, self._messages, self.form = apply, messages, form
        self._reply = generation_prompt
        self.messages = self._formed(contents)
        self.text = apply(self.messages, generation_prompt)
        pictured = [has_images([message]) for message in messages]
        # Around images, there is whitespace in the middle of a message.
        trimmed = [
            content if images else content.strip()
            for content, images in zip(contents, pictured, strict=True)
        ]
        # A template that trims contents may write the same whitespace itself.
        if trimmed != list(contents):
            same = apply(self._formed(trimmed), generation_prompt) == self.text
            contents = trimmed if same else contents
        self._contents = contents
        self._marked, self._places, self._unused = _marked(contents, self.text)
        marked = apply(self._formed(self._marked), generation_prompt)
        places = [self._places.get(each) for each in marked]
        found = {place[0] for place in places if place is not None}
        self.lost = [at for at, each in enumerate(contents) if each.strip() and at not in found]
        same = len(marked) == len(self.text) and all(
            own == (each if place is None else contents[place[0]][place[1]])
            for own, each, place in zip(self.text, marked, places, strict=True)
        )
        self._owners = _filled(self.text, contents, places) if same else []

    def _formed(self, contents: Iterable[str]) -> list[Mapping[str, Any]]:
        return [
            message
            if message.get("content") is None
            else {**message, "content": text if string else _parts(message["content"], text)}
            for message, text, string in zip(self._messages, contents, self.form, strict=False)
        ]

    def pieces(self) -> tuple[Piece, ...]:
        """The characters by message, contents apart from what the template writes around them."""
        runs: list[tuple[int, int, int]] = []
        for place, owner in enumerate(self._owners):
            if owner is None:
                continue
            if runs and runs[-1][1:] == (place, owner[0]):
                runs[-1] = (runs[-1][0], place + 1, owner[0])
            else:
                runs.append((place, place + 1, owner[0]))
        if not runs:
            return ()
        roles = [str(message["role"]) for message in self._messages] + [_REPLY]
        pieces: list[Piece] = []

        def add(end: int, message: int | None, template: bool = True) -> None:
            start = pieces[-1].end if pieces else 0
            if end > start:
                role = "system" if message is None else roles[message]
                pieces.append(Piece(start, end, role, message, template))

        add(self._own_system(runs[0][0], runs[0][2]), None)
        for (start, end, message), after in zip(runs, [*runs[1:], None], strict=True):
            add(start, message)
            add(end, message, template=False)
            gap = self.text[end : after[0] if after else len(self.text)]
            if (after is None and not self._reply) or (after and after[2] == message):
                add(end + len(gap), message)
            else:
                add(end + _shared(gap, self._footer(message)), message)
        add(len(self.text), len(roles) - 1)
        return tuple(pieces)

    def _footer(self, message: int) -> str:
        """The text that the template writes after a message that is the last one."""
        try:
            text = self._apply(self._formed(self._marked[: message + 1]), False)
        except ValueError:
            return ""
        marks = [at for at, each in enumerate(text) if each in self._places]
        if not marks:
            return ""
        of, place = self._places[text[marks[-1]]]
        return text[marks[-1] + 1 :].removeprefix(self._contents[of][place + 1 :])

    def _own_system(self, start: int, message: int) -> int:
        """The end of a system message that the template has of its own, where none is given."""
        if message or self._messages[0]["role"] == "system":
            return 0
        system = {**self._formed([self._unused])[0], "role": "system"}
        try:
            text = self._apply([system, *self._formed(self._marked)], self._reply)
            alone = self._apply([system], False)
        except ValueError:
            return 0
        before, _, after = text.partition(self._unused)
        mark = next((at for at, each in enumerate(after) if each in self._places), 0)
        after = after[: mark - self._places[after[mark]][1]] if mark else ""
        head = self.text[:start]
        own = len(head) - len(before) - len(after)
        if not after or own <= 0 or not (head.startswith(before) and head.endswith(after)):
            return 0
        return len(before) + own + _shared(after, alone.partition(self._unused)[2])


def _parts(content: Any, text: str) -> list[Mapping[str, Any]]:
    """The parts of a content with another text of the same length in place of its own."""
    whole: list[Mapping[str, Any]] = [{"type": "text", "text": text}]
    if isinstance(content, str) or sum(map(len, _texts(content))) != len(text):
        return whole
    parts, at = [], 0
    for part in content:
        if part.get("type") in PICTURES:
            parts.append(part)
        else:
            end = at + len(part["text"])
            parts.append({**part, "text": text[at:end]})
            at = end
    return parts


def _marked(
    contents: Sequence[str], text: str
) -> tuple[list[str], dict[str, tuple[int, int]], str]:
    """Contents with characters that occur once; the message and place of each; and one unused."""
    used = {*text, *chain.from_iterable(contents)}
    signs = (sign for sign in map(chr, chain(*_PRIVATE)) if sign not in used)
    unused = next(signs)
    places: dict[str, tuple[int, int]] = {}
    marked = []
    for message, content in enumerate(contents):
        # Of "?!", nothing would be left to find it by.
        kept = _KEPT if _KEPT.sub("", content) else _BLANK
        stay = {at for match in kept.finditer(content) for at in range(*match.span())}
        written = list(content)
        for at in range(len(content)):
            if at not in stay and (sign := next(signs, None)) is not None:
                written[at] = sign
                places[sign] = message, at
        marked.append("".join(written))
    return marked, places, unused


_Owners: TypeAlias = "list[tuple[int, int] | None]"


def _filled(text: str, contents: Sequence[str], places: _Owners) -> _Owners:
    """The message and place of each character, those beside the marked ones included."""
    owners = list(places)
    for order, step in ((range(1, len(text)), 1), (range(len(text) - 2, -1, -1), -1)):
        for at in order:
            beside = owners[at - step]
            if owners[at] is None and beside is not None:
                message, place = beside[0], beside[1] + step
                own = contents[message]
                if 0 <= place < len(own) and own[place] == text[at]:
                    owners[at] = message, place
    return owners


def _shared(gap: str, footer: str) -> int:
    """The length of what a gap between messages has of a footer; tags are not cut."""
    count = 0
    while gap[count : count + 1] == footer[count : count + 1] != "":
        count += 1
    inside = (tag.start() for tag in _TAG.finditer(gap) if tag.start() < count < tag.end())
    return next(inside, count)
