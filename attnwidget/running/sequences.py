"""Labels for the positions along either side of an attention: tokens, patches, frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from attnwidget.record import Box, Patches, Tokens
from attnwidget.tracing import CallId

from .sides import Side
from .sound import Sound, cuts_patches
from .stacks import Group, Labels
from .towers import is_cross


@dataclass(frozen=True)
class Detected:
    """The findings of a detection model: a box for each of its queries.

    Attributes:
        tower, length: the part of the model whose last queries these are, and its tokens' number.
        boxes: by query, the number of the image and the box on it.
        names: by query, the likeliest label with its probability; "" for no object, or if the
            labels are not known.
    """

    tower: str
    length: int
    boxes: tuple[tuple[int, Box], ...]
    names: tuple[str, ...]

    def on(self, tokens: Tokens) -> Tokens:
        """The same tokens with boxes, as far as these are theirs.

        Either all tokens are queries, or those after the patches; a patch has a place already.
        """
        before = len(tokens) - len(self.boxes)
        of = (None,) * len(tokens) if tokens.patches is None else tokens.patches.of
        if len(tokens) != self.length or (before and tokens.patches is None):
            return tokens
        if set(of[before:]) != {None}:
            return tokens
        own = tokens.labels[before:] if before else [f"query {n}" for n in range(len(tokens))]
        named = (": ".join(filter(None, pair)) for pair in zip(own, self.names, strict=True))
        boxes = (*(None,) * before, *self.boxes)
        return replace(tokens, labels=(*tokens.labels[:before], *named), boxes=boxes)


@dataclass(frozen=True)
class Places:
    """The places on images of the tokens that a pass has read.

    Attributes:
        calls: of the queries and the keys of some attention calls, where they are known.
        text: of the text; None if none of its tokens has one.
        others: the names of a tower's tokens without a place, by their number, and whether they are
            within windows.
        detected: the boxes of a detection model's queries; None for other models.
    """

    calls: Mapping[tuple[CallId, str], Patches] = field(default_factory=dict)
    text: Patches | None = None
    others: Callable[[int, bool], list[str]] = lambda count, _windows: [
        f"[{n}]" for n in range(1, count + 1)
    ]
    detected: Detected | None = None

    def of(self, group: Group, side: str, length: int) -> Tokens | None:
        """The tokens of one side of a group of layers, if they are those of an image alone."""
        # Of a group that is known by its names alone, there are no calls.
        patches, *further = [self.calls.get((call, side)) for call in group.calls] or [None]
        if patches is None or len(patches.of) != length:
            return None
        # Within windows, every layer may have an order of its own.
        if any(
            group.windows if other is None else _order(other) != _order(patches)
            for other in further
        ):
            return None
        others = tuple(position for position, place in enumerate(patches.of) if place is None)
        names = iter(self.others(len(others), group.windows))
        labels = (
            next(names) if place is None else label_of(patches, position)
            for position, place in enumerate(patches.of)
        )
        return Tokens(tuple(labels), special=others, patches=patches)


def _order(patches: Patches) -> tuple[object, ...]:
    """The tokens' patches and their grids, without edges, which vary by layer if they are soft."""
    return patches.of, *((grid.rows, grid.columns, grid.image) for grid in patches.grids)


def label_of(patches: Patches, token: int) -> str:
    """The name of a token's place: "row,column", after that of its grid if there are several."""
    found = patches.grid_of(token)
    assert found is not None  # it has a place
    grid, patch = found
    row, column = divmod(patch, grid.columns)
    return f"{grid.name} {row},{column}".lstrip()


