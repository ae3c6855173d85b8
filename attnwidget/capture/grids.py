"""The grids in which the patches of tokens lie on images, from the pixels that feed each token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.record import Box, Grid, Patches
from attnwidget.running.originals import Origin

from .places import NO_TOKEN, SEVERAL, TokenOf

# Of a patch: how far a place may lie from that in its grid.
_OFF = 0.2
# Pixels that feed several tokens, as a share of those that feed any: beyond, no place is exact.
_MOST_SHARED = 0.02
# Of an image: what a grid of the whole may leave out.
_EDGE = 0.05
# Of an image: ramps of 8 bits are no finer.
_ROUNDING = 1e-3


class Seen:
    """The images on which tokens are placed.

    Args:
        tensors: the model's inputs.
        origins: where their numbers come from on the reader's own images; None if these are not
            known: an image is then what an input holds.
        frames: as in `Originals`.

    Attributes:
        parts: without origins, the images: the name of the input, and the leading indices of one.
    """

    def __init__(
        self,
        tensors: Mapping[str, Any],
        origins: Mapping[str, Origin] | None,
        frames: Sequence[tuple[int, int] | None] = (),
    ) -> None:
        self.tensors = tensors
        self.origins = origins
        self.frames = frames
        self.parts: list[Part] = []

    @property
    def several(self) -> bool:
        """True if there are several images."""
        origins = (self.origins or {}).values()
        return any(origin.image.max(initial=0) > 0 for origin in origins)

    def number(self, part: Part) -> int:
        """The number of an image, which is added if it is new."""
        if part not in self.parts:
            self.parts.append(part)
        return self.parts.index(part)


Part: TypeAlias = "tuple[str, tuple[int, ...]]"
Place: TypeAlias = "tuple[int, Box]"


@dataclass(frozen=True)
class _Placed:
    """A grid, the token of each of its patches, -1 for none, and the last image they read."""

    grid: Grid
    tokens: NDArray[np.int64]
    last: int


def patches_of(fed: TokenOf, length: int, seen: Seen) -> Patches | None:
    """The places of tokens; None if they are in no grids.

    Args:
        fed: the token that each number of an input feeds.
        length: the number of tokens.
        seen: the images.
    """
    placed: list[_Placed] = []
    soft = False
    for name, token in fed.items():
        some = token != NO_TOKEN
        if not some.any():
            continue
        # The pixels of one token alone then lie in the middle of its patch.
        shared = bool((token == SEVERAL).sum() > _MOST_SHARED * some.sum())
        found = _of_input(name, token, seen)
        if found is None or (shared and any((each.tokens < 0).any() for each in found)):
            return None
        soft = soft or shared
        placed += found
    of: list[int | None] = [None] * length
    start = 0
    for each in placed:
        for patch, token_ in enumerate(each.tokens.tolist()):
            if token_ >= 0:
                if of[token_] is not None:  # a token of several places
                    return None
                of[token_] = start + patch
        start += len(each.grid)
    if not placed:
        return None
    return Patches(tuple(_named(placed, seen)), tuple(of), soft)


def patches_of_cells(token: NDArray[np.int32], length: int, whole: Place) -> Patches | None:
    """The places of tokens that are the cells of a feature map; None if others are among them.

    Args:
        token: the token that each number of the map [channels, height, width] feeds.
        whole: of the map.
    """
    of = token.max(axis=0)
    if length != of.size or not np.array_equal(np.unique(of), np.arange(length)):
        return None
    if ((token != of) & (token != NO_TOKEN)).any():
        return None
    patches = np.empty(length, np.int64)
    patches[of.ravel()] = np.arange(length)
    return Patches((_map_grid(of.shape, whole),), tuple(patches.tolist()), soft=True)


def patches_of_maps(shapes: Sequence[tuple[int, int]], whole: Place) -> Patches:
    """The places of tokens that are the cells of some feature maps, one after the other."""
    several = len(shapes) > 1
    grids = tuple(
        replace(_map_grid(shape, whole), name=f"level {level}" if several else "")
        for level, shape in enumerate(shapes)
    )
    return Patches(grids, tuple(range(sum(map(len, grids)))), soft=True)


def _map_grid(shape: Sequence[int], whole: Place) -> Grid:
    return Grid(int(shape[0]), int(shape[1]), *whole)


def place_of(name: str, lead: tuple[int, ...], seen: Seen) -> Place | None:
    """The image that a picture [channels, height, width] of an input shows, and the box of it that
    it covers; None if that is not known."""
    if seen.origins is None:
        return seen.number((name, lead)), (0.0, 0.0, 1.0, 1.0)
    origin = seen.origins.get(name)
    box = None if origin is None else _on_image(origin, lead)
    if origin is None or box is None:
        return None
    return int(origin.image[lead].max()), _rounded(*box)


def content_of(name: str, lead: tuple[int, ...], seen: Seen) -> Box | None:
    """The part of a picture that is no padding, in fractions of it; None if there is none."""
    pixels, mask = seen.tensors[name], seen.tensors.get("pixel_mask")
    known = np.ones(pixels.shape[-2:], bool)
    if seen.origins is not None:
        known = ~np.isnan(seen.origins[name].across[lead]).all(axis=0)
    elif isinstance(mask, torch.Tensor) and mask[lead].shape == known.shape:
        known = mask[lead].cpu().numpy().astype(bool)
    rows, columns = known.any(axis=1).nonzero()[0], known.any(axis=0).nonzero()[0]
    if not len(rows):
        return None
    down, across = known.shape
    return (
        float(columns[0] / across),
        float(rows[0] / down),
        float((columns[-1] + 1) / across),
        float((rows[-1] + 1) / down),
    )


def within(box: Box, whole: Box) -> Box:
    """A box in fractions of another one, in those of the image."""
    across, down = whole[2] - whole[0], whole[3] - whole[1]
    return (
        whole[0] + box[0] * across,
        whole[1] + box[1] * down,
        whole[0] + box[2] * across,
        whole[1] + box[3] * down,
    )


def _of_input(name: str, token: NDArray[np.int32], seen: Seen) -> list[_Placed] | None:
    """The grids of one input."""
    origin = None if seen.origins is None else seen.origins[name]
    # Beside a grid, an input lists patches, which may have the shape of pictures.
    listed = any(each.endswith("grid_thw") for each in seen.tensors)
    if token.ndim >= 4 and not listed and _is_spatial(token, origin):
        return _of_pictures(name, token, origin, seen)
    if listed:
        token = token.reshape(len(token), -1)
    return None if origin is None else _of_rows(token, origin)


def _through(placed: Sequence[_Placed], tokens: NDArray[Any], last: int) -> list[_Placed]:
    """Grids, of which that of some tokens reaches to a later image: they read several frames."""
    return [
        replace(each, last=max(last, each.last)) if np.isin(tokens, each.tokens).all() else each
        for each in placed
    ]


def _is_spatial(token: NDArray[np.int32], origin: Origin | None) -> bool:
    """True if the last two dimensions of an input are those of images."""
    if origin is None:
        return token.shape[-3] in (1, 3)
    steps = np.diff(origin.across, axis=-2), np.diff(origin.down, axis=-1)
    return all(
        not step.size or np.nanmax(np.abs(step), initial=0) < 1 / max(token.shape[-2:])
        for step in (np.nan_to_num(each) for each in steps)
    )


def _of_pictures(
    name: str, token: NDArray[np.int32], origin: Origin | None, seen: Seen
) -> list[_Placed] | None:
    """The grids of images [..., channels, height, width]: one for each of these, or for several
    that the same tokens read, as the frames of a video."""
    pictures = token.max(axis=-3)
    # Of some colours, a pixel may not reach a token; a token alone has it in all others.
    pictures[((token != pictures[..., None, :, :]) & (token != NO_TOKEN)).any(axis=-3)] = SEVERAL
    out: list[_Placed] = []
    earlier: dict[int, tuple[int, ...]] = {}
    for lead in np.ndindex(pictures.shape[:-2]):
        picture = pictures[lead]
        tokens = np.unique(picture[picture >= 0])
        if not len(tokens):
            continue
        if int(tokens[0]) in earlier:
            if not np.array_equal(pictures[earlier[int(tokens[0])]], picture):
                return None
            if origin is not None:
                out = _through(out, tokens, int(origin.image[lead].max()))
            continue
        earlier |= dict.fromkeys(map(int, tokens), lead)
        if origin is not None and np.isnan(origin.across[lead]).all():
            continue  # a crop that fills up a batch
        found = _in_picture(picture, tokens)
        if found is None:
            return None
        rows, columns, of, edges = found
        down, across = picture.shape
        left, top, right, bottom = edges
        part = left / across, top / down, right / across, bottom / down
        number, whole = 0, (0.0, 0.0, 1.0, 1.0)
        if origin is None:
            number = seen.number((name, lead))
        else:
            on_image = _on_image(origin, lead)
            if on_image is None:
                return None
            number, whole = int(origin.image[lead].max()), on_image
        grid = Grid(rows, columns, number, _rounded(*within(part, whole)))
        out.append(_Placed(grid, of, number))
    return out


def _in_picture(
    picture: NDArray[np.int32], tokens: NDArray[np.int32]
) -> tuple[int, int, NDArray[np.int64], tuple[int, int, int, int]] | None:
    """The grid of the tokens on a picture [height, width]: rows, columns, tokens, and its box."""
    edges = _edges_of(picture)
    own = np.median(edges[:, 2:] - edges[:, :2], axis=0)
    starts = edges[:, :2].astype(np.float64)
    sides = _steps(edges[:, :2], own)
    padded = bool((sides < own).any())
    if padded:  # the first patches begin outside: all are counted from their ends
        sides = _steps(edges[:, 2:], own)
        starts = edges[:, 2:] - sides
    if (sides < own).any():
        return None
    first = starts.min(axis=0)
    middle = (sides - own) / 2
    cells = np.round((starts - first) / sides).astype(np.int64)
    away = np.abs(starts - first - cells * sides).max(axis=0)
    if (away > np.maximum(1, _OFF * sides)).any():
        return None
    rows, columns = (int(n) + 1 for n in cells.max(axis=0))
    of = np.full(rows * columns, -1, np.int64)
    places = cells @ (columns, 1)
    if len(np.unique(places)) < len(places):
        return None
    of[places] = tokens
    size = np.array(picture.shape)
    begin = np.maximum(first - middle, first if padded else 0).round().astype(int)
    end = np.minimum(edges[:, 2:].max(axis=0) + middle, size).round().astype(int)
    fed = _edges_of(np.where(picture == NO_TOKEN, NO_TOKEN, 0))[0]
    if (np.abs(fed - [*begin, *end]) >= [*sides, *sides]).any():
        return None  # some tokens have no pixel alone
    return rows, columns, of, (int(begin[1]), int(begin[0]), int(end[1]), int(end[0]))


def _steps(edges: NDArray[np.int64], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance of neighbouring patches along both axes; their own sides in a single row.

    Some patches may have no token, as those of padding; others overlap.
    """
    apart = (np.diff(np.unique(each)) for each in edges.T)
    return np.array(
        [min(step) if len(step) else side for step, side in zip(apart, own, strict=True)]
    )


