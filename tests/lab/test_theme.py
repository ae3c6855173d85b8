"""The view is light or dark as JupyterLab is, and turns with it."""

from collections.abc import Iterator

import pytest

from tests.browser.view import View, brightness, eventually, expect_lines, look
from tests.lab.lab import Lab


@pytest.fixture(autouse=True)
def _light_again(lab: Lab) -> Iterator[None]:
    yield
    lab.set_theme("light")


def expect_brightness(view: View, *, dark: bool) -> None:
    def fits() -> None:
        bright = brightness(look(view.body))
        assert bright < 48 if dark else bright > 230, bright

    eventually(view.page, fits)


@pytest.mark.parametrize("tab", ["Head", "Model", "Neuron"])
def test_turns_with_jupyterlab_and_back(lab: Lab, tab: str) -> None:
    view = View(lab.run("aw.show(record)").output)
    view.open(tab)
    expect_brightness(view, dark=False)
    lab.set_theme("dark")
    expect_brightness(view, dark=True)
    lab.set_theme("light")
    expect_brightness(view, dark=False)


def test_made_in_the_dark(lab: Lab) -> None:
    lab.set_theme("dark")
    view = View(lab.run("aw.show(record)").output)
    expect_brightness(view, dark=True)
    expect_lines(view)


def test_a_theme_that_was_asked_for_stays(lab: Lab) -> None:
    view = View(lab.run("aw.show(record, theme='light')").output)
    lab.set_theme("dark")
    expect_lines(view)
    expect_brightness(view, dark=False)
