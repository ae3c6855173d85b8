"""Heads of the model view, sorted and coloured by a number."""

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnwidget as aw
from tests.browser.stacked import stacked
from tests.browser.view import View, numbers
from tests.support import OpenPage


def combobox(view: View, name: str) -> Locator:
    return view.within.get_by_role("combobox", name=name, exact=True)


def entropies(record: aw.AttentionRecord, layer: int) -> np.ndarray:
    """Per head, the mean over the queries, in nats."""
    found = []
    for head in range(record.num_heads(layer)):
        weights = record.weights(layer, head).astype(np.float64)
        logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
        found.append(-(weights * logs).sum(axis=1).mean())
    return np.array(found)


def names(cells: Locator) -> list[str]:
    found: list[str] = cells.evaluate_all("cells => cells.map(cell => cell.ariaLabel)")
    return found


@pytest.mark.parametrize("which", ["view", "smollm2_view"])
def test_heads_are_sorted_by_a_number(which: str, request: pytest.FixtureRequest) -> None:
    view: View = request.getfixturevalue(which)
    record: aw.AttentionRecord = request.getfixturevalue(
        "record" if which == "view" else "smollm2_record"
    )
    view.open("Model")
    combobox(view, "Sort heads").select_option("Entropy")
    expect(view.body.get_by_text("entropy, highest → lowest")).to_be_visible()
    said = names(view.grid.get_by_role("gridcell"))
    at = 0
    for layer in range(record.num_layers()):
        values = entropies(record, layer)
        heads = [int(name.rsplit(" ", 1)[1]) for name in said[at : at + len(values)]]
        at += len(values)
        # Equal to four decimals is equal.
        assert np.all(np.diff(values[heads]) <= 2e-4), layer
        assert sorted(heads) == list(range(len(values)))
        expect(view.cell(layer, heads[0])).to_have_text(str(heads[0]))


def test_means_stand_beside_the_rows(model_view: View, record: aw.AttentionRecord) -> None:
    headers = model_view.grid.get_by_role("rowheader")
    for layer in range(record.num_layers()):
        said = headers.nth(layer).get_attribute("aria-description") or ""
        assert said.startswith("mean entropy")
        assert abs(numbers(said)[0] - entropies(record, layer).mean()) <= 0.006
    combobox(model_view, "Colour by").select_option("Share on special")
    expect(headers.first).to_have_attribute(
        "aria-description",
        # The record is the reference, and the view rounds to three decimals.
        f"mean share on special tokens {special_share(record, 0):.3f}",
    )


def special_share(record: aw.AttentionRecord, layer: int) -> float:
    special = list(record.stack().keys.special)
    heads = range(record.num_heads(layer))
    return float(
        np.mean(
            [round(float(record.weights(layer, h)[:, special].sum(1).mean()), 4) for h in heads]
        )
    )


def test_colours_have_a_legend(model_view: View, record: aw.AttentionRecord) -> None:
    combobox(model_view, "Colour by").select_option("Entropy")
    every = np.concatenate([entropies(record, layer) for layer in range(record.num_layers())])
    legend = model_view.within.get_by_text("■■■■■■■").or_(
        model_view.within.get_by_text(f"{every.min():.2f} nats")
    )
    expect(legend.first).to_contain_text(f"entropy {every.min():.2f} nats")
    expect(legend.first).to_contain_text(f"{every.max():.2f} nats")
    description = model_view.cell(0, 2).get_attribute("aria-description") or ""
    assert abs(numbers(description)[0] - entropies(record, 0)[2]) <= 0.006


def test_cross_attention_has_no_neighbours_to_sort_by(open_page: OpenPage) -> None:
    widget = aw.AttentionWidget(stacked(), view="model", stack="cross", sort="distance")
    view = View(open_page(widget.to_html(quality="exact")))
    sort = combobox(view, "Sort heads")
    expect(sort).to_have_value("model")
    expect(sort.get_by_role("option")).to_have_text(
        ["As in model", "Entropy", "Share on first", "Share on special"]
    )
    assert names(view.grid.get_by_role("gridcell"))[:3] == [
        "Layer 3, head 0",
        "Layer 3, head 1",
        "Layer 7, head 0",
    ]
