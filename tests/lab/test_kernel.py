"""When the kernel is busy, fails, or goes."""

import os
import signal

import pytest
from playwright.sync_api import expect

from tests.browser.view import View, expect_lines
from tests.lab.lab import OPENED, Lab

# A record that does not answer as it should, but is otherwise as the real one. It is the last layer
# that does not come: one beside the layer in view is fetched before it is wanted.
UNWELL = """
class Unwell:
    def __init__(self, act):
        self._act = act

    def layer(self, *place):
        self._act(*place)
        return record.layer(*place)

    def __getattr__(self, name):
        return getattr(record, name)
"""

BREAK = """
asked = 0

def act(number, stack):
    global asked
    if number == 5:
        asked += 1
        raise RuntimeError("the disk is on fire")

w._record = Unwell(act)
"""

RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()"


def test_a_failure_in_the_kernel_is_shown_and_is_not_for_ever(lab: Lab) -> None:
    view = View(lab.run("w = aw.show(record); w").output)
    expect_lines(view)
    lab.run(UNWELL + BREAK)
    view.layer.press("End")
    expect(view.alert).to_contain_text("the disk is on fire")
    # Not again and again: the kernel has other things to do.
    assert lab.evaluate("asked") == 1
    # Layers that have arrived stay usable.
    view.layer.press("Home")
    expect(view.alert).to_have_count(0)
    view.query(4).hover()
    expect(view.status).to_contain_text("fox →")

    # Going back to it asks for it again.
    lab.run("w._record = record")
    view.layer.press("End")
    expect(view.alert).to_have_count(0)
    expect_lines(view)
    view.query(4).hover()
    expect(view.status).to_contain_text("Layer 5 fox →")


WORK = """
import time
from attnwidget.progress import progress_bar, step_done
with progress_bar("Packing", "layers", 3):
    for _ in range(3):
        time.sleep(0.8)
        step_done()
"""

SHOWN = """(seen) => new MutationObserver((changes) => {
  window.packing ||= changes.some(({ target }) => target.textContent.includes("Packing:"));
}).observe(document.body, { subtree: true, childList: true, characterData: true })"""


def test_long_work_has_a_bar_that_goes(lab: Lab) -> None:
    lab.page.evaluate(SHOWN)
    cell = lab.run(WORK)
    assert lab.page.evaluate("window.packing") is True
    expect(cell.output).to_have_text("")


def test_a_closed_widget_goes(lab: Lab) -> None:
    view = View(lab.run("w = aw.show(record); w").output)
    other = View(lab.run("aw.show(record)").output)
    expect_lines(view)
    expect_lines(other)
    lab.run("w.close()")
    expect(view.body).to_have_count(0)
    other.layer.press("ArrowUp")
    expect(other.layer).to_have_text("1")
    expect_lines(other)


# JupyterLab's own word about a restart.
LOST = "console warning: Connection lost, reconnecting in 0 seconds."


def test_after_a_restart_what_was_loaded_still_works(lab: Lab) -> None:
    view = View(lab.run("w = aw.show(record); w").output)
    expect_lines(view)
    view.layer.press("ArrowUp")
    expect(view.layer).to_have_text("1")
    expect_lines(view)
    before = view.body.bounding_box()

    lab.page.evaluate(RESTART)
    lab.page.wait_for_function(OPENED)
    view.layer.press("End")
    expect(view.alert).to_contain_text("run the cell again")
    after = view.body.bounding_box()
    assert before is not None
    assert after is not None
    assert after["height"] == pytest.approx(before["height"], abs=1)
    view.layer.press("Home")
    expect(view.alert).to_have_count(0)
    view.query(4).hover()
    expect(view.status).to_contain_text("Layer 0 fox →")
    view.open("Model")
    view.cell(5, 1).hover()
    expect(view.status).to_contain_text("Layer 5 · Head 1")
    lab.errors[:] = [error for error in lab.errors if error != LOST]


def test_a_kernel_that_does_not_answer_can_be_asked_again(lab: Lab) -> None:
    view = View(lab.run("w = aw.show(record); w").output)
    expect_lines(view)
    kernel = lab.evaluate("__import__('os').getpid()")
    os.kill(kernel, signal.SIGSTOP)
    try:
        view.layer.press("End")
        expect(view.alert).to_contain_text("not sent layer 5 for 15 seconds")
        view.button("Ask again").click()
        expect(view.body).to_contain_text("Waiting for layer 5")
    finally:
        os.kill(kernel, signal.SIGCONT)
    expect_lines(view)
    expect(view.alert).to_have_count(0)
    view.query(4).hover()
    expect(view.status).to_contain_text("Layer 5 fox →")


def test_a_kernel_that_died(lab: Lab) -> None:
    """The server starts another, which knows nothing of the widget."""
    view = View(lab.run("w = aw.show(record); w").output)
    expect_lines(view)
    os.kill(lab.evaluate("__import__('os').getpid()"), signal.SIGKILL)
    dialog = lab.page.locator(".jp-Dialog")
    dialog.get_by_role("button", name="Ok").click()
    lab.page.wait_for_function(OPENED)
    view.layer.press("End")
    expect(view.alert).to_contain_text("run the cell again")
    view.layer.press("Home")
    expect(view.alert).to_have_count(0)
    expect_lines(view)
    lab.errors[:] = [error for error in lab.errors if error != LOST]
