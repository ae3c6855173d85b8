"""A profile's widget, whose examples the kernel reads as they are opened."""

import re

from playwright.sync_api import expect

from tests.browser.view import View, expect_lines
from tests.lab.lab import Lab

SHOW = """
from attnwidget.default_model import default_model
model, tokenizer = default_model()
texts = ["The dog was tired because it ran.", "Rain fell all day on the bridge."]
profile = aw.profile(model, tokenizer, texts, null=None)
widget = aw.show(profile, layer=0, head=2)
widget
"""


def test_an_example_opens(lab: Lab) -> None:
    view = View(lab.run(SHOW).output)
    examples = view.within.get_by_role("list", name="Examples")
    for text in ("rain", "dog"):
        examples.get_by_role("button", name=re.compile(text, re.IGNORECASE)).first.click()
        expect(view.tab("Head")).to_have_attribute("aria-selected", "true")
        expect(view.tokens("Queries").filter(has_text=re.compile(rf"^{text}$"))).to_be_visible()
        expect_lines(view)
        view.open("Map")
    shown = lab.evaluate("[widget.view, widget.heads, len(widget.record.tokens()[0])]")
    assert shown == ["map", [2], 10]
