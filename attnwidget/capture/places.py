"""The pixels that each token of a pass was made of, found by their gradients.

In one pass, what attention returns is cut from the graph, so that a token's vector depends on what
it was made of alone. All tokens then go back at once, weighted by powers of two: the ratio of two
gradients is such a power exactly where a pixel feeds one token, and says which. No list of
architectures could say it for every model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.running.inputs import Inputs
from attnwidget.running.items import Items
from attnwidget.running.model import device_of
from attnwidget.running.towers import tower
from attnwidget.tracing import Address, CallId, Handler, PassEnded, Read, trace, undisturbed

from .vectors import call_vectors

NO_TOKEN, SEVERAL = -1, -2
"""Instead of the number of a token: the pixel feeds none, or more than one."""

TokenOf: TypeAlias = "Mapping[str, NDArray[np.int32]]"
"""The position of the token that each number of an input feeds, by the input's name."""

Side: TypeAlias = Literal["query", "key"]
_Site: TypeAlias = "tuple[CallId, Side]"

# The number of powers of two at once; float16 holds fewer.
_BASE, _BASE_OF_HALF = 32, 8
# Below, numbers of float16 lose bits, and gradients may say nothing.
_FAINT_IN_HALF = 2.0**-14
# A pixel may feed another token by rounding.
_SAME = 1e-3
# Powers of two change no bit; one call must not hide in a sum of many.
_ALL_SAME = 1e-5
# Of pixels: with more that feed several tokens, those of another call are not compared.
_MOST_SEVERAL = 0.02


@dataclass(frozen=True)
class Wanted:
    """The tokens whose pixels a pass is to find.

    Attributes:
        calls: the attention calls whose queries and keys are of interest.
        text: True for the tokens of the text, as they enter the language model.
        cells: True for the cells of feature maps that tokens are made of, too.
    """

    calls: frozenset[CallId]
    text: bool
    cells: bool = False


@dataclass(frozen=True)
class Found:
    """The tokens that pixels feed.

    Attributes:
        calls: those of the queries and of the keys of each call, with their number.
        text: those of the text; None if the pass did not come so far, or no pixel is in it.
        cells: the token that each cell of a feature map [channels, height, width] feeds, where
            there is a map of as many cells as tokens.
    """

    calls: Mapping[tuple[CallId, Side], tuple[TokenOf, int]]
    text: tuple[TokenOf, int] | None
    cells: Mapping[tuple[CallId, Side], NDArray[np.int32]]


def tokens_of_pixels(
    model: torch.nn.Module,
    inputs: Inputs,
    names: Sequence[str],
    wanted: Wanted,
    random: torch.Tensor,
    run: Callable[[Inputs], object],
) -> Found:
    """Find the token that each pixel feeds; the model and its inputs stay as they are.

    Args:
        names: of the inputs that hold pixels.
        random: the state of torch's random numbers, for models that draw an order of patches.
        run: calls the model.
    """
    watch = _Watch(model, inputs, wanted)
    own = {name: _with_history(each) for name, each in inputs.tensors.items()}
    pixels = {name: own[name].detach().clone().requires_grad_() for name in names}
    # A model may change its inputs in place, which torch forbids for those that have gradients.
    with torch.enable_grad():
        given = {name: each * 1 for name, each in pixels.items()}
    device = device_of(model)
    with (
        torch.random.fork_rng([device] if device.type == "cuda" else []),
        undisturbed(model),
        torch.enable_grad(),
        _frozen(model),
        _skipped(model, [call.module for call in wanted.calls]),
        suppress(PassEnded, Exception),  # the pass that is recorded says why a model fails
        trace(model, watch, inputs.batch.size, changes=True),
    ):
        torch.set_rng_state(random)
        run(replace(inputs, tensors={**own, **given}))
    found: dict[_Site, TokenOf] = {}
    for shape in {vectors.shape for vectors in watch.calls.values()}:
        same = {site: each for site, each in watch.calls.items() if each.shape == shape}
        _find(same, pixels, found, [])
    text, index = watch.text, inputs.batch.index
    cells = {site: _fed(watch.calls[site], {"": of})[""][index] for site, of in watch.cells.items()}
    return Found(
        {site: (fed, len(watch.calls[site])) for site, fed in found.items()},
        None if text is None else (_fed(text, pixels), len(text)),
        cells,
    )


