"""Heads off, edges cut and gradients in every architecture, beside the same by other ways.

A head that is off must equal, bit by bit, the model whose output projection has zeros in the head's
columns. A cut edge must equal, up to rounding, the model with eager attention whose softmax gets
-inf for it. The gradient by a factor of a head's output must equal the sum of the head's weights
times the gradients by these, and the slope between a slightly larger and a slightly smaller factor.

    python -m benchmarks.interventions [NAME...]
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from attnwidget.capture.inputs import prepare
from attnwidget.interventions import (
    Ablate,
    Intervention,
    KnockOut,
    Scale,
    attention_gradients,
)
from attnwidget.interventions.editor import editing
from attnwidget.interventions.gradients import output_gradients
from attnwidget.interventions.one_text import one_text
from attnwidget.interventions.sites import Site, SiteFinder, named_sites
from attnwidget.tracing import Address, Read, Receiver, Receivers, trace, undisturbed
from benchmarks import zoo
from benchmarks.coverage import outputs

# Of a cut edge, relative to the largest value of each output.
_EXACT = 1e-5

# Two passes of one model that are further apart are no reference for each other.
_EAGER_APART = 1e-5

# Factors of a head's output differ by so much from 1, to measure a slope.
_STEP = 0.002


class Verdict(str, Enum):
    """The verdicts from best to worst; the values are their labels."""

    EQUAL = "equal"
    NO_REFERENCE = "no reference"
    REFUSED = "refused"
    WRONG = "WRONG"


@dataclass(frozen=True)
class Result:
    """The verdicts on one architecture, the worst of its stacks each.

    Attributes:
        off: of heads that are off.
        cut: of edges that are cut.
        slope: of gradients.
        reasons: why one is not equal.
    """

    name: str
    off: Verdict
    cut: Verdict
    slope: Verdict
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        reasons = f": {'; '.join(self.reasons)}" if self.reasons else ""
        verdicts = f"off {self.off.value}, cut {self.cut.value}, slope {self.slope.value}"
        return f"{self.name:<36} {verdicts}{reasons}"


class _Refused(Exception):
    """The intervention raised an error; the message says why."""


class _NoReference(Exception):
    """The change cannot be made by hand; the message says why."""


def examine(name: str) -> Result:
    """Examine the first layer of every stack.

    Raises:
        zoo.CannotBuild: the architecture cannot be built here.
    """
    built = zoo.build(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        finder = _Finder()
        size = prepare(built.model, None, built.inputs, None, None, 0).batch.size
        with undisturbed(built.model), trace(built.model, finder, size):
            _run(built)
        try:
            sites = named_sites(built.model, finder, size).found
        except ValueError as error:
            refused = Verdict.REFUSED
            return Result(name, refused, refused, refused, (str(error),))
        plain = _run(built)
        first = {site.stack: site for site in reversed(sites)}
        reasons: dict[str, None] = {}
        off, cut = [], []
        for site in first.values():
            receivers = finder.receivers.by_call[Address(site.module, 0, site.call)]
            calls = sum(each.module == site.module for each in sites)
            off.append(_verdict(reasons, partial(_off, built, sites, site, receivers, calls)))
            cut.append(_verdict(reasons, partial(_cut, name, built, sites, site, finder, plain)))
        if outputs.changed(plain, _run(built)):
            off.append(Verdict.WRONG)
            reasons["the model has changed"] = None
        slope = _verdict(reasons, partial(_slopes, built))
    order = list(Verdict)
    worst_off, worst_cut = (max(verdicts, key=order.index) for verdicts in (off, cut))
    return Result(name, worst_off, worst_cut, slope, tuple(reasons))


def _verdict(reasons: dict[str, None], examined: Callable[[], str]) -> Verdict:
    """The verdict of a function that returns what differs, "" for nothing."""
    try:
        difference = examined()
    except _Refused as error:
        reasons[f"refused: {str(error)[:160]}"] = None
        return Verdict.REFUSED
    except _NoReference as error:
        reasons[f"no reference: {error}"] = None
        return Verdict.NO_REFERENCE
    if difference:
        reasons[difference] = None
    return Verdict.WRONG if difference else Verdict.EQUAL


def _off(built: zoo.Built, sites: Any, site: Site, receivers: list[Receiver], calls: int) -> str:
    head = site.heads // 2
    if calls > 1:
        raise _NoReference("one projection serves several layers")
    found = next((each for each in receivers if _weight(each.module) is not None), None)
    if found is None or found.heads != site.heads:
        raise _NoReference("no linear module receives the head outputs")
    changed = _changed(built, sites, Ablate(site.layer, head, site.stack))
    columns = slice(head * found.width, (head + 1) * found.width)
    with _without(found.module, columns):
        expected = _run(built)
    different = outputs.changed(expected, changed)
    return f"{site.module} off: {different}" if different else ""


def _weight(module: torch.nn.Module) -> torch.Tensor | None:
    """The weight of a linear module as [out, in], which shares its memory."""
    if type(module).__name__ == "Conv1D":
        weight: torch.Tensor = module.weight.data.T  # type: ignore[union-attr]
        return weight
    return module.weight.data if isinstance(module, torch.nn.Linear) else None


@contextmanager
def _without(module: torch.nn.Module, columns: slice) -> Iterator[None]:
    weight = _weight(module)
    assert weight is not None
    before = weight[:, columns].clone()
    weight[:, columns] = 0
    try:
        yield
    finally:
        weight[:, columns] = before


def _cut(name: str, built: zoo.Built, sites: Any, site: Site, finder: _Finder, plain: Any) -> str:
    head = site.heads // 2
    num_queries, num_keys = finder.lengths[site.module, site.call]
    query, key = num_queries - 1, min(1, num_keys - 1)
    if num_keys < 2:
        raise _NoReference("there is one key")
    try:
        eager = zoo.build(name, "eager")
    except zoo.CannotBuild as error:
        raise _NoReference("no eager attention") from error
    module = eager.model.get_submodule(site.module)
    apart = outputs.distance(plain, _run(eager))
    if apart > _EAGER_APART:
        raise _NoReference(f"eager attention is {apart:.1e} off without a change")
    hidden = _Hidden(module, site, (query, key), (num_queries, num_keys))
    with hidden:
        expected = _run(eager)
    if not hidden.found:
        raise _NoReference("its softmax was not found")
    changed = _changed(built, sites, KnockOut(query, key, site.layer, head, site.stack))
    distance = outputs.distance(expected, changed)
    return f"{site.module} cut: {distance:.1e}" if not distance <= _EXACT + 10 * apart else ""


def _slopes(built: zoo.Built) -> str:
    model = built.model
    try:
        gradients = attention_gradients(model, None, built.inputs, loss=_loss)
        given = one_text(model, None, built.inputs, None, None, 0)
        _, found, _ = output_gradients(model, given.batch, _loss)
    except ValueError as error:
        raise _Refused(str(error)) from error
    sites = [each.site for each in found]
    known = [each for each in found if each.site.layer in gradients.layers.get(each.site.stack, {})]
    first = {each.site.stack: each for each in reversed(known)}
    for stack, each in first.items():
        slopes = (each.output.double() * each.gradient.double()).sum(dim=(0, 2, 3)).numpy()
        sums = gradients.layer(each.site.layer, stack).products.astype(float).sum(axis=(1, 2))
        apart = float(abs(slopes - sums).max() / max(abs(slopes).max(), 1e-6))
        if not apart < 1e-4:
            return f"{each.site.module}: the products' sum is {apart:.1e} off"
        head = int(abs(slopes).argmax())
        losses = []
        for factor in (1 + _STEP, 1 - _STEP):
            edit = Scale(factor, each.site.layer, head, stack)
            with undisturbed(model), editing(model, [edit], sites):
                torch.manual_seed(0)
                losses.append(float(_loss(model(**given.batch.tensors), {})))
        difference = (losses[0] - losses[1]) / (2 * _STEP)
        # The loss is near 1, so that rounding moves the difference by about 1e-7 / _STEP.
        if not abs(difference - slopes[head]) < 0.03 * abs(slopes[head]) + 5e-5:
            return f"{each.site.module}: slope {slopes[head]:.2e}, by differences {difference:.2e}"
    return ""


def _loss(output: Any, _inputs: Any) -> torch.Tensor:
    """A number near 1 that depends on all of the first output."""
    first = next(t for t in _tensors(output) if t.is_floating_point())
    return 1 + first.double().sin().mean()


def _tensors(output: Any) -> Iterator[torch.Tensor]:
    values = output.values() if isinstance(output, Mapping) else output
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


class _Hidden(TorchFunctionMode):
    """Gives the softmax of a module's scores -inf for one edge of a head.

    Attributes:
        found: True if there was such a softmax.
    """

    def __init__(
        self, module: torch.nn.Module, site: Site, edge: tuple[int, int], lengths: tuple[int, int]
    ) -> None:
        super().__init__()
        self.found = False
        self._site, self._edge, self._lengths = site, edge, lengths
        self._running = self._call = 0
        self._module = module

    def __enter__(self) -> _Hidden:
        def enter(*_: Any) -> None:
            self._running += 1

        def leave(*_: Any) -> None:
            self._running -= 1

        self._hooks = [
            self._module.register_forward_pre_hook(enter),
            self._module.register_forward_hook(leave),
        ]
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        for hook in self._hooks:
            hook.remove()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self._running and getattr(func, "__name__", "") == "softmax":
            logits = args[0] if args else kwargs["input"]
            if self._is_scores(logits):
                if self._call == self._site.call:
                    logits = logits.clone()
                    heads = logits.reshape(-1, self._site.heads, *logits.shape[-2:])
                    heads[:, self._site.heads // 2, self._edge[0], self._edge[1]] = -torch.inf
                    logits = heads.reshape(logits.shape)
                    self.found = True
                self._call += 1
                if args:
                    args = (logits, *args[1:])
                else:
                    kwargs = {**kwargs, "input": logits}
        return func(*args, **(kwargs or {}))

    def _is_scores(self, logits: torch.Tensor) -> bool:
        shape, heads = logits.shape, self._site.heads
        if len(shape) not in (3, 4) or shape[-2] != self._lengths[0]:
            return False
        return shape[-1] >= self._lengths[1] and (shape[1] == heads or shape[0] % heads == 0)


def _changed(built: zoo.Built, sites: Any, intervention: Intervention) -> Any:
    try:
        with editing(built.model, [intervention], sites):
            return _run(built)
    except ValueError as error:
        raise _Refused(str(error)) from error


def _run(built: zoo.Built) -> Any:
    """The model's output. Some models draw random numbers: always the same ones here."""
    torch.manual_seed(0)
    with torch.no_grad():
        return built.model(**built.inputs)


class _Finder(SiteFinder):
    """Finds the receivers of head outputs besides, and the lengths (Tq, Tk) of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.receivers = Receivers()
        self.lengths: dict[tuple[str, int], tuple[int, int]] = {}

    def attention(self, address: Address, read: Read) -> torch.Tensor | None:
        super().attention(address, read)
        try:
            call = read()
            self.lengths[address.module, address.call] = (call.shape[2], call.shape[3])
            self.receivers.expect(address, call.passed_on)
        except ValueError:  # which the finder has noted
            self.receivers.expect(address, None)
        return None

    def module_entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        self.receivers.module_entered(module, args)


def main() -> None:
    torch.set_num_threads(1)
    counts = {what: Counter[str]() for what in ("off", "cut", "slope")}
    for name in sys.argv[1:] or zoo.names():
        try:
            result = examine(name)
        except Exception as error:  # the others are still examined
            print(f"{name:<36} {type(error).__name__}: {str(error)[:120]}", flush=True)
            continue
        print(result, flush=True)
        for what, verdicts in counts.items():
            verdicts[getattr(result, what).value] += 1
    for what, verdicts in counts.items():
        print(what, ", ".join(f"{label} {count}" for label, count in verdicts.most_common()))


if __name__ == "__main__":
    main()
