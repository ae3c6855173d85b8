"""Weightings in saved pages: the numbers of `attnwidget.analysis`, or the reason for none."""

import re
from pathlib import Path
from typing import Any

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
    return View(open_page(page, width=1900, height=1000))


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
    expect(weighting(view).get_by_role("option", name="Rollout")).to_have_count(0)
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


NOISE = np.random.default_rng(3)


@pytest.fixture(scope="module")
def mine(valued: aw.AttentionRecord) -> dict[str, Any]:
    """A lens of each kind of the user's own."""
    stack = valued.stack()
    tokens, heads = len(stack.queries), valued.num_heads(0)
    shape = (len(stack.layers), heads, tokens, tokens)
    shares = NOISE.dirichlet(np.ones(tokens), (shape[0], tokens))
    return {
        "signed": {"matrices": 5 * NOISE.normal(size=shape), "label": "Gradient", "unit": "nats"},
        "small": {"matrices": 1e-4 * NOISE.random(shape), "label": "Small"},
        "gain": {"factors": NOISE.random(shape[:3]) + 0.5, "label": "Gain"},
        "layers": {"matrices": shares, "label": "Flow"},
    }


@pytest.fixture(scope="module")
def own_page(
    valued: aw.AttentionRecord, mine: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("own") / "page.html"
    choices = {"layer": LAYER, "head": HEADS[0], "heads": HEADS, "lens": "signed"}
    aw.save_html(path, valued, lenses=mine, **choices)
    return path


def test_lenses_of_the_users_own(
    open_page: OpenPage, own_page: Path, valued: aw.AttentionRecord, mine: dict[str, Any]
) -> None:
    view = View(open_page(own_page, width=1900, height=1000))
    shape = valued.layer(LAYER).shape

    def said(query: int, key: int) -> str:
        view.point_at_cell(query, key, *shape)
        expect(view.status).to_contain_text(f"{names(valued.tokens()[0])[query]} → ")
        return view.status.text_content() or ""

    signed = mine["signed"]["matrices"][LAYER, HEADS[0]]
    largest = int(np.argmax(np.abs(signed[6])))
    text = said(6, largest)
    assert f"Layer {LAYER} · Head 0, gradient" in text
    assert re.search(r" Gradient [−\d.]+ nats · weight ", text)
    assert abs(numbers(text.split(" Gradient ")[1])[0] - signed[6, largest]) <= 0.06
    expect(view.page.get_by_text("above 0").first).to_be_visible()
    weighting(view).select_option("small")
    small = mine["small"]["matrices"][LAYER, HEADS[0]]
    assert abs(numbers(said(4, 3).split(" Small ")[1])[0] - small[4, 3]) <= 1e-6
    weighting(view).select_option("gain")
    shares = row_shares(
        (valued.layer(LAYER).head_weights(0) * mine["gain"]["factors"][LAYER, 0]).astype("f4")
    )
    text = said(5, 2)
    assert abs(numbers(text.split(" share ")[1])[0] - shares[5, 2]) <= 2e-3
    assert " · Gain " in text
    assert " · weight × Gain " in text
    weighting(view).select_option("layers")
    expect(view.body.get_by_role("strong")).to_have_text(f"Flow of layer {LAYER}")
    flow = mine["layers"]["matrices"][LAYER]
    assert abs(numbers(said(5, 2).split(" Flow ")[1])[0] - flow[5, 2]) <= 6e-4

    view.open("Model")
    expect(weighting(view)).to_have_value("attention")
    before = view.drawn()
    weighting(view).select_option("signed")
    expect(view.page.get_by_text("pictures are gradient")).to_be_visible()
    expect(view.page.get_by_text("√|Gradient| ≤")).to_be_visible()
    assert view.drawn() != before


def test_lenses_of_two_records_are_subtracted(open_page: OpenPage, tmp_path: Path) -> None:
    texts = ["The dog ran.", "The cat ran."]
    both = aw.compare(*(aw.capture(*default_model(), text, values=True) for text in texts))
    a, b = both.records
    shape = (len(a.stack().layers), a.num_heads(0), *a.layer(0).shape)
    own = [NOISE.normal(size=shape) for _ in range(2)]
    lenses = {"mine": {"self": own[0], "self of B": own[1]}}
    aw.save_html(tmp_path / "page.html", both, lenses=lenses, layer=1, head=2, heads=[2])
    view = View(open_page(tmp_path / "page.html", width=1900, height=1000))
    shares = [row_shares(value_weighted(record.layer(1), 2)) for record in (a, b)]
    expected = {
        "mine": [each[1, 2] for each in own],
        "values": shares,
        "rollout": [rollout(record.stack())[1] for record in (a, b)],
    }
    for lens in ("mine", "values"):
        weighting(view).select_option(lens)
        view.point_at_cell(3, 1, *shape[2:])
        label = {"mine": "mine", "values": "value-weighted"}[lens]
        expect(view.status).to_contain_text(f"Head 2, {label}, B − A")
        text = (view.status.text_content() or "").rpartition(" A ")
        found = numbers(text[0].rpartition(" A ")[2]) + numbers(text[2])
        before, after = (float(each[3, 1]) for each in expected[lens])
        np.testing.assert_allclose(found[:3], [before, after, after - before], atol=6e-3)
    view.open("Model")
    expect(view.page.get_by_text("pictures are value-weighted")).to_be_visible()
