"""Several tokens of a column locked together: what is shown is their sum."""

from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, expect_strongest, names


def test_the_sum_of_their_weights(view: View, record: aw.AttentionRecord) -> None:
    view.swatch(0).dblclick()
    for heads, column, tokens in (
        ([0], "Queries", (11, 9)),
        ([0, 2, 7], "Queries", (4, 9, 13)),
        ([0, 2, 7], "Keys", (11, 9)),
    ):
        for head in heads[1:]:
            if view.swatch(head).get_attribute("aria-pressed") == "false":
                view.swatch(head).click()
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
