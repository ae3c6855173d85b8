from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser

import attnwidget as aw
from tests.lab.lab import Lab
from tests.lab.server import serve

# A kernel that a test has restarted gets everything again.
KERNEL = """
if "record" not in globals():
    import attnwidget as aw
    record = aw.AttentionRecord.load("record.safetensors")
    other = aw.AttentionRecord.load("other.safetensors")
"""


@pytest.fixture(scope="session")
def jupyterlab(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, record: aw.AttentionRecord
) -> Iterator[Lab]:
    with serve(tmp_path_factory.mktemp("lab"), "jupyterlab") as server:
        record.save(server.root / "record.safetensors")
        other = ["[CLS]", "it", "rained", "all", "day", ".", "[SEP]"]
        weights = np.random.default_rng(0).dirichlet(np.ones(len(other)), (6, 12, len(other)))
        aw.AttentionRecord.from_arrays(weights, other).save(server.root / "other.safetensors")
        lab = Lab(browser, server.address("lab/tree/test.ipynb"))
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


@pytest.fixture(autouse=True)
def _start(lab: Lab) -> None:
    """The notebook is empty; its kernel has a `record` of a pair, and an `other` of 7 tokens."""
    lab.clear()
    lab.run(KERNEL)
    # Left where a test before clicked, the pointer would hover over whatever comes there.
    lab.page.mouse.move(0, 0)
