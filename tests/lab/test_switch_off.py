"""Heads that are switched off in a real notebook, where the kernel runs the model again."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.view import View, eventually, expect_lines
from tests.lab.lab import OPENED, Lab
from tests.lab.test_kernel import LOST, RESTART
from tests.lab.test_rapid import COUNT

# A language model with random weights.
SHOW = """
import torch, transformers
config = transformers.LlamaConfig(
    vocab_size=50, hidden_size=16, intermediate_size=16, num_hidden_layers=3,
    num_attention_heads=4, num_key_value_heads=2, initializer_range=0.5,
)
model = transformers.LlamaForCausalLM(config).eval()
inputs = {"input_ids": torch.arange(3, 12)[None]}
w = aw.show(model, None, inputs, layer=1, head=2)
w
"""

EXPECTED = """
effect = aw.ablate(model, None, inputs, heads=w.off, record=False)
most = int(effect.divergence.argmax())
first = min(effect.changes(most), key=lambda change: change.rank_before)
written = lambda p: "<.001" if 0 < p < 0.0005 else f"{p:.3f}"
expected = [first.label, written(first.before), "1", written(first.after), str(first.rank_after)]
"""


@pytest.fixture
def view(lab: Lab) -> View:
    view = View(lab.run(SHOW).output)
    expect_lines(view)
    return view


def _panel(view: View) -> Locator:
    return view.within.get_by_role("region", name="Effect of what is off")


def _expected(lab: Lab) -> list[str]:
    """The row of the token that is likeliest with all heads, where most changes."""
    lab.run(EXPECTED)
    expected: list[str] = lab.evaluate("expected")
    return expected


def _rows(panel: Locator) -> list[list[str]]:
    table = panel.get_by_role("table", name="Predictions before and after")
    return [row.get_by_role("cell").all_text_contents() for row in table.get_by_role("row").all()]


def test_switched_off_shown_and_on_again(lab: Lab, view: View) -> None:
    panel = _panel(view)
    view.within.get_by_role("button", name="Switch head off").click()
    table = panel.get_by_role("table", name="Predictions before and after")
    expect(table).to_be_attached()
    assert _expected(lab) in _rows(panel)
    assert lab.evaluate("w.off") == [[1, 2]]
    # The attention of the layers above.
    panel.get_by_role("button", name="Show the attention without them").click()
    expect(view.within.get_by_text("attention without what is off")).to_be_visible()
    expect_lines(view)
    # From Python.
    lab.run("w.off = [(0, 0), (0, 1), (0, 2), (0, 3)]")
    expect(panel.get_by_role("button", name="Switch layer 0 on again")).to_be_visible()
    lab.run("w.cut = [aw.KnockOut([4, 5], 2, layers=1, heads=[1, 2])]")
    chip = panel.get_by_role("button", name="in 2 heads of layer 1")
    expect(chip).to_be_visible()
    lab.run("w.query, w.key = 6, 3")
    link = view.within.get_by_role("button", name="Cut link")
    expect(link).to_be_enabled()
    link.click()
    here = [[6], [3], [1], [2]]
    eventually(lab.page, lambda: _assert_cut(lab, [[[4, 5], [2], [1], [1, 2]], here]))
    chip.click()
    eventually(lab.page, lambda: _assert_cut(lab, [here]))
    view.within.get_by_role("button", name="All on").click()
    expect(panel).to_be_hidden()
    eventually(lab.page, lambda: _assert_all_on(lab))


def _assert_cut(lab: Lab, expected: object) -> None:
    assert lab.evaluate("w.cut") == expected


def _assert_all_on(lab: Lab) -> None:
    assert lab.evaluate("[w.off, w.cut]") == [[], []]


# Alt with a click on a swatch, as fast as the page takes them; it draws after every 20.
CLICK = """async (swatches, count) => {
  const buttons = [...swatches.querySelectorAll("button")];
  for (let n = 0; n < count; n++) {
    buttons[n % 3].dispatchEvent(new MouseEvent("click", { altKey: true, bubbles: true }));
    if (n % 20 === 19) await new Promise(requestAnimationFrame);
  }
}"""


def test_200_fast_clicks_lose_nothing_and_leave_no_request(lab: Lab, view: View) -> None:
    lab.run(COUNT)
    swatches = view.within.get_by_role("group", name="Heads", exact=True)
    swatches.evaluate(CLICK, 200)
    # Of three heads, one was clicked 66 times.
    off = [[1, 0], [1, 1]]
    panel = _panel(view)
    expect(panel.get_by_role("button", name="Switch head 1-1 on again")).to_be_visible()
    expect(panel.get_by_role("table")).to_be_attached()
    expect(panel.locator("[aria-busy=true]")).to_have_count(0)

    def arrived() -> None:
        assert lab.evaluate("w.off") == off
        asked = lab.evaluate("[m.get('content', {}).get('heads') for m in heard]")
        assert [heads for heads in asked if heads][-1] == off

    eventually(lab.page, arrived)
    assert lab.evaluate("len(w._replies._effects.replies.waiting)") == 0
    assert _expected(lab) in _rows(panel)


def test_a_model_that_was_deleted_and_a_kernel_that_was_restarted(lab: Lab, view: View) -> None:
    alert = _panel(view).get_by_role("alert")
    lab.run("import gc\ndel model\ngc.collect()\nw.off = [(1, 2)]")
    expect(alert).to_contain_text("The model was deleted")
    lab.page.evaluate(RESTART)
    lab.page.wait_for_function(OPENED)
    view.head.press("ArrowUp")
    view.within.get_by_role("button", name="Switch head off").click()
    expect(alert).to_contain_text("run the cell again")
    # What was loaded still works, and the heads can be switched on again.
    view.within.get_by_role("button", name="All on").click()
    expect(_panel(view)).to_be_hidden()
    expect_lines(view)
    lab.errors[:] = [error for error in lab.errors if error != LOST]
