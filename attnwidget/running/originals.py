"""The reader's own images, and the places on them that a model's numbers come from.

A processor scales images, cuts crops out of them, pads and flattens them. Run on pictures whose
brightness is a place, it says itself where each of its numbers comes from, whatever it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

# The parts of a ramp, which is in more than 256 steps so.
_PARTS = 4
# A number that comes from an image by less than half is one of its padding.
_FROM_IMAGE = 0.5

Process: TypeAlias = "Callable[[Sequence[Image]], Mapping[str, Any]]"
"""Makes a model's inputs of images, in place of the reader's own."""


@dataclass(frozen=True)
class Origin:
    """The places on the images that the numbers of an input come from.

    Attributes:
        across, down: in fractions of the image, from 0 to 1; NaN for what is no part of one, as
            padding. In the shape of the input.
        image: the number of the image, in the same shape.
    """

    across: NDArray[np.float32]
    down: NDArray[np.float32]
    image: NDArray[np.int16]


@dataclass(frozen=True)
class Originals:
    """The images that inputs were made of, and how.

    Attributes:
        images: in their order in the text.
        made: the inputs that the processor makes of them.
        process: makes those of others.
        frames: of each image the number of its video, and its own in it, from 0; None for one that
            is no frame. Empty without videos.
    """

    images: tuple[Image, ...]
    made: Mapping[str, Any]
    process: Process
    frames: tuple[tuple[int, int] | None, ...] = ()

    def origins(self) -> dict[str, Origin]:
        """Find the places on the images that the numbers of each input come from.

        Raises:
            ValueError: the processor makes other tokens of other images of this size, or another
                number of crops, or other numbers of the same ones, which have no fixed places so.
        """
        again = self._real(self.process(self.images))
        if not all(
            torch.allclose(of, self.made[name].cpu(), atol=1e-3) for name, of in again.items()
        ):
            raise ValueError(
                "the processor makes other numbers of the same images each time, so the places of "
                "tokens on them are not known"
            )
        black, white = self._inputs(0), self._inputs(255)
        reach = {name: _difference(white[name], black[name]) for name in black}
        seen = {name: of for name, of in reach.items() if np.abs(of).max(initial=0) > 0}
        across = self._ramp(black, seen, 0)
        down = self._ramp(black, seen, 1)
        count = len(self.images)
        level = [number * 255 / max(1, count - 1) for number in range(count)]
        which = self._inputs(*level) if count > 1 else black
        out = {}
        for name, of in seen.items():
            strong = np.abs(of)
            # Channels may be scaled apart, so each number is compared with the largest of all.
            none = strong < _FROM_IMAGE * np.median(strong[strong > 0])
            with np.errstate(divide="ignore", invalid="ignore"):
                image = _difference(which[name], black[name]) / of * (count - 1)
            places = [np.where(none, np.nan, each[name]) for each in (across, down)]
            number = np.where(none, 0, np.nan_to_num(image)).round().clip(0, count - 1)
            out[name] = Origin(
                places[0].astype(np.float32), places[1].astype(np.float32), number.astype(np.int16)
            )
        return out

    def _ramp(
        self,
        black: Mapping[str, torch.Tensor],
        reach: Mapping[str, NDArray[np.float64]],
        axis: int,
    ) -> dict[str, NDArray[np.float64]]:
        """The place of each number along one axis, from 0 to 1."""
        total = {name: np.zeros(of.shape) for name, of in reach.items()}
        for part in range(_PARTS):
            ramps = []
            for image in self.images:
                along = (np.arange(image.size[axis]) + 0.5) / image.size[axis]
                light = (np.clip(_PARTS * along - part, 0, 1) * 255).round()
                columns = light[None] if axis == 0 else light[:, None]
                ramps.append(np.broadcast_to(columns, image.size[::-1]))
            found = self._processed(ramps)
            for name, of in reach.items():
                with np.errstate(divide="ignore", invalid="ignore"):
                    total[name] += _difference(found[name], black[name]) / of / _PARTS
        return total

    def _inputs(self, *light: float) -> dict[str, torch.Tensor]:
        """The inputs of images of one brightness each, or of the same for all."""
        levels = light * len(self.images) if len(light) == 1 else light
        return self._processed(
            [
                np.full(image.size[::-1], round(level))
                for image, level in zip(self.images, levels, strict=True)
            ]
        )

    def _processed(self, pictures: Sequence[NDArray[Any]]) -> dict[str, torch.Tensor]:
        """The real numbers among the inputs that the processor makes of these pictures."""
        from PIL import Image

        return self._real(
            self.process(
                [Image.fromarray(np.asarray(each, np.uint8)).convert("RGB") for each in pictures]
            )
        )

    def _real(self, made: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        """The real numbers among such inputs."""
        real = {}
        for name, value in made.items():
            own = self.made.get(name)
            if not isinstance(value, torch.Tensor) or not isinstance(own, torch.Tensor):
                continue
            same = value.shape == own.shape
            if same and not value.is_floating_point():
                same = bool((value == own.cpu()).all())
            if not same:
                raise ValueError(
                    f"the processor makes other {name} of other images of the same size, so the "
                    "places of tokens on them are not known"
                )
            if value.is_floating_point():
                real[name] = value
        return real


def _difference(one: torch.Tensor, other: torch.Tensor) -> NDArray[np.float64]:
    out: NDArray[np.float64] = (one.double() - other.double()).numpy()
    return out
