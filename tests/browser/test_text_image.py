"""An image in the text view of a page, beside the numbers of Python."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

import attnwidget as aw
from attnwidget.analysis import counted_keys, running_text, text_shares
from tests.browser.view import View, eventually, look
from tests.support import OpenPage
from tests.unit.pictured_chat import CROP, IMAGE, pictured_chat


@pytest.fixture(scope="module")
def page_of_chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("pages") / "image.html"
    aw.save_html(page, pictured_chat(), view="text")
    return page


def _share(written: str) -> float:
    return float(written.rstrip("%"))


def test_shares_of_grids_and_of_a_region(page_of_chat: Path, open_page: OpenPage) -> None:
    record = pictured_chat()
    text = running_text(record.stack())
    assert text is not None
    shares = text_shares(record.stack(), text)
    view = View(open_page(page_of_chat, height=1200))
    view.within.get_by_role("listbox", name="Answer").get_by_role("option").nth(3).click()
    weights = shares.mean[3] * counted_keys(text, shares.sinks)
    total = weights.sum()
    grids = view.within.get_by_role("listbox", name="Grids of image").get_by_role("option")
    for grid, start, end in ((0, IMAGE, IMAGE + 6), (1, CROP, CROP + 4)):
        own = grids.nth(grid).locator("b").inner_text()
        assert _share(own) == pytest.approx(100 * weights[start:end].sum() / total, abs=0.51)
    rows = view.within.get_by_role("table", name="Where it looks").get_by_role("row")
    expected = aw.answer(record).table((3, 4))
    assert list(expected["text"]).count("image") == 1
    own = rows.filter(has=view.page.get_by_role("button", name="image", exact=True))
    cells = own.get_by_role("cell")
    image = expected[expected["text"] == "image"].iloc[0]
    assert _share(cells.nth(1).inner_text()) == pytest.approx(100 * image["share"], abs=0.51)
    assert _share(cells.nth(2).inner_text()) == pytest.approx(100 * image["even"], abs=0.51)
    expect(view.within.get_by_text("<image>")).to_have_count(0)

    grids.nth(1).click()
    picture = view.within.get_by_role("grid", name="image, crop 1, 2 × 2 patches")
    picture.focus()
    view.page.keyboard.press("ArrowUp")
    view.page.keyboard.press("Shift+ArrowLeft")
    expect(view.within.locator(".status")).to_contain_text("crop 1: row 0, columns 0–1")
    view.page.keyboard.press("p")
    region = rows.filter(has_text="crop 1: row 0, columns 0–1")
    cells = region.get_by_role("cell")
    part = 100 * weights[CROP : CROP + 2].sum() / total
    assert _share(cells.nth(1).inner_text()) == pytest.approx(part, abs=0.51)


def test_a_patch_is_told_and_its_image_locked(page_of_chat: Path, open_page: OpenPage) -> None:
    view = View(open_page(page_of_chat, height=1200))
    picture = view.within.get_by_role("grid", name="image, whole, 2 × 3 patches")
    # The image is there, black on its left and red on its right.
    eventually(view.page, lambda: _expect_colors(picture))
    _hover(picture, row=1, column=0)
    expect(view.within.locator(".status")).to_contain_text("the whole answer → whole 1,0")
    expect(view.within.locator(".status")).to_contain_text("a sink")
    picture.click()
    lock = view.within.get_by_role("button", name="image", exact=True)
    expect(lock).to_have_attribute("aria-pressed", "true")
    expect(view.within.get_by_text("Which words look at")).to_contain_text("image")
    view.within.get_by_role("button", name="Large").click()
    wide = picture.bounding_box()
    assert wide is not None
    assert wide["width"] > 400


def _hover(picture: Locator, row: int, column: int) -> None:
    """Point at a patch of a picture of two rows and three columns."""
    box = picture.bounding_box()
    assert box is not None
    x, y = (column + 0.5) * box["width"] / 3, (row + 0.5) * box["height"] / 2
    picture.hover(position={"x": x, "y": y})


def _expect_colors(picture: Locator) -> None:
    seen = look(picture)
    height, width, _ = seen.shape
    left, right = seen[height // 4, width // 6], seen[height // 4, 5 * width // 6]
    assert right[0] > 200
    assert abs(int(left[0]) - int(left[1])) < 20 < int(right[0]) - int(right[1])
