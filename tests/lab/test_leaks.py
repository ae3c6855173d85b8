"""A cell that runs again leaves nothing behind of the view it had."""

import statistics
import time
from itertools import pairwise

from playwright.sync_api import CDPSession

from tests.browser.view import View, expect_lines
from tests.lab.lab import Cell, Lab
from tests.support import PATIENCE_SECONDS

RUNS = 4
# The counts in a row that are the same once a page has settled.
SAME = 3

EMPTY = """
import anywidget

class Empty(anywidget.AnyWidget):
    _esm = "export default { render({ el }) { el.textContent = 'empty'; } };"
"""


def growth(lab: Lab, cell: Cell, *, used: bool) -> dict[str, float]:
    """Median growth per further run of a cell, after garbage collection.

    The median over the runs: now and then JupyterLab itself adds some 140 listeners at once.
    """
    chromium = lab.context.new_cdp_session(lab.page)
    counts: list[dict[str, int]] = []
    for _ in range(RUNS):
        lab.rerun(cell)
        if used:
            view = View(cell.output)
            expect_lines(view)
            view.query(4).hover()
        counts.append(_settled(lab, chromium))
    chromium.detach()
    return {
        what: statistics.median(after[what] - before[what] for before, after in pairwise(counts))
        for what in ("nodes", "jsEventListeners")
    }


def _settled(lab: Lab, chromium: CDPSession) -> dict[str, int]:
    """The counts after garbage collection, as soon as they stay the same for a while.

    JupyterLab still renders after a cell has run: on a busy machine, for seconds.
    """
    latest: list[dict[str, int]] = []
    until = time.monotonic() + PATIENCE_SECONDS
    while len(latest) < SAME or any(counts != latest[-1] for counts in latest[-SAME:]):
        assert time.monotonic() < until, latest[-SAME:]
        lab.page.wait_for_timeout(200)
        chromium.send("HeapProfiler.collectGarbage")
        latest.append(chromium.send("Memory.getDOMCounters"))
    return latest[-1]


# A view that is not cleaned up leaves some 300 nodes and 70 listeners with every run. What an
# empty widget leaves is anywidget's and JupyterLab's own, which varies, up to this.
OWN = {"nodes": 3, "jsEventListeners": 4}


def test_running_again_adds_no_more_than_an_empty_widget(lab: Lab) -> None:
    lab.fresh_page()
    lab.run(EMPTY + "empty = Empty(); w = aw.show(record)")
    # The same widget, and a new one.
    for mine, empty in (("w", "empty"), ("w = aw.show(record); w", "Empty()")):
        least = growth(lab, lab.run(empty), used=False)
        ours = growth(lab, lab.run(mine), used=True)
        for what, count in ours.items():
            assert count <= max(least[what], OWN[what]) + 1, (mine, ours, least)
