"""The time from a request of a view that switches a head off to the kernel's reply.

python -m benchmarks.live_effects [--tokens 64] [--clicks 25]

SmolLM2, and another head with every click: first of the upper half of the layers, then of all. A
plain forward pass of the same text stands beside. Times are CPU times with one thread, the default;
with OMP_NUM_THREADS=2, they are of the clock.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

# One thread makes CPU times comparable; torch reads this at its import.
THREADS = int(os.environ.setdefault("OMP_NUM_THREADS", "1"))

import torch  # noqa: E402

from attnwidget import capture  # noqa: E402
from attnwidget.interventions.rerun import Rerun  # noqa: E402
from attnwidget.wire import Replies  # noqa: E402
from benchmarks.browser.models import smollm2  # noqa: E402

SENTENCE = "The dog that had chased the cat all morning was tired, because it ran. "

_clock = time.process_time if THREADS == 1 else time.perf_counter


def measure(tokens: int, clicks: int) -> None:
    """Print the medians and ranges."""
    model, tokenizer = smollm2()
    ids = tokenizer(SENTENCE * tokens, return_tensors="pt")["input_ids"][:, :tokens]
    inputs = {"input_ids": ids}
    record = capture(model, None, inputs)
    replied = threading.Event()
    last: dict[str, Any] = {}

    def receive(content: dict[str, Any], _buffers: list[bytes]) -> None:
        last.update(content)
        replied.set()

    replies = Replies(receive)
    replies.measure_with(Rerun(model, None, inputs, None, target=None, batch_index=0))

    def switch_off(layer: int, head: int) -> None:
        replied.clear()
        last.clear()
        request = {"id": "click", "op": "effect", "stack": "self", "heads": [[layer, head]]}
        replies.to(record, request)
        replied.wait()
        assert "effect" in last, last

    def plain() -> None:
        with torch.no_grad():
            model(**inputs, use_cache=False)

    layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads
    chosen = random.Random(0)

    def click(lowest: int) -> None:
        switch_off(chosen.randrange(lowest, layers), chosen.randrange(heads))

    _report("the first click", 1, lambda: click(0))
    _report("plain forward pass", clicks, plain)
    _report("one head of the upper half off", clicks, lambda: click(layers // 2))
    _report("one head of any layer off", clicks, lambda: click(0))
    _report("one head of the lowest layer off", clicks, lambda: switch_off(0, 0))


def _report(what: str, count: int, call: Callable[[], None]) -> None:
    times = []
    for _ in range(count):
        start = _clock()
        call()
        times.append(1000 * (_clock() - start))
    spread = f"{min(times):.0f} to {max(times):.0f}"
    print(f"{what}: {statistics.median(times):.0f} ms, median of {count} ({spread})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--clicks", type=int, default=25)
    options = parser.parse_args()
    measure(options.tokens, options.clicks)
