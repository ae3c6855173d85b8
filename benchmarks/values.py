"""Compares norms of values with the model's own output projections, one head at a time.

python -m benchmarks.values [NAME ...] [--write]   all that can be built, if none is named
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

# All models are built from configurations; nothing may be downloaded.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import torch
import transformers

from attnwidget import capture
from attnwidget.analysis import head_outputs, value_norms, value_refusal
from attnwidget.record import Layer
from benchmarks import zoo

PAGE = Path(__file__).parents[1] / "docs" / "value-norms.md"

Layers = defaultdict[str, list[str]]
"""By route or outcome, the architecture of each layer."""

HEADS = 1e-5
"""The largest difference of the norms and of the heads' outputs, relative to the largest of all."""

WHOLE = 1e-4
"""Likewise of the sum over heads, from the output of the projection in the model's own pass."""

# Two passes of one model have the same head outputs up to rounding.
_SAME_INPUT = 1e-4


@dataclass(frozen=True)
class Errors:
    """The largest relative differences of norms, of heads' outputs, and of their sum."""

    norms: float
    heads: float
    whole: float

    @property
    def exact(self) -> bool:
        return max(self.norms, self.heads) <= HEADS and self.whole <= WHOLE


@dataclass(frozen=True)
class Comparison:
    """A layer beside the module that received its heads' outputs.

    Attributes:
        layer: "stack number".
        route: the route of its capture.
        refusal: why it has no norms, or None.
        errors: None if it has no norms, or no module received the outputs of all heads as they are.
    """

    layer: str
    route: str
    refusal: str | None
    errors: Errors | None

    @property
    def exact(self) -> bool:
        return self.errors is not None and self.errors.exact


def compare(name: str) -> list[Comparison]:
    """Compare every captured layer of an architecture.

    Raises:
        benchmarks.zoo.CannotBuild: this architecture cannot be built offline.
        ValueError: it has no attention that can be captured.
    """
    built = zoo.build(name)
    torch.manual_seed(0)
    record = capture(built.model, None, built.inputs, values=True)
    runs = _runs(built)
    found = []
    for stack in record.stacks:
        for layer in record.stack(stack).layers:
            refusal = value_refusal(layer)
            errors = None if refusal else _errors(layer, runs)
            found.append(
                Comparison(f"{stack} {layer.number}", layer.fidelity.route, refusal, errors)
            )
    return found


