"""The places of a vision model's tokens on its image, found by changing parts of the image.

No list of architectures could say them for every model. A token stands for a patch if the query of
the first attention layer, where tokens have not mixed yet, changes with this patch and no other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain, combinations, islice
from math import comb

import numpy as np
import torch

from attnwidget.record import Floats, Grid, Patches, Tokens
from attnwidget.running.inputs import Inputs
from attnwidget.running.items import Items
from attnwidget.running.model import device_of, is_offloaded
from attnwidget.running.sequences import PlacedTokens, Sequences, pixels_name
from attnwidget.running.stacks import kind_of
from attnwidget.running.towers import is_cross, tower
from attnwidget.tracing import PassEnded

from .recorder import RecordedCall, RecordedCalls, record_pass

# Relative to the largest query component. An unchanged token has the same query to the last bit
# on most processors; a changed one is far above.
_UNCHANGED, _CHANGED = 1e-5, 1e-3

# Models of which every image token is a patch of the vision tower, in the same order.
_ONE_BY_ONE = ("llava", "paligemma")

_NOT_SEEING = ("text", "audio", "decoder", "qformer")

# The parameters of tokens without a patch, in the order in which models place them.
_WITHOUT_PATCH = (
    (("cls_token", "class_token", "class_embedding"), "[CLS]"),
    (("distillation_token", "dist_token"), "[DIST]"),
    (("register_tokens", "reg_token"), "[REG {}]"),
    (("detection_tokens", "det_token"), "[DET {}]"),
)


def placed_tokens(
    model: torch.nn.Module, inputs: Inputs, run: Callable[[Inputs], object]
) -> PlacedTokens | None:
    """Find the places of the tokens; None if a token mixes patches, or a patch has no token.

    It is None, too, where the image could not be shown, or where the model must not be stopped.

    Args:
        run: calls the model with inputs. It is stopped after the first attention layer.
    """
    pixels, patch = inputs.item_pixels, inputs.sequences.patch
    if pixels is None or patch is None or find_spec("PIL") is None or is_offloaded(model):
        return None
    rows, columns = (side // of for side, of in zip(pixels.shape[-2:], patch, strict=True))
    if rows < 1 or columns < 1:
        return None

    name = pixels_name(inputs.tensors)
    assert name is not None  # of these pixels

    def first(changed: np.ndarray) -> RecordedCall | None:
        images = inputs.tensors[name].clone()
        images[inputs.batch.index] = _changed(pixels, changed, patch)
        return _first_call(model, replace(inputs, tensors={**inputs.tensors, name: images}), run)

    device = device_of(model)
    # A random order of tokens differs from pass to pass, and so is not taken for a place.
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        before = first(np.zeros((rows, columns), bool))
        of = None if before is None else _patches(_queries(before), rows, columns, first)
    if before is None or of is None:
        return None
    own = kind_of(model, before.address.id).tower
    return PlacedTokens(own, _labelled(model, Patches((Grid(rows, columns),), of)))


def on_image(
    model: torch.nn.Module, inputs: Inputs, sequences: Sequences, placed: PlacedTokens
) -> Sequences:
    """The sequences with places on the image: of the tower, and of image tokens among text."""
    text, patches = sequences.text, placed.tokens.patches
    if text is not None and patches is not None:
        text = _with_image_tokens(model, inputs, text, patches)
    return replace(sequences, text=text, placed=placed)


def _with_image_tokens(
    model: torch.nn.Module, inputs: Inputs, text: Tokens, patches: Patches
) -> Tokens:
    """The text with the places of its image tokens, where it is known that each is a patch."""
    config, ids = getattr(model, "config", None), inputs.tensors.get("input_ids")
    kept = inputs.batch.text
    # Until transformers 4.51, it is called image_token_index.
    image_token = getattr(config, "image_token_id", getattr(config, "image_token_index", None))
    known = image_token is not None and getattr(config, "model_type", None) in _ONE_BY_ONE
    if not known or ids is None or kept is None or "image_sizes" in inputs.tensors:
        return text
    positions = (ids[inputs.batch.index].cpu()[kept.kept] == image_token).nonzero()[:, 0].tolist()
    if len(positions) != len(patches.grids[0]):
        return text
    places: list[int | None] = [None] * len(text)
    labels = list(text.labels)
    for patch, position in enumerate(positions):
        places[position] = patch
        labels[position] = _label(patch, patches)
    of = replace(patches, of=tuple(places))
    return replace(text, labels=tuple(labels), patches=of)


def _patches(
    before: Floats,
    rows: int,
    columns: int,
    first: Callable[[np.ndarray], RecordedCall | None],
) -> tuple[int | None, ...] | None:
    """The patch of each token, by the passes in which the token changes.

    Every patch changes in passes of its own, always the same number of them. A token that mixes
    patches changes in more passes, and so is not taken for that of one patch.

    Args:
        before: the queries of the unchanged image.
        first: changes these patches [rows, columns], and returns the first call.
    """
    count = rows * columns
    passes = next(n for n in range(2, 99) if comb(n, n // 2) >= count)
    codes = list(islice(combinations(range(passes), passes // 2), count))
    observed: list[tuple[int, ...]] = [()] * before.shape[1]
    for number in range(passes):
        changed = np.array([number in code for code in codes]).reshape(rows, columns)
        differing = _differing(before, first(changed))
        if differing is None:
            return None
        observed = [
            (*code, number) if differs else code
            for code, differs in zip(observed, differing, strict=True)
        ]
    places = {code: patch for patch, code in enumerate(codes)}
    found = [code for code in observed if code]
    if len(found) != count or set(found) != set(places):
        return None
    return tuple(places[code] if code else None for code in observed)


class _UntilFirst(RecordedCalls):
    """Ends a pass after the first attention layer over the image."""

    def add(self, call: RecordedCall) -> None:
        if call.layer is not None:
            super().add(call)
            raise PassEnded


def _first_call(
    model: torch.nn.Module, inputs: Inputs, run: Callable[[Inputs], object]
) -> RecordedCall | None:
    """The first self-attention over the image, if it has queries and no windows."""
    sink = _UntilFirst()
    items = Items(model, inputs.batch)
    # A model that fails here says why in the pass that is recorded.
    with suppress(PassEnded, Exception):
        record_pass(
            model,
            lambda: run(inputs),
            items.of,
            sink,
            batch=inputs.batch.size,
            wanted=lambda name: not is_cross(name) and tower(name) not in _NOT_SEEING,
            values=False,
            check=False,
        )
    call = next(iter(sink.calls), None)
    if call is None or call.layer is None or call.layer.queries is None:
        return None
    windows = call.layer.program is not None and call.layer.program.blocks is not None
    return None if windows else call


def _queries(call: RecordedCall) -> Floats:
    assert call.layer is not None  # `_first_call` sees to it
    assert call.layer.queries is not None
    return call.layer.queries


def _changed(pixels: torch.Tensor, patches: np.ndarray, patch: tuple[int, int]) -> torch.Tensor:
    """An image [channels, height, width] with other pixels in these patches."""
    mask = torch.zeros(pixels.shape[-2:], dtype=torch.bool)
    covered = np.kron(patches, np.ones(patch, bool)).astype(bool)
    mask[: covered.shape[0], : covered.shape[1]] = torch.from_numpy(covered)
    noise = torch.rand(pixels.shape, generator=torch.Generator().manual_seed(0)) + 0.5
    # Values of 0 to 255 would hardly change by 1.
    noise *= max(1.0, float(pixels.abs().max()))
    return torch.where(mask.to(pixels.device), pixels + noise.to(pixels), pixels)


def _differing(before: Floats, call: RecordedCall | None) -> np.ndarray | None:
    """True for the tokens whose queries [heads, T, d] changed; None if one may have."""
    after = None if call is None else _queries(call)
    if after is None or after.shape != before.shape:
        return None
    change = np.abs(after - before).max(axis=(0, 2)) / max(float(np.abs(before).max()), 1e-30)
    if ((change > _UNCHANGED) & (change < _CHANGED)).any() or not np.isfinite(change).all():
        return None
    differing: np.ndarray = change >= _CHANGED
    return differing


def _labelled(model: torch.nn.Module, patches: Patches) -> Tokens:
    """Tokens named by row and column, or by what they are if they have no patch."""
    others = tuple(position for position, place in enumerate(patches.of) if place is None)
    names = iter(_names_without_patch(model, len(others)))
    labels = (next(names) if place is None else _label(place, patches) for place in patches.of)
    return Tokens(tuple(labels), special=others, patches=patches)


def _label(patch: int, patches: Patches) -> str:
    row, column = divmod(patch, patches.grids[0].columns)
    return f"{row},{column}"


def _names_without_patch(model: torch.nn.Module, count: int) -> list[str]:
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
    first = [name for name in named if name == "[CLS]"]
    return [*first, *(f"[{n}]" for n in range(1, count + 1))][:count]
