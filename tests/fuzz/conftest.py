from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

from tests.fuzz import campaign

settings.register_profile(
    "fuzz",
    max_examples=150 * campaign.SCALE,
    # The same ones each time, as long as nobody asks for more.
    derandomize=campaign.SCALE == 1,
    database=None,
    deadline=None,
    print_blob=True,
)
settings.load_profile("fuzz")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Passes what a campaign did on to the summary, also from another process."""
    result = yield
    pyfuncitem.user_properties.extend(("fuzz", line) for line in campaign.done)
    campaign.done.clear()
    return result


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = [
        line
        for report in terminalreporter.getreports("passed")
        for name, line in report.user_properties
        if name == "fuzz"
    ]
    if lines:
        terminalreporter.section("fuzz")
        for line in lines:
            terminalreporter.line(str(line))