@dataclass(frozen=True)
class _Run:
    """A module of one argument, what it received in the model's own pass, and what it returned."""

    module: torch.nn.Module
    received: torch.Tensor
    returned: torch.Tensor

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Run the module again, on rows [n, width]; returns [n, d_model] without its bias."""
        lead = (1,) * (self.received.ndim - 2)
        with torch.no_grad():
            out = self.module(rows.reshape(*lead, *rows.shape))
            constant = self.module(torch.zeros_like(rows[:1]).reshape(*lead, 1, -1))
        return (out - constant).reshape(len(rows), -1)

    @property
    def bias(self) -> torch.Tensor:
        """Output of the module for zeros."""
        lead = (1,) * (self.received.ndim - 1)
        with torch.no_grad():
            zeros = torch.zeros(*lead, self.received.shape[-1])
            return self.module(zeros).flatten()


def _runs(built: zoo.Built) -> list[_Run]:
    """The runs of all modules of one argument, in a pass of the model."""
    runs: list[_Run] = []

    def keep(module: torch.nn.Module, args: tuple[object, ...], output: object) -> None:
        if len(args) != 1 or not isinstance(args[0], torch.Tensor):
            return
        if isinstance(output, torch.Tensor) and args[0].ndim >= 2:
            runs.append(_Run(module, args[0].detach().clone(), output.detach().clone()))

    handles = [module.register_forward_hook(keep) for module in built.model.modules()]
    torch.manual_seed(0)
    with torch.no_grad():
        built.model(**built.inputs)
    for handle in handles:
        handle.remove()
    return runs


def _errors(layer: Layer, runs: list[_Run]) -> Errors | None:
    assert layer.values is not None
    shared = layer.num_heads // len(layer.values)
    values = [torch.tensor(layer.values[h // shared]) for h in range(layer.num_heads)]
    averages = [torch.from_numpy(layer.head_weights(h)) @ value for h, value in enumerate(values)]
    tokens, joined = layer.shape[0], torch.cat(averages, dim=1)
    for run in runs:
        if run.received.shape[-1] != joined.shape[1]:
            continue
        # The record has the first item of the batch.
        received = run.received.reshape(-1, joined.shape[1])[:tokens]
        if received.shape != joined.shape or not _close(received, joined):
            continue
        try:
            norms = torch.stack(
                [run(_alone(value, h, values)).norm(dim=1) for h, value in enumerate(values)]
            )
            outputs = torch.stack(
                [run(_alone(average, h, values)) for h, average in enumerate(averages)]
            )
            bias = run.bias
        except Exception:  # a module around the projection takes only what it received
            continue
        returned = run.returned.reshape(-1, bias.shape[0])[:tokens]
        own = torch.from_numpy(head_outputs(layer))
        return Errors(
            _apart(torch.from_numpy(value_norms(layer)), norms),
            _apart(own, outputs),
            _apart(own.sum(dim=0) + bias, returned),
        )
    return None


def _alone(vectors: torch.Tensor, head: int, values: list[torch.Tensor]) -> torch.Tensor:
    """The vectors [n, d_v] of a head, with zeros in the places of all others."""
    rows = torch.zeros(len(vectors), len(values), vectors.shape[1])
    rows[:, head] = vectors
    return rows.flatten(1)


def _close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool((a - b).abs().max() <= _SAME_INPUT * b.abs().max().clamp(min=1e-6))


def _apart(own: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference, relative to the largest number."""
    return float((own - expected).abs().max() / expected.abs().max())


def main() -> None:
    options = _options()
    exact: Layers = defaultdict(list)
    others: Layers = defaultdict(list)
    for name in options.names or zoo.names():
        try:
            found = compare(name)
        except Exception as error:  # it has no attention, or cannot be built here
            print(f"{name}: {error}".splitlines()[0][:120], flush=True)
            continue
        for each in found:
            if each.exact:
                exact[each.route].append(name)
            else:
                others[_outcome(each)].append(name)
            print(f"{name}, {each.layer}: {each.errors or each.refusal or 'not compared'}")
    text = _markdown(exact, others)
    print(text)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.values", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="model types; all if none")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    return parser.parse_args()


def _outcome(each: Comparison) -> str:
    if each.errors is not None:
        return "differs"
    if each.refusal is None:
        return "not compared: no module received the outputs of all heads as they are"
    why = {
        "has no values": "capture finds no values",
        "has no softmax": "no softmax",
        "behind its heads": "a gate or a norm behind its heads",
    }
    found = next((words for part, words in why.items() if part in each.refusal), None)
    return f"refused: {found or 'no output projection found'}"


def _markdown(exact: Layers, others: Layers) -> str:
    """The page of the documents."""
    agreeing = len(set().union(*exact.values()))
    lines = [
        "# Norms of values, by architecture",
        "",
        f"Tiny random models of transformers {transformers.__version__}, their own output "
        f"projections run on one head at a time: norms and outputs of heads agree to {HEADS:g}, "
        f"their sum with the projection's output in the model's own pass to {WHOLE:g}, relative "
        "to the largest number. Written by `python -m benchmarks.values --write`.",
        "",
        "| layers that agree | by the route | of architectures |",
        "| --- | --- | --- |",
        *(f"| {len(names)} | {route} | {len(set(names))} |" for route, names in exact.items()),
        f"| {sum(map(len, exact.values()))} | all | {agreeing} |",
        "",
        "| all others, some beside layers that agree | of architectures |",
        "| --- | --- |",
        *(f"| {why} | {', '.join(dict.fromkeys(names))} |" for why, names in others.items()),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