def _with_history(value: Any) -> Any:
    """A copy of a tensor of torch.inference_mode, which a pass with gradients does not take."""
    inference = isinstance(value, torch.Tensor) and value.is_inference()
    return value.clone() if inference else value


class _Watch(Handler):
    """Keeps the vectors of tokens, and cuts what attention returns from the graph."""

    def __init__(self, model: torch.nn.Module, inputs: Inputs, wanted: Wanted) -> None:
        self.calls: dict[tuple[CallId, Side], torch.Tensor] = {}
        self.cells: dict[tuple[CallId, Side], torch.Tensor] = {}
        self.text: torch.Tensor | None = None
        # The latest feature map of each number of cells.
        self._maps: dict[int, torch.Tensor] = {}
        self._size = inputs.batch.size
        self._item = Items(model, inputs.batch).of
        self._wanted = wanted
        self._missing = set(wanted.calls)
        self._of_text = inputs.batch.text
        self._index = inputs.batch.index
        self._inside = _language_model(model) if wanted.text else {}

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        if address.step > 0:
            raise PassEnded
        call = read()
        if address.id in self._missing:
            self._missing.remove(address.id)
            sizes = call.shape[2], call.shape[3]
            selection = self._item(address.id).select(call.shape[0], sizes)
            found = call_vectors(call, selection)
            sides: tuple[Side, Side] = ("query", "key")
            for side, vectors in zip(sides, found or (), strict=False):
                if vectors.requires_grad:
                    own = vectors.transpose(1, 2).flatten(2).flatten(0, 1)
                    self.calls[address.id, side] = own
                    if len(own) in self._maps:
                        self.cells[address.id, side] = self._maps[len(own)]
        self._end_if_done()
        output = call.passed_on
        if output is None:  # tokens would mix
            raise PassEnded
        return output.detach()

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        text = self._of_text
        if self.text is not None or id(module) not in self._inside or text is None or not args:
            return
        vectors = args[0]
        if (
            isinstance(vectors, torch.Tensor)
            and vectors.ndim == 3
            and vectors.shape[1] == text.length
            and vectors.requires_grad
        ):
            self.text = vectors[self._index, text.kept.to(vectors.device)]
            self._end_if_done()

    def module_left(
        self, module: torch.nn.Module, output: Any, parent: torch.nn.Module | None
    ) -> None:
        if (
            self._wanted.cells
            and isinstance(output, torch.Tensor)
            and output.ndim == 4
            and len(output) == self._size
            and output.requires_grad
        ):
            self._maps[output[0, 0].numel()] = output
        if parent is None:  # nobody else is to see an output without some layers
            raise PassEnded

    def _end_if_done(self) -> None:
        if not self._missing and (self.text is not None or not self._wanted.text):
            raise PassEnded


def _language_model(model: torch.nn.Module) -> dict[int, str]:
    """The modules of the part that reads the text with images in it, by identity.

    It is the module with the table of embeddings, but for towers that lie within it.
    """
    get = getattr(model, "get_input_embeddings", None)
    try:
        table = None if get is None else get()
    except NotImplementedError:
        table = None
    names = {id(module): name for name, module in model.named_modules()}
    if id(table) not in names:
        return {}
    prefix = names[id(table)].rpartition(".")[0]
    return {
        of: name
        for of, name in names.items()
        if name.startswith(f"{prefix}." if prefix else "")
        and tower(name.removeprefix(prefix)) not in ("vision", "audio", "qformer")
    }


