"""A comparison in a saved page: numpy's numbers with their sign, and what a difference lacks."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnwidget as aw
from attnwidget.default_model import default_model
from tests.browser.view import View, numbers
from tests.support import OpenPage

TEXTS = [
    "The trophy did not fit in the suitcase because it was too big.",
    "The trophy did not fit in the suitcase because it was too small.",
]


@pytest.fixture(scope="module")
def comparison() -> aw.Comparison:
    return aw.compare(*(aw.capture(*default_model(), text) for text in TEXTS))


@pytest.fixture(scope="module")
def page(comparison: aw.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("comparison") / "page.html"
    aw.save_html(path, comparison, layer=2, head=8, heads=[8])
    return path


@pytest.fixture
def view(open_page: OpenPage, page: Path) -> View:
    return View(open_page(page, width=1900, height=1000))


def record(view: View, name: str) -> Locator:
    return view.within.get_by_role("radio", name=name, exact=True)


def test_random_positions_have_the_numbers_of_both_and_their_difference(
    view: View, comparison: aw.Comparison
) -> None:
    weights = comparison.weights(2, 8)
    labels = comparison.keys().labels
    size = len(labels)
    for query, key in np.random.default_rng(0).integers(size, size=(50, 2)).tolist():
        view.point_at_cell(query, key, size, size)
        # Equal tokens of a text are told apart by their place.
        expect(view.status).to_contain_text("Layer 2 · Head 8, B − A  ")
        expect(view.status).to_contain_text(labels[key])
        said = view.status.text_content() or ""
        assert said.split("B − A  ")[1].startswith(labels[query]), said
        a, b, difference = numbers(said.rpartition(" A ")[0].rpartition(" A ")[2]) + numbers(
            said.rpartition(" A ")[2]
        )
        before, after = (float(each[query, key]) for each in weights)
        assert abs(a - before) <= 1e-3, said
        assert abs(b - after) <= 1e-3, said
        assert abs(difference - (after - before)) <= 1e-3, said


def test_keys_and_radios_choose_the_record(view: View, comparison: aw.Comparison) -> None:
    view.query(10).click()
    expect(record(view, "B − A")).to_be_checked()
    expect(view.status).to_contain_text("it → big | small −0.146 · too +0.075 · [CLS] +0.038")
    view.page.keyboard.press("a")
    expect(record(view, "A")).to_be_checked()
    expect(view.status).to_contain_text("it → big | small 0.684")
    record(view, "B").click()
    expect(view.status).to_contain_text("it → big | small 0.538")
    view.page.keyboard.press("ArrowRight")
    expect(record(view, "B − A")).to_be_focused()
    expect(view.status).to_contain_text("−0.146")


def test_scores_are_subtracted_too(view: View, comparison: aw.Comparison) -> None:
    weighting = view.within.get_by_role("combobox", name="Weighting")
    weighting.select_option("scores")
    scores = [record.scores(2, 8) for record in comparison.records]
    for query, key in np.random.default_rng(1).integers(len(scores[0]), size=(20, 2)).tolist():
        view.point_at_cell(query, key, *scores[0].shape)
        expect(view.status).to_contain_text("Layer 2 · Head 8, scores, B − A  ")
        expected = [float(each[query, key]) for each in (*scores, scores[1] - scores[0])]
        said = view.status.text_content() or ""
        found = numbers("A".join(said.split(" A ")[-2:]))
        assert np.allclose(found, expected, rtol=0, atol=1e-2), said
    changes = view.within.get_by_role("table", name="Largest changes of head 8, scores")
    largest = np.abs(scores[1] - scores[0]).max()
    assert abs(abs(numbers(changes.get_by_role("row").nth(1).inner_text())[2]) - largest) <= 1e-2
    view.tab("Model").click()
    expect(view.page.get_by_text("√|B − A| of scores, per head")).to_be_visible()


def test_means_of_all_layers_and_the_map_say_that_they_are_differences(
    view: View, comparison: aw.Comparison
) -> None:
    view.within.get_by_role("combobox", name="Show").select_option("layers_mean")
    size = len(comparison.keys().labels)
    view.point_at_cell(10, 0, size, size)
    expect(view.status).to_contain_text("Mean of all 72 heads, B − A  ")
    view.tab("Map").click()
    figure = view.within.get_by_role("figure", name=re.compile("^Strongest links: "))
    expect(figure).to_contain_text("→")
    # That is a number of A or of B.
    expect(figure).not_to_contain_text("on the first token")


def test_scores_of_weights_alone_are_refused(
    open_page: OpenPage, comparison: aw.Comparison, tmp_path: Path
) -> None:
    weights = [
        np.stack([comparison.b.weights(layer, head) for head in range(12)]) for layer in range(6)
    ]
    bare = aw.AttentionRecord.from_arrays(weights, list(comparison.b.tokens()[0]))
    widget = aw.show(aw.compare(comparison.a, bare), layer=0, lens="scores")
    with pytest.raises(ValueError, match="recorded as weights alone"):
        widget.save_figure(tmp_path / "figure.svg")
    widget.save_html(tmp_path / "page.html")
    view = View(open_page(tmp_path / "page.html"))
    expect(view.body).to_contain_text("Layer 0 of B was recorded as weights alone")


def test_what_a_difference_lacks_is_said(view: View) -> None:
    lacking = view.within.get_by_role("option", name="of A or B alone")
    expect(lacking).to_have_count(2)
    lenses = ("Value-weighted: needs capture(values=True)", "Rollout: not saved in this page")
    named = [view.within.get_by_role("option", name=name, exact=True) for name in lenses]
    for option in [*lacking.all(), *named]:
        expect(option).to_be_disabled()


def test_the_largest_changes_are_listed_and_lock_their_pair(
    view: View, comparison: aw.Comparison
) -> None:
    rows = view.within.get_by_role("table", name="Largest changes of head 8").get_by_role("row")
    # The header, and the changes.
    expect(rows).to_have_count(8)
    for row, change in zip(rows.all()[1:], comparison.changes(2, 8, count=7), strict=True):
        a, b, difference = numbers(row.inner_text())
        assert abs(a - change.a) <= 1e-3
        assert abs(b - change.b) <= 1e-3
        assert abs(difference - change.difference) <= 1e-3
    rows.nth(2).get_by_role("button").click()
    expect(rows.nth(2)).to_have_attribute("aria-current", "true")
    expect(view.status).to_contain_text("too → big | small A 0.290 · B 0.406 · B − A +0.116")
    view.page.keyboard.press("a")
    expect(rows).to_have_count(0)


def test_the_neuron_view_of_a_difference_has_the_terms_of_both(
    view: View,
) -> None:
    view.tab("Neuron").click()
    before = view.body.get_by_role("group", name="A", exact=True)
    before.get_by_role("listbox", name="Queries").get_by_role("option").nth(10).click()
    for side in "AB":
        group = view.body.get_by_role("group", name=side, exact=True)
        expect(group.get_by_role("listbox", name="Keys")).to_contain_text("big | small")
        expect(view.status).to_contain_text(f"{side}  Layer 2 · Head 8")
    view.page.keyboard.press("b")
    expect(view.body.get_by_role("group", name="A", exact=True)).to_have_count(0)


def test_the_model_view_has_the_differences_of_every_head(
    view: View, comparison: aw.Comparison
) -> None:
    view.tab("Model").click()
    cell = view.grid.get_by_role("gridcell", name="Layer 3, head 11", exact=True)
    moved = comparison.table().set_index(["layer", "head"])["moved"][3, 11]
    expect(cell).to_have_attribute("aria-description", f"mixed, moved {moved:.4f}")
    cell.click()
    opened = view.within.get_by_role("region", name="Layer 3, head 11, opened")
    expect(opened.get_by_role("listbox", name="Keys")).to_contain_text("big | small")


def test_the_same_record_twice_has_no_difference(open_page: OpenPage, tmp_path: Path) -> None:
    same = aw.capture(*default_model(), TEXTS[0])
    path = tmp_path / "same.html"
    aw.save_html(path, aw.compare(same, same), layer=2, head=8, heads=[8], query=10)
    view = View(open_page(path, width=1900, height=1000))
    expect(view.status).to_contain_text("B − A  it → [CLS] 0.000 · ")
