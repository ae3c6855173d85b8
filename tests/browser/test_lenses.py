"""Weightings in saved pages: the numbers of `attnwidget.analysis`, or the reason for none."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

import attnwidget as aw
from attnwidget.analysis import rollout, row_shares, value_norms, value_weighted
from attnwidget.default_model import default_model
from tests.browser.view import View, names, numbers
from tests.support import OpenPage

TEXT = "The dog was tired because it ran."
LAYER, HEADS = 2, [0, 3]


@pytest.fixture(scope="module")
def valued() -> aw.AttentionRecord:
    return aw.capture(*default_model(), TEXT, values=True)


@pytest.fixture(scope="module")
def page(valued: aw.AttentionRecord, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lenses") / "page.html"
    choices = {"layer": LAYER, "head": HEADS[0], "heads": HEADS, "lens": "rollout"}
    # Not exact, so that bounds of errors count, too.
    aw.AttentionWidget(valued, **choices).save_html(path)
    return path


@pytest.fixture
def view(open_page: OpenPage, page: Path) -> View:
    return View(open_page(page, width=1200, height=1000))


def weighting(view: View) -> Locator:
    return view.within.get_by_role("combobox", name="Weighting", exact=True)


def test_pairs_have_the_share_of_the_record(view: View, valued: aw.AttentionRecord) -> None:
    weighting(view).select_option("values")
    layer = valued.layer(LAYER)
    shares = row_shares(value_weighted(layer, HEADS[0]))
    norms = value_norms(layer)[HEADS[0]]
    for query, key in np.random.default_rng(0).integers(len(shares), size=(12, 2)).tolist():
        view.point_at_cell(query, key, *shares.shape)
        expect(view.status).to_contain_text(
            f"Head {HEADS[0]}, value-weighted  {names(valued.tokens()[0])[query]} → "
        )
        said = view.status.text_content() or ""
        share, weight, norm, length, *_ = numbers(said.split(" share ")[1])
        assert abs(share - shares[query, key]) <= 5.1e-4, said
        assert abs(weight - layer.head_weights(HEADS[0])[query, key]) <= 1e-3, said
        assert abs(norm - norms[key]) <= 5.1e-3, said
        assert abs(length - weight * norm) <= 2e-2, said


def test_rows_columns_and_combinations_are_of_shares(
    view: View, valued: aw.AttentionRecord
) -> None:
    weighting(view).select_option("values")
    layer = valued.layer(LAYER)
    shares = np.stack([row_shares(value_weighted(layer, head)) for head in HEADS])

    def strongest(expected: np.ndarray) -> None:
        said = (view.status.text_content() or "").split("  ", 1)[1]
        np.testing.assert_allclose(numbers(said)[:3], np.sort(expected)[::-1][:3], atol=6e-4)

    view.query(6).hover()
    expect(view.status).to_contain_text(f"Layer {LAYER} · value-weighted  ")
    strongest(shares[:, 6].ravel())
    view.key(5).hover()
    expect(view.status).to_contain_text("←")
    strongest(shares[:, :, 5].ravel())
    view.combine.select_option("mean")
    view.query(4).hover()
    expect(view.status).to_contain_text("Mean of 2 heads, value-weighted")
    strongest(shares[:, 4].mean(axis=0))


def test_the_model_view_has_thumbnails_of_shares(view: View) -> None:
    view.open("Model")
    expect(weighting(view).get_by_role("option")).to_have_count(3)
    expect(weighting(view)).to_have_value("attention")
    before = view.drawn()
    weighting(view).select_option("values")
    expect(view.page.get_by_text("pictures are value-weighted")).to_be_visible()
    assert view.drawn() != before
    view.open("Head")
    for lens in ("values", "rollout", "attention", "scores"):
        expect(weighting(view)).to_have_value(lens)
        view.page.keyboard.press("v")


def test_pairs_have_the_score_of_the_record(view: View, valued: aw.AttentionRecord) -> None:
    weighting(view).select_option("scores")
    scores = valued.scores(LAYER, HEADS[0])
    for query, key in ((6, 1), (2, 7)):
        view.point_at_cell(query, key, *scores.shape)
        expect(view.status).to_contain_text(f"Head {HEADS[0]}, scores  ")
        said = (view.status.text_content() or "").split(" score ")[1]
        score, weight = numbers(said)[:2]
        assert abs(score - scores[query, key]) <= 1e-2, said
        assert abs(weight - valued.weights(LAYER, HEADS[0])[query, key]) <= 1e-3, said
    before = view.drawn()
    view.open("Model")
    expect(weighting(view)).to_have_value("scores")
    expect(view.page.get_by_text("numbers are of attention")).to_be_visible()
    assert view.drawn() != before


def test_rollout_is_of_all_layers_up_to_the_one_shown(
    view: View, valued: aw.AttentionRecord
) -> None:
    rolled = rollout(valued.stack())
    expect(view.body.get_by_role("strong")).to_have_text(f"Rollout of layers 0–{LAYER}")
    view.point_at_cell(6, 1, *rolled[LAYER].shape)
    expect(view.status).to_contain_text("→ the share ")
    [share] = numbers((view.status.text_content() or "").split(" share ")[1])
    assert abs(share - rolled[LAYER][6, 1]) <= 8e-4
    view.layer.press("Home")
    expect(view.body.get_by_role("strong")).to_have_text("Rollout of layer 0")


def test_what_the_record_does_not_have_cannot_be_chosen(view: View, pair_page: Path) -> None:
    view.combine.select_option("layers_mean")
    expect(weighting(view)).to_have_value("attention")
    for label in ("Value-weighted", "Rollout"):
        reason = re.compile(f"^{label}: not of all layers as one$")
        expect(weighting(view).get_by_role("option", name=reason)).to_be_disabled()
    view.page.goto(pair_page.as_uri())
    for reason in (
        "Value-weighted: needs capture(values=True)",
        "Rollout: not saved in this page",
    ):
        option = weighting(view).get_by_role("option", name=reason, exact=True)
        expect(option).to_be_disabled()
