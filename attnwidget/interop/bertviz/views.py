"""BertViz's head_view and model_view, and its html_action: a view is displayed or returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from traitlets import TraitError

from attnwidget.arguments import checked, one_of
from attnwidget.record import AttentionRecord
from attnwidget.widget import AttentionWidget, StaticView

from .record import record_of

if TYPE_CHECKING:
    from IPython.display import HTML

HtmlAction = Literal["view", "return"]
DisplayMode = Literal["dark", "light"]

# Checked before a model runs.
CHECKS = {"html_action": one_of(HtmlAction), "display_mode": one_of(DisplayMode)}


def act(record: AttentionRecord, html_action: HtmlAction, **choices: Any) -> HTML | None:
    """Display a record, or return its HTML, the `data` of which can be written to a file.

    Args:
        choices: of `AttentionWidget`; None for its defaults.

    Raises:
        ValueError: there is no such layer or head.
    """
    from IPython.display import HTML, display

    chosen: dict[str, Any] = {name: each for name, each in choices.items() if each is not None}
    kind = AttentionWidget if html_action == "view" else StaticView
    try:
        # Of several, an encoder-decoder's encoder comes first.
        view = kind(record, stack=record.stacks[0], **chosen)
    except TraitError as error:
        raise ValueError(str(error)) from error
    if isinstance(view, AttentionWidget):
        display(view)  # type: ignore[no-untyped-call]
        return None
    return HTML(view.static(quality="default", budget=None).html)  # type: ignore[no-untyped-call]


def _record(given: Mapping[str, Any]) -> AttentionRecord:
    """The record of what a function was given, which has more arguments than are of a record."""
    return record_of(**{name: given[name] for name in signature(record_of).parameters})


@checked(html_action=CHECKS["html_action"])
def head_view(
    attention: Any = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    encoder_attention: Any = None,
    decoder_attention: Any = None,
    cross_attention: Any = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    html_action: HtmlAction = "view",
) -> HTML | None:
    """Show lines between tokens, for computed weights.

    Args:
        attention: of a model with self-attention alone: an array [1, heads, T, T] per layer, such
            as outputs.attentions, or any other input of `AttentionRecord.from_arrays`.
        tokens: T tokens, as the tokenizer spells them.
        sentence_b_start: the first position of the second text of a pair, or None.
        prettify_tokens: True to show tokens as readable text, False for their spelling.
        layer: the layer shown first; the first one if None.
        heads: the heads shown first; all of them if None.
        encoder_attention, decoder_attention, cross_attention: of an encoder-decoder, likewise:
            [1, heads, S, S], [1, heads, T, T] and [1, heads, T, S] per layer.
        encoder_tokens, decoder_tokens: the S and T tokens that go with them.
        include_layers: the layers that can be chosen; all of them if None.
        html_action: "view" displays a widget; "return" returns HTML that needs no kernel.

    Raises:
        ValueError, TypeError: the arguments are no attention, or do not fit together.
    """
    record = _record(locals())
    return act(record, html_action, layer=layer, heads=heads)


@checked(**CHECKS)
def model_view(
    attention: Any = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    display_mode: DisplayMode = "dark",
    encoder_attention: Any = None,
    decoder_attention: Any = None,
    cross_attention: Any = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
    html_action: HtmlAction = "view",
) -> HTML | None:
    """Show every head of every layer, for computed weights.

    See `head_view` for the arguments that both have.

    Args:
        display_mode: "dark" or "light".
        include_heads: the heads that are shown; all of them if None.

    Raises:
        ValueError, TypeError: the arguments are no attention, or do not fit together.
    """
    record = _record(locals())
    return act(record, html_action, view="model", include_heads=include_heads, theme=display_mode)
