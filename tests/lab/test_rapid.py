"""Fast hands lose nothing, and do not flood the kernel."""

from collections import Counter

from playwright.sync_api import expect

from tests.browser.view import View, eventually, expect_lines
from tests.lab.lab import Lab

COUNT = """
heard = []

def hear(message):
    heard.append(message["content"]["data"])
    w._handle_msg(message)

w.comm.on_msg(hear)
"""

# Presses keys as fast as the page takes them, and lets it draw every 20 of them. Returns how many
# frames there were meanwhile.
PRESS = """async (target, count) => {
  const press = (key) =>
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
  const keys = [".", ",", ".", "]", "[", "]"];
  let frames = 0;
  for (let n = 0; n < count; n++) {
    press(keys[n % keys.length]);
    if (n % 20) continue;
    await new Promise(requestAnimationFrame);
    frames += 1;
  }
  return frames;
}"""


def test_what_is_pressed_fast_arrives_as_it_ends(lab: Lab) -> None:
    view = View(lab.run("w = aw.show(record); w").output)
    expect_lines(view)
    lab.run(COUNT)
    frames = view.layer.evaluate(PRESS, 240)
    # From Python too, while the view may still have something to say, which then comes last.
    lab.run("w.head = 11; w.layer = 2; w.layer = 3; w.query = 4")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    view.layer.press("ArrowUp")

    def agree() -> None:
        shown = [int(view.layer.inner_text()), int(view.head.inner_text())]
        assert lab.evaluate("[w.layer, w.head]") == shown

    eventually(lab.page, agree)
    assert lab.evaluate("w.query") == 4
    expect(view.status).to_contain_text(f"Layer {view.layer.inner_text()} fox →")
    messages = lab.evaluate("[[m['method'], m.get('content', {}).get('layer')] for m in heard]")
    said = Counter(method for method, _ in messages)
    assert 0 < said["update"] <= frames + 4
    # No layer twice; and of those passed through by Python only neighbours of the others.
    asked = [layer for method, layer in messages if method == "custom"]
    assert len(asked) == len(set(asked))


def test_layers_only_passed_through_are_not_sent(lab: Lab) -> None:
    view = View(lab.run("w = aw.show(record); w").output)
    expect_lines(view)
    lab.run(COUNT)
    lab.run("for layer in (1, 2, 3, 4, 5): w.layer = layer")
    expect(view.layer).to_have_text("5")
    expect_lines(view)
    view.query(4).hover()
    expect(view.status).to_contain_text("Layer 5 fox →")
    asked = lab.evaluate("[m['content']['layer'] for m in heard if m['method'] == 'custom']")
    # Layer 1 stands beside the first, and 4 beside the last; a slow machine may stop at another.
    assert len({2, 3} & set(asked)) < 2
