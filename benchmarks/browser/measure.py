"""Measurement of one page in one browser: painting, changing layers, following the pointer."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from itertools import chain, cycle, pairwise
from pathlib import Path

from playwright.sync_api import Error

from .cases import Case
from .chromium import UNLIMITED, Window, private_mb, window
from .subjects import Point, Subject
from .trace import MARK_INPUT, traced

# Seconds that a page may take to paint, and again for all that follows.
LIMIT = 120
# A page that takes longer in all is opened in one round only.
SLOW = 100

LAYERS = 3
HOVERS = 30
# Seconds of a slow page after which its hovers are enough.
HOVER_SECONDS = 10
SWEEP_SECONDS = 2.0
FRAME_MS = 1000 / 60
# The pointer rests as long after each frame, so that what comes late is seen to come.
REST_MS = 40

# After four frames, the content of the first one is rastered as well.
_FOUR_FRAMES = """() => new Promise((done) => {
  let left = 4;
  const next = () => (left-- ? requestAnimationFrame(next) : done());
  next();
})"""

_WATCH_FRAMES = """() => {
  const times = (window.benchmarkFrames = []);
  const next = (time) => {
    times.push(time);
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}"""


@dataclass
class Run:
    """The measurements of one page. Times in ms, memory in MB; None if it did not get so far."""

    drew: bool = False
    why: str = ""
    paint: float | None = None
    layer: float | None = None
    hover: list[float] = field(default_factory=list)
    hover_cpu: float | None = None
    frame_p95: float | None = None
    dropped: float | None = None
    """The share of a 60 Hz screen's frames that a sweep of the pointer missed."""
    memory: float | None = None
    nodes: int | None = None
    requests: int | None = None


def measure(file: Path, subject: Subject, case: Case, limit: float) -> Run:
    """Measure painting and interaction; each ends after `limit` seconds."""
    run = Run()
    for part, flags in ((_limited, ()), (_unlimited, UNLIMITED)):
        try:
            with window(*flags) as opened:
                part(run, opened, file, subject, case, limit)
        except Error as error:
            ended = "crashed" if "crash" in error.message else f"took over {limit:.0f} s"
            run.why = run.why or ended
        except LookupError as error:
            run.why = str(error)
        if not run.drew or not subject.hovers:
            break
    return run


def _limited(
    run: Run, window: Window, file: Path, subject: Subject, case: Case, limit: float
) -> None:
    with window.at_most(limit):
        process = _paint(run, window, file, subject, case)
    if not run.drew:
        return
    with window.at_most(limit):
        _settle(run, window, process)
        if subject.has_layers(case):
            _switch_layers(run, window, process, subject)
        if subject.hovers:
            _sweep(run, window, subject, case)


def _unlimited(
    run: Run, window: Window, file: Path, subject: Subject, case: Case, limit: float
) -> None:
    with window.at_most(limit):
        _hover(run, window, file, subject, case)


def _paint(run: Run, window: Window, file: Path, subject: Subject, case: Case) -> int:
    """The time from the start of the navigation to the last frame with a change."""
    window.page.add_init_script(MARK_INPUT)
    with traced(window) as trace:
        window.page.goto(file.as_uri())
        window.wait_until_quiet()
    run.drew = subject.drew(window.page, case)
    run.why = "" if run.drew else "the page stays empty"
    run.paint = trace.last_frame(trace.started) if run.drew else None
    run.requests = sum(url.startswith("http") for url in window.requests)
    return trace.process


def _settle(run: Run, window: Window, process: int) -> None:
    """The memory of the page after its first paint."""
    window.cdp.send("HeapProfiler.collectGarbage")
    window.page.wait_for_timeout(300)
    run.memory = private_mb(process)
    run.nodes = window.cdp.send("Memory.getDOMCounters")["nodes"]


def _switch_layers(run: Run, window: Window, process: int, subject: Subject) -> None:
    taken = []
    for layer in range(1, 1 + LAYERS):
        with traced(window, process) as trace:
            kind = subject.switch(window.page, layer)
            window.wait_until_quiet()
        taken += [found for found in trace.of_inputs(kind)[-1:] if found is not None]
    run.layer = statistics.median(taken) if taken else None


def _hover(run: Run, window: Window, file: Path, subject: Subject, case: Case) -> None:
    """Hover over token after token, and measure each until the last change before the next."""
    page = window.page
    page.add_init_script(MARK_INPUT)
    with traced(window) as opening:
        page.goto(file.as_uri())
        window.wait_until_quiet()
    points = _there_and_back(window, subject, case)
    page.mouse.move(*points[-1])
    window.wait_until_quiet()
    moves, before, start = 0, window.renderer_seconds(), time.monotonic()
    with traced(window, opening.process) as trace:
        for point, _ in zip(cycle(points), range(HOVERS)):
            page.mouse.move(*point)
            page.evaluate(_FOUR_FRAMES)
            page.wait_for_timeout(REST_MS)
            moves += 1
            if time.monotonic() - start > HOVER_SECONDS:
                break
    run.hover = [taken for taken in trace.of_inputs("pointermove") if taken is not None]
    run.hover_cpu = (window.renderer_seconds() - before) * 1000 / moves


def _sweep(run: Run, window: Window, subject: Subject, case: Case) -> None:
    """Move the pointer to another token in every frame of a 60 Hz screen."""
    page = window.page
    points = _there_and_back(window, subject, case)
    page.evaluate(_WATCH_FRAMES)
    start = time.monotonic()
    for number, point in enumerate(cycle(points)):
        page.mouse.move(*point)
        ahead = start + (number + 1) * FRAME_MS / 1000 - time.monotonic()
        if ahead > 0:
            page.wait_for_timeout(ahead * 1000)
        if time.monotonic() - start > SWEEP_SECONDS:
            break
    times: list[float] = page.evaluate("window.benchmarkFrames")
    gaps = [later - earlier for earlier, later in pairwise(times)]
    if len(gaps) < 2:
        gaps = [SWEEP_SECONDS * 1000] * 2
    run.frame_p95 = statistics.quantiles(gaps, n=20, method="inclusive")[-1]
    wanted = sum(max(1, round(gap / FRAME_MS)) for gap in gaps)
    run.dropped = 1 - len(gaps) / wanted


def _there_and_back(window: Window, subject: Subject, case: Case) -> list[Point]:
    subject.prepare(window.page, case)
    window.wait_until_quiet()
    points = subject.targets(window.page, case)
    if not points:
        raise LookupError(f"{subject.name} has no tokens in sight: {case}")
    return list(chain(points, points[-2:0:-1]))
