"""The text view of a page, beside the numbers of Python."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.analysis import part_shares, running_text, text_shares, value_norms
from tests.browser.view import View
from tests.support import OpenPage


def test_numbers_of_random_spans(answer: aw.Answer, answer_page: Path, open_page: OpenPage) -> None:
    view = View(open_page(answer_page, height=1400))
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


def test_sinks_that_are_counted(answer: aw.Answer, answer_page: Path, open_page: OpenPage) -> None:
    view = View(open_page(answer_page, height=1400))
    expect(view.within.get_by_text("Where it looks of the attention beyond sinks")).to_be_visible()
    count = view.button("Count them")
    count.press("Enter")
    expect(count).to_be_focused()
    expect(count).to_have_attribute("aria-pressed", "true")
    expect(view.within.get_by_text("Where it looks of all attention")).to_be_visible()
    expect(view.within.get_by_text("% of what the prompt's text gets")).to_be_visible()
    stack = answer.record.stack()
    text = running_text(stack)
    assert text is not None
    weights = text_shares(stack, text).mean.mean(axis=0)
    said = view.within.get_by_text(re.compile(r"^template [\d.]+% · ")).inner_text()
    template, *others = (float(share) for share in re.findall(r"([\d.]+)%", said))
    assert template == pytest.approx(100 * weights[list(text.template)].sum(), abs=0.51)
    assert template + sum(others) == pytest.approx(100, abs=0.5 * (1 + len(others)))
    first = view.within.get_by_role("table", name="Where it looks").get_by_role(
        "row", name=re.compile("^sentence 1, ")
    )
    share = first.get_by_role("cell").nth(1).inner_text().rstrip("%")
    of_text = weights[text.of_text]
    own = weights[slice(*text.sentences[0])].sum() / of_text.sum()
    assert float(share) == pytest.approx(100 * own, abs=0.51)


def test_named_segments_and_their_heads(
    answer: aw.Answer, open_page: OpenPage, tmp_path: Path
) -> None:
    start, end = aw.analysis.running_text(answer.record.stack()).sentences[1]  # type: ignore[union-attr]
    named = aw.answer(answer.record, segments=[(start + 1, end - 1, "inside"), (start, end, "all")])
    aw.save_html(tmp_path / "named.html", named)
    view = View(open_page(tmp_path / "named.html", height=1400))
    table = view.within.get_by_role("table", name="Where it looks")
    table.get_by_role("button", name=re.compile("^inside · ")).click()
    view.within.get_by_role("listbox", name="Answer").get_by_role("option").nth(4).click()
    row, own = table.get_by_role("row", name=re.compile("^inside, ")), named.table((4, 5)).loc[1]
    share, even = (cell.inner_text().rstrip("%") for cell in row.get_by_role("cell").all()[1:])
    assert float(share) == pytest.approx(100 * own["share"], abs=0.51)
    assert float(even) == pytest.approx(100 * own["even"], abs=0.51)
    # It is no whole sentence, so that its heads are read from the layers.
    strongest = named.heads("inside", (4, 5)).iloc[0]
    head = f"{strongest['layer']:.0f}-{strongest['head']:.0f}: {strongest['share']:.2f}, elsewhere"
    expect(
        view.within.get_by_role("table", name="The heads that look most")
        .get_by_role("button")
        .first
    ).to_have_accessible_name(re.compile(re.escape(head)))


def test_a_page_has_the_cut_that_was_shown_and_the_check_of_heads(
    answer: aw.Answer, open_page: OpenPage, tmp_path: Path
) -> None:
    part = answer.parts.index("After that, it ran on electricity from the village mill.") + 1
    first, end = answer.span("village mill")
    checked = answer.check_heads(part, "village mill", draws=4)
    written = running_text(answer.record.stack())
    assert written is not None
    *also, query = range(written.rows.start + first, written.rows.start + end)
    choices: Any = {"part": part, "cut_part": part, "query": query, "also": also}
    saved = aw.show(answer, static=True, view="text", **choices)
    aw.save_html(tmp_path / "checked.html", saved, views=["text"])
    view = View(open_page(tmp_path / "checked.html", height=1400))
    table = view.within.get_by_role("table", name=f"The link to sentence {part} cut in some heads")
    rows = table.get_by_role("row").all()
    names = ["Cut in these 8", "in the 262 others", "in every head", "in 8 random, median of 4"]
    for row, name, number in zip(rows, names, checked.values(), strict=True):
        text = row.inner_text()
        assert name in text
        assert float(text.split("\t")[-1].replace("−", "-")) == pytest.approx(number, abs=0.0056)
    expect(view.within.get_by_role("table", name=f"Without sentence {part}")).to_be_visible()
    # Another sentence was not checked, and no kernel can.
    view.within.get_by_role("table", name="Where it looks").get_by_role("rowheader").get_by_role(
        "button"
    ).nth(1).click()
    expect(table).to_have_count(0)
    expect(view.button("Check by cutting")).not_to_be_visible()


def test_shares_are_value_weighted(smollm2: Any, open_page: OpenPage, tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "The lamp burned oil. Dogs may visit. What did it burn?"}]
    record = aw.capture(*smollm2, chat, generate=6, values=True)
    stack = record.stack()
    text = running_text(stack)
    assert text is not None
    aw.save_html(tmp_path / "values.html", record, view="text", views=["text"])
    view = View(open_page(tmp_path / "values.html", height=1200))
    table = view.within.get_by_role("table", name="Where it looks")
    factors = {layer.number: value_norms(layer) for layer in stack.layers}
    of_what = ("attention", "value-weighted shares")
    for weighting, by, what in zip(
        ("Attention", "Value-weighted"), (None, factors), of_what, strict=True
    ):
        view.within.get_by_role("combobox", name="Weighting").select_option(weighting)
        title = f"Where it looks of the {what} beyond sinks"
        expect(view.within.get_by_text(title)).to_be_visible()
        for each in part_shares(text, text_shares(stack, text, by), slice(None)):
            row = table.get_by_role("row", name=re.compile(f"^sentence {each.number + 1}, "))
            share = re.search(r"share (\S+)%", row.get_attribute("aria-label") or "")
            assert share is not None
            assert float(share[1]) == pytest.approx(100 * each.share, abs=0.51)
    expect(view.within.get_by_text("value-weighted, mean of 270 heads")).to_be_visible()


def test_the_list_of_parts_by_keys(answer_page: Path, open_page: OpenPage) -> None:
    view = View(open_page(answer_page, height=1400))
    rows = view.within.get_by_role("table", name="Where it looks").get_by_role("row")
    locks = rows.get_by_role("rowheader").get_by_role("button")
    locks.first.focus()
    view.page.keyboard.press("ArrowDown")
    expect(locks.nth(1)).to_be_focused()
    view.page.keyboard.press("ArrowUp")
    view.page.keyboard.press("ArrowUp")
    expect(locks.first).to_be_focused()
    expect(rows.nth(1)).to_have_accessible_name(
        re.compile(r"^sentence \d+, .+, share \d\S*%, even \d\S*%, if cut [−+]?\d+\.\d\d$")
    )


def test_escape_releases_a_part_from_anywhere(answer_page: Path, open_page: OpenPage) -> None:
    view = View(open_page(answer_page, height=1400))
    rows = view.within.get_by_role("table", name="Where it looks").get_by_role("row")
    lock = rows.get_by_role("rowheader").get_by_role("button").first
    lock.click()
    expect(lock).to_have_attribute("aria-pressed", "true")
    view.button("Head alone").focus()
    view.page.keyboard.press("Escape")
    expect(lock).to_have_attribute("aria-pressed", "false")


def test_a_head_that_is_listed_keeps_the_focus(answer_page: Path, open_page: OpenPage) -> None:
    view = View(open_page(answer_page, height=1400))
    view.within.get_by_role("listbox", name="Answer").get_by_role("option").nth(4).click()
    name = re.compile(r"^Layer \d+, head \d+, \d+-\d+: 0\.\d\d, elsewhere 0\.\d\d$")
    head = view.within.get_by_role("button", name=name).first
    head.focus()
    view.page.keyboard.press("Enter")
    expect(view.button("Head alone")).to_have_attribute("aria-pressed", "true")
    expect(head).to_be_focused()


def test_the_answer_stays_in_sight_and_a_lock_brings_its_source(
    smollm2: Any, open_page: OpenPage, tmp_path: Path
) -> None:
    others = " ".join(f"The stairs of tower {n} have {n} steps of grey stone." for n in range(20))
    content = f"{others}\n\nThe lamp ran on electricity from the village mill.\n\nWhat ran it?"
    answer = aw.answer(*smollm2, [{"role": "user", "content": content}], generate=8)
    aw.save_html(tmp_path / "long.html", answer, layers=[0])
    view = View(open_page(tmp_path / "long.html", width=500, height=640))
    written = view.within.get_by_role("listbox", name="Answer")
    prompt = view.body.locator(".prose")
    expect(written).to_be_in_viewport(ratio=0.8)
    tables = [answer.table((token, token + 1)) for token in range(len(answer.tokens))]
    # The first of the list is the one that is most above an even share.
    first = [(table.share - table.even).idxmax() for table in tables]
    token, part = next(
        (token, part)
        for token, (table, part) in enumerate(zip(tables, first, strict=True))
        if part > 20 and table.share[part] >= 2 * table.even[part]
    )
    option = written.get_by_role("option").nth(token)
    option.hover()
    expect(view.status.last).to_contain_text(f"→ sentence {part}")
    number = prompt.locator(f"[data-number='{part}']")
    expect(number).not_to_be_in_viewport()
    option.click()
    expect(number).to_be_in_viewport(ratio=1)
    expect(written).to_be_in_viewport(ratio=0.8)


def test_a_long_prompt_has_a_strip(smollm2: Any, open_page: OpenPage, tmp_path: Path) -> None:
    sentences = " ".join(f"Document {n} says that cat {n} sat on mat {n}." for n in range(60))
    chat = [{"role": "user", "content": f"{sentences} Which cat sat?"}]
    page = tmp_path / "long.html"
    aw.save_html(page, aw.answer(*smollm2, chat, generate=2), views=["text"])
    view = View(open_page(page, width=1000, height=600))
    strip = view.within.locator(".prompt-strip canvas")
    expect(strip).to_be_visible()
    body = view.within.locator(".body")
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": 6, "y": box["height"] - 4})
    bottom = body.evaluate("each => each.scrollTop")
    strip.click(position={"x": 6, "y": box["height"] / 2})
    assert 0 < body.evaluate("each => each.scrollTop") < bottom
