"""Texts and chats with images: the inputs that a processor makes of them, and of which images."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import torch

from attnwidget.record import Tokens

from .chat import IMAGE, Chat, content_of, has_images, pieces_of, render
from .labels import text_tokenizer
from .originals import Originals
from .words import word_spans

if TYPE_CHECKING:
    from PIL.Image import Image

# Where a part of a message has its image, in the forms that processors know.
_SOURCES = ("image", "url", "path", "base64", "image_url")
_NO_FILE = ("http://", "https://", "data:")


@dataclass(frozen=True)
class Illustrated:
    """Inputs that a processor has made of images.

    Attributes:
        inputs: the model's inputs by name.
        originals: the images.
        text: the text with a placeholder for each image; "" if there is none, or if it is not
            known.
        chat: the chat that was written so, or None.
    """

    inputs: Mapping[str, Any]
    originals: Originals
    text: str = ""
    chat: Chat | None = None


def is_image(text: Any) -> bool:
    """True for an image of Pillow."""
    pillow = sys.modules.get("PIL.Image")  # without it, there is no image
    return pillow is not None and isinstance(text, pillow.Image)


def illustrated(processor: Any, text: Any, images: Any) -> Illustrated | None:
    """The inputs of a text with images, or of an image alone; None if there are no images.

    Args:
        processor: the model's processor, or its image processor.
        text: a string or a chat with placeholders for the images; one image; or a mapping of
            inputs, whose pixels are then checked to be those of the images.
        images: one image or several; () for those in the messages of a chat.

    Raises:
        TypeError: these are no images, or there is no processor that takes them.
        ValueError: there are more or fewer images than placeholders, or the inputs are of others.
    """
    single = is_image(images) or isinstance(images, str | os.PathLike)
    given = [images] if single else list(images)
    if isinstance(text, os.PathLike) or (isinstance(text, str) and _reads_images_alone(processor)):
        text = _opened(text)
    if is_image(text):
        if given:
            raise TypeError("the text is an image, and images are given beside it: give one")
        if hasattr(processor, "image_token"):
            raise TypeError(
                f"{type(processor).__name__} reads images within a text: give a chat with the "
                'image, as {"type": "image", "image": image}, or a string and images='
            )
        return _of_images(processor, {}, [_in_colour(text, processor)])
    if isinstance(text, Sequence) and not isinstance(text, str) and has_images(text):
        return _of_chat(processor, text, given)
    if not given:
        _check_places(processor, text)
        return None
    opened = [_opened(image) for image in given]
    if isinstance(text, Mapping):
        return _of_images(processor, text, opened)
    if not isinstance(text, str):
        raise TypeError("images go into the messages of a chat, as {'type': 'image'} parts")
    _check_processor(processor)

    def process(pictures: Sequence[Image]) -> Mapping[str, Any]:
        made: Mapping[str, Any] = processor(text=text, images=list(pictures), return_tensors="pt")
        return made

    made = process(opened)
    return Illustrated(made, Originals(tuple(opened), made, process), text)


def _of_chat(
    processor: Any, messages: Sequence[Mapping[str, Any]], given: list[Any]
) -> Illustrated:
    _check_processor(processor)
    for at, message in enumerate(messages):
        content_of(message, at)  # what is no message is refused
    images: list[Image] = []
    rest = iter(given)
    for part in _parts(messages):
        if part.get("type") == IMAGE:
            source = next((part[name] for name in _SOURCES if name in part), None)
            source = source if source is not None else next(rest, None)
            if source is None:
                raise ValueError(
                    "a message has a place for an image, but there is none: give it in the part, "
                    'as {"type": "image", "image": image}, or in images='
                )
            images.append(_opened(source))
    if next(rest, None) is not None:
        raise ValueError(f"there are {len(given)} images, more than places for them in the chat")
    answered = messages[-1].get("role") == "assistant"

    def process(pictures: Sequence[Image]) -> Mapping[str, Any]:
        made: Mapping[str, Any] = processor.apply_chat_template(
            _with_images(chat.messages, pictures), add_generation_prompt=not answered,
            tokenize=True, return_dict=True, return_tensors="pt",
        )  # fmt: skip
        return made

    chat = render(processor, _with_images(messages, images), generation_prompt=not answered)
    made = process(images)
    return Illustrated(made, Originals(tuple(images), made, process), chat.text, chat)


def _of_images(processor: Any, inputs: Mapping[str, Any], images: Sequence[Image]) -> Illustrated:
    """The inputs of images alone; with inputs, these, if their pixels are those of the images."""
    owner = getattr(processor, "image_processor", processor)
    if not callable(owner) or hasattr(owner, "convert_ids_to_tokens"):
        raise TypeError(
            f"images need the model's processor; {type(processor).__name__} reads none: pass "
            "AutoProcessor.from_pretrained(...) as the tokenizer"
        )

    def process(pictures: Sequence[Image]) -> Mapping[str, Any]:
        made: Mapping[str, Any] = owner(images=list(pictures), return_tensors="pt")
        return made

    made = process(images)
    for name, value in made.items() if inputs else ():
        own = inputs.get(name)
        if isinstance(own, torch.Tensor) and isinstance(value, torch.Tensor):
            same = own.shape == value.shape and torch.allclose(
                own.cpu().float(), value.float(), atol=1e-2
            )
            if not same:
                raise ValueError(
                    f"the processor makes other {name} of these images: give those of which the "
                    "inputs were made, or the text or chat with images instead of its inputs"
                )
    return Illustrated(inputs or made, Originals(tuple(images), made, process))


def _reads_images_alone(processor: Any) -> bool:
    """True for an image processor of transformers, to which a string can only be a path."""
    from transformers.image_processing_utils import ImageProcessingMixin

    return isinstance(processor, ImageProcessingMixin)


def _in_colour(image: Image, processor: Any) -> Image:
    """In RGB, but grey where the processor may have been made for it."""
    owner = getattr(processor, "image_processor", processor)
    mean = getattr(owner, "image_mean", None)
    coloured = (
        isinstance(mean, Sequence) and len(mean) == 3 and getattr(owner, "do_normalize", False)
    )
    return (
        image
        if image.mode == "RGB" or (image.mode == "L" and not coloured)
        else image.convert("RGB")
    )


def _check_places(processor: Any, text: Any) -> None:
    """Refuse a text with places for images where there are none, which would be read as words."""
    place = getattr(processor, "image_token", None)
    if isinstance(text, str) and isinstance(place, str) and place in text:
        raise ValueError(
            f"the text has a place for an image, {place}, but there is none: give it in images="
        )


def _check_processor(processor: Any) -> None:
    if not callable(processor) or hasattr(processor, "convert_ids_to_tokens"):
        raise TypeError(
            f"a text with images needs the model's processor; {type(processor).__name__} reads "
            "text alone: pass AutoProcessor.from_pretrained(...) as the tokenizer"
        )


def _parts(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The parts of all messages, but for contents that are strings."""
    contents = (message.get("content") for message in messages)
    return [part for content in contents if isinstance(content, list | tuple) for part in content]


