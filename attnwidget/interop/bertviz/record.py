"""A record made of the arguments of BertViz's functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from attnwidget.capture.labels import spelled_labels
from attnwidget.record import AttentionRecord, Stack, Tokens, spans
from attnwidget.record.from_arrays import stack_from_arrays
from attnwidget.view_state.integers import whole_number

from .indices import checked_numbers

# How vocabularies spell what stands for no text: there is no tokenizer here that could say it.
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
    """A record with the stack "self", or with those of "encoder", "decoder" and "cross" given."""
    parts = {
        "encoder_attention": encoder_attention,
        "decoder_attention": decoder_attention,
        "cross_attention": cross_attention,
    }
    sides = {"encoder_tokens": encoder_tokens, "decoder_tokens": decoder_tokens}
    several = [name for name, value in (parts | sides).items() if value is not None]
    if attention is not None:
        if several:
            raise ValueError(
                f"attention and tokens are for a model with self-attention alone, but "
                f"{', '.join(several)} came with them; give encoder_attention, decoder_attention "
                "and cross_attention with encoder_tokens and decoder_tokens for an encoder-decoder"
            )
        own = _read("tokens", tokens, "attention")
        stacks = {"self": _stack("attention", attention, own, own, prettify_tokens)}
        if sentence_b_start is not None:
            stacks["self"] = _with_pair(stacks["self"], sentence_b_start)
        return AttentionRecord(_included(stacks, include_layers))
    if not any(value is not None for value in parts.values()):
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
        if parts[name] is not None:
            texts = {side: _read(side, sides[side], name) for side in (queries, keys)}
            try:
                stack = _stack(name, parts[name], texts[queries], texts[keys], prettify_tokens)
            except ValueError as error:
                raise ValueError(f"{error}{_swapped(name, parts[name], sides)}") from error
            stacks[name.removesuffix("_attention")] = stack
    return AttentionRecord(_included(stacks, include_layers))


def _read(name: str, tokens: Sequence[str] | None, attention: str) -> list[str]:
    if tokens is None:
        raise ValueError(f"{name} is None, but {attention} needs it: give one token per position")
    if isinstance(tokens, str) or hasattr(tokens, "shape"):
        return tokens  # type: ignore[return-value]  # refused where all labels are
    if not all(isinstance(token, str) for token in tokens):
        raise TypeError(
            f"{name} are not strings; give a list as tokenizer.convert_ids_to_tokens(input_ids[0]) "
            "returns it, of one text"
        )
    return list(tokens)


def _stack(name: str, attention: Any, queries: list[str], keys: list[str], prettify: bool) -> Stack:
    cross = keys is not queries
    stack = stack_from_arrays(attention, queries, keys if cross else None, name=name)
    own = _labelled(queries, prettify)
    return replace(stack, queries=own, keys=_labelled(keys, prettify) if cross else own)


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
    """The stacks with these layers alone, those of a deeper stack included."""
    if include_layers is None:
        return stacks
    numbers = checked_numbers("include_layers", include_layers)
    known = {number for stack in stacks.values() for number in stack.numbers}
    if unknown := [number for number in numbers if number not in known]:
        raise ValueError(
            f"include_layers: layer {unknown[0]} does not exist: there are "
            f"{spans(tuple(sorted(known)))}"
        )
    kept = {name: _only(stack, numbers) for name, stack in stacks.items()}
    for name, stack in kept.items():
        if not stack.layers:
            raise ValueError(
                f"include_layers {numbers} leaves nothing of {name}_attention, which has "
                f"{spans(stacks[name].numbers)}"
            )
    return kept


def _only(stack: Stack, numbers: Iterable[int]) -> Stack:
    return replace(stack, layers=tuple(each for each in stack.layers if each.number in numbers))


def _swapped(name: str, attention: Any, sides: dict[str, Any]) -> str:
    """A hint, where the attention would fit the other tokens."""
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
