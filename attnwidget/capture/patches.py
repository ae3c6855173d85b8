"""The places of a pass's tokens on the images that it reads: found, and named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch

from attnwidget.record import Patches, Picture
from attnwidget.running.inputs import Inputs
from attnwidget.running.model import is_offloaded
from attnwidget.running.sequences import Places, Sequences, pixels_name
from attnwidget.running.sound import Sound
from attnwidget.running.stacks import Group
from attnwidget.tracing import CallId
from attnwidget.warning import warn

from .detection import detected, predicts_boxes
from .grids import Seen, patches_of, patches_of_cells, patches_of_maps, place_of
from .picture import pictures
from .places import Wanted, tokens_of_pixels
from .recorder import RecordedCall
from .spectrogram import heard

if TYPE_CHECKING:
    from PIL.Image import Image

_TEXT = ("input_ids", "inputs_embeds")

# Of a group: one window as large as the image may shift in every second layer.
_LAYERS = 2

# Of a side: as processors enlarge fewer, ramps on them end long before the edges.
_FEWEST_PIXELS = 4
# Of its sides: scaled down, such a strip may be a single row of pixels.
_STRIP = 50

# The parameters of tokens without a patch, in the order in which models place them.
_WITHOUT_PATCH = (
    (("cls_token", "class_token", "class_embedding"), "[CLS]"),
    (("distillation_token", "dist_token"), "[DIST]"),
    (("register_tokens", "reg_token"), "[REG {}]"),
    (("detection_tokens", "det_token"), "[DET {}]"),
)


@dataclass(frozen=True)
class OnImages:
    """The places of tokens, and the images on which they are.

    Attributes:
        places: on images; None for those of a sound.
        images: these, or pictures of the sound.
        sound: the sound, with the edges of its pictures.
    """

    places: Places | None
    images: tuple[Picture, ...]
    sound: Sound | None = None

    def of(self, sequences: Sequences) -> Sequences:
        """Sequences with the places of tokens."""
        if self.places is None:
            return replace(sequences, sound=self.sound)
        return sequences.with_places(self.places)


def on_images(
    model: torch.nn.Module,
    processor: object,
    inputs: Inputs,
    calls: Sequence[RecordedCall],
    groups: Sequence[Group],
    random: torch.Tensor,
    run: Callable[[Inputs], object],
    output: Any,
) -> OnImages | None:
    """The places of the tokens of groups of layers; None if no token has a certain one.

    It is None, too, where the images could not be shown, or where the model must not be stopped.

    Args:
        random: the state of torch's random numbers at the beginning of the recorded pass.
        run: calls the model with inputs.
        calls: those of the recorded pass, in order.
        output: that of the recorded pass.
    """
    originals = inputs.originals
    if find_spec("PIL") is None or is_offloaded(model):
        return None
    origins = None
    if originals is not None:
        if _warned_of(originals.images, lambda size: min(size) < _FEWEST_PIXELS):
            return None
        try:
            origins = originals.origins()
        except ValueError as error:
            warn(str(error))
            return None
    name = pixels_name(inputs.tensors)
    if name is None and "pixel_values_videos" in inputs.tensors:
        name = "pixel_values_videos"
    names = list(origins) if origins is not None else [] if name is None else [name]
    if not names:
        return None

    has_text = inputs.batch.text is not None
    detects = predicts_boxes(output)
    sites = chain.from_iterable(
        group.calls if group.windows or _repeats(group) else group.calls[:_LAYERS]
        for group in groups
        if group.tower != "audio" and not (has_text and _of_text(group))
    )
    of_text = has_text and any(map(_of_text, groups))
    found = tokens_of_pixels(
        model, inputs, names, Wanted(frozenset(sites), of_text, detects), random, run
    )
    seen = Seen(inputs.tensors, origins, () if originals is None else originals.frames)
    by_call: dict[tuple[CallId, str], Patches] = {}
    # Most calls have the same tokens in the same order.
    of: dict[int, Patches | None] = {}
    for site, (fed, length) in found.calls.items():
        if id(fed) not in of:
            of[id(fed)] = patches_of(fed, length, seen)
        patches = of[id(fed)]
        if patches is not None:
            by_call[site] = patches
    text = None if found.text is None else patches_of(*found.text, seen)
    boxes = detected(model, output, calls, inputs, seen)
    if boxes is not None and name is not None:
        # A convolution mixes pixels; its cells are where the model takes them to be.
        whole = place_of(name, (inputs.batch.index,), seen)
        assert whole is not None  # boxes have places
        for site, cells in found.cells.items():
            patches = patches_of_cells(cells, found.calls[site][1], whole)
            if patches is not None:
                by_call.setdefault(site, patches)
        for call in calls:
            if call.maps:
                by_call[call.address.id, "key"] = patches_of_maps(call.maps, whole)
    if not by_call and text is None and boxes is None:
        if originals is not None:
            _warned_of(originals.images, lambda size: max(size) > _STRIP * min(size))
        return None
    images = pictures(inputs, processor, seen)
    if seen.frames:
        # Of frames that tokens read together, the first is in the record.
        grids = chain.from_iterable(each.grids for each in [*by_call.values(), text] if each)
        used = sorted({grid.image for grid in grids})
        by_call = {site: _renumbered(each, used) for site, each in by_call.items()}
        text = None if text is None else _renumbered(text, used)
        images = tuple(images[number] for number in used)
    places = Places(by_call, text, partial(_names_without_patch, model), boxes)
    return OnImages(places, images)


def on_sound(inputs: Inputs, groups: Sequence[Group]) -> OnImages | None:
    """The places of the tokens of groups of layers on pictures of the sound that a model reads."""
    sound, media = inputs.sequences.sound, inputs.batch.media
    # Of several sounds in one text, it is not known which frames are whose.
    found = heard(sound, groups) if sound is not None and media == inputs.batch.size else None
    return None if found is None else OnImages(None, found[1], found[0])


def _renumbered(patches: Patches, used: Sequence[int]) -> Patches:
    """Places on some of the images, which are numbered anew."""
    grids = tuple(replace(grid, image=used.index(grid.image)) for grid in patches.grids)
    return replace(patches, grids=grids)


def _warned_of(images: Sequence[Image], small: Callable[[tuple[int, int]], bool]) -> bool:
    """True if an image is too small to find places on it, of which this warns."""
    found = next((image.size for image in images if small(image.size)), None)
    if found is not None:
        warn(
            f"an image has {found[0]} × {found[1]} pixels, too few on a side to find the places of "
            "tokens on images: enlarge it, or take another part of it"
        )
    return found is not None


def _repeats(group: Group) -> bool:
    """True if a module runs several times, maybe over one image after the other."""
    return len({call.module for call in group.calls}) < len(group.calls)


def _of_text(group: Group) -> bool:
    """True for layers in which the text attends to itself."""
    sides = group.kind.sides
    return not group.cross and sides.queries.own in _TEXT


def _names_without_patch(model: torch.nn.Module, count: int, windows: bool) -> list[str]:
    """The names of tokens without a patch, as far as the model's parameters tell; else numbers."""
    parameters = {
        name.rsplit(".", 1)[-1]: parameter for name, parameter in model.named_parameters()
    }
    kinds = (
        [label.format(n + 1) for n in range(parameters[name].numel() // parameters[name].shape[-1])]
        for names, label in _WITHOUT_PATCH
        for name in names
        if name in parameters
    )
    named = list(chain.from_iterable(kinds))
    if len(named) == count:
        return named
    if windows and not named:  # what fills up the last windows, as no pixel feeds it
        return [f"[PAD {n}]" for n in range(1, count + 1)]
    first = [name for name in named if name == "[CLS]"]
    return [*first, *(f"[{n}]" for n in range(1, count + 1))][:count]