@dataclass(frozen=True)
class Sequences:
    """The known properties of the sequences that a model reads.

    Attributes:
        text: the input tokens, or None.
        target: the decoder's tokens, or None.
        image: height and width in pixels, or None.
        patch: height and width of a patch in pixels, or None.
        sound: an item's sound, or None.
        placed: the places of tokens on images.
        before: what the model puts before the text, in a word: see `before_text`.
        others: the tokens of further inputs, by their names.
        maps: the rows and columns of the feature maps whose cells the keys of some calls are.
    """

    text: Tokens | None = None
    target: Tokens | None = None
    image: tuple[int, int] | None = None
    patch: tuple[int, int] | None = None
    sound: Sound | None = None
    placed: Places = field(default_factory=Places)
    before: str = ""
    others: Mapping[str, Tokens] = field(default_factory=dict)
    maps: Mapping[CallId, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def of_input(self, name: str | None) -> Tokens | None:
        """The tokens of the input of this name."""
        if name in ("input_ids", "inputs_embeds"):
            return self.text
        return self.target if name == "decoder_input_ids" else self.others.get(name or "")

    def with_places(self, places: Places) -> Sequences:
        """The same with the places of tokens; those of the text are named by them."""
        text, patches = self.text, places.text
        if text is not None and patches is not None and len(patches.of) == len(text):
            labels = (
                label if place is None else label_of(patches, position)
                for position, (label, place) in enumerate(zip(text.labels, patches.of, strict=True))
            )
            text = replace(text, labels=tuple(labels), patches=patches)
        return replace(self, text=text, placed=places)

    def labels(self, group: Group, shape: tuple[int, int]) -> Labels:
        """The labels of a group of layers [Tq, Tk]."""
        sides = group.kind.sides
        queries = keys = self._tokens(group, "query", sides.queries, shape[0])
        if sides.queries != sides.keys or shape[0] != shape[1]:
            keys = self._tokens(group, "key", sides.keys, shape[1])
        elif queries.patches is not None and self.text is not queries:
            other = self._tokens(group, "key", sides.keys, shape[1])
            keys = queries if other == queries else other
        # The order of patches is not read with the labels.
        assumed = group.kind.assumed or any(
            self.image is not None and each == self._patches(group, length)
            for each, length in zip((queries, keys), shape, strict=True)
        )
        return Labels(queries, keys, assumed)

    def _tokens(self, group: Group, name: str, side: Side, length: int) -> Tokens:
        """Labels of one side of a group of layers; positions if nothing else is known."""
        cross = group.cross or any(map(is_cross, group.modules))
        read = self._read(group, name, side, length, cross)
        found = self.placed.detected
        if found is None or group.tower != found.tower or (cross and name == "key"):
            return read
        return found.on(read)

    def _read(self, group: Group, name: str, side: Side, length: int, cross: bool) -> Tokens:
        maps = {self.maps.get(call, ()) for call in group.calls}
        if len(maps) == 1 and (name == "key" or not cross):
            cells = _cells(*maps)
            if len(cells) == length:
                patches = self.placed.calls.get((group.calls[0], "key"))
                return Tokens(cells, patches=patches)
        tokens, before = self.of_input(side.own), side.offset
        if tokens is None:
            placed = self.placed.of(group, name, length)
            if placed is not None:
                return placed
        if tokens is not None:
            if len(tokens) == length and (not before or self.before == "global"):
                return tokens  # some layers read no global tokens
            if len(tokens) + before == length:
                word = f"{self.before} " if self.before else ""
                return tokens.after([f"[{word}{n + 1}]" for n in range(before)])
        elif side.own is not None:
            labels = self._frames(group, length) or self._patches(group, length)
            if labels is not None:
                return labels
        return _positions(length)

    def _patches(self, group: Group, length: int) -> Tokens | None:
        """Patches by row and column, after a class token and registers.

        None if their order is not known: models with several resolutions or with windows may not
        use reading order.
        """
        if self.image is None or self.patch is None or group.tower == "audio":
            return None
        if group.shares_tower or group.windows:
            return None
        rows, columns = (i // p for i, p in zip(self.image, self.patch, strict=True))
        extra = length - rows * columns
        if not 0 <= extra <= 8 or extra >= rows * columns:
            return None
        first = ("[CLS]", *(f"[{n}]" for n in range(1, extra)))[:extra]
        grid = tuple(f"{row},{column}" for row in range(rows) for column in range(columns))
        return Tokens((*first, *grid), special=tuple(range(extra)))

    def _frames(self, group: Group, length: int) -> Tokens | None:
        """Frames by their start time."""
        if self.sound is None or group.tower == "vision" or length < 2:
            return None
        return self.sound.tokens(length)


def _cells(maps: tuple[tuple[int, int], ...]) -> tuple[str, ...]:
    """The cells of feature maps: "level 0 3,5", or "3,5" of a single map."""
    return tuple(
        f"level {level} {row},{column}" if len(maps) > 1 else f"{row},{column}"
        for level, (rows, columns) in enumerate(maps)
        for row in range(rows)
        for column in range(columns)
    )


def _positions(length: int) -> Tokens:
    return Tokens(tuple(str(position) for position in range(length)))


def pixels_name(tensors: Mapping[str, Any]) -> str | None:
    """The name of the input that has images: the usual one, or the only one of their shape."""
    if "pixel_values" in tensors:
        return "pixel_values"
    found = [
        name
        for name, value in tensors.items()
        if isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.ndim == 4
        and value.shape[1] in (1, 3)
        and "mask" not in name
    ]
    return found[0] if len(found) == 1 else None


def image_size(tensors: Mapping[str, Any]) -> tuple[int, int] | None:
    """The height and width of the input image, in pixels."""
    pixels = tensors.get(pixels_name(tensors) or "")
    if isinstance(pixels, torch.Tensor) and pixels.ndim >= 4:
        return int(pixels.shape[-2]), int(pixels.shape[-1])
    return None


def patch_size(model: torch.nn.Module) -> tuple[int, int] | None:
    """The height and width of a patch: of the configuration, or of the first convolution that cuts
    its input into patches; None without either."""
    config: Any = getattr(model, "config", None)
    for part in (config, getattr(config, "vision_config", None), getattr(config, "encoder", None)):
        size = getattr(part, "patch_size", None)
        if isinstance(size, (list, tuple)) and len(size) >= 2 and all(type(n) is int for n in size):
            return int(size[-2]), int(size[-1])
        if type(size) is int and size > 0:
            return size, size
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d) and module.stride[0] > 1:
            height, width = module.kernel_size
            return (height, width) if cuts_patches(module) else None
    return None
