"""Heads of the model view, sorted and coloured by a number."""

import re

import numpy as np
from playwright.sync_api import Locator, expect

import attnwidget as aw
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


def test_heads_are_sorted_by_a_number(view: View, record: aw.AttentionRecord) -> None:
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
    combobox(model_view, "Colour by").select_option("Share on special tokens")
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


def test_heads_are_sorted_and_coloured_by_numbers_of_ones_own(
    open_page: OpenPage, record: aw.AttentionRecord
) -> None:
    shape = record.num_layers(), record.num_heads(0)
    scores = np.random.default_rng(0).normal(size=shape)
    scores[1, 4] = np.nan
    widget = aw.show(record, view="model", layer=2, head=3, metrics={"my score": scores})
    widget.sort = widget.color = "my score"
    view = View(open_page(widget.to_html(quality="draft"), width=1900, height=900))
    expect(combobox(view, "Sort heads")).to_have_value("my score")
    expect(combobox(view, "Colour by")).to_have_value("my score")
    said = names(view.grid.get_by_role("gridcell"))
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), axis=1, kind="stable")
    assert said == [
        f"Layer {layer}, head {head}" for layer in range(shape[0]) for head in order[layer]
    ]
    most = f"{np.nanmax(np.abs(scores)):.2f}"
    legend = view.within.get_by_text("no value")
    expect(legend.first).to_contain_text(
        re.compile(rf"^my score −{most} ■{{7}} {most} +■ no value")
    )
    value = f"my score {scores[2, 3]:.2f}".replace("-", "−")
    expect(view.status).to_contain_text(value)
    expect(view.cell(1, 4)).to_have_attribute("aria-description", re.compile("my score no value$"))
    heading = view.body.get_by_text("mean my score", exact=True).first
    assert heading.evaluate("each => each.scrollWidth <= each.clientWidth"), "nothing is cut off"
