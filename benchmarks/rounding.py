"""Compares weights in float32 with float64: python -m benchmarks.rounding [NAME ...]

For every architecture: how far the weights of a capture, and those that the model returns with
eager attention, both in float32, lie from the eager model's in float64. Rounding depends on the
processor's instructions: set ATEN_CPU_CAPABILITY to default or avx2 to try others.
"""

from __future__ import annotations

import argparse
import copy
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import numpy as np
import torch

from attnwidget import capture
from benchmarks import zoo
from benchmarks.coverage.match import Captured, difference, match
from benchmarks.reference import references


@dataclass(frozen=True)
class Errors:
    """Largest differences of weights.

    Attributes:
        ours: of the capture, from float64.
        eager: of the same model with eager attention in float32, from float64.
        apart: of the two float32 ones, from each other.
        fidelity: the largest error that the record states of its layers.
        tolerance: the largest tolerance that the record states of its layers.
    """

    ours: float
    eager: float
    apart: float
    fidelity: float
    tolerance: float


def measure(name: str) -> Errors | None:
    """The errors of one architecture, or None if it returns no attention.

    Raises:
        zoo.CannotBuild: the architecture cannot be built or does not run.
    """
    eager = zoo.build(name, "eager")
    single = references(name, eager)
    exact = references(name, _double(eager))
    # Seeded as in `references`: some models draw random numbers in a forward pass.
    model = zoo.build(name)
    torch.manual_seed(0)
    record = capture(*_called(model))
    captured = Captured.all_of(record)
    pairs = [
        (found, of_exact.captured.weights, of_exact.error)
        for found, of_exact in zip(single, match(exact, captured), strict=True)
        if not found.wrong and of_exact.captured is not None
    ]
    if not pairs:
        return None
    fidelity = [f for layers in record.fidelity.values() for f in layers]
    stated = [e for f in fidelity for e in (f.weights_error, f.output_error) if e is not None]
    return Errors(
        ours=max(error for _, _, error in pairs),
        eager=max(
            float(np.abs(a.layouts[0] - b.layouts[0]).max())
            for a, b in zip(single, exact, strict=True)
            if not a.wrong
        ),
        apart=max(
            min(difference(blocks, weights) for blocks in found.layouts)
            for found, weights, _ in pairs
        ),
        fidelity=max(stated, default=0.0),
        tolerance=max(f.tolerance for f in fidelity),
    )


def _called(built: zoo.Built) -> tuple[Any, None, dict[str, Any]]:
    return built.model, None, built.inputs


def _double(built: zoo.Built) -> zoo.Built:
    inputs = {
        name: value.double()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
        else value
        for name, value in built.inputs.items()
    }
    return zoo.Built(copy.deepcopy(built.model).double(), inputs)


def main() -> None:
    names = _names()
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}")
    print(f"{'':<28} {'ours':>8} {'eager':>8} {'apart':>8} {'fidelity':>8} {'tolerance':>9}")
    found: list[Errors] = []
    for name, errors in _measured(names):
        if isinstance(errors, str):
            print(f"{name:<28} {errors}", flush=True)
            continue
        found.append(errors)
        print(f"{name:<28} {_row(errors)}", flush=True)
    columns = zip(*(vars(errors).values() for errors in found), strict=True)
    print(f"{'largest':<28} {_row(Errors(*map(max, columns)))}")


def _measured(names: list[str]) -> Iterator[tuple[str, Errors | str]]:
    for name in names:
        try:
            yield name, measure(name) or "returns no attention"
        except Exception as error:  # some models do not run in float64
            yield name, f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"


def _row(errors: Errors) -> str:
    return " ".join(f"{number:8.1e}" for number in vars(errors).values())


def _names() -> list[str]:
    parser = argparse.ArgumentParser(prog="benchmarks.rounding", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="model types; all if none")
    return parser.parse_args().names or zoo.names()


if __name__ == "__main__":
    main()
