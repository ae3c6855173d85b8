"""A layer that is too large: for a view to hold, row by row; for a message, in pieces."""

import re
from typing import Any

import numpy as np
from playwright.sync_api import expect

from tests.browser.view import View, expect_lines, expect_strongest
from tests.lab.lab import Lab

IMPORTS = """
import os
import numpy as np
from attnwidget.record import Fidelity, Layer, ScoreProgram, Stack, Tokens

program = ScoreProgram(0.06, "causal")
fidelity = Fidelity("given", "", "queries and keys", None, None, 1e-4, 0)
"""

# 34 million bytes of queries and keys in 16 bits each: just too large.
RECORD = """
values = np.random.default_rng(5).standard_normal((2, 8, 600, 1800), np.float32)
values[1, :, :, 0] += 3
layer = Layer(values[0], values[1], program, None, fidelity)
tokens = Tokens(tuple(f"w{n}" for n in range(600)))
large = aw.AttentionRecord({"self": Stack(tokens, tokens, (layer,))})
"""

# 3.3 million bytes, in a host that takes one million in a message.
IN_PIECES = """
vectors = np.random.default_rng(5).standard_normal((2, 8, 400, 256), np.float32)
tokens = Tokens(tuple(f"w{n}" for n in range(400)))
layer = Layer(vectors[0], vectors[1], program, None, fidelity)
large = aw.AttentionRecord({"self": Stack(tokens, tokens, (layer,))})
os.environ["ATTNWIDGET_LARGEST_MESSAGE"] = "1_000_000"
w = aw.show(large)
del os.environ["ATTNWIDGET_LARGEST_MESSAGE"]
sizes, send = [], w.comm.send

def count(data, buffers=None, **more):
    if buffers:
        sizes.append(sum(map(len, buffers)))
    send(data, buffers=buffers, **more)

w.comm.send = count
w
"""

COUNT = """
heard = []

def hear(message):
    heard.append(message["content"]["data"])
    w._handle_msg(message)

w.comm.on_msg(hear)
"""


def _weights(lab: Lab, index: str) -> dict[int, Any]:
    rows = lab.evaluate(f"[large.weights(0, head)[{index}].tolist() for head in range(8)]")
    return {head: np.array(row) for head, row in enumerate(rows)}


def test_its_rows_and_columns_are_the_records(lab: Lab) -> None:
    lab.run(IMPORTS + RECORD)
    view = View(lab.run("w = aw.AttentionWidget(large); w").output)
    expect(view.query(20)).to_be_visible()
    expect(view.body.locator("xpath=../..")).to_contain_text("drawn from the overview")
    lab.run(COUNT)
    labels = [f"w{n}" for n in range(600)]
    # Before the pointer is where it should stay: a cell that runs scrolls the notebook.
    row, column = _weights(lab, "20"), _weights(lab, ":, 3")
    view.query(20).hover()
    expect_strongest(view, "Layer 0 w20 →", row, labels)
    view.key(3).hover()
    # The kernel computes every row of the first column.
    expect(view.status).to_contain_text("Layer 0 w3 ←")
    expect_strongest(view, "Layer 0 w3 ←", column, labels)
    head = max(row, key=lambda head: float(row[head][3]))
    lab.run(f"w.query = 20; w.key = 3; w.head = {head}")
    score = lab.evaluate(f"float(large.scores(0, {head})[20, 3])")
    expect(view.status).to_contain_text(f"Layer 0 · Head {head} w20 → w3 weight")
    line = view.status.text_content() or ""
    said = re.search(r"weight (\S+) · score (\S+)", line)
    assert said, line
    shown = [float(text.replace("\u2212", "-")) for text in said.groups()]
    assert np.allclose(shown, [row[head][3], score], rtol=0, atol=0.0051), said
    asked = lab.evaluate("[m['content'] for m in heard if m['method'] == 'custom']")
    rows = [(message["side"], message["position"]) for message in asked if message["op"] == "row"]
    assert len(rows) == len(set(rows))
    assert {("query", 20), ("key", 3)} <= set(rows)
    assert not [message for message in asked if message["op"] == "block"]
    view.open("Neuron")
    expect(view.body).to_contain_text("too large to be here as a whole")


def test_a_layer_that_is_larger_than_a_message_comes_in_pieces(lab: Lab) -> None:
    view = View(lab.run(IMPORTS + IN_PIECES).output)
    expect_lines(view)
    row = _weights(lab, "20")
    view.query(20).hover()
    expect_strongest(view, "Layer 0 w20 →", row, [f"w{n}" for n in range(400)])
    sizes = lab.evaluate("sizes")
    assert len(sizes) == 4
    assert max(sizes) < 1_000_000 < sum(sizes)
