"""Limits of a page's cost: the figures of `make bench` that do not depend on a clock."""

from pathlib import Path

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.default_model import default_model
from attnwidget.wire.compression import COMPACT
from benchmarks.browser.models import inputs
from benchmarks.browser.payload import json_bytes
from benchmarks.browser.stated import stated_error
from tests.browser.view import View
from tests.support import OpenPage

# Tokens -> how many times smaller a page is than the data of BertViz's, which is counted once. Of
# short texts, most of a page is the program.
TIMES_SMALLER = {128: 31, 512: 160}

# Nodes of a page at any length.
NODES = 1700


@pytest.fixture(scope="module", params=TIMES_SMALLER, ids=lambda tokens: f"T={tokens}")
def record(request: pytest.FixtureRequest) -> aw.AttentionRecord:
    model, tokenizer = default_model()
    return aw.capture(model, tokenizer, inputs(tokenizer, request.param))


@pytest.fixture(scope="module")
def long_page(record: aw.AttentionRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("budget") / f"{len(record.tokens()[0])}.html"
    aw.AttentionWidget(record).save_html(path, quality="compact")
    return path


def test_bytes_against_bertviz(record: aw.AttentionRecord, long_page: Path) -> None:
    labels = list(record.tokens()[0])
    layers = (
        np.stack([record.weights(layer, head) for head in range(record.num_heads(layer))])
        for layer in record.stack().numbers
    )
    theirs = json_bytes(layers, labels, every=len(labels) // 64)
    assert theirs / long_page.stat().st_size > TIMES_SMALLER[len(labels)]


def test_the_stated_error(long_page: Path) -> None:
    stated = stated_error(long_page.read_text(encoding="utf-8"))
    assert stated["largest"] is not None
    assert 0 < stated["largest"] < 0.1
    assert stated["variation"] is not None
    assert 0 < stated["variation"] <= COMPACT.variation


def test_nodes(open_page: OpenPage, long_page: Path) -> None:
    view = View(open_page(long_page, width=1100))
    session = view.page.context.new_cdp_session(view.page)
    for tab in ("Head", "Model", "Neuron", "Map"):
        view.open(tab)
        view.body.locator("canvas").first.wait_for()
        session.send("HeapProfiler.collectGarbage")
        assert session.send("Memory.getDOMCounters")["nodes"] < NODES, tab
