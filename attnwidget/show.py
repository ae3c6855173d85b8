"""The roof: `show` opens whatever it gets, and `save_html` writes it as a page."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from os import PathLike
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, Union

import numpy as np

from attnwidget.analysis import LENSES, Comparison, GridScores, HeadScore, HeadScores
from attnwidget.analysis import compare as compare_records
from attnwidget.analysis.alignment import Level
from attnwidget.analysis.head_pairs import Layers, Matched
from attnwidget.arguments import entries
from attnwidget.corpus import HeadProfile
from attnwidget.interventions.answer import Answer
from attnwidget.page import page_html
from attnwidget.probe import AlignmentScores, ProbeScores, RelationScores
from attnwidget.record import AttentionRecord
from attnwidget.record.described import kind_of_file
from attnwidget.record.files import writable, write_whole
from attnwidget.view_state import View, check_names
from attnwidget.view_state.signature import CHOICE_DEFAULTS, with_options
from attnwidget.widget import (
    AttentionWidget,
    ProfileWidget,
    RecordOptions,
    RecordView,
    StaticProfile,
    StaticView,
    atlas_html,
    static_by_default,
)
from attnwidget.wire import OffSet, SentGrid
from attnwidget.wire.compression import Quality

if TYPE_CHECKING:
    import torch
    from typing_extensions import Unpack

# The most bytes of an atlas.
_ATLAS_SIZE = 5_000_000

Opened: TypeAlias = AttentionWidget | StaticView

# In quotes, because torch is not imported to show a record.
Openable: TypeAlias = Union[
    "torch.nn.Module",
    AttentionRecord,
    str,
    PathLike[str],
    Sequence[AttentionRecord | str | PathLike[str]],
    Answer,
    Comparison,
    HeadProfile,
    ProbeScores,
    HeadScores,
    GridScores,
]
"""The things that `show` opens."""


class CaptureOptions(RecordOptions, total=False):
    """The keyword arguments of `attnwidget.capture`, beside those of a view."""

    target: str | None
    generate: int | Mapping[str, Any] | None
    batch_index: int
    layers: Iterable[int] | None
    values: bool
    images: Any
    image: bool


class Options(CaptureOptions, total=False):
    """The options of `show`."""

    static: bool | None
    tokenizer: Any
    text: Any
    text_pair: str | None
    model: torch.nn.Module | None
    similarity: bool
    relation: str | None


# Said here once more, because `capture` imports torch, which a record is shown without.
_CAPTURE: Mapping[str, Any] = {
    "target": None,
    "generate": None,
    "batch_index": 0,
    "layers": None,
    "values": False,
    "images": (),
    "image": True,
}
# The options of only some of the things that are shown, and of which.
_OWNERS: Mapping[str, str] = {
    **dict.fromkeys(_CAPTURE, "a model"),
    "image": "a model or a record",
    "tokenizer": "a model, a profile or scores",
    "text": "a model or scores",
    "text_pair": "a model or scores",
    "model": "a profile or scores",
    "similarity": "a profile",
    "relation": "scores of relations",
}
_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(Options.__annotations__),
    **_CAPTURE,
    **CHOICE_DEFAULTS,
    "similarity": False,
}


@with_options(Options, _DEFAULTS)
def show(
    x: Openable,
    /,
    *inputs: Any,
    view: View | None = None,
    **options: Unpack[Options],
) -> Opened:
    """Show the attention in a model's pass, or a result, in a notebook.

        show(model, tokenizer, text)     capture a pass, or a generation, and show it
        show(record)                     or the path of a saved one
        show([a, b])                     two records, or their paths, as `attnwidget.compare`
        show(answer)                     what it was written from, see `attnwidget.answer`
        show(comparison)                 both records, and their difference, in the same place
        show(profile)                    the map of all heads, and the examples of each
        show(scores, record)             heads coloured by what a scan, a gradient or a probe found
        show(grid, record)               where a patch brings back the output: `patch_scan`
        show(scores, model, tokenizer, relation="obj")     the head of a relation, and its links
        show(scores, model, tokenizer, pair)               the head that aligns words, and links

    Scores open at the head that is furthest beyond its null, and a grid at such a cell. A grid is
    shown with its text, the clean or the corrupt one, or with `compare` of both.

    Args:
        x: what is shown.
        inputs: of a model, what it reads: tokenizer, text and text_pair, see `attnwidget.capture`.
            Of a profile, the model and tokenizer that read its examples; not needed while those
            that `attnwidget.profile` was called with are in memory, and without any there are the
            map and the model view alone. Of scores, a record, or what makes one. Of scores of
            `probe.relations` or `probe.alignment`, the model and tokenizer that were probed, and an
            annotated text, or a pair of sentences; without a text, a relation is shown in the first
            sentence of `misses`. All have names, too.
        view: "head", "model", "neuron", "map", "text" or, where there are `grids`, "grid"; by
            default "map" of a profile, "model" of scores, "grid" of a grid, "text" of a chat that
            the model has answered, else "head".
        static: True for a StaticView, the display of which needs no kernel, widget manager or
            network. None, the default, is True where the environment variable ATTNWIDGET_STATIC is
            1, which `%attnwidget static` sets in a notebook that has run `%load_ext attnwidget`.
        options: of a model, those of `attnwidget.capture` (target, generate, batch_index, layers,
            values; with `lens="values"`, values are recorded unless `values` is False); of a model
            or a record, image=False to leave out its image; of a profile, similarity=True to offer
            places by the similarity of heads (it takes several seconds for hundreds of them); of
            scores of relations, the relation. Besides any trait of `AttentionWidget` (stack, layer,
            head, query, ..., metrics, numbers of your own for the model view and the map, arcs,
            annotated links for the head view, grids, results of `patch_scan`, and lenses, numbers
            of your own for every query and key).

    Raises:
        TypeError: `x` cannot be shown, or an argument does not go with it.
        ValueError, IndexError: see `attnwidget.capture` and `attnwidget.compare`; a file is none of
            attnwidget's; or the heads of a profile are not those of the model.
        FileNotFoundError: there is no such file.
        KeyError: there is no such relation among the scores.
        traitlets.TraitError: a choice that the record does not have, or metrics of another shape.
    """
    chosen: dict[str, Any] = dict(options) if view is None else {**options, "view": view}
    static = chosen.pop("static", None)
    if static is None:
        static = static_by_default()
    elif not isinstance(static, bool):
        raise TypeError(f"static is {static!r}; expected True, False or None")
    return _opened(x, static, *inputs, **chosen)


def _opened(x: Any, static: bool, *inputs: Any, **options: Any) -> Opened:
    # Called by `_open` itself, functools would be the caller that a warning points to.
    return _open.dispatch(type(x))(x, static, *inputs, **options)


@singledispatch
def _open(
    model: Any,
    static: bool,
    tokenizer: Any = None,
    text: str | Mapping[str, Any] | None = None,
    text_pair: str | None = None,
    *more: Any,
    **options: Any,
) -> Opened:
    torch_nn = sys.modules.get("torch.nn")  # without it, there is no model
    if torch_nn is None or not isinstance(model, torch_nn.Module):
        if hasattr(model, "model") and hasattr(model, "tokenizer"):
            raise TypeError(
                f"{type(model).__name__} has a model and a tokenizer: pass these, as "
                "show(pipeline.model, pipeline.tokenizer, text)"
            )
        raise TypeError(
            f"{type(model).__name__} cannot be shown: show opens a model with its tokenizer and "
            "text (in this order), a record or the path of one, a list of two records, a "
            "comparison, a profile, or scores"
        )
    captured = {name: options.pop(name) for name in _CAPTURE if name in options}
    options = _checked("a model", options, more)
    check_names(set(options) - set(RecordOptions.__annotations__) - {"view"})  # a pass takes long
    if text is None:
        missing = "a text" if tokenizer is not None else "a tokenizer and a text"
        if type(tokenizer).__module__.startswith("PIL."):
            missing = "the model's processor between the model and the image"
        elif isinstance(tokenizer, str):
            own = ", as model.tokenizer" if hasattr(model, "tokenizer") else ""
            missing = f"a tokenizer between the model and the text{own}"
        raise TypeError(f"show(model, tokenizer, text) needs {missing}")
    if any(lens.needs_values for lens in LENSES if lens.name == options.get("lens")):
        captured.setdefault("values", True)
    # Imported here, so that records can be shown without torch.
    from attnwidget.capture import captured_pass
    from attnwidget.interventions.rerun import Rerun

    read = captured_pass(model, tokenizer, text, text_pair, **captured)
    opened = _viewed("a model", read.record, static, options)
    values = captured.get("values", False)
    opened._measure_with(Rerun(model, tokenizer, read.inputs, read.generation, values=values))
    return opened


def _viewed(
    what: str,
    x: AttentionRecord | Comparison,
    static: bool,
    options: Mapping[str, Any],
    more: Sequence[Any] = (),
) -> Opened:
    chosen = _checked(what, options, more)
    if what in ("a model", "a record") and isinstance(x, AttentionRecord) and _answers(x):
        chosen = {"view": "text", **chosen}
    return StaticView(x, **chosen) if static else AttentionWidget(x, **chosen)


def _answers(record: AttentionRecord) -> bool:
    """True for a chat with the answer that the model generated."""
    stacks = map(record.stack, record.stacks)
    return record.replay is not None and any(stack.queries.pieces for stack in stacks)


def _checked(what: str, options: Mapping[str, Any], more: Sequence[Any] = ()) -> dict[str, Any]:
    """Take those options that every view has.

    Args:
        what: the kind of thing that is shown, with its article.
        more: inputs that it does not take.

    Raises:
        TypeError: an option or an input belongs to another kind of thing.
    """
    for each in more:
        if each is not None:
            raise TypeError(
                f"{what} has its text already: show takes no {type(each).__name__} beside it"
            )
    for name, value in options.items():
        if name in _OWNERS and value is not _DEFAULTS[name]:
            raise TypeError(f"{name} is an option of {_OWNERS[name]}, not of {what}")
    return {name: value for name, value in options.items() if name not in _OWNERS}


@_open.register
def _open_record(
    record: AttentionRecord, static: bool, *inputs: Any, image: bool = True, **options: Any
) -> Opened:
    shown = record if image else record.without_images()
    return _viewed("a record", shown, static, options, inputs)


@_open.register
def _open_answer(answer: Answer, static: bool, *inputs: Any, **options: Any) -> Opened:
    shown = {"view": "text", "stack": answer.stack, **options}
    if answer.named is not None:
        shown = {"named_segments": answer.named, "parts": "named", **shown}
    opened = _viewed("an answer", answer.record, static, shown, inputs)
    if answer.rerun is not None:
        opened._measure_with(answer.rerun)
    return opened


@_open.register
def _open_comparison(comparison: Comparison, static: bool, *inputs: Any, **options: Any) -> Opened:
    return _viewed("a comparison", comparison, static, options, inputs)


@_open.register
def _open_profile(
    profile: HeadProfile,
    static: bool,
    model: Any = None,
    tokenizer: Any = None,
    *more: Any,
    similarity: bool = False,
    **options: Any,
) -> Opened:
    chosen = _checked("a profile", options, more)
    opened = StaticProfile if static else ProfileWidget
    return opened(profile, profile.reader(model, tokenizer), similarity=similarity, **chosen)


@_open.register(HeadScores)
@_open.register(ProbeScores)
def _open_scores(
    scores: HeadScores | ProbeScores, static: bool, *inputs: Any, **options: Any
) -> Opened:
    model = options.pop("model", None)
    if model is not None and not inputs:
        inputs = (model,)
    elif model is not None:
        raise TypeError(f"model is given, and {type(inputs[0]).__name__} beside it: give one")
    if not inputs:
        raise TypeError(
            "scores are numbers of heads, shown with a text: show(scores, record), or "
            "show(scores, model, tokenizer, text)"
        )
    found = scores.metrics() if isinstance(scores, ProbeScores) else {scores.name: scores}
    metrics = {**found, **(options.pop("metrics", None) or {})}
    name, first = next(iter(found.items()))
    shown = {"view": "model", "color": name, **options, "metrics": metrics}
    opened = _opened(inputs[0], static, *inputs[1:], **shown)
    if first.rows and all(options.get(choice) is None for choice in _OF_HEADS):
        _open_at_most(opened, first)
    return opened


@_open.register
def _open_grid(grid: GridScores, static: bool, *inputs: Any, **options: Any) -> Opened:
    if not inputs:
        raise TypeError(
            "a grid is numbers of a text's positions or of heads, shown with its text: "
            "show(grid, record), or show(grid, model, tokenizer, text)"
        )
    grids = (grid, *(options.pop("grids", None) or ()))
    opened = _opened(inputs[0], static, *inputs[1:], **{"view": "grid", **options, "grids": grids})
    if all(options.get(choice) is None for choice in (*_OF_HEADS, "query", "key")):
        _open_at_cell(opened, grid)
    return opened


def _open_at_cell(opened: Opened, grid: GridScores) -> None:
    """Choose the layer, and the head or the query, of the cell furthest beyond its null."""
    sent: SentGrid = opened._manifest["grids"][0]
    null = 0 if grid.null is None else np.nan_to_num(np.abs(grid.null))
    beyond = np.nan_to_num(np.abs(grid.values), nan=-np.inf) - null
    row, column = divmod(int(beyond.argmax()), len(grid.columns))
    _, layer, head = sent["rows"][row]
    of_columns = sent["axes"][1]
    opened.stack = sent["stack"]
    if layer in opened.record.stack(opened.stack).numbers:
        opened.layer = layer
        if of_columns == "head" or head is not None:
            opened.head = column if head is None else head
    if of_columns == "position":
        opened.query = column


# With these choices, another head than theirs would change them.
_OF_HEADS = ("stack", "layer", "head", "heads", "muted", "off")


def _open_at_most(opened: Opened, scores: HeadScores) -> None:
    """Choose the head whose number is furthest beyond its null, in the stack that is shown.

    If the scores are of other stacks alone, it is in the first of these.
    """
    stack = opened.stack if opened.stack in scores.rows else scores.stacks[0]

    def beyond(score: HeadScore) -> float:
        null = 0 if scores.null is None else scores.null[stack][score.layer][score.head]
        return abs(score.value) - abs(float(null))

    numbers = opened.record.stack(stack).numbers
    there = [score for score in scores.ranking(stack) if score.layer in numbers]
    # A head whose null is not known comes after those of which it is.
    top = max(there, key=lambda score: np.nan_to_num(beyond(score), nan=-np.inf), default=None)
    if top is not None:
        opened.stack, opened.layer, opened.head = stack, top.layer, top.head


@_open.register
def _open_relations(
    scores: RelationScores, static: bool, *inputs: Any, relation: str | None = None, **options: Any
) -> Opened:
    if relation is None:
        return _open_scores(scores, static, *inputs, **options)
    names = ("model", "tokenizer", "text")
    given = {name: options.pop(name) for name in names if name in options}
    given |= dict(zip(names, inputs, strict=False))
    if given.get("model") is None or given.get("tokenizer") is None:
        raise TypeError(
            "a relation is shown in a text that the model reads once more: show(scores, model, "
            "tokenizer, relation=...)"
        )
    record, choices = scores.on_text(relation, **given)
    return _viewed("scores", record, static, {**choices, **options}, inputs[3:])


@_open.register
def _open_alignment(
    scores: AlignmentScores,
    static: bool,
    model: Any = None,
    tokenizer: Any = None,
    text: Any = None,
    *more: Any,
    **options: Any,
) -> Opened:
    if text is None:
        inputs = (each for each in (model, tokenizer) if each is not None)
        return _open_scores(scores, static, *inputs, **options)
    record, choices = scores.on_pair(model, tokenizer, text)
    return _viewed("scores", record, static, {**choices, **options}, more)


@_open.register(str)
@_open.register(PathLike)
def _open_path(path: str | PathLike[str], static: bool, *inputs: Any, **options: Any) -> Opened:
    return _opened(_loaded(path), static, *inputs, **options)


@_open.register(list)
@_open.register(tuple)
def _open_records(records: Sequence[Any], static: bool, *inputs: Any, **options: Any) -> Opened:
    advice = "of two texts, show(attnwidget.compare(model, tokenizer, text, other_text))"
    loaded: list[Any] = [
        _loaded(each, advice) if isinstance(each, (str, PathLike)) else each for each in records
    ]
    if len(loaded) != 2 or not all(isinstance(each, AttentionRecord) for each in loaded):
        kinds = ", ".join(type(each).__name__ for each in loaded) or "nothing"
        raise TypeError(
            f"a {type(records).__name__} of {kinds} "
            "cannot be shown: show([a, b]) compares two records, and save_html(path, a, b, c) "
            "writes several below each other"
        )
    return _viewed("a comparison", compare_records(*loaded), static, options, inputs)


def compare(
    a: Any,
    b: Any = None,
    *texts: str | Mapping[str, Any],
    stack: str | None = None,
    level: Level | None = None,
    layers: Layers = "number",
    heads: Iterable[Matched] | None = None,
) -> Comparison:
    """Compare two records, or the attention of a model over two texts.

        compare(a, b)                                 two records
        compare(model, tokenizer, text, other_text)   each captured, see `attnwidget.capture`

    Args:
        stack, level, layers, heads: as of `attnwidget.analysis.compare`, which pairs the records.

    Raises:
        TypeError: these are neither two records, nor a model, its tokenizer and two texts.
        ValueError: see `attnwidget.analysis.compare` and `attnwidget.capture`.
    """
    if b is None or len(texts) not in (0, 2):
        raise TypeError(
            "compare takes two records, as compare(a, b); or a model, its tokenizer and two texts, "
            "as compare(model, tokenizer, text, other_text)"
        )
    if texts:
        from attnwidget.capture import capture

        a, b = [capture(a, b, text) for text in texts]
    return compare_records(a, b, stack=stack, level=level, layers=layers, heads=heads)


_LOAD_FIRST = (
    "load a model and its tokenizer first (AutoModel.from_pretrained, "
    "AutoTokenizer.from_pretrained)"
)


def _loaded(path: str | PathLike[str], advice: str = _LOAD_FIRST) -> AttentionRecord | HeadProfile:
    # A model's name, its directory and a text, which may be too long for a path, are likely
    # mistakes.
    if Path(path).suffix != ".safetensors" and not isfile(path):
        raise TypeError(f"{str(path)!r:.200} is no file of a record or a profile; {advice}")
    kind = HeadProfile if kind_of_file(path, needed=True) == "profile" else AttentionRecord
    return kind.load(path)


def to_html(
    x: Openable | RecordView,
    /,
    *more: Any,
    views: Iterable[View] | None = None,
    layers: Iterable[SupportsIndex] | None = None,
    quality: Quality = "default",
    effects: Iterable[OffSet] = (),
    size: int = _ATLAS_SIZE,
    **options: Any,
) -> str:
    """One self-contained HTML page: no kernel, no network.

        to_html(widget)                         as its choices are now
        to_html(record, layer=2, head=9)        anything that `show` opens, with its arguments
        to_html(a, b, c)                        several of these, below each other
        to_html([a, b])                         two records: A, B and their difference in place
        to_html(profile)                        an atlas: the map, the model view, and examples
        to_html(profile, model, tokenizer)      likewise, of one that was loaded from a file

    The page opens with the choices of its widgets, or with the nearest layer and the first view if
    it does not include the chosen ones. Widgets of the same record share its layers, as long as the
    lenses and the names of heads that their user gave are the same.

    An atlas has the attention over as many texts as `size` has room for, at the quality "compact":
    those that together are examples of the most heads.

    Args:
        x, more: a widget, or what `show` opens; or several of them, below each other.
        views: the views to include, as ["head", "model"]; all of them if None. Without the neuron
            view, a layer is included as weights alone if that is smaller.
        layers: the numbers of the layers to include, of every stack; all of them if None. The
            model view shows every layer in any case.
        quality: the limit of rounding. "default": weights are right to three decimals as long as
            the whole page stays under 2 MB, else as exact as that allows, down to "compact".
            "compact" and "draft": as the mean over a layer's rows, 0.75% and 2% of the attention
            moves to another token. "exact": weights are right to three decimals, at any size. The
            views show the error of each layer's weights.
        effects: heads of each widget's stack, (layer, head), links as `attnwidget.KnockOut`, or
            several that are off together, as [(1, 5), [(1, 3), (1, 5)]]. The page shows what the
            model does without them: at the locked query, and at the position that is shown without
            one. What is off in the widget is always among them, and the page opens with it. They
            need the model: of widgets that `show` made of one, while it is still there.
        size: the most bytes of an atlas, which has one text in any case.
        options: as of `show`, for what is no widget yet.

    Raises:
        TypeError: there is nothing to show, an argument cannot be shown, or does not go with it, or
            a set of heads is none.
        ValueError: there is no such view, quality or head, `views` or `layers` is empty, or there
            are effects, but no model.
        IndexError: there is no such layer.
        ReferenceError: the model of a widget was deleted, and there are effects.
        Exception: see `show`.
    """
    if "static" in options:
        raise TypeError("static is an option of show alone: a page needs no kernel in any case")
    if isinstance(x, (str, PathLike)):
        x = _loaded(x)
    if isinstance(x, HeadProfile):
        if views or layers or effects or quality != "default":
            raise TypeError(
                "an atlas has whole texts: its only limit is size, the most bytes of the page"
            )
        similarity = options.pop("similarity", False)
        read = {name: options.pop(name) for name in _READER if name in options}
        read |= dict(zip(_READER, more, strict=False))
        chosen = _checked("a profile", options, more[len(_READER) :])
        return atlas_html(x, x.reader(**read), size=size, similarity=similarity, **chosen)
    sets = list(entries("effects", effects, "a list, as [(1, 5)]"))
    shown = [each.shown_record(sets) for each in _views(x, more, options)]
    return page_html(shown, views=views, layers=layers, quality=quality)


def save_html(
    path: str | PathLike[str],
    x: Openable | RecordView,
    /,
    *more: Any,
    views: Iterable[View] | None = None,
    layers: Iterable[SupportsIndex] | None = None,
    quality: Quality = "default",
    effects: Iterable[OffSet] = (),
    size: int = _ATLAS_SIZE,
    **options: Any,
) -> None:
    """Write `to_html(x, ...)` to a file, whole or not at all.

        save_html("page.html", record, view="model")
        save_html("page.html", a, b)                   below each other
        save_html("page.html", [a, b])                 A, B and their difference in one place
        save_html("page.html", profile, model, tokenizer)

    Raises:
        TypeError, ValueError, IndexError: see `to_html`.
        OSError: the file cannot be written, for example because there is no such folder.
    """
    if not isinstance(path, (str, PathLike)):
        raise TypeError("save_html takes the file's path first, as save_html('page.html', widget)")
    writable(path)
    page: dict[str, Any] = {"views": views, "layers": layers, "quality": quality}
    html = to_html(x, *more, **page, effects=effects, size=size, **options)
    write_whole(path, html.encode())


_READER = ("model", "tokenizer")
_SHOWN_ALONE = (RecordView, AttentionRecord, Comparison, str, PathLike, list, tuple)


def _views(x: Any, more: Sequence[Any], options: Mapping[str, Any]) -> list[RecordView]:
    """The views of a page: each of several, or the one of a model or scores and what they read."""
    if not isinstance(x, _SHOWN_ALONE):
        return [show(x, *more, static=True, **options)]
    for each in more:
        if not isinstance(each, _SHOWN_ALONE):
            raise TypeError(
                f"a page shows widgets, records, their paths and comparisons, not "
                f"{type(each).__name__}"
            )
    if options and any(isinstance(each, RecordView) for each in (x, *more)):
        raise TypeError(
            f"a widget has its choices already, no option {next(iter(options))}: set "
            "them on the widget"
        )
    return [
        each if isinstance(each, RecordView) else show(each, static=True, **options)
        for each in (x, *more)
    ]


@with_options(Options, _DEFAULTS)
def head_view(x: Openable, /, *inputs: Any, **options: Unpack[Options]) -> Opened:
    """`show` with the head view: lines between tokens, one colour per head."""
    return show(x, *inputs, view="head", **options)


@with_options(Options, _DEFAULTS)
def model_view(x: Openable, /, *inputs: Any, **options: Unpack[Options]) -> Opened:
    """`show` with the model view: every head of every layer."""
    return show(x, *inputs, view="model", **options)


@with_options(Options, _DEFAULTS)
def neuron_view(x: Openable, /, *inputs: Any, **options: Unpack[Options]) -> Opened:
    """`show` with the neuron view: one head's weights from its queries and keys."""
    return show(x, *inputs, view="neuron", **options)
