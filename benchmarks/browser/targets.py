"""The targets of the benchmark, and their check."""

from __future__ import annotations

from collections.abc import Iterator

from .cases import Case
from .models import TITLES
from .ratios import Spread, above, plain, ratio, spread
from .results import Results

# Frames of a 60 Hz screen come every 16.7 ms; a clock may be a little off.
ONE_FRAME = 18


def targets(found: Results) -> list[tuple[str, str, str, str]]:
    """The rows (name, target, measured, "met" or "missed") of all measured targets."""
    return [*_bytes(found), *_against_bertviz(found), *_hover_floor(found), *_sixty(found),
            *_long(found)]  # fmt: skip


def _bytes(found: Results) -> Iterator[tuple[str, str, str, str]]:
    for model, tokens, wanted in (
        ("minilm", 128, 30), ("minilm", 512, 150), ("mpnet", 128, 20), ("mpnet", 512, 80),
    ):  # fmt: skip
        ours = found.page(model=model, tokens=tokens, subject="attnwidget")
        counted = found.counted(model, tokens)
        if ours and counted:
            times = counted["counted"] / ours["bytes"]
            yield _row(f"bytes, {TITLES[model]}, T = {tokens}", f"≥ {wanted} ×", f"{times:.0f} ×",
                       times >= wanted)  # fmt: skip


def _against_bertviz(found: Results) -> Iterator[tuple[str, str, str, str]]:
    for view, what, wanted in (
        ("head", "first paint", 12), ("model", "first paint", 20), ("head", "hover", 40),
        ("head", "layer", 30), ("head", "memory", 30),
    ):  # fmt: skip
        case = Case(view, "minilm", 128)
        theirs, ours, bare = (found.of(case, name) for name in ("bertviz", "attnwidget", "bare"))
        name = {"first paint": "paint", "hover": "hover_p50"}.get(what, what)
        numbers = [
            above(runs, name, bare) if name in ("paint", "memory") else plain(runs, name)
            for runs in (theirs, ours)
        ]
        times = ratio(*numbers)
        if times:
            yield _row(f"{what}, {view} view, MiniLM, T = 128", f"≥ {wanted} ×", _said(times, " ×"),
                       times.median >= wanted)  # fmt: skip


def _hover_floor(found: Results) -> Iterator[tuple[str, str, str, str]]:
    case = Case("head", "minilm", 128)
    ours, bare = (plain(found.of(case, name), "hover_p50") for name in ("attnwidget", "bare"))
    times = ratio(ours, bare)
    if times:
        yield _row("hover against a bare canvas, head view, MiniLM, T = 128", "≤ 2.5 ×",
                   _said(times, " ×"), times.median <= 2.5)  # fmt: skip


def _sixty(found: Results) -> Iterator[tuple[str, str, str, str]]:
    for view in ("head", "model", "neuron"):
        taken = spread(
            plain(found.of(Case(view, "smollm2", 2048), "attnwidget"), "frame_p95").values()
        )
        if taken:
            yield _row(f"60 Hz: p95 of a frame, {view} view, SmolLM2, T = 2048", "no frame missed",
                       _said(taken, " ms"), taken.median < ONE_FRAME)  # fmt: skip


def _long(found: Results) -> Iterator[tuple[str, str, str, str]]:
    short, long = (Case("head", "smollm2-layer", tokens) for tokens in (512, 4096))
    for what, most in (("paint", 3.0), ("hover_p50", 1.5)):
        times = ratio(*(
            above(found.of(case, "attnwidget"), what, found.of(case, "bare")) if what == "paint"
            else plain(found.of(case, "attnwidget"), what)
            for case in (long, short)
        ))  # fmt: skip
        if times:
            name = {"paint": "first paint", "hover_p50": "hover"}[what]
            yield _row(f"{name}, one layer of SmolLM2, T = 4096 against 512", f"≤ {most:g} ×",
                       _said(times, " ×"), times.median <= most)  # fmt: skip


def _said(found: Spread, unit: str) -> str:
    return f"{found.median:.1f}{unit} ({found.least:.1f}–{found.most:.1f})"


def _row(what: str, wanted: str, measured: str, met: bool) -> tuple[str, str, str, str]:
    return what, wanted, measured, "met" if met else "**missed**"
