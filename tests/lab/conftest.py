from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.lab.lab import Lab, serve


@pytest.fixture(scope="session")
def jupyterlab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with serve(tmp_path_factory.mktemp("lab")) as url:
        lab = Lab(browser, url)
        yield lab
        lab.context.close()


@pytest.fixture
def lab(jupyterlab: Lab) -> Iterator[Lab]:
    """The one JupyterLab of the test run, with its one page and one notebook.

    The test fails at its end if the page logged an error or a warning, or asked anything of another
    server. A test that provokes errors looks at `lab.errors` and clears it.
    """
    jupyterlab.watch.clear()
    yield jupyterlab
    problems = jupyterlab.watch.problems()
    assert not problems, "\n".join(problems)
