"""Records from the arguments of BertViz's functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attnwidget.arguments import holds_entries, several_numbers, whole_number
from attnwidget.record import AttentionRecord, Stack, Tokens, spans
from attnwidget.record.from_arrays import stack_from_arrays
from attnwidget.running.labels import spelled_labels

# Usual spellings of special tokens, because there is no tokenizer that could list them.
_SPECIAL = re.compile(r"\[(CLS|SEP|PAD)\]|</?(s|pad|cls|sep|bos|eos)>|<\|.+\|>")


def record_of(
    *,
    attention: Any,
    tokens: Sequence[str] | None,
    sentence_b_start: int | None,
    prettify_tokens: bool,
    encoder_attention: Any,
    decoder_attention: Any,
    cross_attention: Any,
    encoder_tokens: Sequence[str] | None,
    decoder_tokens: Sequence[str] | None,
    include_layers: Sequence[int] | None,
) -> AttentionRecord:
    """A record with the stack "self", or with "encoder", "decoder" and "cross" as given."""
    attentions = {
        "encoder_attention": encoder_attention,
        "decoder_attention": decoder_attention,
        "cross_attention": cross_attention,
    }
    sides = {"encoder_tokens": encoder_tokens, "decoder_tokens": decoder_tokens}
    others = [name for name, value in (attentions | sides).items() if value is not None]
    if attention is not None:
        if others:
            raise ValueError(
                f"attention and tokens are for a model with self-attention alone, but "
                f"{', '.join(others)} came with them; give encoder_attention, decoder_attention "
                "and cross_attention with encoder_tokens and decoder_tokens for an encoder-decoder"
            )
        labels = _checked_tokens("tokens", tokens, "attention")
        stacks = {"self": _stack("attention", attention, labels, labels, prettify_tokens)}
        if sentence_b_start is not None:
            stacks["self"] = _with_pair(stacks["self"], sentence_b_start)
        return AttentionRecord(_included(stacks, include_layers))
    if all(value is None for value in attentions.values()):
        raise ValueError(
            "attention is None: give attention, or for an encoder-decoder encoder_attention, "
            "decoder_attention or cross_attention. A model's outputs hold None where it returns no "
            'weights; load it with attn_implementation="eager" and output_attentions=True, or give '
            "the model itself to attnwidget.show"
        )
    for name, value in (("tokens", tokens), ("sentence_b_start", sentence_b_start)):
        if value is not None:
            raise ValueError(
                f"{name} goes with attention; for an encoder-decoder, give encoder_tokens and "
                "decoder_tokens"
            )
    stacks = {}
    for name, queries, keys in (
        ("encoder_attention", "encoder_tokens", "encoder_tokens"),
        ("decoder_attention", "decoder_tokens", "decoder_tokens"),
        ("cross_attention", "decoder_tokens", "encoder_tokens"),
    ):
        if (weights := attentions[name]) is not None:
            texts = {side: _checked_tokens(side, sides[side], name) for side in (queries, keys)}
            try:
                stack = _stack(name, weights, texts[queries], texts[keys], prettify_tokens)
            except ValueError as error:
                raise ValueError(f"{error}{_swap_hint(name, weights, sides)}") from error
            stacks[name.removesuffix("_attention")] = stack
    return AttentionRecord(_included(stacks, include_layers))


def _checked_tokens(name: str, tokens: Sequence[str] | None, attention: str) -> list[str]:
    if tokens is None:
        raise ValueError(f"{name} is None, but {attention} needs it: give one token per position")
    if not holds_entries(tokens) or isinstance(tokens, set) or hasattr(tokens, "shape"):
        return tokens  # type: ignore[return-value]  # refused with all other labels
    tokens = list(tokens)
    if not all(isinstance(token, str) for token in tokens):
        raise TypeError(
            f"{name} are not strings; give a list as tokenizer.convert_ids_to_tokens(input_ids[0]) "
            "returns it, of one text"
        )
    return tokens


def _stack(name: str, attention: Any, queries: list[str], keys: list[str], prettify: bool) -> Stack:
    cross = keys is not queries
    stack = stack_from_arrays(attention, queries, keys if cross else None, name=name)
    query_tokens = _labelled(queries, prettify)
    key_tokens = _labelled(keys, prettify) if cross else query_tokens
    return replace(stack, queries=query_tokens, keys=key_tokens)


def _labelled(tokens: list[str], prettify: bool) -> Tokens:
    special = tuple(at for at, token in enumerate(tokens) if _SPECIAL.fullmatch(token))
    return Tokens(spelled_labels(tokens) if prettify else tuple(tokens), special=special)


def _with_pair(stack: Stack, start: Any) -> Stack:
    count = len(stack.queries)
    try:
        start = whole_number(start)
    except TypeError:
        raise TypeError(f"sentence_b_start is {start!r}; expected a position") from None
    if not 0 < start < count:
        raise ValueError(
            f"sentence_b_start is {start}; of {count} tokens, the second text can start at 1 to "
            f"{count - 1}"
        )
    tokens = replace(stack.queries, segments=tuple(int(at >= start) for at in range(count)))
    return replace(stack, queries=tokens, keys=tokens)


def _included(stacks: dict[str, Stack], include_layers: Any) -> dict[str, Stack]:
    """The stacks with these layers alone; every stack must have one of them."""
    if include_layers is None:
        return stacks
    numbers = several_numbers("include_layers", include_layers) or ()
    existing = {number for stack in stacks.values() for number in stack.numbers}
    if unknown := [number for number in numbers if number not in existing]:
        raise ValueError(
            f"include_layers: layer {unknown[0]} does not exist: there are "
            f"{spans(tuple(sorted(existing)))}"
        )
    kept = {}
    for name, stack in stacks.items():
        layers = tuple(layer for layer in stack.layers if layer.number in numbers)
        if not layers:
            raise ValueError(
                f"include_layers {numbers} leaves nothing of {name}_attention, which has "
                f"{spans(stack.numbers)}"
            )
        kept[name] = replace(stack, layers=layers)
    return kept


def _swap_hint(name: str, attention: Any, sides: dict[str, Any]) -> str:
    """A hint if the attention would fit the other tokens, else ""."""
    encoder, decoder = sides["encoder_tokens"], sides["decoder_tokens"]
    if encoder is None or decoder is None:
        return ""
    queries, keys = {
        "encoder_attention": (decoder, decoder),
        "decoder_attention": (encoder, encoder),
        "cross_attention": (encoder, decoder),
    }[name]
    try:
        stack_from_arrays(attention, queries, keys)
    except (TypeError, ValueError):
        return ""
    return "; it would fit with encoder_tokens and decoder_tokens the other way round"
