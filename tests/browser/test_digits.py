"""No number shows a digit that the rounding of its page does not support.

Each is within one unit of its last digit of the record's number.
"""

import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.wire.compression import Quality
from tests.browser.view import View, eventually, names
from tests.support import OpenPage

# A seed per page: four qualities of a short text of either model.
PAGES = [
    (which, quality, seed)
    for which, seed in (("pair", 0), ("smollm2", 2))
    for quality in get_args(Quality)
]
PLACES = 3

NUMBER = r"(<?)([−+]?\d+(?:\.\d+)?)(?: ± ([\d.e+]+))?"


@pytest.mark.parametrize(("which", "quality", "seed"), PAGES)
def test_every_number_is_right_to_its_last_digit(
    open_page: OpenPage,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    which: str,
    quality: Quality,
    seed: int,
) -> None:
    record = request.getfixturevalue("record" if which == "pair" else "smollm2_record")
    rng = np.random.default_rng(seed)
    layers = record.stack().numbers
    layer, head = int(rng.choice(layers)), int(rng.integers(record.num_heads(0)))
    scores = record.scores(layer, head)
    seen = np.argwhere(np.isfinite(scores))
    pairs = [(int(q), int(k)) for q, k in rng.choice(seen, PLACES, replace=False)]
    chosen = {"layer": layer, "head": head, "heads": [head]}
    widgets = [aw.AttentionWidget(record, **chosen, query=q, key=k) for q, k in pairs]
    neurons = [
        aw.AttentionWidget(record, view="neuron", **chosen, query=q, key=k) for q, k in pairs
    ]
    strongest = aw.AttentionWidget(record, **chosen, query=pairs[0][0])
    model = aw.AttentionWidget(record, view="model")
    path = tmp_path / "page.html"
    aw.save_html(path, *widgets, *neurons, strongest, model, quality=quality)
    page = open_page(path)
    views = [View(each) for each in page.locator("[role=application], main > *").all()]
    statuses = [view.status for view in views]
    for status in statuses[:-1]:
        expect(status).to_contain_text("→")
    for (query, key), status in zip(pairs, statuses[:PLACES], strict=True):
        said = status.inner_text()
        _expect(said, "weight", record.weights(layer, head)[query, key])
        _expect(said, "score", scores[query, key])
    for (query, key), status in zip(pairs, statuses[PLACES : 2 * PLACES], strict=True):
        said = status.inner_text()
        q, k = record.queries(layer, head)[query], record.keys(layer, head)[key]
        _expect(said, "q·k", float(q @ k))
        _expect(said, "=", scores[query, key])
        _expect(said, "softmax", record.weights(layer, head)[query, key])
        found = re.search(r"neuron (\d+) adds", said)
        assert found, said
        _expect(said, "adds", q[int(found[1])] * k[int(found[1])])
    said = statuses[2 * PLACES].inner_text()
    weights = record.weights(layer, head)[pairs[0][0]]
    listed = [part.strip() for part in said.split(" → ")[1].split(" · ")[:3]]
    labels = names(record.tokens()[0])
    for part in listed:
        [name] = [each for each in labels if part.startswith(f"{each} ")][-1:]
        _expect(part, re.escape(name), weights[labels.index(name)])
    _expect_metrics(views[-1], model, layer, head)


def _expect_metrics(view: View, widget: aw.AttentionWidget, layer: int, head: int) -> None:
    cell = view.cell(layer, head)
    cell.scroll_into_view_if_needed()
    cell.hover()
    metrics = {
        metric["label"]: metric["values"]["self"][layer][head]
        for metric in widget._manifest["metrics"]
    }

    def said_them() -> None:
        said = view.status.inner_text()
        found = re.findall(rf"· ([\w ]+?) {NUMBER}", said)
        assert found, said
        for label, less, number, _ in found:
            if label in metrics:
                _expect(f"{label} {less}{number}", label, metrics[label])

    eventually(view.page, said_them)


def _expect(said: str, name: str, exact: float) -> None:
    """The number after this name is within one unit of its last digit, or its error."""
    found = re.search(rf"{name} {NUMBER}", said)
    assert found, (said, name)
    less, text, error = found.groups()
    value = float(text.replace("−", "-"))
    unit = 10.0 ** -len(text.partition(".")[2])
    if error:
        # It is rounded to a whole number.
        unit = float(error) + 0.5
    low, high = (0, value + unit) if less else (value - unit, value + unit)
    assert low - 1e-6 <= exact <= high + 1e-6, (said, name, exact)
