"""The table of choices: the name, values, default and meaning of each stand here alone.

Traits, keyword arguments, the documentation of `AttentionWidget`, and, by scripts/choices.py,
js/src/state/choices.generated.ts follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    SupportsIndex,
    TypedDict,
    get_args,
    get_type_hints,
)

from traitlets import Bool, Unicode

from attnwidget.interventions.edits import KnockOut

from .traits import (
    Integer,
    Integers,
    Links,
    Name,
    NamedSegment,
    NamedSegments,
    Pairs,
    Position,
    one_of,
)

View = Literal["head", "model", "neuron", "map", "text", "grid"]
Compared = Literal["a", "b", "difference"]
Theme = Literal["auto", "light", "dark"]
Combine = Literal["none", "mean", "max", "layers_mean", "layers_max"]
Orientation = Literal["vertical", "horizontal"]
Thumbnails = Literal["matrix", "lines", "image"]
Neurons = Literal["model", "pair", "sum"]
Parts = Literal["sentences", "paragraphs", "messages", "named"]
Numbers = Iterable[SupportsIndex]

PAIR = "pair"
"""The value of `sort` and `color` for the weight of the locked pair of tokens."""

SIMILARITY = "similarity"
"""The value of `map_x` for places by the similarity of heads."""

NO_SIZE = "none"
"""The value of `map_size` for points of one size."""


class ViewOption(TypedDict, total=False):
    """The view as a keyword argument: "head", "model", "neuron", "map", "text" or "grid"."""

    view: Annotated[View, one_of(View)]


class ChoiceOptions(TypedDict, total=False):
    """The other choices as keyword arguments, those first that others depend on.

    Attributes:
        stack: the stack shown.
        compared: of a comparison (`attnwidget.compare(a, b)`), what is shown: "a", "b", or
            the "difference" b - a; "a" of a single record.
        layer, head: the layer and head shown, counted from 0 as the model counts them.
        heads: the heads whose lines the head view draws; None for all.
        query, key: the locked query or key position (of several, the last), or None. A token that
            is there once may be given by its text, as "it".
        also: more positions locked together with `query` (or, without one, with `key`). The head
            view sums their attention; the neuron view compares `query` with the first of them.
        segments: the attention shown of a text pair: "all", or "aa", "ab", "ba" and "bb" for
            queries of the first and keys of the second letter's text. Or segments that you name, as
            [(1, 5, "subject")]: positions of tokens, the last one excluded. The reader then chooses
            attention from or to one, which is "from:subject" or "to:subject" here. "content" leaves
            out special tokens, as [CLS] and <s>, and "content ab" those of a choice. Metrics count
            all tokens whatever is shown.
        named_segments: these segments, to change them later.
        combine: the combination that the head view shows: the "mean" or "max" of the heads drawn,
            or "layers_mean" or "layers_max" of every head of every layer; "none" for single heads.
        lens: the numbers that the head view and the model view show: "attention", which is signed
            coefficients in layers without a softmax; "scores", which go into the softmax (not of
            layers that are weights alone); "values", the
            value-weighted norms ‖w f(x)‖ of Kobayashi et al. 2020 as shares of each row, of records
            of `capture(..., values=True)`, which the text view shows, too; "rollout" of all layers
            up to the one shown (Abnar and Zuidema 2020), in the head view alone; or one of
            `lenses`. See `attnwidget.analysis.LENSES`.
        words: True if the head view joins the tokens of a word: the attention to a word is the
            sum over its tokens, that from a word the mean.
        arcs_shown: True if the head view draws `arcs`.
        orientation: "vertical" (tokens in columns) or "horizontal" (in lines).
        picture: True if the head view shows the patches of a vision model on its image, False if
            as a list; see `AttentionRecord.images`.
        grid: the number of the grid of patches that is shown, from 0, where a model reads several
            images or crops (see `Patches.grids`); None for the whole image, or else the first grid.
        thumbnails: the thumbnails of the model view: "matrix", "lines", or "image", where the keys
            are patches of an image: bright where the row of `query` attends. Matrices stand in
            for it where there is no image, as for `picture`, and in figures and previews.
        sort: the order of a layer's heads in the model view: "model", or, from the highest to the
            lowest, the weight of the locked "pair" of `query` and `key`, or a metric: "entropy"
            (nats), "distance" (tokens), the share on the "previous", "same", "next", "first" or
            "special" token, any other of `attnwidget.analysis.METRICS`, or one of `metrics`.
        color: the meaning of colours in the model view and on the map: "pattern", "layer", the
            weight of the locked "pair", or a metric.
        opened: True if the current head is open in the model view.
        ranking: True if the model view lists the heads of all layers from the highest to the lowest
            number, in place of its grid.
        include_layers, include_heads: the layers and heads of the model view; None for all.
        neurons: the order of the neuron view's components: "model", by |q x k| of the selected
            "pair", or by its "sum" over the keys.
        muted: the neurons of this head that are left out of q.k in the neuron view.
        off: (layer, head) of the heads of this stack that are switched off: beside the views stands
            what the model does without them, for which the kernel runs it again. The views show
            the attention of the whole model. It needs the model: `attnwidget.show(model, tokenizer,
            text)` has the widget refer to it, weakly.
        cut: links of this stack that are cut, each an `attnwidget.KnockOut` of positions, layers
            and heads: their scores are -inf, and the softmax is taken anew. As `off` besides.
        expanded: True if the neuron view shows vectors, False for lines alone.
        parts: the parts of the prompt that the text view counts: "sentences", "paragraphs",
            "messages", or "named" for those of `named_segments` that are in the prompt. The tokens
            of the answer that it looks at are those before which `query` and `also` stand, since
            their rows wrote them.
        part: the number of the part that is locked in the text view, from 1, or None; none is
            where there are fewer paragraphs or messages.
        cut_part: likewise, the part without whose links the text view shows the answer.
        map_x, map_y: the metrics on the axes of the map.
        map_size: the metric whose magnitude is the size of the map's points, or "none".
        shown_grid: the number of the grid that the grid view shows, of `grids`, from 0.
        theme: "auto" (as the notebook), "light" or "dark".
    """

    stack: Annotated[str | None, Unicode()]
    compared: Annotated[Compared, one_of(Compared)]
    layer: Annotated[SupportsIndex | None, Integer(0)]
    head: Annotated[SupportsIndex, Integer(0)]
    heads: Annotated[Numbers | None, Integers(None)]
    query: Annotated[SupportsIndex | str | None, Position(None)]
    key: Annotated[SupportsIndex | str | None, Position(None)]
    also: Annotated[Numbers, Integers([])]
    named_segments: Annotated[Iterable[NamedSegment], NamedSegments()]
    segments: Annotated[str | Iterable[NamedSegment], Unicode("all")]
    combine: Annotated[Combine, one_of(Combine)]
    lens: Annotated[str, Name("attention", "lenses")]
    words: Annotated[bool, Bool(False)]
    arcs_shown: Annotated[bool, Bool(True)]
    orientation: Annotated[Orientation, one_of(Orientation)]
    picture: Annotated[bool, Bool(True)]
    grid: Annotated[SupportsIndex | None, Integer(None)]
    thumbnails: Annotated[Thumbnails, one_of(Thumbnails)]
    sort: Annotated[str, Name("model", beside=("model", PAIR))]
    color: Annotated[str, Name("pattern", beside=("pattern", "layer", PAIR))]
    opened: Annotated[bool, Bool(False)]
    ranking: Annotated[bool, Bool(False)]
    include_layers: Annotated[Numbers | None, Integers(None)]
    include_heads: Annotated[Numbers | None, Integers(None)]
    neurons: Annotated[Neurons, one_of(Neurons)]
    muted: Annotated[Numbers, Integers([])]
    off: Annotated[Iterable[tuple[SupportsIndex, SupportsIndex]], Pairs()]
    cut: Annotated[Iterable[KnockOut], Links()]
    expanded: Annotated[bool, Bool(True)]
    parts: Annotated[Parts, one_of(Parts)]
    part: Annotated[SupportsIndex | None, Integer(None)]
    cut_part: Annotated[SupportsIndex | None, Integer(None)]
    map_x: Annotated[str, Name("distance")]
    map_y: Annotated[str, Name("entropy")]
    map_size: Annotated[str, Name(NO_SIZE, beside=(NO_SIZE,))]
    shown_grid: Annotated[SupportsIndex, Integer(0)]
    theme: Annotated[Theme, one_of(Theme)]


class Choice(NamedTuple):
    """A line of the table."""

    argument: Any
    """The type of the keyword argument."""
    trait: Any

    @property
    def default(self) -> Any:
        """The default of the argument: None where that stands for the first there is."""
        takes_none = NoneType in get_args(self.argument) and not self.trait.allow_none
        return None if takes_none else self.trait.default()


TABLE: Mapping[str, Choice] = {
    name: Choice(hint.__origin__, *hint.__metadata__)
    for options in (ViewOption, ChoiceOptions)
    for name, hint in get_type_hints(options, include_extras=True).items()
}


def described() -> str:
    """The meaning of each choice, as the attributes of a docstring."""
    _, _, attributes = (ChoiceOptions.__doc__ or "").partition("Attributes:\n")
    return attributes.strip()
