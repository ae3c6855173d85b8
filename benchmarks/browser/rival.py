"""Pages written by BertViz."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

VERSION = "1.4.1"

# Scripts that its page loads from cdnjs, taken from the npm packages of the same versions. npm has
# no jQuery 2.0.0, the nearest is 2.1.0; and RequireJS there is not minified.
_NPM = Path(__file__).with_name("node_modules")
SERVED: Mapping[str, Path] = {
    "https://cdnjs.cloudflare.com/ajax/libs/require.js/2.3.6/require.min.js": _NPM
    / "requirejs/require.js",
    "https://cdnjs.cloudflare.com/ajax/libs/d3/5.7.0/d3.min.js": _NPM / "d3/dist/d3.min.js",
    "https://cdnjs.cloudflare.com/ajax/libs/jquery/2.0.0/jquery.min.js": _NPM
    / "jquery/dist/jquery.min.js",
}

# Bytes of memory that its head and model views need per weight: a list of Python floats, JSON, and
# copies of the JSON (measured).
MEMORY_PER_WEIGHT = 230


def attention_page(view: str, attention: Sequence[Any], labels: Sequence[str]) -> str:
    """The head or model view of a model's own attention weights, [1, heads, T, T] per layer."""
    import bertviz

    made = getattr(bertviz, f"{view}_view")(attention, list(labels), html_action="return")
    return _page(made.data)


def neuron_page(model: Any, tokenizer: Any, text: str) -> str:
    """The neuron view, which supports only BertViz's own copies of some old models."""
    from bertviz.neuron_view import show

    return _page(show(model, "bert", tokenizer, text, html_action="return").data)


def own_bert(model: Any) -> Any:
    """BertViz's copy of BERT with the weights of a BERT of transformers."""
    from bertviz.transformers_neuron_view import BertConfig, BertModel

    config = BertConfig(**{k: v for k, v in model.config.to_dict().items() if k in _CONFIG})
    config.output_attentions = True
    own = BertModel(config)
    own.load_state_dict(model.state_dict(), strict=False)
    return own.eval()


_CONFIG = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
    "hidden_act", "hidden_dropout_prob", "attention_probs_dropout_prob", "max_position_embeddings",
    "type_vocab_size", "initializer_range", "layer_norm_eps",
)  # fmt: skip


def data_of(page: str) -> tuple[int, int]:
    """(length of its data, how many times the page holds it).

    BertViz fills in the data wherever its script has a marker, which it also has in a comment.
    """
    found = re.search(r"(?:const params|window\.bertviz_params) = ", page)
    if found is None:
        raise ValueError("this is no page of BertViz")
    start = found.end()
    line = page.index("\n", start)
    marked = page.find("; // HACK: ", start, line)
    length = (line if marked < 0 else marked) - start
    return length, page.count(page[start : start + min(length, 200)])


def _page(data: str) -> str:
    """The HTML that a notebook's export puts around an output."""
    return f'<!doctype html>\n<html><head><meta charset="utf-8"></head><body>{data}</body></html>\n'
