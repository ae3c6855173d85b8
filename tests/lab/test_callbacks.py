"""Callbacks of the notebook's own code, and the messages if they fail."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.view import View, eventually, expect_lines
from tests.lab.lab import Lab

SELECTED = """
import numpy as np

def is_the_records(s):
    place = s.layer, s.head
    row = slice(None) if s.query is None else s.query
    column = slice(None) if s.key is None else s.key
    return (
        np.array_equal(s.weights, record.weights(*place)[row, column])
        and np.array_equal(s.scores, record.scores(*place)[row, column])
        and np.array_equal(s.queries, record.queries(*place)[row])
        and np.array_equal(s.keys, record.keys(*place)[column])
    )

seen = []

def look(change):
    s = w.selection
    assert is_the_records(s)
    seen.append([change.name, s.layer, s.head, s.query_token, s.key_token, list(s.weights.shape)])

w.observe(look, ["layer", "head", "query", "key"])
"""

FAIL = """
heard = []

def fail(change):
    heard.append(change.new)
    if change.new == 4:
        raise ValueError("no picture of token 4")

w.observe(fail, "query")
"""


@pytest.fixture
def view(lab: Lab) -> View:
    """The widget `w`, in a cell of its own."""
    view = View(lab.run("w = aw.show(record); w").output)
    expect_lines(view)
    return view


def expect_value(lab: Lab, expression: str, value: Any) -> None:
    def there() -> None:
        assert lab.evaluate(expression) == value

    eventually(lab.page, there)


def test_the_selection_is_what_was_clicked(lab: Lab, view: View) -> None:
    lab.run(SELECTED)
    count = lab.evaluate("len(record.tokens()[0])")
    view.query(4).click()
    expect_value(lab, "seen", [["query", 0, 0, "fox", None, [count]]])
    assert lab.evaluate("is_the_records(w.selection)")
    lab.run("seen.clear()")
    view.key(9).click()
    expect_value(lab, "seen[-1:]", [["key", 0, 0, None, "dog", [count]]])
    assert lab.evaluate("is_the_records(w.selection)")
    view.show(2, 7)
    expect_value(lab, "seen[-1:]", [["head", 2, 7, None, "dog", [count]]])
    assert lab.evaluate("is_the_records(w.selection)")
    view.key(9).click()
    expect_value(lab, "seen[-1:]", [["key", 2, 7, None, None, [count, count]]])


def test_what_a_callback_does_wrong_is_shown(lab: Lab, view: View) -> None:
    lab.run(FAIL)
    view.query(4).click()
    expect(view.alert).to_contain_text("ValueError: no picture of token 4")
    # The choice holds all the same.
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    expect_value(lab, "[w.query, heard]", [4, [4]])
    view.alert.get_by_role("button", name="Dismiss").click()
    expect(view.alert).to_have_count(0)
    view.query(5).click()
    expect_value(lab, "[w.query, heard]", [5, [4, 5]])
    expect(view.alert).to_have_count(0)


def test_the_other_choices_of_a_click_arrive_all_the_same(lab: Lab, view: View) -> None:
    lab.run(FAIL + "w.key = 9")
    expect(view.key(9)).to_have_attribute("aria-selected", "true")
    view.query(4).click()
    expect(view.alert).to_contain_text("no picture of token 4")
    expect_value(lab, "[w.query, w.key]", [4, None])
    expect(view.key(9)).to_have_attribute("aria-selected", "false")


# A record with fewer tokens than the view believes, as after a change in the kernel.
SHRINK = """
w._record = other
"""


def test_what_the_kernel_does_not_have_is_taken_back(lab: Lab, view: View) -> None:
    lab.run(SHRINK)
    view.query(12).click()
    expect(view.alert).to_contain_text("query position 12 does not exist")
    expect(view.query(12)).to_have_attribute("aria-selected", "false")
    expect_value(lab, "w.query", None)
    view.query(2).click()
    expect_value(lab, "w.query", 2)
    expect(view.query(2)).to_have_attribute("aria-selected", "true")