def _with_images(
    messages: Sequence[Mapping[str, Any]], images: Sequence[Image]
) -> list[Mapping[str, Any]]:
    """Messages with these images in the places of their own."""
    left = iter(images)
    return [
        {
            **message,
            "content": [
                {"type": IMAGE, "image": next(left)} if part.get("type") == IMAGE else part
                for part in message["content"]
            ],
        }
        if isinstance(message.get("content"), list | tuple)
        else message
        for message in messages
    ]


def _opened(source: Any) -> Image:
    """An image of Pillow, from a path, an address, or base64."""
    from transformers.image_utils import load_image

    if isinstance(source, Mapping):
        source = source.get("url")
    if not is_image(source) and not isinstance(source, str | os.PathLike):
        raise TypeError(
            f"an image is {type(source).__name__}; expected one of Pillow, a path or an address: "
            "of an array, pass PIL.Image.fromarray(array)"
        )
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    try:
        image: Image = load_image(source)
    except ImportError:
        raise
    except Exception as error:  # of addresses, also those of whatever client transformers has
        # A dot is in the name of a file, and not in base64.
        file = isinstance(source, str) and "." in source and not source.startswith(_NO_FILE)
        reason = "there is no such file" if file and not os.path.exists(source) else error
        raise ValueError(f"no image can be read from {source!r:.100}: {reason!s:.200}") from error
    return image


def tokens_in_text(read: Illustrated, tokens: Tokens, ids: Sequence[int], processor: Any) -> Tokens:
    """Tokens with their places in the text: those of an image are in that of its placeholder.

    They stay as they are where the text alone would be split in another way.
    """
    tokenizer = text_tokenizer(processor)
    if not read.text or not getattr(tokenizer, "is_fast", False):
        return tokens
    options = {} if read.chat is None else {"add_special_tokens": False}
    encoding = tokenizer(read.text, return_tensors="pt", **options)
    alone = encoding["input_ids"][0].tolist()
    words, offsets = word_spans(encoding, 0, list(range(len(alone))), (read.text,))
    if offsets is None:
        return tokens
    at: list[int | None] = [None] * len(ids)
    special = set(getattr(tokenizer, "all_special_ids", ())) - {tokenizer.bos_token_id}
    matcher = SequenceMatcher(None, alone, list(ids), autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            at[first:last] = range(start, end)
        elif kind == "insert":
            # After a placeholder, or before it, stand further tokens of its image.
            beside = [place for place in (start, start - 1) if 0 <= place < len(alone)]
            own = [place for place in beside if alone[place] in ids[first:last]]
            own += [place for place in beside if alone[place] in special]
            at[first:last] = [own[0] if own else None] * (last - first)
        else:
            return tokens
    spans = tuple(None if n is None else offsets[n] for n in at)
    inside = None if words is None else tuple(None if n is None else words[n] for n in at)
    pieces = pieces_of(read.chat, spans)
    return replace(tokens, offsets=spans, words=inside, text=read.text, pieces=pieces)
