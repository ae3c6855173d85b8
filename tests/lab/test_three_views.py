"""Each view has the numbers of the record that the kernel has."""

import attnwidget as aw
from tests.browser.texts import PAIR, TEXT
from tests.browser.view import View
from tests.hosts.shown import expect_three_views
from tests.lab.lab import Lab

SHOW = f"""
from attnwidget.default_model import default_model
aw.show(*default_model(), {TEXT!r}, {PAIR!r})
"""


def test_the_three_views(lab: Lab, record: aw.AttentionRecord) -> None:
    """The test's own process and the kernel capture the same."""
    expect_three_views(View(lab.run(SHOW).output), record)
