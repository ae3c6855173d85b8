"""Heads that are switched off in a real notebook, where the kernel runs the model again."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.view import View, eventually, expect_lines
from tests.lab.lab import Lab

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
effect = aw.ablate(model, None, inputs, heads=[(1, 2)], record=False)
first = min(effect.changes(), key=lambda change: change.rank_before)
numbers = f"{first.before:.3f} 1 {first.after:.3f} {first.rank_after}"
expected = [first.label, *numbers.split()]
"""


@pytest.fixture
def view(lab: Lab) -> View:
    view = View(lab.run(SHOW).output)
    expect_lines(view)
    return view


def _panel(view: View) -> Locator:
    return view.within.get_by_role("region", name="Effect of the heads that are off")


def test_switched_off_shown_and_on_again(lab: Lab, view: View) -> None:
    panel = _panel(view)
    view.within.get_by_role("button", name="Switch head off").click()
    table = panel.get_by_role("table", name="Predictions before and after")
    expect(table).to_be_attached()
    lab.run(EXPECTED)
    rows = [row.get_by_role("cell").all_text_contents() for row in table.get_by_role("row").all()]
    assert lab.evaluate("expected") in rows
    assert lab.evaluate("w.off") == [[1, 2]]
    # The attention of the layers above.
    panel.get_by_role("button", name="Show the attention without them").click()
    expect(view.within.get_by_text("attention without the heads that are off")).to_be_visible()
    expect_lines(view)
    # From Python.
    lab.run("w.off = [(0, 0), (0, 1), (0, 2), (0, 3)]")
    expect(panel.get_by_role("button", name="Switch layer 0 on again")).to_be_visible()
    view.within.get_by_role("button", name="All on").click()
    expect(panel).to_be_hidden()
    eventually(lab.page, lambda: _assert_all_on(lab))


def _assert_all_on(lab: Lab) -> None:
    assert lab.evaluate("w.off") == []


def test_a_model_that_was_deleted(lab: Lab, view: View) -> None:
    lab.run("import gc\ndel model\ngc.collect()\nw.off = [(1, 2)]")
    expect(_panel(view).get_by_role("alert")).to_contain_text("The model was deleted")
