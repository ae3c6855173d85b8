"""The attention that a probe reads: a model's, or arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .word_attention import ArrayAttention

if TYPE_CHECKING:
    import torch

    from .model_attention import ModelAttention

Null: TypeAlias = Literal["random weights"]

Pairs: TypeAlias = "Iterable[tuple[Any, Any]]"
"""(weights [layers, heads, words, words] between the words of a text, `Annotated`)."""

Source: TypeAlias = "ModelAttention | ArrayAttention"


def opened(
    model: torch.nn.Module | Pairs,
    tokenizer: Any,
    texts: Iterable[Any] | None,
    *,
    null: Null | None,
    seed: int,
    batch_size: int,
    max_tokens: int | None,
) -> tuple[Source, Iterable[Any]]:
    """Open a model, or arrays: (the source of attention, the texts that it reads).

    Args:
        model: a model; or pairs of attention and a text, without tokenizer and texts.

    Raises:
        TypeError: the arguments are neither of both.
        ValueError: there is no such null; the seed is no number from 0.
    """
    if null not in (None, "random weights"):
        raise ValueError(f"null is {null!r}; expected 'random weights' or None")
    if type(seed) is not int or seed < 0:
        raise ValueError(f"seed is {seed!r}; expected a number from 0")
    if tokenizer is None and texts is None:
        if not isinstance(model, Iterable):
            raise TypeError(
                "expected a model, its tokenizer and texts; or pairs of an array [layers, heads, "
                "words, words] and an Annotated"
            )
        return ArrayAttention(), model
    if texts is None or tokenizer is None:
        missing = "texts" if texts is None else "a tokenizer"
        raise TypeError(f"a probe of a model needs {missing}: (model, tokenizer, texts)")
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise TypeError(
            f"texts is {type(texts).__name__}; expected Annotated texts, as of read_conllu"
        )
    # Imported here, so that arrays can be probed without torch.
    from .model_attention import ModelAttention

    source = ModelAttention(
        model,  # type: ignore[arg-type]
        tokenizer,
        null=null is not None,
        seed=seed,
        batch_size=batch_size,
        max_tokens=max_tokens,
    )
    return source, texts


def divided(
    source: Source, texts: Iterable[Any], held_out: Iterable[Any] | None
) -> tuple[Iterable[Any], Iterable[Any]]:
    """The texts on which something is chosen or fitted, and those on which it is scored.

    Without held-out texts, every second one is held out, from the second on.

    Raises:
        TypeError: the texts are arrays that can be read only once, and none are held out.
        ValueError: there are fewer than two texts, and none are held out.
    """
    if held_out is not None:
        return texts, held_out
    if isinstance(source, ArrayAttention):
        if iter(texts) is texts:
            raise TypeError(
                "these pairs can be read only once, and texts must be held out: give a list, or "
                "other pairs as held_out"
            )
    else:
        texts = list(texts)
    if isinstance(texts, Sized) and len(texts) < 2:
        raise ValueError(
            f"too few texts, {len(texts)}: every second one is held out; give at least two, or "
            "others as held_out"
        )
    return islice(texts, 0, None, 2), islice(texts, 1, None, 2)
