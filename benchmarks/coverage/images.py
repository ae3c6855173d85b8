"""Places of tokens on images, for every architecture that reads any; its part of the page.

What capture says of exact places is tested forwards: where attention returns zeros, a change of the
pixels of half of the tokens changes these tokens alone.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import Any
from unittest import mock

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget import AttentionRecord, capture
from attnwidget.capture import forward
from attnwidget.capture.grids import Seen, patches_of
from attnwidget.capture.patches import on_images
from attnwidget.capture.places import (
    NO_TOKEN,
    SEVERAL,
    Side,
    TokenOf,
    Wanted,
    _frozen,
    _Watch,
    tokens_of_pixels,
)
from attnwidget.capture.vectors import call_vectors
from attnwidget.record import Patches
from attnwidget.running.inputs import Inputs
from attnwidget.running.sequences import pixels_name
from attnwidget.running.stacks import Group, titles
from attnwidget.tracing import Address, CallId, PassEnded, Read, trace, undisturbed
from benchmarks import zoo
from benchmarks.zoo.classes import model_class

from .examine import _has_none
from .judge import one_line
from .report import IMAGES, table

_PIXELS = re.compile(r"(\w+_)?pixel_values(_\w+)?|flattened_patches")
# Numbers that feed several tokens, as a share of those that feed any, as in `grids`.
_MOST_SHARED = 0.02
# Of the largest number of all tokens: rounding.
_SAME = 1e-6
_FAILED, _SINGLE = "no capture", "the image is one token here"
_NO_ONE = {NO_TOKEN, SEVERAL}
# Of a model's tokens: those that the language model reads.
_TEXT = "text"

_ABOUT = """\
The same models with the same inputs, if they read images or video: whether capture places tokens on
them, from the tensors alone. Of a language model that reads images among its text, this is of the
text's tokens; else of any stack. In a pass where attention returns zeros, the pixels of half of the
tokens were changed, at their places: of "exact" ones, these tokens alone have other vectors.
Written by `python -m benchmarks.coverage --images --write`."""


class Status(str, Enum):
    """The verdicts on the places of tokens, from best to worst; the values are the labels."""

    EXACT = "exact"
    SOFT = "soft"
    OWN = "exact, with the reader's own images"
    RESAMPLER = "through a resampler"
    NONE = "none"
    WRONG = "WRONG"
    NOT_BUILT = "not built"


_MEANING = {
    Status.EXACT: "tokens have places on the pixels of the tensor; a change of half of them "
    "changes these tokens alone",
    Status.SOFT: "likewise, with pixels that other tokens read, too",
    Status.OWN: "images are flattened to rows, of which each number feeds one token, by the same "
    "test: places need the images themselves",
    Status.RESAMPLER: "no token of the text is made of some pixels alone, but the keys of a "
    "cross-attention are",
    Status.NONE: "no token is known to be made of some pixels alone",
    Status.WRONG: "a change of pixels changes other tokens than those placed there",
    Status.NOT_BUILT: "no tiny model of it can be built here, or none that reads an image",
}


@dataclass(frozen=True)
class Images:
    """
    Attributes:
        name: the model type.
        status: see `Status`.
        reason: why there are no places.
        stacks: those with places.
    """

    name: str
    status: Status
    reason: str = ""
    stacks: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The status, and its reason."""
        return f"{self.status.value}: {self.reason}" if self.reason else self.status.value

    def __str__(self) -> str:
        return f"{self.name:<36} {self.label} [{', '.join(self.stacks)}]"


def examine(name: str) -> Images | None:
    """Examine an architecture; None if it reads no images."""
    try:
        built = zoo.build(name)
    except zoo.CannotBuild as error:
        return Images(name, Status.NOT_BUILT, one_line(error)) if _may_read(name) else None
    pixels = [each for each in built.inputs if _PIXELS.fullmatch(each)]
    if not pixels and "grid_thw" in built.inputs:
        pixels = ["hidden_states"]
    if not pixels:
        reason = "its inputs here have no image"
        return Images(name, Status.NOT_BUILT, reason) if _may_read(name) else None
    found = _of_inputs(name, built, pixels)
    if found.reason == _SINGLE and built.inputs[pixels[0]].ndim == 4:
        larger = torch.randn(1, 3, 128, 128, generator=torch.Generator().manual_seed(0))
        again = _of_inputs(name, replace(built, inputs={**built.inputs, pixels[0]: larger}), pixels)
        return found if again.reason.startswith(_FAILED) else again
    return found


