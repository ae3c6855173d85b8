"""A view that its reader keeps in the notebook."""

from playwright.sync_api import expect

from tests.browser.view import View, expect_lines
from tests.lab.lab import Lab


def test_what_is_seen_stays_in_the_notebook_without_a_kernel(lab: Lab) -> None:
    cell = lab.run("w = aw.show(record); w")
    view = View(cell.output)
    expect_lines(view)
    view.show(2, 7)
    view.query(4).click()
    view.within.get_by_role("button", name="Save figure").click()
    view.within.get_by_role("menuitem", name="Keep in notebook").click()
    expect(cell.output).to_contain_text("Run the cell again for the live view.")
    expect(cell.output.locator(".jupyter-widgets")).to_have_count(0)
    kept = View(cell.output.frame_locator("iframe").locator("main"))
    expect_lines(kept)
    lab.save()
    # No widget is left that could be shown instead.
    lab.evaluate("w.close()")
    lab.reload()
    frame = lab.page.locator(".jp-OutputArea-output iframe").first
    frame.scroll_into_view_if_needed()
    kept = View(frame.content_frame.locator("main"))
    expect_lines(kept)
    expect(kept.layer).to_have_text("2")
    expect(kept.head).to_have_text("7")
    expect(kept.query(4)).to_have_attribute("aria-selected", "true")
