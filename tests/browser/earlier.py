"""Files in tests/earlier, which the version before this one wrote.

All hold layers 0 and 5 of the default model for "The dog ran.", and open at layer 5, head 3.
"""

import gzip
from pathlib import Path

from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, expect_lines, expect_strongest

FOLDER = Path(__file__).parents[1] / "earlier"


def earlier_record() -> aw.AttentionRecord:
    return aw.AttentionRecord.load(FOLDER / "record.safetensors")


def read_earlier(name: str) -> bytes:
    return gzip.decompress((FOLDER / f"{name}.gz").read_bytes())


def expect_earlier_view(view: View) -> None:
    """The strongest weights of a token, as they are in the record."""
    record = earlier_record()
    view.open("Head")
    expect(view.layer).to_have_text("5")
    expect(view.head).to_have_text("3")
    expect_lines(view)
    view.query(2).hover()
    rows = {head: record.weights(5, head)[2] for head in range(record.num_heads(5))}
    expect_strongest(view, "Layer 5 dog →", rows, record.tokens()[1])
