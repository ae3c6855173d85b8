"""Examination of one architecture: the same changes by interventions and by hand."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, get_args

import torch

from attnwidget.interventions.editor import editing
from attnwidget.interventions.edits import Ablate, Intervention, KnockOut, PlaceInLayer
from attnwidget.interventions.sites import Site, SiteFinder
from attnwidget.running.inputs import prepare
from attnwidget.tracing import Address, Read, Receiver, Receivers, trace, undisturbed
from benchmarks import values, zoo
from benchmarks.coverage import outputs
from benchmarks.coverage.judge import one_line

from .gradients import gradient_errors
from .hidden import Hidden
from .result import Result, Verdict
from .state import changed_state, state_of

# Of a cut edge, relative to the largest value of each output.
_EXACT = 1e-5

# Two passes of one model that are further apart are no reference for each other.
_EAGER_APART = 3e-5

# Of the sum of weights times gradients, of gradients by the projection, and of differences.
_LIMITS = {"sums": 1e-4, "projection": 1e-3, "differences": 1e-3}


class _Refused(Exception):
    """The intervention raised an error; the message says why."""


class _NoReference(Exception):
    """The change cannot be made by hand; the message says why."""


def examine(name: str) -> Result:
    """Examine the first layer of every stack; errors become results."""
    try:
        built = zoo.build(name)
    except zoo.CannotBuild as error:
        return Result(name, built=False, reasons=(one_line(error),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _examined(name, built)
        except Exception as error:  # the other architectures are still examined
            wrong = Verdict.WRONG
            return Result(name, True, wrong, wrong, wrong, wrong, reasons=(one_line(error),))


def _examined(name: str, built: zoo.Built) -> Result:
    finder = _Finder()
    size = prepare(built.model, None, built.inputs, None, None, 0).batch.size
    with undisturbed(built.model), trace(built.model, finder, size):
        _run(built)
    try:
        sites = finder.sites(built.model, size).found
    except ValueError as error:
        if not finder.shapes:
            return Result(name, built=False, reasons=(str(error),))
        refused = Verdict.REFUSED
        return Result(name, True, refused, refused, refused, refused, reasons=(one_line(error),))
    plain, state = _run(built), state_of(built.model)
    # Layers without a softmax are compared by tests, with their own functions.
    first = {site.stack: site for site in reversed(sites) if not site.signed}
    if not first:
        return Result(name, built=False, reasons=("no layer has a softmax",))
    reasons: dict[str, None] = {}
    errors: dict[str, float] = {}
    off, cut = [], []
    for site in first.values():
        receivers = finder.receivers.by_call[Address(site.module, 0, site.call)]
        off.append(_verdict(reasons, partial(_off, built, sites, site, receivers)))
        cut.append(
            _verdict(reasons, partial(_cut, name, built, sites, site, finder, plain, errors))
        )
    gradients = _verdict(reasons, partial(_gradients, built, finder, errors))
    difference = outputs.changed(plain, _run(built)) or changed_state(built.model, state)
    if difference:
        off.append(Verdict.WRONG)
        reasons[f"the model has changed: {difference}"] = None
    kept = _verdict(reasons, partial(_values, name))
    return Result(
        name, True, _worst(off), _worst(cut), gradients, kept, tuple(errors.items()), tuple(reasons)
    )


def _worst(verdicts: list[Verdict]) -> Verdict:
    return max(verdicts, key=list(Verdict).index)


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


def _off(built: zoo.Built, sites: Any, site: Site, receivers: list[Receiver]) -> str:
    head = site.heads // 2
    found = next((each for each in receivers if linear_weight(each.module) is not None), None)
    if found is None or found.heads != site.heads:
        raise _NoReference("no linear module receives the head outputs")
    columns = slice(head * found.width, (head + 1) * found.width)
    with _without(built.model, found, columns):
        expected = _run(built)
    for at in get_args(PlaceInLayer):
        changed = _changed(built, sites, Ablate(site.layer, head, site.stack, at=at))
        different = outputs.changed(expected, changed)
        if different:
            return f"{site.module} off at the {at}: {different}"
    return ""


def linear_weight(module: torch.nn.Module) -> torch.Tensor | None:
    """The weight of a linear module as [out, in], which shares its memory."""
    if type(module).__name__ == "Conv1D":
        weight: torch.Tensor = module.weight.data.T  # type: ignore[union-attr]
        return weight
    return module.weight.data if isinstance(module, torch.nn.Linear) else None


@contextmanager
def _without(model: torch.nn.Module, found: Receiver, columns: slice) -> Iterator[None]:
    """Zeros in the columns of a projection's weight, in its run on the head outputs alone."""
    weight = linear_weight(found.module)
    assert weight is not None
    before = weight[:, columns].clone()

    # Layers may share a projection, and an encoder and a decoder its weight.
    def enter(_module: torch.nn.Module, args: Any) -> None:
        if torch.equal(args[0], found.input):
            weight[:, columns] = 0

    def leave(*_: Any) -> None:
        weight[:, columns] = before

    hooks = [
        found.module.register_forward_pre_hook(enter),
        found.module.register_forward_hook(leave),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _cut(
    name: str,
    built: zoo.Built,
    sites: Any,
    site: Site,
    finder: _Finder,
    plain: Any,
    errors: dict[str, float],
) -> str:
    head = site.heads // 2
    num_queries, num_keys = finder.lengths[site.module, site.call]
    query, key = num_queries - 1, min(1, num_keys - 1)
    if num_keys < 2:
        raise _NoReference("there is one key")
    changed = _changed(built, sites, KnockOut(query, key, site.layer, head, site.stack))
    try:
        eager = zoo.build(name, "eager")
    except zoo.CannotBuild as error:
        raise _NoReference("no eager attention") from error
    module = eager.model.get_submodule(site.module)
    apart = outputs.distance(plain, _run(eager))
    if not apart <= _EAGER_APART:
        raise _NoReference(f"eager attention is {apart:.1e} off without a change")
    with Hidden(module, site, (query, key), (num_queries, num_keys)) as hidden:
        expected = _run(eager)
    if not hidden.found:
        raise _NoReference("its softmax was not found")
    distance = outputs.distance(expected, changed)
    errors["cut"] = max(errors.get("cut", 0.0), distance)
    return f"{site.module} cut: {distance:.1e}" if not distance <= _EXACT + 10 * apart else ""


def _gradients(built: zoo.Built, finder: _Finder, errors: dict[str, float]) -> str:
    projections = {
        (address.module, address.call): receiver.module
        for address, receivers in finder.receivers.by_call.items()
        for receiver in receivers
        if linear_weight(receiver.module) is not None
    }
    try:
        found = gradient_errors(built, projections, _loss)
    except Exception as error:
        raise _Refused(one_line(error)) from error
    if not found:
        raise _NoReference("no layer has gradients by its weights")
    for each in found:
        for what, error in each.errors.items():
            errors[what] = max(errors.get(what, 0.0), error)
    for each in found:
        beyond = {what: e for what, e in each.errors.items() if not e <= _LIMITS[what]}
        # A loss that jumps, as by a choice of experts, has no slope between two of its values.
        if beyond.keys() == {"differences"}:
            if "projection" not in each.errors and beyond["differences"] < each.spread:
                raise _NoReference("the loss jumps, and the projection is not known")
            if "projection" in each.errors:
                beyond = {}
        if beyond:
            said = ", ".join(f"{what} {error:.1e}" for what, error in beyond.items())
            return f"{each.module} gradients off: {said}"
    return ""


def _values(name: str) -> str:
    torch.manual_seed(0)
    try:
        found = values.compare(name)
    except ValueError as error:
        raise _Refused(one_line(error)) from error
    differ = [each.layer for each in found if each.errors is not None and not each.exact]
    if differ:
        return f"values differ: {', '.join(differ)}"
    missing = [
        each for each in found if each.refusal is not None and "has no values" in each.refusal
    ]
    if missing:
        raise _Refused(f"{len(missing)} of {len(found)} layers have no values")
    if not any(each.errors for each in found):
        raise _NoReference("no module received the outputs of all heads as they are")
    return ""


def _loss(output: Any, _inputs: Any) -> torch.Tensor:
    """A number near 1 that depends on all outputs."""
    found = [t for t in _tensors(output) if t.is_floating_point() and bool(t.isfinite().all())]
    return 1 + torch.stack([t.double().sin().mean() for t in found]).mean()


def _tensors(output: Any) -> Iterator[torch.Tensor]:
    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, (Mapping, list, tuple)):
        for value in output.values() if isinstance(output, Mapping) else output:
            yield from _tensors(value)


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
