"""Capture of a forward pass as an AttentionRecord. The first capture imports torch.

In come a model and a text, out comes a record. Open `forward.py` first, the way through all: the
recorder (`recorder.py`) receives the calls of a trace, `explain_*.py` make layers of them, and
`check.py` compares these with the model's own numbers; `weights.py` does so for many texts, without
a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from attnwidget.progress import progress_bar
from attnwidget.record import AttentionRecord

if TYPE_CHECKING:
    import torch


def capture(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
    generate: Mapping[str, Any] | None = None,
    batch_index: int = 0,
    layers: Iterable[int] | None = None,
    values: bool = False,
    image: bool = True,
) -> AttentionRecord:
    """Run `model` once and record the queries and keys of every softmax attention in it.

    The model runs unchanged, with its own attention implementation, while the arguments of its
    attention functions are recorded. Its configuration and hooks are not touched, and its state is
    restored, also after an exception or Ctrl-C. It runs without gradients and in evaluation mode,
    so that dropout adds no noise. Of a vision model, about a dozen passes over changed images come
    first, each stopped after its first attention layer, unless `image` is False: your own forward
    hooks see them, too. A model compiled by torch.compile runs uncompiled, and torch's
    nn.TransformerEncoder without its fused fast path (which differs by rounding, and zeroes padded
    positions).

    Args:
        model: a transformers model of any kind, or another torch module that computes attention
            by torch's own functions.
        tokenizer: its tokenizer or processor, or None if `text` is a mapping (labels are then
            positions).
        text: a string, or the mapping of tensors that a tokenizer or processor returned: tokens,
            pixels, audio.
        text_pair: a second string, for models that take a pair.
        target: for an encoder-decoder, the text that its decoder reads. Without it, such a model
            generates.
        generate: arguments for `model.generate`, e.g. {"max_new_tokens": 20}: the attention of
            every generated token, over all tokens before it. The model generates undisturbed, and
            then reads prompt and answer once more: `record.replay` says how far the logits of that
            pass lie from those of the generation. The last generated token, which the model has not
            read, is not in the record; of beams, the best sequence is.
        batch_index: the item of a batch to record, without its padding.
        layers: the layers to record, counted from 0 as the model counts them; all if None.
        values: True to record the values and output projections as well. A projection's matrix is
            found by running its module on further inputs.
        image: True to keep the image that a vision model read, small, and the places of its tokens
            on it; False to leave it out. The places are found by running the model as far as its
            first attention layer on changed images. An image is kept only if every patch has a
            token of its own, and if Pillow is installed: see `AttentionRecord.image`. There is none
            of a model that accelerate offloads, which must not be stopped midway.

    Returns:
        A record with one stack, "self", or several ("encoder", "decoder" and "cross"; "text" and
        "vision" or "audio"), numbered where a tower attends over sequences of several lengths.
        Its layers have the model's own numbers; layers without attention are left out.
        `record.fidelity` has each layer's route of capture and errors; `record.missing` lists
        attention that could not be captured, and why, and how many tokens the tokenizer cut off
        (as far as a fast tokenizer's result tells). A softmax written as exp and sum is not
        observed, and is listed there only if its module's class is called attention.

    Raises:
        TypeError: `model` is not a torch module, or a string came without a tokenizer.
        ValueError: the text gives no tokens, too many, or some that the model's vocabulary does not
            have, or the model has no attention that can be captured, or more than 4.3 GB of weights
            that queries and keys do not give; or one pass over a generated text has other logits
            than its generation, by more than rounding: the message says why.
        IndexError: the batch has no item `batch_index`, or the model no layer of `layers`.
    """
    # Imported here, so that records can be opened and shown without torch.
    from .forward import capture_record

    with progress_bar("Reading", "attention calls"):
        return capture_record(
            model,
            tokenizer,
            text,
            text_pair,
            target=target,
            generate=generate,
            batch_index=batch_index,
            layers=layers,
            values=values,
            with_image=image,
        )


__all__ = ["capture"]
