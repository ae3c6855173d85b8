"""The size of views in a notebook."""

from playwright.sync_api import Locator, expect

from tests.lab.lab import Lab

WINDOW = {"width": 1366, "height": 768}


def _box(place: Locator) -> dict[str, float]:
    box = place.bounding_box()
    assert box
    return dict(box)


def test_views_share_a_row(lab: Lab) -> None:
    cell = lab.run("import ipywidgets; ipywidgets.HBox([aw.show(record), aw.show(record)])")
    views = cell.output.get_by_role("tabpanel")
    expect(views).to_have_count(2)
    expect(cell.output.get_by_role("listbox", name="Queries").first).to_be_visible()
    widths = [_box(view)["width"] for view in views.all()]
    assert min(widths) > 0.45 * _box(cell.output)["width"]


def test_header_and_status_line_are_in_sight_together(lab: Lab) -> None:
    before = lab.page.viewport_size
    assert before
    lab.page.set_viewport_size(WINDOW)  # type: ignore[arg-type]
    try:
        cell = lab.run("aw.show(record)")
        expect(cell.output.get_by_role("listbox", name="Queries").first).to_be_visible()
        header = _box(cell.output.get_by_role("tablist", name="View"))
        status = _box(cell.output.get_by_role("status"))
        notebook = _box(lab.page.locator(".jp-WindowedPanel-outer"))
        assert status["y"] + status["height"] - header["y"] < notebook["height"]
    finally:
        lab.page.set_viewport_size(before)
