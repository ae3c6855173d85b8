"""Labels in scripts that run from right to left do not turn the numbers beside them."""

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, numbers
from tests.support import OpenPage

# Left edge of each weight in the status line, in the order of the text.
PLACES = r"""status => {
  const places = [];
  const walker = document.createTreeWalker(status, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (const match of walker.currentNode.data.matchAll(/\d\.\d{3}/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, match.index);
      range.setEnd(walker.currentNode, match.index + match[0].length);
      places.push(range.getBoundingClientRect().x);
    }
  }
  return places;
}"""

HEBREW = ["שלום", "עולם", "זה", "משפט", "קצר"]
# Overrides that no one closes.
MARKED = ["\u202eone", "\u202etwo", "\u2067three", "\u200ffour\u200f", "five"]


@pytest.mark.parametrize("tokens", [HEBREW, MARKED], ids=["hebrew", "marks"])
def test_the_strongest_comes_first(open_page: OpenPage, tokens: list[str]) -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(len(tokens)), (1, 1, len(tokens)))
    record = aw.AttentionRecord.from_arrays(weights, tokens)
    view = View(open_page(aw.AttentionWidget(record).to_html()))
    view.query(0).hover()
    expect(view.status).to_contain_text("→")
    said = numbers(view.status.inner_text())
    assert said == sorted(said, reverse=True)
    places = view.status.evaluate(PLACES)
    assert len(places) == 3
    assert places == sorted(places)