def _edges_of(picture: NDArray[np.int32]) -> NDArray[np.int64]:
    """(top, left, bottom, right) of the pixels of each token, by its number: [tokens, 4]."""
    down, across = (picture >= 0).nonzero()
    order = np.argsort(picture[down, across], kind="stable")
    starts = np.unique(picture[down, across][order], return_index=True)[1]
    sides = [
        reduce.reduceat(places[order], starts) + (reduce is np.maximum)
        for reduce in (np.minimum, np.maximum)
        for places in (down, across)
    ]
    edges: NDArray[np.int64] = np.stack(sides, axis=1)
    return edges


def _on_image(origin: Origin, lead: tuple[int, ...]) -> Box | None:
    """The part of its image that a picture [channels, height, width] of an input covers."""
    out = []
    for numbers, axis in ((origin.across[lead], -1), (origin.down[lead], -2)):
        size = numbers.shape[axis]
        lines = np.moveaxis(numbers, axis, 0).reshape(size, -1)
        known = ~np.isnan(lines).all(axis=1)
        if known.sum() < 2:
            return None
        of = np.nanmean(lines[known], axis=1)
        step, start = np.polyfit(np.arange(size)[known] + 0.5, of, 1)
        if step * size <= _ROUNDING:  # one row of pixels has no places, for instance
            return None
        out.append((float(start), float(start + step * size)))
    (left, right), (top, bottom) = out
    return left, top, right, bottom


