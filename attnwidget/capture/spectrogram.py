"""Pictures of a sound: its spectrogram, low frequencies at the bottom."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from math import ceil

import torch

from attnwidget.record import Picture
from attnwidget.running.sound import Sound
from attnwidget.running.stacks import Group

# In pixels.
_WIDTH, _HEIGHT = 480, 160
# In seconds: frames of a longer picture would be much narrower than pixels.
_LONGEST = 12.0
_MOST_PICTURES = 32
# In seconds: a shorter end without sound is shown with the rest.
_SILENCE = 0.5
# In seconds: what a column of a spectrogram is computed of.
_WINDOW = 0.025
# In decibels below the loudest.
_RANGE = 80.0
# Part of viridis: all of it is seen on light and on dark backgrounds.
_COLORS = ((65, 68, 135), (42, 120, 142), (34, 168, 132), (122, 209, 81), (253, 231, 37))


def heard(sound: Sound, groups: Sequence[Group]) -> tuple[Sound, tuple[Picture, ...]] | None:
    """A sound with the edges of its pictures, and these; None if no tokens have certain places."""
    lengths = (
        length
        for group in groups
        if group.tower != "vision"
        for layer in group.layers
        if layer is not None
        for length in layer.shape
    )
    strides = [(stride, n) for n in lengths if n > 1 and (stride := sound.stride(n)) is not None]
    if find_spec("PIL") is None or not strides:
        return None
    # Each stride is a part of the next one, so that no token lies on two pictures.
    stride, count = max(strides)
    spectrum = _spectrum(sound)
    begin = sound.begin(stride)
    end = begin + stride * count
    sounding = begin + stride * ceil((_end_of(sound) - begin) / stride)
    if sounding <= begin or end - sounding < _SILENCE * sound.rate:
        sounding = end
    tokens = (sounding - begin) // stride
    pictures = min(_MOST_PICTURES, ceil(tokens * stride / sound.rate / _LONGEST), tokens)
    each = stride * ceil(tokens / max(1, pictures))
    edges = (*range(begin, sounding, each), sounding, *(() if sounding == end else (end,)))
    files = tuple(_picture(spectrum, sound, part, each) for part in pairwise(edges))
    return replace(sound, edges=edges, ends_silent=sounding < end), files


def _end_of(sound: Sound) -> int:
    """The end of a sound that is followed by nothing but the same number."""
    other = (sound.values != sound.values[-1, -1]).any(dim=0).nonzero()
    return int(other[-1]) + 1 if len(other) else 0


def _spectrum(sound: Sound) -> torch.Tensor:
    """The loudness of each frequency, from 0 to 1: [frequencies, time], from the lowest."""
    values = sound.values.detach().to("cpu", torch.float32)
    if sound.sampled:
        size = max(16, round(_WINDOW * sound.rate))
        # Whatever the sound's length, about two columns for a pixel.
        hop = max(1, min(round(_LONGEST * sound.rate / _WIDTH / 2), size // 2))
        window = torch.hann_window(size)
        found = torch.stft(
            values.mean(dim=0), size, hop, window=window, pad_mode="constant", return_complex=True
        )
        # Mel, as ears and models have it.
        rows = 700 * (10 ** (torch.linspace(0, 1, _HEIGHT) * _mel(sound.rate / 2) / 2595) - 1)
        bins = (rows / sound.rate * size).round().long().clamp(max=len(found) - 1)
        values = 20 * found.abs().clamp_min(1e-10).log10()[bins]
        values = values.clamp_min(float(values.max()) - _RANGE)
    least, most = float(values.min()), float(values.max())
    return (values - least) / max(most - least, 1e-6)


def _mel(frequency: float) -> float:
    return float(2595 * torch.tensor(1 + frequency / 700).log10())


def _picture(spectrum: torch.Tensor, sound: Sound, part: tuple[int, int], longest: int) -> Picture:
    """The picture of a part of a sound, all on one scale but for silence, which may be longer."""
    from PIL import Image

    scale = spectrum.shape[-1] / sound.values.shape[-1]
    first = min(int(part[0] * scale), spectrum.shape[-1] - 1)
    shown = spectrum[:, first : max(first + 1, round(part[1] * scale))].flip(0)
    place = shown * (len(_COLORS) - 1)
    low = place.floor().long().clamp(max=len(_COLORS) - 2)
    colors = torch.tensor(_COLORS, dtype=torch.float32)
    mixed = torch.lerp(colors[low], colors[low + 1], (place - low)[..., None])
    image = Image.fromarray(mixed.round().to(torch.uint8).contiguous().numpy())
    width = max(16, round(_WIDTH * min(1, (part[1] - part[0]) / longest)))
    file = io.BytesIO()
    image.resize((width, _HEIGHT), Image.Resampling.BILINEAR).save(file, "WEBP", quality=85)
    return Picture(file.getvalue())
