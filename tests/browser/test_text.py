"""The text view of a page, beside the numbers of Python."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View
from tests.support import OpenPage


@pytest.fixture(scope="module")
def answer(smollm2: Any) -> aw.Answer:
    chat = [
        {"role": "system", "content": "Answer in one short sentence."},
        {
            "role": "user",
            "content": "The lamp burned oil until 1902. After that, it ran on electricity from "
            "the village mill. Dogs may visit the garden.\n\nWhere did the electricity come from?",
        },
    ]
    found = aw.answer(*smollm2, chat, generate=14)
    found.cut()
    return found


def test_numbers_of_random_spans(answer: aw.Answer, open_page: OpenPage, tmp_path: Path) -> None:
    page = tmp_path / "answer.html"
    aw.save_html(page, aw.show(answer, static=True), layers=[0])
    view = View(open_page(page, height=1400))
    options = view.within.get_by_role("listbox", name="Answer").get_by_role("option")
    count = len(answer.tokens)
    expect(options).to_have_count(count)
    rows = view.within.get_by_role("table", name="Where it looks").get_by_role("row")
    for seed in range(8):
        first, end = sorted(random.Random(seed).sample(range(count + 1), 2))
        options.nth(first).click()
        options.nth(end - 1).click(modifiers=["Shift"])
        expected = answer.table((first, end))
        expect(rows).to_have_count(len(expected) + 1)
        view.within.get_by_role("tabpanel").hover(position={"x": 2, "y": 2})
        for row in rows.all()[1:]:
            part, *_ = row.get_by_role("rowheader").inner_text().split()
            share, even, cut = (cell.inner_text() for cell in row.get_by_role("cell").all()[1:])
            own = expected.loc[int(part)]
            # Shares are a page's in 16 bits, and numbers have three digits at most.
            assert float(share.rstrip("%")) == pytest.approx(100 * own["share"], abs=0.51)
            assert float(even.rstrip("%")) == pytest.approx(100 * own["even"], abs=0.51)
            assert float(cut.replace("−", "-")) == pytest.approx(own["cut"], abs=0.0051)
    number = expected.index[0]
    view.within.get_by_role("button", name=re.compile(f"^Cut sentence {number}: ")).click()
    table = view.within.get_by_role("table", name=f"Without sentence {number}")
    expect(table.get_by_role("row", name=f"without sentence {number}")).to_be_visible()
