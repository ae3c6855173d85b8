"""The view is light or dark as JupyterLab is, and turns with it."""

from collections.abc import Iterator

import pytest

from tests.browser.view import View, expect_lines
from tests.hosts.shown import expect_brightness
from tests.lab.lab import Lab


@pytest.fixture(autouse=True)
def _light_again(lab: Lab) -> Iterator[None]:
    yield
    lab.set_theme("light")


def test_turns_with_jupyterlab_and_back(lab: Lab) -> None:
    view = View(lab.run("aw.show(record)").output)
    for tab in ("Head", "Model", "Neuron"):
        view.open(tab)
        expect_brightness(view.body, dark=False)
        lab.set_theme("dark")
        expect_brightness(view.body, dark=True)
        lab.set_theme("light")
    expect_brightness(view.body, dark=False)


def test_made_in_the_dark(lab: Lab) -> None:
    lab.set_theme("dark")
    view = View(lab.run("aw.show(record)").output)
    expect_brightness(view.body, dark=True)
    expect_lines(view)
    # One that was asked for stays, also when JupyterLab turns.
    asked = View(lab.run("aw.show(record, theme='dark')").output)
    lab.set_theme("light")
    expect_brightness(view.body, dark=False)
    expect_brightness(asked.body, dark=True)
    expect_lines(asked)