def _rounded(*edges: float) -> Box:
    """Edges without what is the processor's rounding of pixels."""
    near = (round(edge) if abs(edge - round(edge)) < _ROUNDING else edge for edge in edges)
    left, top, right, bottom = (round(edge, 4) + 0.0 for edge in near)
    return left, top, right, bottom


def _of_rows(token: NDArray[np.int32], origin: Origin) -> list[_Placed] | None:
    """The grids of images that are cut into rows of numbers, [..., patches, numbers]."""
    flat, image = token.ravel(), origin.image.ravel()
    known = (flat >= 0) & ~np.isnan(origin.across.ravel())
    lead = np.zeros(token.shape, np.int64)
    if token.ndim > 2:
        lead += np.arange(len(token)).reshape(-1, *(1,) * (token.ndim - 1))
    crops = lead.ravel() * (int(image.max(initial=0)) + 1) + image
    out: list[_Placed] = []
    for crop in np.unique(crops[known]):
        chosen = known & (crops == crop)
        placed = _in_lattice(
            flat[chosen], origin.across.ravel()[chosen], origin.down.ravel()[chosen]
        )
        if placed is None:
            return None
        (rows, columns, of, box), number = placed, int(image[chosen][0])
        if any(np.array_equal(of, each.tokens) for each in out):
            out = _through(out, of, number)
        else:
            out.append(_Placed(Grid(rows, columns, number, box), of, number))
    return out


