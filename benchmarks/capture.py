"""The cost of a capture beside a plain forward pass and transformers' own attentions.

And what making a widget of the capture costs beside them.

python -m benchmarks.capture [--tokens 128 512 2048] [--rounds 5]

Randomly initialised models of the sizes of GPT-2 small and BERT base: time and memory do not
depend on what the weights are. The ways take turns within every round, so that what else the
machine does hits them alike; ratios are of one round's CPU times, and their median and range are
printed. Memory is the peak of the process during a run over what it held before.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# One thread makes CPU times comparable; numpy and torch read these at their import.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import torch  # noqa: E402
import transformers  # noqa: E402

from attnwidget import AttentionWidget, capture  # noqa: E402

SIZES = {"GPT-2 small": "GPT2", "BERT base": "Bert"}


def build(name: str, attention: str, tokens: int) -> Any:
    """A model of 12 layers and 12 heads that takes `tokens` tokens."""
    model_class = getattr(transformers, f"{name}Model")
    length = {"n_positions" if name == "GPT2" else "max_position_embeddings": tokens}
    torch.manual_seed(0)
    model = model_class._from_config(
        model_class.config_class(**length), attn_implementation=attention
    )
    return model.eval()


def measure(run: Callable[[], Any]) -> tuple[float, float]:
    """(CPU seconds, peak MB above the memory before) of one run."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # free memory must not hide the need of the next run
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = _memory("VmRSS")
    start = time.process_time()
    result = run()
    seconds = time.process_time() - start
    peak = _memory("VmHWM") - before
    del result
    return seconds, peak


def _memory(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/self/status names no {name}: this benchmark needs Linux")


def ways(name: str, tokens: int) -> dict[str, Callable[[], Any]]:
    plain, eager = build(name, "sdpa", tokens), build(name, "eager", tokens)
    ids = torch.randint(5, 900, (1, tokens), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids}

    def forward(model: Any, **options: Any) -> Any:
        with torch.no_grad():
            return model(**inputs, **options)

    record = capture(plain, None, inputs)
    return {
        "plain": lambda: forward(plain),
        "eager": lambda: forward(eager, output_attentions=True),
        "ours": lambda: capture(plain, None, inputs),
        "widget": lambda: AttentionWidget(record),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tokens", type=int, nargs="+", default=[128, 512, 2048])
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, "
          f"one thread, {args.rounds} rounds, load {os.getloadavg()[0]:.1f}")  # fmt: skip
    for title, name in SIZES.items():
        for tokens in args.tokens:
            report(title, tokens, ways(name, tokens), args.rounds)


def report(title: str, tokens: int, runs: dict[str, Callable[[], Any]], rounds: int) -> None:
    for run in runs.values():
        run()
    found = [{way: measure(run) for way, run in runs.items()} for _ in range(rounds)]

    def ratio(way: str, other: str) -> str:
        each = sorted(r[way][0] / r[other][0] for r in found)
        return f"{statistics.median(each):.2f} ({each[0]:.2f} to {each[-1]:.2f})"

    memory = {way: statistics.median(r[way][1] for r in found) for way in runs}
    extra = (memory["ours"] - memory["plain"]) / max(memory["eager"] - memory["plain"], 1e-9)
    print(
        f"{title}, T={tokens}: time ours/plain {ratio('ours', 'plain')}, "
        f"ours/eager {ratio('ours', 'eager')}, widget/plain {ratio('widget', 'plain')}; "
        f"peak MB plain {memory['plain']:.0f}, eager {memory['eager']:.0f}, "
        f"ours {memory['ours']:.0f}, widget {memory['widget']:.0f}; "
        f"extra memory ours/eager {extra:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
