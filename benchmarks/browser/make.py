"""Writes the pages of one model and length in a separate process, and prints one line of JSON each.

python -m benchmarks.browser.make MODEL TOKENS FOLDER [--views head ...] [--rivals head ...]
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from attnwidget import AttentionRecord, AttentionWidget, capture, compare
from benchmarks.capture import measure  # sets torch to one thread

from . import rival
from .cases import Case, readings
from .models import Loaded, eager_attentions, inputs, layers, load
from .payload import json_bytes
from .stated import stated_error

# Seconds of making a page after which it is not made again for the spread.
ENOUGH = 10
# The most weights that are written out to count their bytes.
COUNTED = 1 << 25


def main() -> None:
    options = _options()
    _limit_memory()
    loaded = load(options.model, options.models_folder)
    given = inputs(loaded.tokenizer, options.tokens)
    record = capture(loaded.model, loaded.tokenizer, given, layers=layers(options.model))
    for line in _lines(options, loaded, given, record):
        print(json.dumps(line), flush=True)


def _lines(
    options: argparse.Namespace, loaded: Loaded, given: Any, record: AttentionRecord
) -> Iterator[dict[str, Any]]:
    yield {**_counted(record), "compact": _compact(record)}
    for view in options.views:
        case = Case(view, options.model, options.tokens)
        for subject, widget in _widgets(case, loaded, given, record):
            made = _make(lambda widget=widget: widget().to_html(), options.rounds)
            path = options.folder / f"{subject}-{view}.html"
            path.write_text(made["page"], encoding="utf-8", errors="xmlcharrefreplace")
            page = made.pop("page")
            yield {"subject": subject, "view": view, "file": str(path),
                   "bytes": path.stat().st_size, **stated_error(page), **made}  # fmt: skip
    if not options.rivals:
        return
    need = rival.MEMORY_PER_WEIGHT * _weights(record)
    enough = need < _available()
    failed = {"failed": f"not made: that takes about {need / 1e9:.0f} GB of memory"}
    for view in options.rivals:
        made = _rival(view, options, loaded, given) if enough else failed
        yield {"subject": "bertviz", "view": view, **made}


def _widgets(
    case: Case, loaded: Loaded, given: Any, record: AttentionRecord
) -> Iterator[tuple[str, Callable[[], AttentionWidget]]]:
    """The name of each of our pages of a case, and a function that makes its widget."""
    show: Any = partial(AttentionWidget, view=case.view)
    yield "attnwidget", partial(show, record)
    for reading in readings(case):
        if reading == "values":
            weighted = capture(loaded.model, loaded.tokenizer, given, values=True)
            yield reading, partial(show, weighted, lens=reading)
        elif reading == "scores":
            yield reading, partial(show, record, lens=reading)
        else:
            other = capture(loaded.model, loaded.tokenizer, _masked(loaded.tokenizer, given))
            yield reading, partial(compare(record, other).widget, view=case.view)


def _masked(tokenizer: Any, given: Any) -> dict[str, Any]:
    """The text with a mask in place of the token in its middle."""
    ids = given["input_ids"].clone()
    ids[0, ids.shape[1] // 2] = tokenizer.mask_token_id
    return {**given, "input_ids": ids}


def _compact(record: AttentionRecord) -> dict[str, Any]:
    """The page of the quality that is for long texts, which is the default's bound."""
    page = AttentionWidget(record).to_html(quality="compact")
    return {"bytes": len(page.encode("utf-8", "xmlcharrefreplace")), **stated_error(page)}


def _rival(view: str, options: argparse.Namespace, loaded: Loaded, given: Any) -> dict[str, Any]:
    make: Callable[[], str]
    if view == "neuron":
        if options.model != "minilm":
            return {"failed": "BertViz's neuron view knows no such model"}
        own = rival.own_bert(loaded.model)
        text = loaded.tokenizer.decode(given["input_ids"][0], skip_special_tokens=True)
        make = partial(rival.neuron_page, own, loaded.tokenizer, text)
    else:
        attentions = eager_attentions(loaded.model, given)
        labels = loaded.tokenizer.convert_ids_to_tokens(given["input_ids"][0].tolist())
        make = partial(rival.attention_page, view, attentions, labels)
    try:
        made = _make(make, options.rounds)
    except (MemoryError, RuntimeError) as error:
        return {"failed": f"not made: {type(error).__name__}"}
    page = made.pop("page")
    length, copies = rival.data_of(page)
    path = options.folder / f"bertviz-{view}.html"
    path.write_text(page, encoding="utf-8")
    size = path.stat().st_size
    return {"file": str(path), "bytes": size, "bytes_once": size - (copies - 1) * length,
            "copies": copies, **made}  # fmt: skip


def _make(make: Callable[[], str], rounds: int) -> dict[str, Any]:
    """Write the page several times, and measure each time."""
    page = ""

    def run() -> None:
        nonlocal page
        page = make()

    seconds: list[float] = []
    peaks: list[float] = []
    while len(seconds) < rounds and sum(seconds) < ENOUGH:
        page = ""
        taken, peak = measure(run)
        seconds.append(taken)
        peaks.append(peak)
    return {"page": page, "seconds": seconds, "peak_mb": peaks}


def _counted(record: AttentionRecord) -> dict[str, Any]:
    """The size of BertViz's data, even if its page cannot be written."""
    stack = record.stack()
    every = -(-_weights(record) // COUNTED)
    each = (_stacked(record, layer.number, layer.num_heads) for layer in stack.layers)
    first = stack.layers[0]
    return {
        "subject": "bertviz",
        "counted": json_bytes(each, list(record.tokens()[0]), every),
        "exact": every == 1,
        "layers": len(stack.layers),
        "heads": first.num_heads,
        "dim": record.queries(first.number, 0).shape[1],
    }


def _stacked(record: AttentionRecord, number: int, heads: int) -> Any:
    return np.stack([record.weights(number, head) for head in range(heads)])


def _weights(record: AttentionRecord) -> int:
    queries, keys = record.tokens()
    stack = record.stack()
    heads = sum(layer.num_heads for layer in stack.layers)
    return heads * len(queries) * len(keys)


def _available() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/meminfo names no MemAvailable: this benchmark needs Linux")


def _limit_memory() -> None:
    """Limit the memory, so that a rival that needs too much fails without stopping the machine."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = mapped + _available()
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("model")
    parser.add_argument("tokens", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--views", nargs="+", default=["head"])
    parser.add_argument("--rivals", nargs="*", default=[], help="views of BertViz's pages")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models-folder", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