def _in_lattice(
    token: NDArray[np.int32], across: NDArray[np.float32], down: NDArray[np.float32]
) -> tuple[int, int, NDArray[np.int64], Box] | None:
    """The grid of tokens whose numbers come from these places: as `_in_picture`."""
    tokens, of = np.unique(token, return_inverse=True)
    counts = np.bincount(of)
    sides = []
    for places in (across, down):
        centre = np.bincount(of, places) / counts
        spread = np.sqrt(np.maximum(np.bincount(of, places**2) / counts - centre**2, 0))
        side = float(np.median(spread) * np.sqrt(12))  # that of an even spread
        order = np.sort(centre)
        starts = np.concatenate([[True], np.diff(order) > side / 2])
        line = np.array([part.mean() for part in np.split(order, starts.nonzero()[0][1:])])
        step = float(line[-1] - line[0]) / (len(line) - 1) if len(line) > 1 else side
        if step * len(line) <= _ROUNDING:  # as `_on_image`
            return None
        nearest = np.abs(centre[:, None] - line).argmin(axis=1)
        even = line[0] + step * np.arange(len(line))
        if np.abs(centre - even[nearest]).max() > _OFF * step:
            return None
        sides.append((nearest, len(line), float(line[0]) - step / 2, float(line[-1]) + step / 2))
    (column, columns, left, right), (row, rows, top, bottom) = sides
    cells = row * columns + column
    if len(np.unique(cells)) < len(cells):
        return None
    found = np.full(rows * columns, -1, np.int64)
    found[cells] = tokens
    return rows, columns, found, _rounded(left, top, right, bottom)


def _named(placed: Sequence[_Placed], seen: Seen) -> list[Grid]:
    """Grids with names, where there are several: of their image, and of the crop that they are.

    The images of a call may be one of several that a tower reads one at a time.
    """
    grids = [each.grid for each in placed]
    names = [""] * len(grids)
    images = sorted({grid.image for grid in grids})
    for image in images:
        own = [number for number, grid in enumerate(grids) if grid.image == image]
        crops = 0
        for number in own:
            left, top, right, bottom = grids[number].box
            # With the edges that scaling cuts off.
            whole = max(left, top, 1 - right, 1 - bottom) < _EDGE
            crops += not whole
            said = [_name_of(image, placed[number].last, seen.frames)]
            if not seen.several and len(images) == 1:
                said = []
            if len(own) > 1:
                said.append("whole" if whole else f"crop {crops}")
            names[number] = ", ".join(said)
    return [replace(grid, name=name) for grid, name in zip(grids, names, strict=True)]


def _name_of(image: int, last: int, frames: Sequence[tuple[int, int] | None]) -> str:
    """The name of an image, or of a frame of a video or several that the same tokens read."""
    video = frames[image] if frames else None
    until = frames[last] if frames else None
    if video is None or until is None:
        return f"image {sum(each is None for each in frames[:image]) + 1 if frames else image + 1}"
    several = len({each[0] for each in frames if each is not None}) > 1
    of = f" of video {video[0] + 1}" if several else ""
    if until[1] > video[1]:
        return f"frames {video[1] + 1}–{until[1] + 1}{of}"
    return f"frame {video[1] + 1}{of}"
