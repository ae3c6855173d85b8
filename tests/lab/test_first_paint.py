"""The first widget of a page, which meets everything unloaded, paints at the first try."""

from tests.browser.view import View, expect_lines
from tests.lab.lab import Lab

TIMES = 10


def test_every_time(lab: Lab) -> None:
    painted = 0
    failures = []
    for _ in range(TIMES):
        lab.fresh_page()
        view = View(lab.run("aw.show(record)").output)
        try:
            expect_lines(view)
            painted += 1
        except AssertionError as error:
            failures.append(str(error))
    assert painted == TIMES, failures
