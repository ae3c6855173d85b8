"""The cost of a profile beside the model's plain forward passes over the same texts.

python -m benchmarks.profile [--texts 100] [--tokens 64] [--rounds 3] [--many 10000]

First the time of SmolLM2's profile, all metrics of its 270 heads, with and without a null, beside
plain passes over the same padded batches; then the peak of memory over 100 and over many texts of
eight tokens, with a small model, above the memory before. Times are CPU times with one thread.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from attnwidget import profile
from benchmarks.browser.models import PROSE, minilm, smollm2
from benchmarks.capture import measure

BATCH = 16


def texts_of(tokenizer: Any, count: int, tokens: int) -> list[torch.Tensor]:
    """Batches of token ids [texts, tokens], consecutive pieces of the prose, repeated if short."""
    ids = tokenizer(PROSE.read_text("utf-8"), add_special_tokens=False)["input_ids"]
    ids = (ids * (1 + count * tokens // len(ids)))[: count * tokens]
    return list(torch.tensor(ids).reshape(count, tokens).split(BATCH))


def report_time(count: int, tokens: int, rounds: int) -> None:
    """Print the times of profiles in times of the plain passes."""
    model, tokenizer = smollm2()
    batches = texts_of(tokenizer, count, tokens)

    def plain() -> None:
        with torch.no_grad():
            for ids in batches:
                model(input_ids=ids, attention_mask=torch.ones_like(ids))

    def ours(null: Any) -> Any:
        return profile(model, tokenizer, [{"input_ids": ids} for ids in batches], null=null)

    ways = {
        "plain": plain,
        "profile, null=None": lambda: ours(None),
        "profile, null='random weights'": lambda: ours("random weights"),
        "profile, null='shuffled'": lambda: ours("shuffled"),
    }
    found = [{name: measure(run) for name, run in ways.items()} for _ in range(rounds)]
    for name in ways:
        seconds = statistics.median(each[name][0] for each in found)
        ratio = statistics.median(each[name][0] / each["plain"][0] for each in found)
        peak = statistics.median(each[name][1] for each in found)
        print(f"SmolLM2, {count} texts of {tokens} tokens, {name}: {seconds:.1f} s, {ratio:.2f} × "
              f"plain, peak {peak:.0f} MB", flush=True)  # fmt: skip


def report_memory(many: int) -> None:
    """Print the peaks of memory over few and many short texts."""
    model, tokenizer = minilm()
    words = PROSE.read_text("utf-8").split()

    def texts(count: int) -> Iterator[str]:
        for number in range(count):
            start = number * 6 % (len(words) - 6)
            yield " ".join(words[start : start + 6])

    for count in (100, many):
        seconds, peak = measure(lambda count=count: profile(model, tokenizer, texts(count)))
        print(f"MiniLM, {count:,} texts of about 8 tokens: peak {peak:.0f} MB, "
              f"{1000 * seconds / count:.1f} ms per text", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--texts", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--many", type=int, default=10_000)
    args = parser.parse_args()
    torch.set_num_threads(1)
    report_time(args.texts, args.tokens, args.rounds)
    report_memory(args.many)


if __name__ == "__main__":
    main()
