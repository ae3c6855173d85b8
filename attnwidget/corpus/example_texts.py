"""The texts that stand as examples of heads: which of them to show, and their attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.record import AttentionRecord

from .stack_profile import StackProfile

if TYPE_CHECKING:
    import torch

TextSource = str | tuple[str, ...]
"""A text, a pair of texts, or the labels of the tokens of an encoded text."""


class UnreadableError(ValueError):
    """A text of a profile cannot be read once more; the message says what it needs."""


@dataclass(frozen=True)
class TextReader:
    """Captures the attention over texts once more.

    Attributes:
        model: returns the model, or None if it is gone: a profile keeps a weak reference alone, and
            one of a file none.
        tokenizer: its tokenizer.
        max_tokens: longer texts are cut off; None to leave them.
        stacks: those of the profile; () where they are not known yet. Without a softmax, others are
            left out: profiles of earlier versions have none.
    """

    model: Callable[[], torch.nn.Module | None]
    tokenizer: Any
    max_tokens: int | None
    stacks: tuple[str, ...] = ()

    def read(self, text: TextSource) -> AttentionRecord:
        """The attention over a text.

        Raises:
            UnreadableError: the model is gone, or only the tokens of the text are known.
        """
        # Imported here, so that profiles can be opened without torch.
        from attnwidget.running.vllm import is_vllm

        model = self.model()
        if model is None or is_vllm(model):
            raise UnreadableError(
                "examples and the head view need the profile's model: attnwidget.show(profile, "
                "model, tokenizer), or save_html(page, profile, model, tokenizer)"
            )
        if not isinstance(text, str) and len(text) != 2:
            raise UnreadableError(
                "the texts of this profile came encoded, so they cannot be read once more: make "
                "it from strings to see them"
            )
        from attnwidget.capture import capture
        from attnwidget.running.inputs import decoder_inputs
        from attnwidget.running.labels import text_tokenizer
        from attnwidget.running.model import traits

        first, second = (text, None) if isinstance(text, str) else text
        # A decoder reads the second text.
        pair, target = (None, second) if traits(model).has_decoder else (second, None)
        if self.max_tokens is None:
            return self._of_profile(capture(model, self.tokenizer, first, pair, target=target))
        cut = {"truncation": True, "max_length": self.max_tokens, "return_tensors": "pt"}
        encoded = dict(text_tokenizer(self.tokenizer)(first, pair, **cut))
        if target is not None:
            ids = decoder_inputs(model, self.tokenizer, target)
            encoded["decoder_input_ids"] = ids[:, : self.max_tokens]
        return self._of_profile(capture(model, self.tokenizer, encoded))

    def _of_profile(self, record: AttentionRecord) -> AttentionRecord:
        """The record without the layers without a softmax that the profile does not have."""
        left_out = [
            name
            for name in record.stacks
            if self.stacks and record.stack(name).signed and name not in self.stacks
        ]
        kept = {name: record.stack(name) for name in record.stacks if name not in left_out}
        if not kept or not left_out:
            return record
        words = f"{', '.join(left_out)}: the profile has no such layers"
        return AttentionRecord(
            kept,
            model=record.model,
            missing=(*record.missing, words),
            images=record.images,
            replay=record.replay,
        )


def chosen_texts(stacks: Iterable[StackProfile], count: int) -> list[int]:
    """Up to `count` texts, by index, that together are examples of the most heads.

    A number of a head has examples of three kinds: one of its highest texts, the one next to its
    median, and one of its lowest. In turn, the text is chosen that gives the most of them.
    """
    examples = np.concatenate([_examples(stack) for stack in stacks])
    texts: list[int] = []
    while len(texts) < count and (examples >= 0).any():
        counts = np.bincount(examples[examples >= 0])
        best = int(counts.argmax())
        texts.append(best)
        examples = examples[~(examples == best).any(axis=1)]
    return texts


def _examples(stack: StackProfile) -> NDArray[np.int64]:
    """A row of texts for every example that a head has of a number, int64 [examples, 3]."""
    extremes = stack.extremes.texts.reshape(-1, stack.extremes.texts.shape[-1])
    medians = np.full((stack.medians.texts.size, extremes.shape[1]), -1)
    medians[:, 0] = stack.medians.texts.ravel()
    return np.concatenate([extremes, medians])