def _of_inputs(name: str, built: zoo.Built, pixels: list[str]) -> Images:
    """The result for some inputs."""
    asked: list[tuple[Any, ...]] = []

    def keep(*args: Any) -> object:
        asked.append(args)
        return on_images(*args)

    try:
        torch.manual_seed(0)
        with mock.patch.object(forward, "on_images", keep):
            record = capture(built.model, None, built.inputs)
    except Exception as error:
        return _not_captured(name, built, error)
    return _Model(pixels, *asked[-1]).examined(name, record)


def _may_read(name: str) -> bool:
    """True if the forward method takes pixels, or the name says that it sees."""
    with suppress(Exception):
        if any(map(_PIXELS.fullmatch, inspect.signature(model_class(name).forward).parameters)):
            return True
    return "vision" in name or name.endswith(("_vl", "_vlm"))


def _not_captured(name: str, built: zoo.Built, error: Exception) -> Images:
    """The result where capture fails; it must not do so for the sake of the images."""
    try:
        capture(built.model, None, built.inputs, image=False)
    except Exception:
        reason = "no softmax attention" if _has_none(error) else f"{_FAILED}: {one_line(error)}"
        return Images(name, Status.NONE, reason)
    return Images(name, Status.WRONG, f"capture fails with images alone: {one_line(error)}")


@dataclass(frozen=True)
class _Site:
    """The tokens of the text, or of one side of a group of layers.

    Attributes:
        stack: the name of the stack; (keys) after it for its keys.
        key: that of these tokens among the vectors.
        fed: the token that each number of the pixels feeds.
        length: the number of tokens.
        cross: True for the keys of cross-attention.
        others: what further calls of the layers have in place of `fed` and `length`.
    """

    stack: str
    key: object
    fed: TokenOf
    length: int
    cross: bool = False
    others: tuple[tuple[TokenOf, int], ...] = ()


