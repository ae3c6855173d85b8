"""The targets of the benchmark, and their check."""

from __future__ import annotations

from collections.abc import Iterator

from .cases import PAGES, SMOOTH, Case
from .models import TITLES
from .ratios import Spread, above, plain, ratio, spread
from .results import Results

# Frames of a 60 Hz screen come every 16.7 ms; a clock may be a little off.
ONE_FRAME = 18


def targets(found: Results) -> list[tuple[str, str, str, str]]:
    """The rows (name, target, measured, "met" or "missed") of all measured targets."""
    return [*_bytes(found), *_making(found), *_against_bertviz(found), *_hover(found),
            *_sixty(found), *_long(found)]  # fmt: skip


def _bytes(found: Results) -> Iterator[tuple[str, str, str, str]]:
    for model, tokens, wanted in (
        ("minilm", 128, 33), ("minilm", 512, 160), ("mpnet", 128, 21), ("mpnet", 512, 93),
    ):  # fmt: skip
        counted = found.counted(model, tokens)
        if counted:
            times = counted["counted"] / counted["compact"]["bytes"]
            yield _row(f"bytes of quality compact, {TITLES[model]}, T = {tokens}", f"≥ {wanted} ×",
                       f"{times:.0f} ×", times >= wanted)  # fmt: skip


def _making(found: Results) -> Iterator[tuple[str, str, str, str]]:
    for model, tokens, wanted in (("minilm", 128, 5), ("smollm2", 128, 4), ("minilm", 512, 30)):
        where = {"view": "head", "model": model, "tokens": tokens}
        theirs, ours = (found.page(**where, subject=name) for name in ("bertviz", "attnwidget"))
        if theirs and ours and "seconds" in theirs:
            seconds = (dict(enumerate(page["seconds"])) for page in (theirs, ours))
            times = ratio(*seconds, 1e-3)
            if times:
                yield _row(f"CPU time of making a page, {TITLES[model]}, T = {tokens}",
                           f"≥ {wanted} ×", _said(times, " ×"),
                           times.median >= wanted)  # fmt: skip


def _against_bertviz(found: Results) -> Iterator[tuple[str, str, str, str]]:
    for view, what, wanted in (
        ("head", "first paint", 12), ("model", "first paint", 20), ("head", "hover", 25),
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


def _hover(found: Results) -> Iterator[tuple[str, str, str, str]]:
    short = Case("head", "minilm", 32)
    ours, bare = (plain(found.of(short, name), "hover_p50") for name in ("attnwidget", "bare"))
    times = ratio(ours, bare)
    if times:
        yield _row("hover against a bare canvas, head view, MiniLM, T = 32", "≤ 3 ×",
                   _said(times, " ×"), times.median <= 3)  # fmt: skip
    for case, most in ((short, 8), (Case("neuron", "minilm", 128), 10)):
        taken = spread(plain(found.of(case, "attnwidget"), "hover_p50").values())
        if taken:
            yield _row(f"hover, {case.view} view, MiniLM, T = {case.tokens}", f"≤ {most} ms",
                       _said(taken, " ms"), taken.median <= most)  # fmt: skip


def _sixty(found: Results) -> Iterator[tuple[str, str, str, str]]:
    for case in sorted(
        (case for case in [*PAGES, *SMOOTH] if not case.model.endswith("-layer")),
        key=lambda case: (case.model, case.tokens),
    ):
        runs = found.of(case, "attnwidget")
        taken, missed = (spread(plain(runs, name).values()) for name in ("frame_p95", "dropped"))
        if taken and missed:
            met = taken.median < ONE_FRAME and missed.median < 0.01
            yield _row(f"60 Hz, {case.view} view, {TITLES[case.model]}, T = {case.tokens}",
                       "p95 one frame, < 1% missed",
                       f"p95 {_said(taken, ' ms')}, {missed.median:.1%} missed", met)  # fmt: skip


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