@contextmanager
def _frozen(model: torch.nn.Module) -> Iterator[None]:
    """Compute no gradients of parameters within this context."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    try:
        for parameter in trained:
            parameter.requires_grad_(False)
        yield
    finally:
        for parameter in trained:
            parameter.requires_grad_(True)


@contextmanager
def _skipped(model: torch.nn.Module, needed: Sequence[str]) -> Iterator[None]:
    """Leave out the layers that only repeat others, as tokens stay where they are in all of them.

    Of layers of one class and size in one list, the first runs; the others return what they get.

    Args:
        needed: the names of modules that have to run.
    """
    skipped: list[torch.nn.Module] = []
    with_first: list[Any] = []
    try:
        for name, layers in model.named_modules():
            if not isinstance(layers, (torch.nn.ModuleList, torch.nn.Sequential)):
                continue
            first: dict[object, _First] = {}
            for number, layer in layers.named_children():
                path = f"{name}.{number}" if name else number
                if any(each == path or each.startswith(f"{path}.") for each in needed):
                    form = (type(layer), *(each.shape for each in layer.parameters()))
                    if form not in first and next(layer.children(), None) is not None:
                        first[form] = _First()
                        with_first.append(
                            layer.register_forward_hook(first[form], with_kwargs=True)
                        )
                    continue
                form = (type(layer), *(each.shape for each in layer.parameters()))
                if form in first and "forward" not in vars(layer):
                    layer.forward = first[form].skipping(layer.forward)
                    skipped.append(layer)
        yield
    finally:
        for layer in skipped:
            del layer.forward
        for hook in with_first:
            hook.remove()


class _First:
    """A layer that has run: what others of its kind return if they change nothing."""

    def __init__(self) -> None:
        self._shape: torch.Size | None = None
        self._rest: tuple[Any, ...] | None = None

    def __call__(self, _layer: object, args: Any, named: Mapping[str, Any], output: Any) -> None:
        read = _read(args, named)
        first = output[0] if isinstance(output, tuple) and output else output
        same = isinstance(first, torch.Tensor) and read is not None and first.shape == read.shape
        self._shape = first.shape if same else None
        self._rest = output[1:] if isinstance(output, tuple) else None

    def skipping(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        """A layer's `forward` that returns what it gets, if that is of the same shape."""

        def skip(*args: Any, **named: Any) -> Any:
            read = _read(args, named)
            if read is None or self._shape is None or read.shape != self._shape:
                return forward(*args, **named)
            return read if self._rest is None else (read, *self._rest)

        return skip


def _read(args: Sequence[Any], named: Mapping[str, Any]) -> torch.Tensor | None:
    """The tensor that a layer reads."""
    read = args[0] if args else named.get("hidden_states")
    return read if isinstance(read, torch.Tensor) else None


def _find(
    sites: Mapping[_Site, torch.Tensor],
    pixels: Mapping[str, torch.Tensor],
    found: dict[_Site, TokenOf],
    known: list[TokenOf],
) -> None:
    """Add the token that each pixel feeds, for vectors of one shape.

    Most calls have their tokens in the same order. To see that takes two passes for all of them.

    Args:
        known: the orders that others have, to which new ones are added.
    """
    for fed in known:
        if _feeds(list(sites.values()), fed, pixels):
            found |= dict.fromkeys(sites, fed)
            return
    calls = list(dict.fromkeys(call for call, _ in sites))
    if known and len(sites) > 1:
        parts = [[site for site in sites if site[0] == call] for call in calls]
        for part in parts if len(calls) > 1 else [[site] for site in sites]:
            _find({site: sites[site] for site in part}, pixels, found, known)
        return
    first, *rest = sites
    found[first] = _fed(sites[first], pixels)
    known.append(found[first])
    if rest:
        _find({site: sites[site] for site in rest}, pixels, found, known)


