"""BertViz's model_view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attnwidget.arguments import checked

from .action import CHECKS, DisplayMode, HtmlAction, act
from .record import record_of

if TYPE_CHECKING:
    from IPython.display import HTML


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
    record = record_of(
        attention=attention,
        tokens=tokens,
        sentence_b_start=sentence_b_start,
        prettify_tokens=prettify_tokens,
        encoder_attention=encoder_attention,
        decoder_attention=decoder_attention,
        cross_attention=cross_attention,
        encoder_tokens=encoder_tokens,
        decoder_tokens=decoder_tokens,
        include_layers=include_layers,
    )
    return act(record, html_action, view="model", include_heads=include_heads, theme=display_mode)
