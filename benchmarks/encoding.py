"""Sizes and errors of exported pages: bytes, entropy, and the attention that moves.

python -m benchmarks.encoding [--tokens 32 128 512] [--quality default] [MODEL ...]

Models are local directories or hub names; without one, the embedded model. The text is this
project's own documentation. All but the seconds and the speed is the same in every run:

page      the whole file, in kilobytes, script and base64 included
BertViz   the attention as the JSON that its head view embeds, counted once (it embeds it twice), in
          kilobytes, and how many times the page goes into it
payload   all layers as they are before base64, in kilobytes
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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

import attnwidget
from attnwidget.default_model import default_model
from attnwidget.wire import Block
from attnwidget.wire.compression import Quality, encode_layer, pack
from tests.decoding import decode_integers

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


def entropy_bytes(block: Block) -> float:
    """The entropy of the coefficients of queries, keys or weights, by their distributions."""
    total = 0.0
    for part, data in zip(block.parts, block.buffers, strict=True):
        if part["dtype"] == "coded" and part["name"] in ("queries", "keys", "weights"):
            values = decode_integers(data, int(np.prod(part["shape"])))
            _, counts = np.unique(values, return_counts=True)
            total -= float((counts * np.log2(counts / counts.sum())).sum()) / 8
    return total


def rows(
    names: Sequence[str | None], lengths: Sequence[int], quality: Quality
) -> Iterator[dict[str, Any]]:
    for name in names:
        model, tokenizer = load(name)
        for tokens in lengths:
            record = record_of(model, tokenizer, tokens)
            page = len(attnwidget.AttentionWidget(record).to_html(quality=quality))
            blocks, seconds = [], []
            for layer in record.stack().layers:
                start = time.perf_counter()
                blocks.append(encode_layer(layer, quality))
                seconds.append(time.perf_counter() - start)
            errors = [block.error for block in blocks if block.error is not None]
            bertviz, payload = json_bytes(record), sum(len(pack(block)[1]) for block in blocks)
            entropy = sum(map(entropy_bytes, blocks))
            moved = [error["variation"] for error in errors]
            yield {
                "model": re.sub(r".*/", "", name or "embedded"),
                "tokens": tokens,
                "page": f"{page / 1e3:.0f}",
                "BertViz": f"{bertviz / 1e3:.0f} ({bertviz / page:.1f}x)",
                "payload": f"{payload / 1e3:.0f}",
                "entropy": f"{entropy / 1e3:.0f} ({payload / entropy:.3f})" if entropy else "-",
                "moved": f"{np.mean(moved):.3%} {max(moved):.3%}" if errors else "-",
                "largest": f"{max(error['largest'] for error in errors):.3f}" if errors else "-",
                "full bases": f"{sum(_is_full(b) for b in blocks)} of {len(blocks)}",
                "s per layer": f"{min(seconds):.2f}–{max(seconds):.2f}",
            }


def _is_full(block: Block) -> bool:
    return any(part["name"] == "turns" for part in block.parts)


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