class _Backward:
    """Sends vectors [T, d] back to pixels.

    Attributes:
        base: the number of powers of two that are told apart at once.
        faint: gradients up to here say nothing.
        scale: of weights.
        whole: the gradients of all tokens, each with the weight `scale`.
    """

    def __init__(self, vectors: Sequence[torch.Tensor], pixels: Mapping[str, torch.Tensor]) -> None:
        width = vectors[0].shape[1]
        direction = torch.arange(1.0, width + 1, device=vectors[0].device).cos()
        self._numbers = [each.float() @ direction for each in vectors]
        self._pixels = list(pixels.values())
        self.base, self.faint, self.scale = _BASE, 0.0, 1.0
        if torch.float16 in {each.dtype for each in (*vectors, *self._pixels)}:
            self.base, self.faint = _BASE_OF_HALF, _FAINT_IN_HALF
            self._scale_up()
        else:
            self.whole = self._gradients(torch.ones_like(self._numbers[0]))

    def weighted(self, powers: torch.Tensor) -> list[torch.Tensor]:
        """The gradients with these powers of two as weights."""
        return self._gradients(self.scale * 2.0**powers)

    def _gradients(self, weights: torch.Tensor) -> list[torch.Tensor]:
        found = torch.autograd.grad(
            self._numbers, self._pixels, [weights] * len(self._numbers),
            retain_graph=True, allow_unused=True,
        )  # fmt: skip
        return [
            torch.zeros_like(each) if own is None else own
            for each, own in zip(self._pixels, found, strict=True)
        ]

    def _scale_up(self) -> None:
        """Weigh tokens so that gradients are as large as float16 holds, where it has all bits."""
        most = 2.0 ** (self.base - 1)
        exponent = 8  # of more, the gradients of the tokens would be beyond it
        while True:
            self.scale = 2.0**exponent
            found = self._gradients(torch.full_like(self._numbers[0], self.scale * most))
            if exponent <= -16 or all(bool(each.isfinite().all()) for each in found):
                self.whole = [each.double() / most for each in found]
                return
            exponent -= 4


def _feeds(
    vectors: Sequence[torch.Tensor], fed: TokenOf, pixels: Mapping[str, torch.Tensor]
) -> bool:
    """True if each pixel feeds the token of this number in all these vectors, and no other."""
    if any((each == SEVERAL).mean() > _MOST_SEVERAL for each in fed.values()):
        return False
    back = _Backward(vectors, pixels)
    length, device = len(vectors[0]), vectors[0].device
    # Any order but this has other powers in nearly all places.
    same = torch.Generator().manual_seed(0)
    powers = torch.randint(back.base, (length,), generator=same).to(device)
    for name, whole, weighted in zip(pixels, back.whole, back.weighted(powers), strict=True):
        token = torch.from_numpy(fed[name]).to(device)
        expected = whole.double() * 2.0 ** powers[token.clamp_min(0).long()]
        fed_any, reached = token >= 0, whole.abs() > back.faint
        off = (weighted.double() - expected).abs() > _ALL_SAME * expected.abs()
        off = reached & ((fed_any & off) | (token == NO_TOKEN))
        # Of another image, none is reached; in float16, some are too faint.
        if (fed_any & ~reached).sum() > (0.5 if back.faint else 0) * fed_any.sum():
            return False
        if bool(off.any()) or not all(bool(each.isfinite().all()) for each in (whole, weighted)):
            return False
    return True


def _fed(vectors: torch.Tensor, pixels: Mapping[str, torch.Tensor]) -> TokenOf:
    """The token that each pixel feeds, of tokens [T, d]."""
    length = len(vectors)
    positions = torch.arange(length, device=vectors.device)
    back = _Backward([vectors], pixels)
    base, whole = back.base, back.whole
    token = [torch.zeros(each.shape, dtype=torch.int64, device=each.device) for each in whole]
    several = [torch.zeros_like(each, dtype=torch.bool) for each in token]
    for digit in count():
        unit = base**digit
        if digit and unit >= length:
            break
        weighted = back.weighted(positions // unit % base)
        for place, (part, of) in enumerate(zip(weighted, whole, strict=True)):
            ratio = (part.double() / of.double()).nan_to_num(0)
            exponent = ratio.abs().clamp_min(2.0**-60).log2().round()
            exact = ((ratio / 2.0**exponent - 1).abs() < _SAME) & (exponent >= 0)
            several[place] |= ~exact | (exponent >= base)
            token[place] += exponent.to(torch.int64) * unit
    out: dict[str, NDArray[np.int32]] = {}
    for name, of, own, mixed in zip(pixels, whole, token, several, strict=True):
        own[mixed | (own >= length) | ~of.isfinite()] = SEVERAL
        own[of.abs() <= back.faint] = NO_TOKEN
        out[name] = own.cpu().numpy().astype(np.int32)
    return out
