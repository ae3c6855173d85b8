"""A cell that runs again leaves nothing behind of the view it had."""

import statistics
from itertools import pairwise

from tests.browser.view import View, expect_lines
from tests.lab.lab import Cell, Lab

RUNS = 4

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
        chromium.send("HeapProfiler.collectGarbage")
        counts.append(chromium.send("Memory.getDOMCounters"))
    chromium.detach()
    return {
        what: statistics.median(after[what] - before[what] for before, after in pairwise(counts))
        for what in ("nodes", "jsEventListeners")
    }


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
