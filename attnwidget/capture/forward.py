"""The steps from a model and its inputs to a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from attnwidget.arguments import several_numbers, whole
from attnwidget.progress import progress_bar
from attnwidget.record import AttentionRecord, Replay, Stack, spans
from attnwidget.record.record import DOUBT
from attnwidget.running.forward import run_inputs
from attnwidget.running.generation import Generation, generated
from attnwidget.running.inputs import Inputs, prepare
from attnwidget.running.items import Items
from attnwidget.running.missing import missing_attention, no_attention
from attnwidget.running.mixers import mixing_modules
from attnwidget.running.model import name_of, traceable, traits
from attnwidget.running.replay import Answer, NotReplayed
from attnwidget.running.stacks import grouped, numbers_of, stacks
from attnwidget.running.structure import structure_of
from attnwidget.tracing import can_generate, changes_of
from attnwidget.warning import warn

from .joined import with_joined_pieces
from .patches import OnImages, on_images, on_sound
from .recorder import ForwardPass, RecordedCalls, record_pass

_NEW_TOKENS = whole(1, 'a number of new tokens, or arguments as {"max_new_tokens": 20}')


def capture(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
    generate: int | Mapping[str, Any] | None = None,
    batch_index: int = 0,
    layers: Iterable[int] | None = None,
    values: bool = False,
    images: Any = (),
    image: bool = True,
) -> AttentionRecord:
    """Run `model` once and record the queries and keys of every attention in it.

    Layers that mix tokens without a softmax, as Mamba-2 and gated delta rules do, are recorded as
    well, in stacks of their own: see `AttentionRecord.coefficients`.

    The model runs unchanged, with its own attention implementation, while the arguments of its
    attention functions are recorded. Its configuration and hooks are not touched, and its state is
    restored, also after an exception or Ctrl-C. It runs without gradients and in evaluation mode,
    so that dropout adds no noise. Your own forward hooks see further passes, too: with images, one
    that finds the places of tokens, unless `image` is False; and at the first capture of a model
    those that read its structure where names and lengths leave several ways to read it (one on two
    items, one for each input that is changed, and one over shorter texts if tokens have mixed), and
    two over up to twelve tokens that find what else mixes tokens. A model compiled by
    torch.compile runs uncompiled, and torch's nn.TransformerEncoder without its fused fast path
    (which differs by rounding, and zeroes padded positions).

    Args:
        model: a transformers model of any kind, or another torch module that computes attention
            by torch's own functions.
        tokenizer: its tokenizer or processor, or None if `text` is a mapping (labels are then
            positions).
        text: a string; a chat, as [{"role": "user", "content": "Why?"}], the contents of which may
            be lists of texts and images, as {"type": "image", "image": image}; an image of Pillow;
            or the mapping of tensors that a tokenizer or processor returned: tokens, pixels, audio.
        text_pair: a second string, for models that take a pair.
        target: for an encoder-decoder, the text that its decoder reads. Without it, such a model
            generates.
        generate: the number of new tokens, or arguments for `model.generate`, as
            {"max_new_tokens": 20, "do_sample": True}: the attention of
            every generated token, over all tokens before it. The model generates undisturbed, and
            then reads prompt and answer once more: `record.replay` says how far the logits of that
            pass lie from those of the generation. The last generated token, which the model has not
            read, is not in the record; of beams, the best sequence is.
        batch_index: the item of a batch to record, without its padding.
        layers: the layers to record, counted from 0 as the model counts them; all if None.
        values: True to record the values and output projections as well. A projection's matrix is
            found by running its module on further inputs.
        images: the images of a string with places for them, of a chat's {"type": "image"} without
            one, or of a mapping, in their order: of Pillow, paths or addresses. A processor makes
            pixels of them, or has made those of the mapping.
        image: True to keep the image that a vision model read, small, and the places of its tokens
            on it; False to leave it out. The places are found in one more pass, as far as the
            layers need it, by the gradients of the pixels; an image is kept only if tokens have
            certain places on it, and if Pillow is installed: see `AttentionRecord.images`. There is
            none of a model that accelerate offloads, which must not be stopped midway. Of a sound,
            these are pictures of its spectrogram.

    Returns:
        A record with one stack, "self", or several ("encoder", "decoder" and "cross"; "text" and
        "vision" or "audio"; "linear" without a softmax), numbered where a tower attends over
        sequences of several lengths, and "shifted" of layers whose windows are shifted.
        Its layers have the model's own numbers; layers without attention are left out.
        `record.fidelity` has each layer's route of capture and errors, and says whether its stack
        and labels were read from the model; `record.missing` lists attention that could not be
        captured, and why, how many tokens the tokenizer cut off (as far as a fast tokenizer's
        result tells), and that it is likely another model's. A softmax written as exp and sum is
        not observed: its module is listed there if its class is called attention, or, in code that
        is not of transformers, if it multiplies two activations.

    Raises:
        TypeError: `model` is not a torch module, or a string came without a tokenizer.
        ValueError: the text gives no tokens, too many, or some that the model's vocabulary does not
            have; the model lacks its weights, or has no attention that can be captured, or more
            than 4.3 GB of weights that queries and keys do not give; or one pass over a generated
            text has other logits than its generation, by more than rounding: the message says why.
        IndexError: the batch has no item `batch_index`, or the model no layer of `layers`.
    """
    captured = captured_pass(
        model,
        tokenizer,
        text,
        text_pair,
        target=target,
        generate=generate,
        batch_index=batch_index,
        layers=layers,
        values=values,
        images=images,
        image=image,
    )
    return captured.record


@dataclass(frozen=True)
class Captured:
    """A record, and what its model can read once more.

    Attributes:
        inputs: of the pass that the record is of.
        generation: how its text was generated; None if it was not.
    """

    record: AttentionRecord
    inputs: Inputs
    generation: Generation | None


def captured_pass(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    text_pair: str | None = None,
    *,
    target: str | None = None,
    generate: int | Mapping[str, Any] | None = None,
    batch_index: int = 0,
    layers: Iterable[int] | None = None,
    values: bool = False,
    images: Any = (),
    image: bool = True,
) -> Captured:
    """Capture, and keep the inputs; `capture` describes arguments and errors."""
    model = traceable(model)
    if generate is not None and not isinstance(generate, Mapping):
        generate = {"max_new_tokens": _NEW_TOKENS("generate", generate)}
    chosen = _numbers(layers)
    # Tensors of inference mode are of no use in the pass with gradients.
    with torch.inference_mode(False):
        inputs = prepare(model, tokenizer, text, text_pair, target, batch_index, images)
        if generate is None and _must_generate(model, inputs):
            generate = {}
        if generate is None:
            record = record_of(model, tokenizer, inputs, chosen, values=values, image=image)
            return Captured(record, inputs, None)
        with progress_bar("Reading", "attention calls"):
            generation = Generation.beginning(inputs, generate)
            answer = generated(model, tokenizer, inputs, generation.options)
            again, read, replay = _reread(
                model, tokenizer, answer, chosen, values=values, with_image=image
            )
        record = _record(model, tokenizer, again, read, chosen, replay)
        return Captured(record, again, generation)


def record_of(
    model: torch.nn.Module,
    tokenizer: Any,
    inputs: Inputs,
    chosen: frozenset[int] | None = None,
    *,
    values: bool,
    image: bool,
) -> AttentionRecord:
    """The record of one pass over prepared inputs, of the chosen layers; None for all."""
    with progress_bar("Reading", "attention calls"):
        read = _read(model, tokenizer, inputs, chosen, values=values, with_image=image)
    return _record(model, tokenizer, inputs, read, chosen, None)


def _record(
    model: torch.nn.Module,
    tokenizer: Any,
    inputs: Inputs,
    read: _Read,
    chosen: frozenset[int] | None,
    replay: Replay | None,
) -> AttentionRecord:
    ran, mixing = read.ran, mixing_modules(model, inputs.tensors)
    missing = missing_attention(model, read.calls, ran.called, ran.products, mixing)
    if not read.stacks and not (chosen is not None and read.calls and not missing):
        raise ValueError(no_attention(model, missing))
    missing += inputs.missing
    # A doubt is of what is in the record.
    for doubt in (each for each in missing if each.startswith(DOUBT)):
        warn(doubt)
    absent = [each for each in missing if not each.startswith(DOUBT)]
    if absent:
        shown = "; ".join(absent[:3]) + ("; ..." if len(absent) > 3 else "")
        warn(f"not in this record (see its `missing`): {shown}")
    kept = _with_layers(read, chosen)
    sides = [side for each in kept.values() for side in (each.queries, each.keys)]
    placed = any(side.patches or side.boxes for side in sides)
    images = read.seen.images if read.seen is not None and placed else ()
    name = f"{name_of(model)} {' and '.join(changes_of(model))}".rstrip()
    return AttentionRecord(kept, model=name, missing=missing, images=images, replay=replay)


@dataclass(frozen=True)
class _Read:
    """A recorded pass.

    Attributes:
        calls: the modules that called attention, with the reason why there is no layer, or "".
        ran: what else is known of the pass.
        stacks: the layers, by the names of their stacks.
        seen: the places of tokens on images, or None.
    """

    calls: dict[str, str]
    ran: ForwardPass
    stacks: dict[str, Stack]
    seen: OnImages | None


def _read(
    model: torch.nn.Module,
    tokenizer: Any,
    inputs: Inputs,
    chosen: frozenset[int] | None,
    *,
    values: bool,
    with_image: bool,
) -> _Read:
    """Record one pass; a second one if module names do not number the chosen layers."""
    structure_of(model, inputs.tensors)
    seen, sequences, random = None, inputs.sequences, torch.get_rng_state()
    # If module names do not number the layers, all of them are needed to count them.
    for named in [chosen] if chosen is None else [chosen, None]:
        sink = RecordedCalls()
        ran = record_pass(
            model,
            lambda: run_inputs(model, inputs),
            Items(model, inputs.batch).of,
            sink,
            batch=inputs.batch.size,
            wanted=_wanted(named),
            values=values,
        )
        calls = with_joined_pieces(sink.calls)
        layers = ((call.address.id, call.layer) for call in calls)
        mixing = {call.address.id for call in calls if call.mixing}
        groups = grouped(model, layers, mixing)
        if with_image and seen is None:
            seen = on_images(
                model,
                tokenizer,
                inputs,
                calls,
                groups,
                random,
                lambda changed: run_inputs(model, changed),
                ran.output,
            ) or on_sound(inputs, groups)
        if seen is not None:
            sequences = seen.of(inputs.sequences)
        sequences = replace(sequences, maps={c.address.id: c.maps for c in calls if c.maps})
        by_name = stacks(groups, sequences.labels)
        if chosen is None or not 0 <= max(chosen) < len(calls):
            break
        if chosen <= {n for stack in by_name.values() for n in stack.numbers}:
            break
    reasons = {call.address.module: call.reason for call in calls if call.reason}
    modules = dict.fromkeys((call.address.module for call in sink.calls), "")
    return _Read(modules | reasons, ran, by_name, seen)


def _reread(
    model: torch.nn.Module,
    tokenizer: Any,
    answer: Answer,
    chosen: frozenset[int] | None,
    *,
    values: bool,
    with_image: bool,
) -> tuple[Inputs, _Read, Replay]:
    """Record one pass over a generated text, in the first way that is as its generation was.

    Raises:
        NotReplayed: there is none; the reason is that of the first.
    """
    refused: NotReplayed | None = None
    for way in answer.ways:
        try:
            inputs = way()
            read = _read(model, tokenizer, inputs, chosen, values=values, with_image=with_image)
            return inputs, read, answer.replay(model, inputs, read.ran.output)
        except NotReplayed as error:
            refused = refused or error.with_traceback(None)  # which would keep the pass's output
        except Exception as error:
            # The second way may be one that the model does not take at all.
            if refused is None and isinstance(error, ValueError):
                raise
            refused = refused or NotReplayed(
                f"{type(model).__name__} does not read its answer again in one pass: {error}"
            )
    assert refused is not None
    raise refused


def _must_generate(model: torch.nn.Module, inputs: Inputs) -> bool:
    """True if an encoder-decoder has no inputs for its decoder, but can generate them."""
    if inputs.has_target or not traits(model).has_decoder:
        return False
    return can_generate(model)


def _wanted(chosen: frozenset[int] | None) -> Callable[[str], bool]:
    """A filter of module names: True if any number in a name is that of a chosen layer."""

    def wanted(name: str) -> bool:
        numbers = {int(part) for part in name.split(".") if part.isdigit()}
        return chosen is None or not numbers or bool(numbers & chosen)

    return wanted


def _numbers(layers: Iterable[int] | None) -> frozenset[int] | None:
    numbers = several_numbers("layers", layers)
    return None if numbers is None else frozenset(numbers)


def _with_layers(read: _Read, chosen: frozenset[int] | None) -> dict[str, Stack]:
    """The stacks with the chosen layers alone."""
    if chosen is None:
        return read.stacks
    kept = {
        name: replace(stack, layers=tuple(x for x in stack.layers if x.number in chosen))
        for name, stack in read.stacks.items()
    }
    absent = chosen - {number for stack in kept.values() for number in stack.numbers}
    if absent:
        raise IndexError(
            f"the model has no attention in layers {sorted(absent)}; it has "
            f"{spans(numbers_of(read.calls))}"
        )
    return {name: stack for name, stack in kept.items() if stack.layers}
