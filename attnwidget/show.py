"""The one-line entry point: capture and show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from attnwidget.analysis import Comparison, OwnLenses
from attnwidget.capture import capture
from attnwidget.corpus import HeadProfile
from attnwidget.interventions import Rerun
from attnwidget.record import Arc, AttentionRecord
from attnwidget.view_state import ChoiceOptions, View, check_names
from attnwidget.view_state.signature import CHOICE_DEFAULTS, with_options
from attnwidget.widget import AttentionWidget, StaticView, static_by_default
from attnwidget.wire import HeadNames, Metrics

if TYPE_CHECKING:
    import torch
    from typing_extensions import Unpack


class CaptureOptions(TypedDict, total=False):
    """The keyword arguments of `attnwidget.capture`."""

    target: str | None
    generate: Mapping[str, Any] | None
    batch_index: int
    layers: Iterable[int] | None
    values: bool
    image: bool


class Options(CaptureOptions, ChoiceOptions, total=False):
    """The options of `show`: those of `attnwidget.capture`, and traits of `AttentionWidget`."""

    metrics: Metrics | None
    arcs: Iterable[Arc] | None
    head_names: HeadNames | None
    lenses: OwnLenses | None
    static: bool | None


_CAPTURE = signature(capture).parameters
_DEFAULTS: dict[str, Any] = {
    **{name: _CAPTURE[name].default for name in CaptureOptions.__annotations__},
    **CHOICE_DEFAULTS,
    "metrics": None,
    "arcs": None,
    "head_names": None,
    "lenses": None,
    "static": None,
}
_named = with_options(Options, _DEFAULTS)


@_named
def show(
    model: torch.nn.Module | AttentionRecord | str | PathLike[str],
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    *,
    view: View = "head",
    **options: Unpack[Options],
) -> AttentionWidget | StaticView:
    """Capture the attention of one forward pass, or of a generation, and show it.

    Args:
        model: a model, or a record to show, or the path of a saved one.
        tokenizer, text, text_pair: see `attnwidget.capture`; not with a record.
        view: "head", "model", "neuron" or "map".
        options: those of `attnwidget.capture` (target, generate, batch_index, layers, values; not
            with a record), image=False to leave out the image of a vision model, and any trait of
            `AttentionWidget` (stack, layer, head, query, ..., metrics, numbers of your own for
            the model view and the map, arcs, annotated links for the head view, and lenses,
            numbers of your own for every query and key). With
            `static=True` the result is a StaticView: its display needs no kernel, widget manager
            or network. None, the default, is True where the environment variable ATTNWIDGET_STATIC
            is 1, which `%attnwidget static` sets in a notebook that has run `%load_ext attnwidget`.
            With `lens="values"`, values are recorded unless `values` is False.

    Raises:
        TypeError, ValueError, IndexError: see `attnwidget.capture`; or the file is no record; or
            `model` is a profile or a comparison.
        FileNotFoundError: there is no such file.
        traitlets.TraitError: a choice that the record does not have, or metrics of another shape.
    """
    choices: dict[str, Any] = dict(options)
    static = choices.pop("static", None)
    if static is None:
        static = static_by_default()
    elif not isinstance(static, bool):
        raise TypeError(f"static is {static!r}; expected True, False or None")
    displayed = StaticView if static else AttentionWidget
    capture_names = [name for name in CaptureOptions.__annotations__ if name in choices]
    capture_options = {name: choices.pop(name) for name in capture_names}
    if isinstance(model, (str, PathLike)):
        model = _loaded(model)
    if isinstance(model, AttentionRecord):
        if not capture_options.pop("image", True):
            model = model.without_image()
        if capture_options or any(value is not None for value in (tokenizer, text, text_pair)):
            raise TypeError(
                "a record has its text already: show(record) takes no text, and no option of "
                "attnwidget.capture"
            )
        return displayed(model, view=view, **choices)
    if isinstance(model, (HeadProfile, Comparison)):
        raise TypeError(f"a {type(model).__name__} has a view of its own: call its .widget()")
    check_names(
        set(choices) - {"metrics", "arcs", "head_names", "lenses"}
    )  # a capture may take long
    if text is None:
        missing = "a text" if tokenizer is not None else "a tokenizer and a text"
        raise TypeError(f"show(model, tokenizer, text) needs {missing}")
    if choices.get("lens") == "values":
        capture_options.setdefault("values", True)
    record = capture(model, tokenizer, text, text_pair, **capture_options)
    widget = displayed(record, view=view, **choices)
    names = ("target", "batch_index", "values")
    inputs = {name: capture_options.get(name, _CAPTURE[name].default) for name in names}
    widget._measure_with(Rerun(model, tokenizer, text, text_pair, **inputs))
    return widget


def _loaded(path: str | PathLike[str]) -> AttentionRecord:
    # A model's name and its directory are likely mistakes.
    if Path(path).suffix != ".safetensors" and not Path(path).is_file():
        raise TypeError(
            f"model is {str(path)!r}, which is no file of a record; load the model and its "
            "tokenizer first (AutoModel.from_pretrained, AutoTokenizer.from_pretrained)"
        )
    return AttentionRecord.load(path)


@_named
def head_view(
    model: torch.nn.Module | AttentionRecord | str | PathLike[str],
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    **options: Unpack[Options],
) -> AttentionWidget | StaticView:
    """`show` with the head view: lines between tokens, one colour per head."""
    return show(model, tokenizer, text, text_pair, view="head", **options)


@_named
def model_view(
    model: torch.nn.Module | AttentionRecord | str | PathLike[str],
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    **options: Unpack[Options],
) -> AttentionWidget | StaticView:
    """`show` with the model view: every head of every layer."""
    return show(model, tokenizer, text, text_pair, view="model", **options)


@_named
def neuron_view(
    model: torch.nn.Module | AttentionRecord | str | PathLike[str],
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    **options: Unpack[Options],
) -> AttentionWidget | StaticView:
    """`show` with the neuron view: one head's weights from its queries and keys."""
    return show(model, tokenizer, text, text_pair, view="neuron", **options)
