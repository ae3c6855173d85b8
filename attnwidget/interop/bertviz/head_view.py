"""BertViz's head_view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attnwidget.arguments import checked

from .action import CHECKS, HtmlAction, act
from .record import record_of

if TYPE_CHECKING:
    from IPython.display import HTML


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
    return act(record, html_action, layer=layer, heads=heads)
