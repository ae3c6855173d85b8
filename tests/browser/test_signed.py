"""Layers without a softmax in a saved page: their coefficients are those of the record."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.record import Recurrence
from tests.browser.view import View, names, numbers
from tests.support import OpenPage
from tests.unit.signed import with_both

LENGTH, LAYER, HEAD, QUERY = 12, 1, 2, 8


@pytest.fixture(scope="module")
def record() -> aw.AttentionRecord:
    return with_both(LENGTH)


@pytest.mark.parametrize("quality", ["default", "compact"])
def test_coefficients_in_every_view(
    quality: Literal["default", "compact"],
    record: aw.AttentionRecord,
    tmp_path: Path,
    open_page: OpenPage,
) -> None:
    page = tmp_path / "page.html"
    aw.save_html(page, record, quality=quality, stack="linear", layer=LAYER, head=HEAD)
    layer = record.layer(LAYER, "linear")
    view = View(open_page(page, width=1900, height=1000))
    named = names(record.tokens("linear")[0])
    coefficients = layer.head_coefficients(HEAD)
    row = coefficients[QUERY]
    weighting = view.within.get_by_role("combobox", name="Weighting", exact=True)
    expect(weighting.get_by_role("option", name="Coefficients")).to_be_attached()
    expect(weighting.get_by_role("option", name="Scores: no softmax")).to_be_disabled()
    for key in (0, 3, QUERY):
        view.point_at_cell(QUERY, key, LENGTH, LENGTH)
        expect(view.status).to_contain_text(f"{named[QUERY]} → {named[key]} coefficient ")
        said = (view.status.text_content() or "").split(" coefficient ")[1]
        found = numbers(said)[:3]
        expected = [row[key], row.sum(), np.abs(row).sum()]
        np.testing.assert_allclose(found, expected, atol=6e-3, err_msg=said)
    before = view.drawn()

    view.open("Model")
    expect(view.page.get_by_text("pictures: √|coefficient| per head")).to_be_visible()
    assert view.drawn() != before

    # A weighting that needs a softmax is kept for the layers that have one.
    view.open("Head")
    stack = view.within.get_by_role("combobox", name="Attention", exact=True)
    stack.select_option("self")
    weighting.select_option("scores")
    expect(view.body.get_by_role("strong")).to_contain_text("scores")
    stack.select_option("linear")
    expect(weighting).to_have_value("attention")
    expect(view.body.get_by_role("strong")).to_contain_text("coefficients")
    view.show(LAYER, HEAD)

    view.open("Neuron")
    if quality == "compact":
        # Vectors, which are exact, would take more room.
        expect(view.body).to_contain_text("as coefficients alone")
        return
    view.query(QUERY).click()
    view.key(3).hover()
    expect(view.status).to_contain_text(f"{named[QUERY]} → {named[3]} p·k ")
    assert isinstance(layer.program, Recurrence)
    assert layer.program.write is not None
    said = (view.status.text_content() or "").split(" p·k ")[1]
    dot, write, coefficient, *_ = numbers(said)
    assert abs(write - layer.program.write[HEAD, 3]) <= 5.1e-3, said
    assert abs(coefficient - row[3]) <= 5.1e-4, said
    assert abs(dot * write - coefficient) <= 2e-2, said
