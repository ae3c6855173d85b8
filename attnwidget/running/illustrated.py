"""Texts and chats with images: the inputs that a processor makes of them, and of which images."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.record import Tokens

from .chat import IMAGE, PICTURES, VIDEO, Chat, content_of, has_images, pieces_of, render
from .labels import text_tokenizer
from .originals import Originals
from .words import word_spans

if TYPE_CHECKING:
    from PIL.Image import Image

# Where a part of a message has its image, in the forms that processors know.
_SOURCES = ("image", "url", "path", "base64", "image_url")
# Each is a picture in the record, told from the others by its brightness.
_MOST_FRAMES = 64
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
    frames: list[tuple[int, int] | None] = []
    rest = iter(given)
    videos = 0
    for part in _parts(messages):
        if part.get("type") == VIDEO:
            of_video = _frames(part, processor)
            images += of_video
            frames += [(videos, at) for at in range(len(of_video))]
            videos += 1
        elif part.get("type") == IMAGE:
            source = next((part[name] for name in _SOURCES if name in part), None)
            source = source if source is not None else next(rest, None)
            if source is None:
                raise ValueError(
                    "a message has a place for an image, but there is none: give it in the part, "
                    'as {"type": "image", "image": image}, or in images='
                )
            images.append(_opened(source))
            frames.append(None)
    if videos and len(images) > _MOST_FRAMES:
        every = -(-len(images) // _MOST_FRAMES)
        raise ValueError(
            f"there are {len(images)} frames and images, more than {_MOST_FRAMES}: give fewer "
            f"frames, as video[::{every}]"
        )
    if next(rest, None) is not None:
        raise ValueError(f"there are {len(given)} images, more than places for them in the chat")
    answered = messages[-1].get("role") == "assistant"

    def process(pictures: Sequence[Image]) -> Mapping[str, Any]:
        made: Mapping[str, Any] = processor.apply_chat_template(
            _with_pictures(chat.messages, pictures, frames), add_generation_prompt=not answered,
            tokenize=True, return_dict=True, return_tensors="pt", **options,
        )  # fmt: skip
        return made

    options: dict[str, Any] = {}
    if videos:  # which frames are read is the reader's choice
        options = {"do_sample_frames": False}
        if "processor_kwargs" in signature(processor.apply_chat_template).parameters:
            options = {"processor_kwargs": options}
    given_all = _with_pictures(messages, images, frames)
    chat = render(processor, given_all, generation_prompt=not answered)
    made = process(images)
    originals = Originals(tuple(images), made, process, tuple(frames) if videos else ())
    return Illustrated(made, originals, chat.text, chat)


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


def _with_pictures(
    messages: Sequence[Mapping[str, Any]],
    pictures: Sequence[Image],
    frames: Sequence[tuple[int, int] | None],
) -> list[Mapping[str, Any]]:
    """Messages with these images, and videos of these frames, in the places of their own."""
    groups: list[Any] = []
    for picture, frame in zip(pictures, frames, strict=True):
        if frame is None:
            groups.append({"type": IMAGE, "image": picture})
        elif frame[1] == 0:
            groups.append([picture])
        else:
            groups[-1].append(picture)
    left = (
        {"type": VIDEO, "video": np.stack([np.asarray(each) for each in group])}
        if isinstance(group, list)
        else group
        for group in groups
    )
    return [
        {
            **message,
            "content": [
                next(left) if part.get("type") in PICTURES else part for part in message["content"]
            ],
        }
        if isinstance(message.get("content"), list | tuple)
        else message
        for message in messages
    ]


def _frames(part: Mapping[str, Any], processor: Any) -> list[Image]:
    """The frames of a video in a message."""
    from PIL import Image

    if getattr(processor, "video_processor", None) is None:
        raise TypeError(
            f"{type(processor).__name__} reads no video: give its frames as images, each as "
            '{"type": "image", "image": frame}'
        )
    given = next((part[name] for name in (VIDEO, *_SOURCES) if name in part), None)
    if isinstance(given, str | os.PathLike):
        raise TypeError(
            "a video is a file; expected its frames, which you choose so: "
            "transformers.video_utils.load_video(path, num_frames=8)[0]"
        )
    if isinstance(given, Sequence) and given and not isinstance(given[0], np.ndarray):
        frames = [_opened(each).convert("RGB") for each in given]
    else:
        array: NDArray[Any] = np.asarray(given)
        if array.ndim != 4 or array.shape[-1] != 3 or array.dtype != np.uint8 or not len(array):
            raise TypeError(
                "a video is a list of images, or an array uint8 [frames, height, width, 3]; this "
                f"is {type(given).__name__} {array.dtype} {list(array.shape)}"
            )
        frames = [Image.fromarray(each) for each in array]
    if len({frame.size for frame in frames}) > 1:
        raise ValueError("the frames of a video are of several sizes")
    return frames


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
        elif kind == "replace" and end == start + 1 and alone[start] in special:
            at[first:last] = [start] * (last - first)  # of a video, with words beside each frame
        else:
            return tokens
    spans = tuple(None if n is None else offsets[n] for n in at)
    inside = None if words is None else tuple(None if n is None else words[n] for n in at)
    pieces = pieces_of(read.chat, spans)
    return replace(tokens, offsets=spans, words=inside, text=read.text, pieces=pieces)
