"""The model view: every head of every layer."""

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import WEIGHT_TOLERANCE, View, darkness, look, numbers


@pytest.fixture
def model_view(view: View) -> View:
    view.open("Model")
    return view


def test_every_head_has_a_cell(model_view: View, record: aw.AttentionRecord) -> None:
    cells = model_view.grid.get_by_role("gridcell")
    heads = [record.num_heads(layer) for layer in range(record.num_layers())]
    expect(cells).to_have_count(sum(heads))
    expect(model_view.cell(record.num_layers() - 1, heads[-1] - 1)).to_be_visible()


def test_a_cell_is_a_picture_of_its_head(model_view: View, record: aw.AttentionRecord) -> None:
    """The text is short enough for one dot per weight; the 16 shades need a head of contrast."""
    # The pointer away: hovering enlarges, and would cover what is looked at.
    model_view.status.hover()
    for layer in range(record.num_layers()):
        every = [record.weights(layer, head) for head in range(record.num_heads(layer))]
        head = int(np.argmax([np.sqrt(weights).std() for weights in every]))
        weights = every[head]
        dark = darkness(look(model_view.cell(layer, head)))
        at = ((np.arange(len(weights)) + 0.5) / len(weights) * len(dark)).astype(int)
        # Rounded corners hide the first and last dots.
        inner = (slice(1, -1), slice(1, -1))
        seen = dark[np.ix_(at, at)][inner]
        similar = np.corrcoef(seen.flat, np.sqrt(weights[inner]).flat)[0, 1]
        assert similar > 0.95, (layer, head)


@pytest.mark.parametrize(("layer", "head"), [(0, 2), (1, 8), (5, 11)])
def test_pointing_at_a_cell_tells_its_measures(
    model_view: View, record: aw.AttentionRecord, layer: int, head: int
) -> None:
    model_view.cell(layer, head).hover()
    expect(model_view.status).to_contain_text(f"Layer {layer} · Head {head}")
    said = model_view.status.inner_text()
    entropy, distance, previous, following, special = numbers(said)

    weights = record.weights(layer, head).astype(np.float64)
    rows, columns = np.indices(weights.shape)
    assert abs(entropy - -(weights * np.log(weights)).sum(axis=1).mean()) <= 0.006, said
    assert abs(distance - (weights * (columns - rows)).sum(axis=1).mean()) <= 0.06, said
    assert abs(previous - np.diag(weights, -1).mean()) <= WEIGHT_TOLERANCE, said
    assert abs(following - np.diag(weights, 1).mean()) <= WEIGHT_TOLERANCE, said
    in_special = weights[:, list(record.stack().keys.special)].sum(axis=1).mean()
    assert abs(special - in_special) <= WEIGHT_TOLERANCE, said


def test_the_measures_go_back_to_the_selected_head(model_view: View) -> None:
    model_view.cell(3, 4).hover()
    expect(model_view.status).to_contain_text("Layer 3 · Head 4")
    model_view.status.hover()
    expect(model_view.status).to_contain_text("Layer 0 · Head 0")


def test_a_click_selects(model_view: View) -> None:
    model_view.cell(3, 4).click()
    expect(model_view.cell(3, 4)).to_have_attribute("aria-selected", "true")
    expect(model_view.cell(0, 0)).to_have_attribute("aria-selected", "false")
    expect(model_view.layer).to_have_text("3")
    expect(model_view.head).to_have_text("4")
    expect(model_view.tab("Model")).to_have_attribute("aria-selected", "true")


def test_a_double_click_opens_the_head(model_view: View, record: aw.AttentionRecord) -> None:
    model_view.cell(3, 4).dblclick()
    expect(model_view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(model_view.layer).to_have_text("3")
    model_view.point_at_cell(2, 5, *record.weights(3, 4).shape)
    expect(model_view.status).to_contain_text("Layer 3 · Head 4 quick → jumped")
    weight = numbers(model_view.status.inner_text())[0]
    assert abs(weight - record.weights(3, 4)[2, 5]) <= WEIGHT_TOLERANCE


def test_arrows_walk_through_the_grid(model_view: View, record: aw.AttentionRecord) -> None:
    layers, heads = record.num_layers(), record.num_heads(0)
    model_view.cell(0, 0).click()
    press = model_view.page.keyboard.press

    def expect_at(layer: int, head: int) -> None:
        expect(model_view.cell(layer, head)).to_have_attribute("aria-selected", "true")
        expect(model_view.status).to_contain_text(f"Layer {layer} · Head {head}")

    model_view.status.hover()
    for key, layer, head in [
        ("ArrowUp", 0, 0),
        ("ArrowLeft", 0, 0),
        ("ArrowDown", 1, 0),
        ("ArrowRight", 1, 1),
        ("ArrowUp", 0, 1),
        ("ArrowLeft", 0, 0),
    ]:
        press(key)
        expect_at(layer, head)
    for _ in range(layers):
        press("ArrowDown")
    for _ in range(heads):
        press("ArrowRight")
    expect_at(layers - 1, heads - 1)
    press("Enter")
    expect(model_view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(model_view.layer).to_have_text(str(layers - 1))
    expect(model_view.head).to_have_text(str(heads - 1))
