"""Several tokens of a column locked together: what is shown is their sum."""

import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, expect_strongest, names


def expect_locked(view: View, queries: set[int], keys: set[int], count: int) -> None:
    for column, locked in (("Queries", queries), ("Keys", keys)):
        for position in range(count):
            selected = "true" if position in locked else "false"
            token = view.tokens(column).nth(position)
            expect(token).to_have_attribute("aria-selected", selected)


@pytest.mark.parametrize("heads", [[2], [0, 2, 7]])
def test_the_sum_of_their_weights(view: View, record: aw.AttentionRecord, heads: list[int]) -> None:
    view.swatch(heads[0]).dblclick()
    for head in heads[1:]:
        view.swatch(head).click()
    for column in ("Queries", "Keys"):
        for tokens in ((11, 9), (4, 9, 13)):
            expect_sums(view, record, column, tokens, heads)
            view.page.keyboard.press("Escape")


def expect_sums(
    view: View, record: aw.AttentionRecord, column: str, tokens: tuple[int, ...], heads: list[int]
) -> None:
    """Lock the tokens, and check what is said of them."""
    labels = names(record.tokens()[0])
    for token in tokens:
        view.tokens(column).nth(token).click()
    view.status.hover()
    place = f"Layer 0 · Head {heads[0]}" if len(heads) == 1 else "Layer 0"
    arrow = "→" if column == "Queries" else "←"
    weights = {head: record.weights(0, head) for head in heads}
    sums = {
        head: sum(w[token] if column == "Queries" else w[:, token] for token in tokens)
        for head, w in weights.items()
    }
    start = f"{place} {' + '.join(labels[token] for token in sorted(tokens))} {arrow}"
    expect_strongest(view, start, sums, record.tokens()[0])
    expect(view.status).to_contain_text("(sums)")


def test_a_click_adds_and_another_releases(view: View, record: aw.AttentionRecord) -> None:
    count = len(record.tokens()[0])
    for query in (4, 9, 11):
        view.query(query).click()
    expect_locked(view, {4, 9, 11}, set(), count)
    view.query(4).click()
    expect_locked(view, {9, 11}, set(), count)
    view.status.hover()
    expect(view.status).to_contain_text("dog + it₁₁ →")


def test_the_other_column_starts_anew(view: View, record: aw.AttentionRecord) -> None:
    count = len(record.tokens()[0])
    view.query(4).click()
    view.query(9).click()
    view.key(10).click()
    expect_locked(view, set(), {10}, count)


def test_by_keyboard_and_escape_releases_all(view: View, record: aw.AttentionRecord) -> None:
    count = len(record.tokens()[0])
    keys = view.within.get_by_role("listbox", name="Keys", exact=True)
    for press in ("Home", "Enter", "ArrowDown", "ArrowDown", "Space", "End", "Enter"):
        keys.press(press)
    expect_locked(view, set(), {0, 2, count - 1}, count)
    keys.press("Escape")
    expect_locked(view, set(), set(), count)


def test_they_stay_in_another_layer(view: View, record: aw.AttentionRecord) -> None:
    view.swatch(5).dblclick()
    view.query(4).click()
    view.query(9).click()
    view.status.hover()
    view.layer.press("ArrowUp")
    sums = {5: record.weights(1, 5)[4] + record.weights(1, 5)[9]}
    expect_strongest(view, "Layer 1 · Head 5 fox + dog →", sums, record.tokens()[0])
