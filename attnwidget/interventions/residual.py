"""The parts that layers write to a stream, and what each adds to a number read at its end.

One pass runs with all that is not linear held as it is: attention at the outputs of its heads, what
reads the stream through a matrix (MLPs, experts, recurrences) at what it returns, and norms at the
scale that they have for this text, wherever they stand: before or after what a layer adds, or
around the stream itself. What is left is linear, so that the number is the sum of each part times
its gradient. Every layer is checked for that sum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from attnwidget.analysis import Numbers
from attnwidget.running.batches import TextBatch
from attnwidget.running.forward import run_model
from attnwidget.tracing import Address, Call, MixingCall, trace

from .frozen import HeadMark, StreamMark, depends_on, exact, freeze, leaves_of, passed
from .sites import Site, SiteFinder, followed
from .skipping import skipped
from .streams import Stream, find_stream, first_of, returned, with_stream

# By how much a sum may miss, of the sum of the magnitudes of its terms: in float32, and in units in
# the last place of a type with fewer digits.
_APART, _UNITS = 1e-5, 4


def margin(dtype: torch.dtype) -> float:
    """By how much a sum of numbers of this type may miss, of the magnitudes of its terms."""
    return max(_APART, _UNITS * torch.finfo(dtype).eps)


@dataclass(frozen=True)
class Written:
    """The output of a module that writes to the stream: a leaf of the graph of gradients.

    Attributes:
        layer: the place of the layer.
        name: of the module in its layer.
        leaf: the numbers.
        site: the attention call, if it is head outputs [M, heads, Tq, d_v].
    """

    layer: int
    name: str
    leaf: torch.Tensor
    site: Site | None = None


@dataclass(frozen=True)
class Parts:
    """The parts of a number that was read from the stream's end.

    Attributes:
        heads: by attention call, the part of each head, float64 [heads].
        modules: by name in its layer, the part of that module in each layer, float64 [layers].
        biases: of each layer, float64 [layers].
        embeddings: of the stream before the first layer.
        constant: of the biases after the last layer.
        rounding: what the number is beyond the sum of these.
    """

    heads: dict[Site, Numbers]
    modules: dict[str, Numbers]
    biases: Numbers
    embeddings: float
    constant: float
    rounding: float


class Residual:
    """A pass of a model over one text, whose stream has parts.

    Attributes:
        output: the model's output.
        sites: the attention calls that write to the stream.
        unembedded: what the unembedding returned, [1, Tq, vocabulary], with its history.
    """

    def __init__(
        self, output: Any, unembedded: torch.Tensor, follower: _Follower, stream: Stream
    ) -> None:
        self.output = output
        self.unembedded = unembedded
        self._follower = follower
        self._stream = stream

    @property
    def sites(self) -> tuple[Site, ...]:
        return tuple(each.site for each in self._follower.written if each.site is not None)

    def parts(self, number: torch.Tensor) -> Parts:
        """The parts of a number that was made of `unembedded`. They can be asked for once.

        Raises:
            ValueError: it is not the sum of its parts.
        """
        follower = self._follower
        follower.reading = True
        places, written = follower.places, follower.written
        found = torch.autograd.grad(
            number, [*places, *(each.leaf for each in written)], allow_unused=True
        )
        toward = [
            torch.zeros_like(place) if each is None else each
            for place, each in zip(places, found, strict=False)
        ]
        if not any(bool(each.any()) for each in toward[-1:]):
            raise ValueError("logits do not come from the stream of the layers")
        streams = [exact(a) * exact(b) for a, b in zip(places, toward, strict=True)]
        products = [
            (each, exact(each.leaf) * exact(gradient))
            for each, gradient in zip(written, found[len(places) :], strict=True)
            if gradient is not None
        ]
        constants = follower.constants
        count = len(places) - 1
        heads: dict[Site, Numbers] = {}
        modules: dict[str, Numbers] = {}
        rounding = 0.0
        allowed = margin(places[-1].dtype)
        for layer in range(count):
            own = [(each, product) for each, product in products if each.layer == layer]
            for each, product in own:
                if each.site is not None:
                    part: Numbers = product.sum(dim=(0, 2, 3)).numpy()
                    heads[each.site] = part
                else:
                    row = modules.setdefault(each.name, torch.zeros(count).double().numpy())
                    row[layer] += float(product.sum())
            before, after = streams[layer], streams[layer + 1]
            sums = [-before, *(-product for _, product in own)]
            rest = float(after.sum() + sum(each.sum() for each in sums)) - constants[layer]
            size = float(after.abs().sum() + sum(each.abs().sum() for each in sums))
            if not abs(rest) <= allowed * (size + abs(constants[layer])):
                raise ValueError(
                    f"{self._stream.layers[layer].name} does more to its stream than to add parts "
                    f"to it, or to normalise it: {rest:.3g} of the logit is left over"
                )
            rounding += rest
        value, last = float(number.detach()), float(streams[-1].sum())
        rest = value - last - constants[None]
        size = float(streams[-1].abs().sum()) + abs(constants[None]) + abs(value)
        if not abs(rest) <= allowed * size:
            raise ValueError(
                "what lies between the last layer and the unembedding is not linear, so that "
                f"logits have no parts: {rest:.3g} of the logit is left over"
            )
        for site in self.sites:
            heads.setdefault(site, torch.zeros(site.heads).double().numpy())
        return Parts(
            heads,
            modules,
            torch.tensor([constants[layer] for layer in range(count)]).double().numpy(),
            float(streams[0].sum()),
            constants[None],
            rounding + rest,
        )


@contextmanager
def read_residual(
    model: torch.nn.Module, batch: TextBatch, unembedding: torch.nn.Module
) -> Iterator[Residual]:
    """Follow a pass over one text, with gradients; they can be asked for within this context.

    Raises:
        ValueError: the model has no stack of layers over one stream, or its unembedding does not
            read that.
    """
    finder = SiteFinder()
    plain: list[Any] = []

    def run() -> Any:
        plain.extend(followed(model, batch, finder))
        return plain[0]

    _, stream = find_stream(model, run)
    sites = plain[1]
    follower = _Follower(model, stream, sites.found)
    # A caller may run all without gradients, even without versions.
    with torch.inference_mode(False), torch.enable_grad(), ExitStack() as undo:
        undo.enter_context(skipped(model, stream.others))
        kept: list[torch.Tensor] = []
        follower.hook(undo)
        last = unembedding.register_forward_hook(lambda _m, _a, made: kept.append(made))
        undo.callback(last.remove)
        with trace(model, follower, len(batch.texts)):
            output = run_model(model, batch, all_logits=True)
        if not kept or not kept[-1].requires_grad:
            raise ValueError(
                f"{type(unembedding).__name__}, the unembedding, is no linear function of its "
                "input (inputs may be quantised), so that logits have no parts"
            )
        if kept[-1].shape[:2] != output.logits.shape[:2]:
            raise ValueError(
                f"{type(model).__name__} has other positions in its logits than its unembedding "
                "returns, so that they have no parts"
            )
        yield Residual(output, kept[-1], follower, stream)


class _Follower(SiteFinder):
    """Holds what is not linear as it is, and keeps what is written.

    Attributes:
        places: the stream before the first layer and after each.
        written: what modules wrote.
        constants: what biases add, by the layer that has them; None for what follows the layers.
        reading: True while that is noted.
    """

    def __init__(self, model: torch.nn.Module, stream: Stream, sites: Sequence[Site]) -> None:
        super().__init__()
        self.places: list[torch.Tensor] = []
        self.written: list[Written] = []
        self.constants: defaultdict[int | None, float] = defaultdict(float)
        self.reading = False
        self._model = model
        self._stream = stream
        self._width = stream.entered.shape[-1]
        # A layer without a softmax is one part, by the name of its module.
        self._sites = {site.id: site for site in sites if not site.signed}
        self._layer: int | None = None

    def hook(self, undo: ExitStack) -> None:
        """Follow all modules of the model until the end of the context."""
        layers = {
            id(self._model.get_submodule(layer.name)): place
            for place, layer in enumerate(self._stream.layers)
        }
        for name, module in self._model.named_modules():
            if id(module) in layers:
                place = layers[id(module)]
                hooks = [
                    module.register_forward_pre_hook(self._entering(place), with_kwargs=True),
                    module.register_forward_hook(self._leaving(place)),
                ]
            else:
                hooks = [module.register_forward_hook(self._left(name, module), with_kwargs=True)]
            for each in hooks:
                undo.callback(each.remove)

    def found(self, address: Address, call: Call | MixingCall | None) -> torch.Tensor | None:
        site = self._sites.get(address.id)
        if self._layer is None or site is None or call is None or isinstance(call, MixingCall):
            return None
        assert call.passed_on is not None
        leaf = call.passed_on.detach().clone().requires_grad_()
        self.written.append(Written(self._layer, "heads", leaf, site))
        return HeadMark.apply(leaf)  # type: ignore[no-any-return, no-untyped-call]

    def _entering(self, place: int) -> Any:
        # What the layer before returned is the stream; models pass other tensors of its shape.
        before = returned(self._stream.layers[place - 1]) if place else self._stream.entered

        def enter(_module: torch.nn.Module, args: Any, kwargs: Any) -> Any:
            self._layer = place
            given = {**dict(enumerate(args)), **kwargs}
            shaped = [
                at
                for at, each in given.items()
                if isinstance(each, torch.Tensor) and each.shape == before.shape
            ]
            equal = [at for at in shaped if torch.equal(given[at], before)]
            at = (equal or shaped)[0]
            if not place:
                given[at] = given[at].detach().clone().requires_grad_()
            given[at] = StreamMark.apply(given[at])  # type: ignore[no-untyped-call]
            self.places.append(given[at])
            return tuple(given[n] for n in range(len(args))), {name: given[name] for name in kwargs}

        return enter

    def _leaving(self, place: int) -> Any:
        def leave(_module: torch.nn.Module, _args: Any, output: Any) -> Any:
            self._layer = None
            if place < len(self._stream.layers) - 1:
                return None
            marked = StreamMark.apply(first_of(output))  # type: ignore[no-untyped-call]
            self.places.append(marked)
            return with_stream(output, marked)

        return leave

    def _left(self, name: str, module: torch.nn.Module) -> Any:
        own = any(each.ndim > 1 for each in module.parameters(recurse=False))
        some = any(each.ndim > 1 for each in module.parameters())
        alone = not any(True for _ in module.children())
        around = any(f"{site.module}.".startswith(f"{name}.") for site in self._sites.values())
        inside = any(name.startswith(f"{site.module}.") for site in self._sites.values())

        def leave(_module: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> Any:
            read = [each for each in tree_flatten((args, kwargs))[0] if _is_tracked(each)]
            of_stream, of_heads = depends_on(read)
            if own and not around:
                if self._layer is not None and (of_stream or not of_heads):
                    return self._cut(name, inside, output)
                if of_stream or of_heads:
                    return passed(module, read[0], output, self._noted())
                return None
            if some:
                made = [each for each in tree_flatten(output)[0] if _is_tracked(each)]
                if self._layer is None or not made or any(depends_on(made)):
                    return None
                return None if self._is_sum(made) else self._cut(name, inside, output)
            if alone and len(read) == 1:
                return freeze(module, read[0], output, self._noted())
            return None

        return leave

    def _noted(self) -> Any:
        """A function that adds to the constants of the current layer."""
        layer = self._layer

        def note(number: float) -> None:
            if self.reading:
                self.constants[layer] += number

        return note

    def _is_sum(self, made: Sequence[torch.Tensor]) -> bool:
        """True if a module returned a sum of what several modules in it wrote."""
        known = {id(each.leaf) for each in self.written}
        leaves = [each for each in leaves_of(made) if id(each) in known]
        if len(made) != 1 or len(leaves) < 2:
            return False
        [output] = made
        signs = torch.linspace(-1, 1, output.numel(), device=output.device).reshape(output.shape)
        toward = signs.to(output.dtype)
        try:
            found = torch.autograd.grad(output, leaves, toward, retain_graph=True)
        except ValueError:  # something between is not linear
            return False
        terms = [exact(a) * exact(b) for a, b in zip(leaves, found, strict=True)]
        whole = exact(output) * exact(toward)
        size = sum(float(each.abs().sum()) for each in (whole, *terms))
        rest = float(whole.sum() - sum(each.sum() for each in terms))
        return abs(rest) <= margin(output.dtype) * size

    def _cut(self, name: str, inside: bool, output: Any) -> Any:
        """The output without its history: a part of its own if it is as wide as the stream.

        Others, such as gates, are factors of parts, and held as they are.
        """
        assert self._layer is not None
        layer, prefix = self._layer, f"{self._stream.layers[self._layer].name}."

        def cut(each: Any) -> Any:
            if not isinstance(each, torch.Tensor) or not each.is_floating_point():
                return each
            leaf = each.detach().clone()
            if inside or not leaf.ndim or leaf.shape[-1] != self._width:
                return leaf
            leaf.requires_grad_()
            self.written.append(Written(layer, name.removeprefix(prefix), leaf))
            return leaf.clone()  # which the model may change in place

        return tree_map(cut, output)


def _is_tracked(each: Any) -> bool:
    return isinstance(each, torch.Tensor) and each.requires_grad
