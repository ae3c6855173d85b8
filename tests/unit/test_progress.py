"""Who hears of long work, and of how much of it."""

import sys

from attnwidget import AttentionWidget, capture
from attnwidget.cli.text import _quiet_transformers
from attnwidget.progress import on_step
from tests.unit.tiny import Loaded


def test_every_attention_call_every_layer_seen_and_every_layer_packed(smollm2: Loaded) -> None:
    model, tokenizer = smollm2
    steps: list[None] = []
    with on_step(lambda: steps.append(None)):
        record = capture(
            model, tokenizer, "The dog", generate={"max_new_tokens": 3, "do_sample": False}
        )
        layers, tokens = record.num_layers(), 3
        assert len(steps) == layers * tokens
        steps.clear()
        widget = AttentionWidget(record)
        assert len(steps) == layers
        steps.clear()
        widget.to_html()
        assert len(steps) == layers


def test_what_a_library_says_may_be_any_text() -> None:
    with _quiet_transformers(bars=False):
        print("loaded \udcff ⏎", file=sys.stderr)
