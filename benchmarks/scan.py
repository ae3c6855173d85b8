"""A scan of all heads beside the same heads switched off one by one.

python -m benchmarks.scan [--tokens 32] [--every 5]

On MiniLM and SmolLM2: `ablation_scan` without its null, beside `ablate` of every fifth head, and a
bare pass within `intervene` of these heads, both scaled to all heads. Times are CPU times with one
thread; the largest difference of the numbers stands beside.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import TypeVar

# One thread makes CPU times comparable; torch reads this at its import.
os.environ["OMP_NUM_THREADS"] = "1"

import torch

import attnwidget as aw
from attnwidget.interventions.effect import Effect
from benchmarks.browser.models import Loaded, minilm, smollm2

SENTENCE = "The dog that had chased the cat all morning was tired, because it ran. "

_Result = TypeVar("_Result")


def measure(loaded: Loaded, tokens: int, every: int) -> None:
    """Print the times of one model."""
    model, tokenizer = loaded
    encoding = tokenizer(SENTENCE * tokens, return_tensors="pt")
    inputs = {name: tensor[:, :tokens] for name, tensor in encoding.items()}
    aw.ablate(model, None, inputs, heads=[(0, 0)], record=False)  # what is made once
    scores, scan = _timed(lambda: aw.ablation_scan(model, None, inputs, null=False))
    heads = [(layer, head) for layer, head, _ in scores.ranking()]
    sample = sorted(heads)[::every]

    def one_by_one() -> list[Effect]:
        return [aw.ablate(model, None, inputs, heads=[head], record=False) for head in sample]

    def bare() -> None:
        for layer, head in sample:
            with torch.no_grad(), aw.intervene(model, aw.Ablate(layer, head)):
                model(**inputs)

    effects, ablated = _timed(one_by_one)
    _, passed = _timed(bare)
    numbers = [e.moved if e.logits is None else e.divergence for e in effects]
    errors = [
        abs(float(number.mean()) - scores.values()[head])
        for head, number in zip(sample, numbers, strict=True)
    ]
    part = len(heads) / len(sample)
    print(f"{type(model).__name__}, {len(heads)} heads, {tokens} tokens")
    print(f"  scan: {scan:.1f} s; largest difference from ablate {max(errors):.1e}")
    for what, seconds in (("ablate one by one", ablated), ("bare passes", passed)):
        print(f"  {what}: {seconds * part:.1f} s, {seconds * part / scan:.1f} times")


def _timed(call: Callable[[], _Result]) -> tuple[_Result, float]:
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--every", type=int, default=5)
    options = parser.parse_args()
    for load in (minilm, smollm2):
        measure(load(), options.tokens, options.every)
