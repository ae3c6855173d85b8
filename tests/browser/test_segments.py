"""The filter of a text pair: which sentence's attention to which."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from attnwidget.default_model import default_model
from tests.browser.view import View, eventually, expect_lines, names
from tests.support import OpenPage

FILTERS = [("A → A", 0, 0), ("A → B", 0, 1), ("B → A", 1, 0), ("B → B", 1, 1)]


def of(record: aw.AttentionRecord, segment: int) -> list[str]:
    tokens = record.stack().queries
    assert tokens.segments
    return [t for t, s in zip(tokens.labels, tokens.segments, strict=True) if s == segment]


def test_only_these_tokens_are_shown(view: View, record: aw.AttentionRecord) -> None:
    for tab in ("Head", "Neuron"):
        view.open(tab)
        for option, queries, keys in FILTERS:
            view.filter.select_option(option)
            expect(view.tokens("Queries")).to_have_text(of(record, queries))
            expect(view.tokens("Keys")).to_have_text(of(record, keys))
            if tab == "Head":
                expect_lines_between_these(view)
        view.filter.select_option("All")
        expect(view.tokens("Keys")).to_have_text(record.tokens()[1])


def expect_lines_between_these(view: View) -> None:
    expect_lines(view)
    rows = max(view.tokens("Queries").count(), view.tokens("Keys").count())
    lines, query = view.lines.bounding_box(), view.query(0).bounding_box()
    assert lines
    assert query
    assert abs(lines["height"] - rows * query["height"]) <= 1


def test_the_matrix_is_of_these_tokens(view: View, record: aw.AttentionRecord) -> None:
    """Its first row is the first query shown, its first column the first key shown."""
    view.filter.select_option("B → A")
    second, first = of(record, 1), of(record, 0)
    expect(view.tokens("Queries")).to_have_text(second)
    view.point_at_cell(0, 0, len(second), len(first))
    expect(view.status).to_contain_text(f"{second[0]} → {first[0]} weight")


def test_what_is_left_out_is_said(view: View, record: aw.AttentionRecord) -> None:
    """The share is of all that the sentence attends to, not of what the filter leaves."""
    second = len(of(record, 1))
    heads = [record.weights(0, head)[:-second] for head in range(record.num_heads(0))]
    share = 100 * sum(w[:, -second:].sum() for w in heads) / sum(w.sum() for w in heads)
    view.filter.select_option("A → B")
    said = view.within.get_by_text(re.compile(r"% of attention shown"))
    expect(said).to_be_visible()

    def right() -> None:
        # Shown with one decimal; the faintest lines are not drawn.
        assert abs(float(said.inner_text().split("%")[0]) - share) <= 0.3

    eventually(view.page, right)


def test_the_numbers_name_only_keys_that_are_shown(view: View, record: aw.AttentionRecord) -> None:
    """In this head "dog" attends most to a token of its own sentence, which the filter hides."""
    labels, _ = record.tokens()
    hidden = names(labels)[: -len(of(record, 1))]
    weights = record.weights(0, 2)[labels.index("dog")]
    assert names(labels)[int(weights.argmax())] in hidden

    view.swatch(2).dblclick()
    view.filter.select_option("A → B")
    for tab in ("Head", "Neuron"):
        view.open(tab)
        view.query(labels.index("dog")).hover()
        expect(view.status).to_contain_text("dog →")
        named = view.status.inner_text().split("→", 1)[1].split()
        assert not set(named) & set(hidden), named


def test_named_segments_are_chosen_in_a_saved_page(open_page: OpenPage, tmp_path: Path) -> None:
    text = "The quick brown fox jumped over the lazy dog."
    record = aw.capture(*default_model(), text)
    path = tmp_path / "named.html"
    segments = [(1, 5, "subject"), (7, 10, "object")]
    aw.head_view(record, segments=segments).save_html(path)
    view = View(open_page(path, width=1900, height=1000))
    count = len(record.tokens()[0])
    expect(view.filter.get_by_role("option")).to_have_text(
        ["All", "From subject", "To subject", "From object", "To object"]
    )
    view.filter.select_option("From subject")
    expect(view.tokens("Queries")).to_have_text(["the", "quick", "brown", "fox"])
    expect(view.tokens("Keys")).to_have_count(count)
    view.filter.select_option("To object")
    expect(view.tokens("Queries")).to_have_count(count)
    expect(view.tokens("Keys")).to_have_text(["the", "lazy", "dog"])


@pytest.mark.parametrize("tab", ["Head", "Neuron"])
def test_special_tokens_can_be_hidden(view: View, record: aw.AttentionRecord, tab: str) -> None:
    tokens = record.stack().queries
    content = [label for at, label in enumerate(tokens.labels) if at not in tokens.special]
    assert len(content) < len(tokens)
    view.open(tab)
    hide = view.within.get_by_role("button", name="Hide special")
    hide.click()
    expect(hide).to_have_attribute("aria-pressed", "true")
    expect(view.tokens("Queries")).to_have_text(content)
    expect(view.tokens("Keys")).to_have_text(content)
    # Most attention is on special tokens, as what is left of it says.
    attention = {"Head": "attention", "Neuron": "the query’s attention"}[tab]
    expect(view.within.get_by_text(re.compile(rf"[0-9.]+% of {attention} shown"))).to_be_visible()
    view.filter.select_option("A → B")
    kept = [label for label in of(record, 0) if label in content]
    expect(view.tokens("Queries")).to_have_text(kept)
    hide.click()
    expect(view.tokens("Queries")).to_have_text(of(record, 0))


@pytest.mark.parametrize("tab", ["Model", "Map"])
def test_numbers_of_heads_count_special_tokens_that_are_hidden(view: View, tab: str) -> None:
    view.open(tab)
    before = view.status.inner_text()
    view.open_options()
    view.within.get_by_role("button", name="Hide special").click()
    expect(view.within.get_by_text("numbers count special tokens, too")).to_be_visible()
    expect(view.status).to_have_text(before, use_inner_text=True)


def test_a_page_opens_without_special_tokens(
    record: aw.AttentionRecord, open_page: OpenPage, tmp_path: Path
) -> None:
    tokens = record.stack().queries
    aw.save_html(tmp_path / "content.html", aw.AttentionWidget(record, segments="content"))
    view = View(open_page(tmp_path / "content.html"))
    expect(view.tokens("Keys")).to_have_count(len(tokens) - len(tokens.special))
