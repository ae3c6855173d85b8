"""The times of frames with changes, from the browser's own trace.

What is measured thus needs no help of the page: a frame counts whoever asked for it, on whichever
thread it was computed, and only after it was rastered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .chromium import Window

_CATEGORIES = ["disabled-by-default-devtools.timeline.frame", "blink.user_timing"]

# Records the time of every input before the page's own handlers.
MARK_INPUT = """
for (const type of ["keydown", "change", "click", "pointermove"])
  addEventListener(
    type, (event) => performance.mark("input:" + type, { startTime: event.timeStamp }), true
  );
"""


@dataclass
class Trace:
    """Times in ms, all on one clock."""

    process: int = 0
    started: float = 0
    """When the navigation to the page started."""
    frames: list[float] = field(default_factory=list)
    inputs: list[tuple[str, float]] = field(default_factory=list)

    def last_frame(self, since: float, until: float = float("inf")) -> float | None:
        """The time from `since` to the last change of the picture, or None."""
        found = [time for time in self.frames if since < time < until]
        return max(found) - since if found else None

    def of_inputs(self, kind: str) -> list[float | None]:
        """The time from each input of a kind to the last change before the next input."""
        times = [time for type, time in self.inputs if type == kind]
        ends = [*times[1:], float("inf")]
        return [self.last_frame(since, until) for since, until in zip(times, ends, strict=True)]


@contextmanager
def traced(window: Window, process: int = 0) -> Iterator[Trace]:
    """Fills in the trace at the end, with the frames of `process` or of what was navigated to."""
    trace = Trace(process)
    window.browser.start_tracing(page=window.page, categories=_CATEGORIES)
    yield trace
    events = json.loads(window.browser.stop_tracing())["traceEvents"]
    for event in sorted(events, key=lambda event: event.get("ts", 0)):
        time = event.get("ts", 0) / 1000
        if event["name"] == "navigationStart":
            # A renderer that the browser keeps in reserve starts on an empty page of its own.
            if event["args"]["data"]["documentLoaderURL"] == window.page.url:
                trace.process, trace.started = event["pid"], time
        elif event["name"].startswith("input:"):
            trace.inputs.append((event["name"].removeprefix("input:"), time))
    trace.frames = [
        event["ts"] / 1000
        for event in events
        if event["name"] == "DrawFrame" and event["pid"] == trace.process
    ]
