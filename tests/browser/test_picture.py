"""Attention on the image of a vision model, in a saved page."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

import attnwidget as aw
from attnwidget.record import Grid, Patches
from tests.browser.conftest import SavePage
from tests.browser.view import View, eventually, look
from tests.support import OpenPage
from tests.unit.tiny import tiny

PATCH = 16


@pytest.fixture(scope="module")
def pictured() -> aw.AttentionRecord:
    """4 × 4 patches after [CLS], black on the left and bright on the right."""
    pixels = torch.zeros(1, 3, 4 * PATCH, 4 * PATCH)
    pixels[..., 2 * PATCH :] = 0.9
    pixels += 0.05 * torch.rand(pixels.shape, generator=torch.Generator().manual_seed(0))
    model = tiny("ViT", image_size=4 * PATCH, patch_size=PATCH)
    return aw.capture(model, None, {"pixel_values": pixels})


@pytest.fixture
def picture_view(pictured: aw.AttentionRecord, save_page: SavePage, open_page: OpenPage) -> View:
    return View(open_page(save_page(pictured, "picture.html"), height=1100))


def test_a_patch_shows_where_it_looks(picture_view: View, pictured: aw.AttentionRecord) -> None:
    page = picture_view.page
    labels, _ = pictured.tokens()
    queries = page.get_by_role("grid", name="Queries", exact=True)
    _click(page, "Queries", row=1, column=2)
    query = labels.index("1,2")
    weights = pictured.weights(0, 0)[query]
    order = np.argsort(-weights)
    rows = page.get_by_role("list", name="Strongest keys").get_by_role("listitem")
    for place, key in enumerate(order[:5]):
        name = f"{labels[key]} itself" if key == query else labels[key]
        expect(rows.nth(place)).to_have_text(f"{name}{weights[key]:.3f}")
    cls = page.get_by_role("listbox", name="Keys without a patch").get_by_role("option")
    expect(cls).to_have_accessible_name(f"[CLS], weight {weights[0]:.3f}")
    # The image is there, under the policy of a saved page: dark on its left, bright on its right.
    eventually(page, lambda: _expect_image(page))
    queries.focus()
    page.keyboard.press("Escape")
    expect(page.get_by_role("status")).to_contain_text("Point at a token")


def test_a_key_shows_who_looks_at_it(picture_view: View, pictured: aw.AttentionRecord) -> None:
    page = picture_view.page
    labels, _ = pictured.tokens()
    _click(page, "Keys", row=3, column=0)
    column = pictured.weights(0, 0)[:, labels.index("3,0")]
    rows = page.get_by_role("list", name="Strongest queries").get_by_role("listitem")
    expect(rows.first).to_contain_text(labels[int(column.argmax())])
    expect(page.get_by_role("status")).to_contain_text("3,0 ←")


@pytest.fixture(scope="module")
def cropped(pictured: aw.AttentionRecord) -> aw.AttentionRecord:
    """The patches on the whole image and on its padded right half, between two words."""
    whole = Grid(2, 4, name="whole")
    grids = whole, Grid(2, 4, 0, (0.5, 0.0, 1.5, 1.0), "crop 1")
    labels = ["<s>", *(f"{at // 4},{at % 4}" for at in [*range(8), *range(8)]), "why"]
    weights = np.random.default_rng(0).dirichlet(np.ones(18), (1, 2, 18)).astype(np.float32)
    stack = aw.AttentionRecord.from_arrays(list(weights), labels).stack()
    patches = Patches(grids, (None, *range(16), None))
    tokens = replace(stack.queries, patches=patches, special=(0,))
    stack = replace(stack, queries=tokens, keys=tokens)
    return aw.AttentionRecord({"self": stack}, images=pictured.images)


def test_one_of_several_grids_is_chosen(
    cropped: aw.AttentionRecord, save_page: SavePage, open_page: OpenPage
) -> None:
    page = open_page(save_page(cropped, "crops.html"), height=1100)
    weights = cropped.weights(0, 0)[17]
    options = page.get_by_role("listbox", name="Images").get_by_role("option")
    shares = [_percent(weights[part].sum()) for part in (slice(1, 9), slice(9, 17))]
    expect(options).to_have_text([f"whole{shares[0]}", f"crop 1{shares[1]}"])
    expect(options.first).to_have_attribute("aria-selected", "true")
    options.last.click()
    expect(options.last).to_have_attribute("aria-selected", "true")
    # Its left half is the bright part of the image, and the rest was padded.
    eventually(page, lambda: _expect_padding(page))
    _click(page, "Queries", row=1, column=3, rows=2)
    key = int(cropped.weights(0, 0)[16].argmax())
    strongest = page.get_by_role("list", name="Strongest keys").get_by_role("listitem").first
    expect(strongest).to_contain_text(f"{cropped.weights(0, 0)[16, key]:.3f}")
    page.get_by_role("listbox", name="Images").focus()
    page.keyboard.press("ArrowLeft")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("listbox", name="Images")).to_be_focused()


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share < 0.0995 else f"{100 * share:.0f}%"


def _expect_padding(page: Page) -> None:
    assert _brightness(page, "Queries", 0) > 180
    assert 80 < _brightness(page, "Queries", 3) < 170


def test_a_predicted_box_is_outlined(
    pictured: aw.AttentionRecord, save_page: SavePage, open_page: OpenPage
) -> None:
    stack = pictured.stack()
    predicted = (0, (0.3, 0.2, 0.8, 0.6))
    tokens = replace(stack.queries, boxes=(predicted, *[None] * (len(stack.queries) - 1)))
    changed = replace(stack, queries=tokens, keys=tokens)
    record = aw.AttentionRecord({"self": changed}, images=pictured.images)
    seen = []
    for number, each in enumerate((pictured, record)):
        page = open_page(save_page(each, f"boxes{number}.html"), height=1100)
        _expect_image(page)
        seen.append(look(page.get_by_role("grid", name="Keys", exact=True)))
    height, width, _ = seen[0].shape
    down, across = (np.abs(seen[0] - seen[1]).max(axis=2) > 8).nonzero()
    found = across.min(), down.min(), across.max() + 1, down.max() + 1
    expected = np.array(predicted[1]) * (width, height, width, height)
    assert np.abs(found - expected).max() < 4
    inside = (np.abs(across - expected[[0, 2]].mean()) < 0.2 * width) & (
        np.abs(down - expected[[1, 3]].mean()) < 0.15 * height
    )
    assert not inside.any()


def _click(page: Page, name: str, row: int, column: int, rows: int = 4) -> None:
    grid = page.get_by_role("grid", name=name, exact=True)
    box = grid.bounding_box()
    assert box is not None
    place = {"x": (column + 0.5) * box["width"] / 4, "y": (row + 0.5) * box["height"] / rows}
    grid.click(position=place)  # type: ignore[arg-type]
    page.mouse.move(0, 0)


def _expect_image(page: Page) -> None:
    assert _brightness(page, "Queries", 0) < 60
    assert _brightness(page, "Queries", 3) > 180


def _brightness(page: Page, name: str, column: int) -> float:
    """Colour of the middle of a patch in the first row, 0 to 255."""
    seen = look(page.get_by_role("grid", name=name, exact=True))
    height, width, _ = seen.shape
    return float(seen[height // 8, int((column + 0.5) * width / 4)].mean())
