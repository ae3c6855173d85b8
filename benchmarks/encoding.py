"""Sizes and errors of exported pages: bytes, entropy, and the attention that moves.

python -m benchmarks.encoding [--tokens 32 128 512] [--quality default] [MODEL ...]

Models are local directories or hub names; without one, the embedded model. The text is this
project's own documentation. All but the seconds and the speed is the same in every run:

page      the whole file, in kilobytes, script included, all as text
BertViz   the attention as the JSON that its head view embeds, counted once (it embeds it twice), in
          kilobytes, and how many times the page goes into it
payload   all layers as they are before they are text, in kilobytes
entropy   that of all coefficients by themselves, in kilobytes: per layer, of queries and keys (or
          weights) each, of their distribution. The payload holds the basis, masks and biases too;
          it can be below this, because components have distributions of their own.
moved     the mean share of a row's attention that goes elsewhere: of all layers, and of the worst
largest   the largest difference of a weight
"""

from __future__ import annotations

import argparse
import json
import re
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

import attnwidget
from attnwidget.default_model import default_model
from attnwidget.wire.compression import Quality
from tests.decoding import decode_arrays, from_base85, part_buffers

CODED = ("queries", "keys", "weights")

TEXT = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parents[1].glob("docs/*.md"))
)


def load(name: str | None) -> tuple[Any, Any]:
    if name is None:
        return default_model()
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer

    architecture = (AutoConfig.from_pretrained(name).architectures or [""])[0]
    kind = AutoModelForCausalLM if architecture.endswith("ForCausalLM") else AutoModel
    return kind.from_pretrained(name).float().eval(), AutoTokenizer.from_pretrained(name)


def record_of(model: Any, tokenizer: Any, tokens: int) -> attnwidget.AttentionRecord:
    """The text's first tokens."""
    import torch

    inputs = tokenizer(TEXT, truncation=True, max_length=tokens, return_tensors="pt")
    if inputs["input_ids"].shape[1] != tokens:
        raise ValueError(f"the text has {inputs['input_ids'].shape[1]} tokens, not {tokens}")
    with torch.no_grad():
        return attnwidget.capture(model, tokenizer, dict(inputs))


def json_bytes(record: attnwidget.AttentionRecord) -> int:
    """The size of all weights as nested lists, as `json.dumps` writes them, one head at a time."""
    layers = record.stack().layers
    return sum(
        len(json.dumps(layer.head_weights(head).tolist()))
        for layer in layers
        for head in range(layer.num_heads)
    )


def entropy_bytes(block: dict[str, Any]) -> float:
    """The entropy of the coefficients of queries, keys or weights, by their distributions."""
    parts = block["parts"]
    buffers = part_buffers(parts, zlib.decompress(from_base85(block["data"])))
    coded = {part["name"].removesuffix("_channels") for part in parts} & set(CODED)
    total = 0.0
    for name, array in decode_arrays(parts, buffers).items():
        if name in coded:
            _, counts = np.unique(array, return_counts=True)
            total -= float((counts * np.log2(counts / counts.sum())).sum()) / 8
    return total


def blocks_of(page: str) -> list[dict[str, Any]]:
    """The packed layers of a page."""
    return [json.loads(text) for text in re.findall(r'data-block="[^"]*">(.*?)</script>', page)]


def rows(
    names: Sequence[str | None], lengths: Sequence[int], quality: Quality
) -> Iterator[dict[str, Any]]:
    for name in names:
        model, tokenizer = load(name)
        for tokens in lengths:
            record = record_of(model, tokenizer, tokens)
            widget = attnwidget.AttentionWidget(record)
            start = time.process_time()
            page = widget.to_html(quality=quality)
            seconds = time.process_time() - start
            blocks = blocks_of(page)
            errors = [block["error"] for block in blocks]
            bertviz, size = json_bytes(record), len(page)
            payload = sum(len(from_base85(block["data"])) for block in blocks)
            entropy = sum(map(entropy_bytes, blocks))
            moved = [error["variation"] for error in errors if "variation" in error]
            yield {
                "model": re.sub(r".*/", "", name or "embedded"),
                "tokens": tokens,
                "page": f"{size / 1e3:.0f}",
                "BertViz": f"{bertviz / 1e3:.0f} ({bertviz / size:.1f}x)",
                "payload": f"{payload / 1e3:.0f}",
                "entropy": f"{entropy / 1e3:.0f} ({payload / entropy:.3f})" if entropy else "-",
                "moved": f"{np.mean(moved):.3%} {max(moved):.3%}" if moved else "-",
                "largest": f"{max(error['largest'] for error in errors):.4f}",
                "full bases": f"{sum(map(_is_full, blocks))} of {len(blocks)}",
                "CPU s": f"{seconds:.2f}",
            }


def _is_full(block: dict[str, Any]) -> bool:
    return any(part["name"] == "turns" for part in block["parts"])


def main() -> None:
    parser = argparse.ArgumentParser(description="What an exported page weighs.")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--tokens", type=int, nargs="+", default=[32, 128, 512])
    parser.add_argument("--quality", choices=get_args(Quality), default="default")
    args = parser.parse_args()
    header: list[str] = []
    for row in rows(args.models or [None], args.tokens, args.quality):
        if not header:
            header = list(row)
            print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
        print("| " + " | ".join(map(str, row.values())) + " |", flush=True)


if __name__ == "__main__":
    main()
