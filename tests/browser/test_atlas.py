"""An atlas: from the map to a head, its examples and their lines, in one page."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.default_model import default_model
from tests.browser.view import View, expect_lines, middle
from tests.support import OpenPage

TEXTS = [
    "The dog was tired because it ran.",
    "Nobody knew why the lamp was lit, and nobody asked.",
    "Rain fell all day on the old stone bridge.",
]


@pytest.fixture(scope="module")
def model() -> Any:
    return default_model()


@pytest.fixture(scope="module")
def profile(model: Any) -> aw.HeadProfile:
    return aw.profile(*model, TEXTS)


@pytest.fixture(scope="module")
def atlas(profile: aw.HeadProfile, model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "atlas.html"
    aw.save_html(path, profile, *model, map_y="previous")
    return path


def test_a_map_of_a_file_has_heads_alone(
    open_page: OpenPage, profile: aw.HeadProfile, tmp_path: Path
) -> None:
    profile.save(tmp_path / "heads.safetensors")
    aw.save_html(tmp_path / "map.html", tmp_path / "heads.safetensors")
    view = View(open_page(tmp_path / "map.html"))
    expect(view.tab("Map")).to_have_attribute("aria-selected", "true")
    expect(view.within.get_by_role("tab")).to_have_count(2)
    expect(view.page.locator("body")).to_contain_text(
        "examples and the head view need the profile's model"
    )
    expect(view.body).not_to_contain_text("Where it looks")
    expect(view.status).not_to_contain_text("Enter opens")
    # With two tabs, too, the steppers stand below them.
    view.page.set_viewport_size({"width": 600, "height": 1000})
    boxes = [control.bounding_box() for control in (view.tab("Map"), view.layer, view.head)]
    tab, layer, head = (box["y"] for box in boxes if box)
    assert tab < layer == head
    view.tab("Model").click()
    cell = view.within.get_by_role("gridcell", name="Layer 1, head 3")
    cell.click()
    expect(cell).to_have_attribute("aria-selected", "true")
    expect(view.within.get_by_role("region")).to_have_count(0)


@pytest.mark.parametrize("width", [1200, 600])
def test_from_the_map_to_the_lines_of_an_example(
    open_page: OpenPage, atlas: Path, profile: aw.HeadProfile, width: int
) -> None:
    # The page asks for nothing: see `open_page`.
    view = View(open_page(atlas, width=width, height=1000))
    expect(view.tab("Map")).to_have_attribute("aria-selected", "true")
    heads = view.within.get_by_role("listbox", name="Heads", exact=True)
    view.page.mouse.click(*middle(heads.get_by_role("option", name="Layer 0, head 2:")))
    expect(view.status).to_contain_text("Layer 0 · Head 2  looks at the previous token")
    reasons = re.compile(r"previous 1?\.\d\d > \.5 \(random weights \.\d\d\)")
    expect(view.body).to_contain_text(reasons)
    measures = view.within.get_by_role("table", name=re.compile("range of random weights"))
    mean = profile.values("previous").mean[0, 2]
    expect(measures.get_by_role("row", name=re.compile("previous"))).to_contain_text(f"{mean:.3f}")

    view.within.get_by_role("combobox", name="by", exact=True).select_option("previous")
    examples = view.within.get_by_role("list", name="Examples")
    highest, *_ = profile.examples("previous", 0, 2).highest
    examples.get_by_role("button", name=f"Highest, {highest.value:.3f}: {highest.text}").click()
    expect(view.tab("Head")).to_have_attribute("aria-selected", "true")
    expect(view.layer).to_have_text("0")
    expect(view.head).to_have_text("2")
    expect(view.query(highest.pair[0])).to_have_attribute("aria-selected", "true")
    expect_lines(view)
    view.open("Map")
    expect(heads.get_by_role("option", name="Layer 0, head 2:")).to_have_attribute(
        "aria-selected", "true"
    )
