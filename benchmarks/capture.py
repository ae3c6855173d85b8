"""The cost of a capture beside the same call of the model alone.

python -m benchmarks.capture [--tokens 128 512 2048] [--rounds 5] [--models-folder models]

First SmolLM2: forward passes of 20, 128 and 400 tokens, generations of 24 and 200 tokens after 20,
pages of 40 and 400 tokens, and `show` of 400 tokens with the picture that a notebook keeps; and, if
the folder has `vit`, a page of an image, 196 patches and [CLS]; most with a target. Then randomly
initialised models of the sizes of GPT-2 small and BERT base, beside transformers' own attentions
and a widget of the record: time and memory do not depend on what the weights are.

The ways take turns within every round, so that what else the machine does hits them alike; ratios
are of one round's times, and their median and range are printed. Times are CPU times with one
thread, the default; with OMP_NUM_THREADS=2, they are of the clock. Memory is the peak of the
process during a run over what it held before.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# One thread makes CPU times comparable; numpy and torch read these at their import.
THREADS = int(os.environ.setdefault("OMP_NUM_THREADS", "1"))
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import torch  # noqa: E402
import transformers  # noqa: E402

from attnwidget import AttentionWidget, capture, show  # noqa: E402
from benchmarks.browser.models import smollm2  # noqa: E402

SENTENCE = "The dog that had chased the cat all morning was tired, because it ran. "
PROMPT_TOKENS = 20

ROOT = Path(__file__).parents[1]

_clock = time.process_time if THREADS == 1 else time.perf_counter

Way = Callable[[], Any]

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
    """(seconds, peak MB above the memory before) of one run."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # free memory must not hide the need of the next run
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = _memory("VmRSS")
    start = _clock()
    result = run()
    seconds = _clock() - start
    peak = _memory("VmHWM") - before
    del result
    return seconds, peak