class _Model:
    """A model with its pixels, from the arguments of `on_images`."""

    def __init__(
        self,
        pixels: list[str],
        model: torch.nn.Module,
        _processor: object,
        inputs: Inputs,
        _calls: object,
        groups: Sequence[Group],
        random: torch.Tensor,
        run: Callable[[Inputs], object],
        _output: object,
    ) -> None:
        self._model, self._inputs, self._random, self._run = model, inputs, random, run
        usual = pixels_name(inputs.tensors)
        self._names = pixels if usual is None else [usual]
        self._groups = list(zip(titles(groups), groups, strict=True))
        has_text = inputs.batch.text is not None
        # Layers with a softmax come first, as in a record.
        self._of_text = [
            title
            for title, group in sorted(self._groups, key=lambda each: each[1].signed)
            if has_text and not group.cross and _reads_text(group)
        ]
        self._towers = [
            (title, group)
            for title, group in self._groups
            if group.tower != "audio" and title not in self._of_text
        ]
        calls = chain.from_iterable(group.calls for _, group in self._towers)
        self._wanted = Wanted(frozenset(calls), bool(self._of_text))
        self._failed = ""
        self._single = False

    def examined(self, name: str, record: AttentionRecord) -> Images:
        """The result, with the record's own stacks that have places."""
        judged = [(site, *self._judged(site)) for site in self._sites(record)]
        wrong = [
            f"{site.stack}: {why}"
            for site, status, _ in judged
            if status is not Status.NONE and (why := self._wrong(site, status))
        ]
        wrong += self._unlike(record, judged)
        placed = [(site, status) for site, status, _ in judged if status is not Status.NONE]
        stacks = tuple(dict.fromkeys(site.stack for site, _ in placed))
        if wrong:
            return Images(name, Status.WRONG, "; ".join(wrong), stacks)
        if judged and judged[0][0].key == _TEXT:
            _, status, reason = judged[0]
            if status is Status.NONE and any(site.cross for site, _ in placed):
                return Images(name, Status.RESAMPLER, reason, stacks)
            return Images(name, status, reason, stacks)
        if self._beside_text(record):
            reason = "tokens of the image beside those of the text are not looked for"
            return Images(name, Status.NONE, reason, stacks)
        if self._in_text_by_attention():
            crossed = any(site.cross for site, _ in placed)
            reason = "" if crossed else "pixels reach the text through attention alone"
            return Images(name, Status.RESAMPLER if crossed else Status.NONE, reason, stacks)
        if placed:
            best = max(placed, key=lambda each: len(self._fed(each[0])))[1]
            return Images(name, best, "", stacks)
        first = judged[0][2] if judged else self._nothing()
        return Images(name, Status.NONE, first, stacks)

    def _sites(self, record: AttentionRecord) -> list[_Site]:
        """All tokens that pixels feed, those of the text first."""

        def noting(inputs: Inputs) -> object:
            try:
                return self._run(inputs)
            except Exception as error:
                self._failed = one_line(error)
                raise

        found = tokens_of_pixels(
            self._model, self._inputs, self._names, self._wanted, self._random, noting
        )
        sites = []
        if found.text is not None:
            site = _Site(self._of_text[0], _TEXT, *found.text)
            if self._fed(site) or self._share(site):
                sites.append(site)
        sides: tuple[Side, Side] = ("query", "key")
        for title, group in self._towers:
            for side in sides:
                first, *others = (found.calls.get((call, side)) for call in group.calls)
                stack = record.stack(title)
                if first is None or (side == "key" and stack.keys == stack.queries):
                    continue
                named = title if side == "query" else f"{title} (keys)"
                others_keys = side == "key" and (
                    group.cross or len(stack.queries) < len(stack.keys)
                )
                site = _Site(
                    named,
                    (group.calls[0], side),
                    *first,
                    others_keys,
                    tuple(each for each in others if each is not None),
                )
                if len(self._fed(site)) > 1 or self._share(site) > _MOST_SHARED:
                    sites.append(site)
                else:
                    self._single = True
        return sites

    def _judged(self, site: _Site) -> tuple[Status, str]:
        """The status of some tokens, and why they have no place."""
        most = self._share(site)
        if most <= _MOST_SHARED and self._elsewhere(site):
            return Status.NONE, "layers have their tokens at several places, as frames or windows"
        patches, _ = self._patches(site)
        if patches is not None:
            return (Status.SOFT if patches.soft else Status.EXACT), ""
        if most <= _MOST_SHARED:
            tensors = self._inputs.tensors
            rows = "grid_thw" in tensors or all(tensors[name].ndim < 4 for name in site.fed)
            return (Status.OWN, "") if rows else (Status.NONE, "tokens of pixels, but in no grid")
        return Status.NONE, self._mixed(site, most)

    def _share(self, site: _Site) -> float:
        """The share of numbers that feed several tokens, of those that feed any."""
        shares = (
            int((token == SEVERAL).sum()) / max(1, int((token != NO_TOKEN).sum()))
            for token in site.fed.values()
        )
        return max(shares)

    def _patches(self, site: _Site) -> tuple[Patches | None, Seen]:
        seen = Seen(self._inputs.tensors, None)
        return patches_of(site.fed, site.length, seen), seen

    def _elsewhere(self, site: _Site) -> bool:
        """True if some layer has the tokens at other places than the first one."""
        patches, seen = self._patches(site)
        for fed, length in site.others:
            other, images = self._patches(replace(site, fed=fed, length=length))
            if patches is None and other is None:
                differs = any(not np.array_equal(fed[name], site.fed[name]) for name in fed)
            else:
                soft = patches is not None and patches.soft
                differs = not soft and (other, images.parts) != (patches, seen.parts)
            if differs:
                return True
        return False

    def _mixed(self, site: _Site, share: float) -> str:
        """Say which tokens a single pixel reaches."""
        name = max(site.fed, key=lambda each: int((site.fed[each] == SEVERAL).sum()))
        several = np.argwhere(site.fed[name] == SEVERAL)
        one = np.zeros(site.fed[name].shape, np.bool_)
        one[tuple(several[len(several) // 2])] = True
        count = len(self._changed(site.key, {name: one}) or ())
        many = f"{share:.0%} of the pixels feed" if share < 0.995 else "pixels feed"
        as_one = f", as one {count} of {site.length}" if count > 1 else ""
        return f"{many} several tokens{as_one}"

    def _wrong(self, site: _Site, status: Status) -> str:
        """What a change of the pixels of half of the tokens changes that it should not, or ""."""
        patches, seen = self._patches(site)
        placed = sorted(self._fed(site))
        if patches is not None:
            placed = [token for token, place in enumerate(patches.of) if place is not None]
        order = np.random.default_rng(0).permutation(placed)
        chosen = set(map(int, order[: max(1, len(order) // 2)]))
        pixels = {
            "pixels": {name: np.isin(token, list(chosen)) for name, token in site.fed.items()}
        }
        if patches is not None:
            pixels["place"] = self._of_places(patches, seen, chosen)
        for what, where in pixels.items():
            found = self._changed(site.key, where)
            if found is None:
                return f"no tokens there in a pass without attention ({self._failed})"
            more, less = sorted(found - chosen), sorted(chosen - found)
            # A pixel of soft places may hardly feed a second token.
            if less or (more and status is not Status.SOFT):
                return f"the {what} of {sorted(chosen)} changes {more} too, and not {less}"
        return ""

    def _of_places(
        self, patches: Patches, seen: Seen, chosen: Iterable[int]
    ) -> dict[str, NDArray[np.bool_]]:
        """The pixels at the places of tokens."""
        out = {name: np.zeros(self._inputs.tensors[name].shape, np.bool_) for name in self._names}
        for token in chosen:
            found = patches.grid_of(token)
            assert found is not None
            grid, patch = found
            name, lead = seen.parts[grid.image]
            height, width = out[name].shape[-2:]
            left, top, right, bottom = grid.box_of(patch)
            # Patches may begin in padding.
            down = slice(max(0, round(top * height)), round(bottom * height))
            across = slice(max(0, round(left * width)), round(right * width))
            out[name][lead][..., down, across] = True
        return out

    def _everywhere(self) -> dict[str, NDArray[np.bool_]]:
        return {name: np.ones(self._inputs.tensors[name].shape, np.bool_) for name in self._names}

    def _changed(
        self,
        key: object,
        where: Mapping[str, NDArray[np.bool_]],
        ends: AbstractSet[CallId] | None = None,
    ) -> set[int] | None:
        """The tokens that a change of pixels changes, where attention returns zeros.

        Args:
            ends: as of `_vectors`.
        """
        before, after = self._vectors({}, ends).get(key), self._vectors(where, ends).get(key)
        if before is None or after is None or before.shape != after.shape:
            return None
        apart = (before - after).abs().nan_to_num(0).flatten(1).amax(1)
        most = _SAME * float(before.abs().nan_to_num(0).max())
        return set((apart > most).nonzero().flatten().tolist())

    def _fed(self, site: _Site) -> set[int]:
        """The tokens that pixels alone feed."""
        return (
            set(chain.from_iterable(np.unique(of).tolist() for of in site.fed.values())) - _NO_ONE
        )

    def _beside_text(self, record: AttentionRecord) -> bool:
        """True if what attends with the text is longer than the text."""
        text = self._inputs.batch.text
        longer = [
            (group.calls[0], "query")
            for title, group in self._groups
            if title in self._of_text
            and text is not None
            and len(record.stack(title).queries) > len(text.kept)
        ]
        return any(self._changed(key, self._everywhere()) for key in longer)

    def _in_text_by_attention(self) -> bool:
        """True if pixels reach the text before it attends, by the attention of other parts."""
        by_text = (group.calls for _, group in self._groups if _reads_text(group))
        ends = frozenset(chain.from_iterable(by_text))
        # Its tokens are for the text, also where this text here has no place for them.
        resampled = any(group.tower == "qformer" for _, group in self._groups)
        changed = resampled or self._changed(_TEXT, self._everywhere(), ends)
        return bool(self._of_text) and bool(changed)

    def _vectors(
        self, where: Mapping[str, NDArray[np.bool_]], ends: AbstractSet[CallId] | None = None
    ) -> dict[object, torch.Tensor]:
        """The tokens' vectors after a change of pixels.

        Args:
            ends: the calls that end the pass, in which attention then returns what it does.
        """
        tensors = dict(self._inputs.tensors)
        for name in self._names:
            noise = torch.randn(tensors[name].shape, generator=torch.Generator().manual_seed(1))
            mask = torch.from_numpy(where[name]) if name in where else torch.zeros(())
            # A model may change its inputs in place.
            tensors[name] = (tensors[name] + noise * mask).requires_grad_() * 1
        watch = _Whole(self._model, self._inputs, self._wanted, ends)
        try:
            with (
                torch.random.fork_rng([]),
                undisturbed(self._model),
                torch.enable_grad(),
                _frozen(self._model),
                suppress(PassEnded),
                trace(self._model, watch, self._inputs.batch.size, changes=True),
            ):
                torch.set_rng_state(self._random)
                self._run(replace(self._inputs, tensors=tensors))
        except Exception as error:
            self._failed = one_line(error)
        found: dict[object, torch.Tensor] = {k: v.detach() for k, v in watch.calls.items()}
        return found if watch.text is None else {**found, _TEXT: watch.text.detach()}

    def _unlike(
        self, record: AttentionRecord, judged: Sequence[tuple[_Site, Status, str]]
    ) -> list[str]:
        """The stacks that have places in the record but not here, or the other way round."""
        out = []
        for title in record.stacks:
            stack = record.stack(title)
            has = {
                title: stack.queries.patches is not None,
                f"{title} (keys)": stack.keys.patches not in (None, stack.queries.patches),
            }
            for named, kept in has.items():
                own = [status for site, status, _ in judged if site.stack == named]
                here = bool({Status.EXACT, Status.SOFT} & {*own})
                if kept and not own:
                    continue  # of a single token
                if kept and not here:
                    out.append(f"{named} has places in the record alone")
                elif here and not kept:
                    out.append(f"{named} has no places in the record")
        return out

    def _nothing(self) -> str:
        """Why no token has a gradient of pixels."""
        if self._single:
            return _SINGLE
        if self._failed:
            return f"the pass with gradients fails: {self._failed}"
        firsts = [(group.calls[0], side) for _, group in self._towers for side in ("query", "key")]
        if any(self._changed(key, self._everywhere()) for key in firsts):
            return "pixels change tokens without a gradient, as where points or codes are chosen"
        return "no token that attends is made of pixels directly"


class _Whole(_Watch):
    """Keeps the vectors of tokens in a whole pass, in which all attention returns zeros.

    Args:
        ends: the calls that end the pass, in which attention then returns what it does.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        inputs: Inputs,
        wanted: Wanted,
        ends: AbstractSet[CallId] | None,
    ) -> None:
        super().__init__(model, inputs, wanted)
        self._ends = ends

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        if address.step > 0 or (self._ends is not None and address.id in self._ends):
            raise PassEnded
        call = read()
        sides: tuple[Side, Side] = ("query", "key")
        if self._ends is None:
            sizes = call.shape[2], call.shape[3]
            selection = self._item(address.id).select(call.shape[0], sizes)
            found = call_vectors(call, selection)
            for side, vectors in zip(sides, found or (), strict=False):
                flat = vectors.transpose(1, 2).flatten(2).flatten(0, 1)
                self.calls.setdefault((address.id, side), flat)
        if call.passed_on is None:
            raise PassEnded
        return torch.zeros_like(call.passed_on) if self._ends is None else None

    def _end_if_done(self) -> None:
        """The whole pass is of interest."""


def _reads_text(group: Group) -> bool:
    """True for layers in which the text attends."""
    return group.kind.sides.queries.own in ("input_ids", "inputs_embeds")


def markdown(results: Iterable[Images]) -> str:
    everything = sorted(results, key=lambda result: result.name)
    counts = Counter(result.status for result in everything)
    return "\n".join(
        [
            IMAGES,
            "",
            _ABOUT,
            "",
            *table(
                ("", "architectures", "meaning"),
                [(each.value, str(counts[each]), _MEANING[each]) for each in Status],
            ),
            *table(
                ("architecture", "image", "stacks"),
                [(r.name, r.label, ", ".join(r.stacks)) for r in everything],
            ),
        ]
    )
