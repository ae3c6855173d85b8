"""The first widget of a page, which meets everything unloaded, paints at the first try."""

from tests.browser.view import View, expect_lines
from tests.hosts.shown import PAINTS
from tests.lab.lab import Lab


def test_first_paint(lab: Lab) -> None:
    for _ in range(PAINTS):
        lab.fresh_page()
        expect_lines(View(lab.run("aw.show(record)").output))