def _memory(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/self/status names no {name}: this benchmark needs Linux")


@dataclass(frozen=True)
class Case:
    """A call with attnwidget, and the same without.

    Attributes:
        title: of the call.
        plain, ours: the calls.
        target: the most that the second may take, in times of the first; None for no target.
        seconds: the most seconds that it may take; None for no such target.
    """

    title: str
    plain: Way
    ours: Way
    target: float | None
    seconds: float | None = None


def decoder_cases() -> list[Case]:
    """The calls of a trained decoder."""
    model, tokenizer = smollm2()

    def inputs(tokens: int) -> Mapping[str, Any]:
        ids = tokenizer(SENTENCE * tokens, return_tensors="pt")["input_ids"][:, :tokens]
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def forward(tokens: int) -> Any:
        with torch.no_grad():
            return model(**inputs(tokens))

    def options(new: int) -> dict[str, Any]:
        return {"min_new_tokens": new, "max_new_tokens": new, "do_sample": False}

    def displayed(tokens: int) -> Any:
        widget = show(model, tokenizer, inputs(tokens))
        return widget._repr_mimebundle_()

    def page(tokens: int) -> Any:
        return AttentionWidget(records[tokens]).to_html()

    records = {tokens: capture(model, tokenizer, inputs(tokens)) for tokens in (40, 400)}
    cases = [
        Case(
            f"forward pass, {tokens} tokens",
            lambda tokens=tokens: forward(tokens),
            lambda tokens=tokens: capture(model, tokenizer, inputs(tokens)),
            target,
        )
        for tokens, target in ((20, 1.5), (128, 1.2), (400, None))
    ]
    cases += [
        Case(
            f"generate, {new} tokens after {PROMPT_TOKENS}",
            lambda new=new: model.generate(**inputs(PROMPT_TOKENS), **options(new)),
            lambda new=new: capture(model, tokenizer, inputs(PROMPT_TOKENS), generate=options(new)),
            1.3,
        )
        for new in (24, 200)
    ]
    cases += [
        Case(
            f"page of {tokens} tokens, already captured",
            lambda tokens=tokens: forward(tokens),
            lambda tokens=tokens: page(tokens),
            target,
            seconds,
        )
        for tokens, target, seconds in ((40, None, 1.0), (400, 3.0, None))
    ]
    shown = 400
    case = Case(
        f"show and its picture, {shown} tokens",
        lambda: forward(shown),
        lambda: displayed(shown),
        1.5,
    )
    return [replace(each, title=f"SmolLM2, {each.title}") for each in (*cases, case)]


def vision_cases(folder: Path) -> list[Case]:
    """The calls of a trained vision model; none if the folder has no such model."""
    if not (folder / "vit").exists():
        return []
    from matplotlib.cbook import get_sample_data
    from PIL import Image

    model = transformers.AutoModel.from_pretrained(folder / "vit").eval()
    processor = transformers.AutoImageProcessor.from_pretrained(folder / "vit")
    inputs = processor(Image.open(get_sample_data("grace_hopper.jpg")), return_tensors="pt")
    record = capture(model, None, inputs)

    def forward() -> Any:
        with torch.no_grad():
            return model(**inputs)

    title = "ViT base, page of 197 tokens, already captured"
    return [Case(title, forward, lambda: AttentionWidget(record).to_html(), 3.0)]


def report_case(case: Case, rounds: int) -> None:
    """Print the times, their ratio beside the target, and the memory."""
    found = rounds_of({"plain": case.plain, "ours": case.ours}, rounds)
    seconds = {way: statistics.median(r[way][0] for r in found) for way in found[0]}
    memory = {way: statistics.median(r[way][1] for r in found) for way in found[0]}
    target = ""
    if case.target is not None:
        met = statistics.median(r["ours"][0] / r["plain"][0] for r in found) <= case.target
        target = f" (target {case.target}: {'met' if met else 'missed'})"
    if case.seconds is not None:
        met = seconds["ours"] <= case.seconds
        target += f" (target {case.seconds} s: {'met' if met else 'missed'})"
    print(
        f"{case.title}: ours/plain {ratio(found, 'ours', 'plain')}{target}, "
        f"{seconds['ours']:.2f} s and {seconds['plain']:.2f} s; "
        f"peak MB plain {memory['plain']:.0f}, ours {memory['ours']:.0f}",
        flush=True,
    )


def ways(name: str, tokens: int) -> dict[str, Way]:
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
    parser.add_argument("--models-folder", type=Path, default=ROOT / "models",
                        help="where vit lies, if it does")  # fmt: skip
    args = parser.parse_args()
    torch.set_num_threads(THREADS)
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, "
          f"{THREADS} thread(s), {args.rounds} rounds, load {os.getloadavg()[0]:.1f}")  # fmt: skip
    for case in (*decoder_cases(), *vision_cases(args.models_folder)):
        report_case(case, args.rounds)
    for title, name in SIZES.items():
        for tokens in args.tokens:
            report(title, tokens, ways(name, tokens), args.rounds)


Round = Mapping[str, tuple[float, float]]


def rounds_of(runs: Mapping[str, Way], rounds: int) -> list[Round]:
    """Measurements of every way in every round, after one run of each."""
    for run in runs.values():
        run()
    return [{way: measure(run) for way, run in runs.items()} for _ in range(rounds)]


def ratio(found: list[Round], way: str, other: str) -> str:
    """The median and range of the ratios of two ways' times."""
    each = sorted(r[way][0] / r[other][0] for r in found)
    return f"{statistics.median(each):.2f} ({each[0]:.2f} to {each[-1]:.2f})"


def report(title: str, tokens: int, runs: dict[str, Way], rounds: int) -> None:
    found = rounds_of(runs, rounds)
    memory = {way: statistics.median(r[way][1] for r in found) for way in runs}
    extra = (memory["ours"] - memory["plain"]) / max(memory["eager"] - memory["plain"], 1e-9)
    print(
        f"{title}, T={tokens}: time ours/plain {ratio(found, 'ours', 'plain')}, "
        f"ours/eager {ratio(found, 'ours', 'eager')}, "
        f"widget/plain {ratio(found, 'widget', 'plain')}; "
        f"peak MB plain {memory['plain']:.0f}, eager {memory['eager']:.0f}, "
        f"ours {memory['ours']:.0f}, widget {memory['widget']:.0f}; "
        f"extra memory ours/eager {extra:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
