"""The way from query and key vectors to the weights of one query."""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from attnwidget.analysis import ATTENTION, reading
from attnwidget.record import AttentionRecord, Floats, Layer, Recurrence, ScoreProgram
from attnwidget.wire.pairing import head_number, layer_number

from .attention import Attention, Viewed
from .axes import PLAIN, Size, font_points, grown, label_tokens, new_axes, set_title, size_in_points
from .colors import palette_of
from .notes import magnitude, share_note, shorten

# The left end and the width of the columns, in shares of the Axes: k, q × k, scores, weights.
_COLUMNS = (0, 0.3), (0.33, 0.3), (0.68, 0.14), (0.86, 0.14)
_HEIGHT = 0.9
# The size of ticks in narrow columns, as a share of that in the rcParams.
_SMALL = 0.7


def neuron(
    record: AttentionRecord | Viewed,
    layer: int,
    head: int,
    query: SupportsIndex | str,
    *,
    stack: str | None = None,
    caption: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the weights of one query come about: q, k, q × k, q·k and the softmax.

    Without a softmax, it is p × k, p·k and the coefficients: p is the query, walked back to the
    key through what the tokens in between erase and decay, see `Recurrence`.

    Args:
        stack, caption, ax: as in `head`.

    Returns:
        The Axes. Its columns are `ax.child_axes`: the keys, their products with q, the scores, the
        weights, and q above the keys.

    Raises:
        ValueError: the layer was recorded as weights or coefficients alone.
        TypeError, IndexError, KeyError, ImportError: as in `head`.
    """
    attention = Attention.of(record, layer, [head], stack=stack, query=query)
    attention.stack.layer(layer).head_queries(head)  # raises a ValueError if there are none
    ax = new_axes(neuron_size(attention)) if ax is None else ax
    draw_neuron(ax, attention, caption=caption)
    return ax


def neuron_size(attention: Attention) -> Size:
    """The size of all columns, in inches."""
    width, height = grown(len(attention.keys))
    return 1.4 * width, height


def draw_neuron(ax: Axes, attention: Attention, *, caption: bool = True) -> None:
    """Draw the vectors and numbers of the locked query, or of the default one.

    Raises:
        ValueError: the layer was recorded as weights or coefficients alone.
    """
    palette, keys = palette_of(ax), attention.keys
    layer, head = attention.stack.layer(attention.layer), attention.head
    query = attention.locked[0] if attention.locked else _default_query(attention)
    q = np.asarray(layer.head_queries(head))[query]
    k = np.asarray(layer.head_keys(head))[keys.shown]
    whole = layer.head_numbers(head, np.array([query]))[0]
    products, scores, product, formula = _scored(layer, head, query)
    products, scores, weights = (each[keys.shown] for each in (products, scores, whole))

    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.patch.set_visible(False)
    label = shorten(attention.stack.queries.labels[query])
    number, partners = attention.layer, attention.partners
    place = f"Layer {layer_number(number, partners)} · Head {head_number(number, head, partners)}"
    set_title(ax, f"{place} · Query {label}")
    of_keys, of_products, of_scores, of_weights = (
        ax.inset_axes((left, 0, width, _HEIGHT)) for left, width in _COLUMNS
    )
    strip = ax.inset_axes((0, _HEIGHT + 0.015, _COLUMNS[0][1], 0.04))
    small = font_points("xtick.labelsize", _SMALL)
    vectors = _full_color(np.concatenate([q[None], k]))
    masked = np.isneginf(scores)
    seen = np.ma.masked_array(products, np.broadcast_to(masked[:, None], k.shape))
    for column, numbers, most in (
        (strip, q[None], vectors),
        (of_keys, k, vectors),
        (of_products, seen, _full_color(products[~masked] if layer.signed else products)),
    ):
        image = column.imshow(
            numbers,
            cmap=palette.colormap(signed=True),
            norm=Normalize(-most, most),
            aspect="auto",
            interpolation="none",
        )
        column.grid(visible=False)
        column.set(xticks=[], yticks=[])
        if column is not strip:
            bar = column.inset_axes((0.15, -0.09, 0.7, 0.025))
            ax.figure.colorbar(image, cax=bar, orientation="horizontal", extend="both")
            bar.tick_params(labelsize=small, length=2)
    strip.set_yticks([0], labels=["q"])
    for column, numbers in (of_scores, scores), (of_weights, weights):
        shown = np.where(np.isfinite(numbers), numbers, 0)
        inks = np.where(shown < 0, palette.negative, palette.positive)
        column.barh(range(len(shown)), shown, color=inks.tolist(), height=0.8)
        column.set(ylim=(len(k) - 0.5, -0.5), yticks=[])
        column.spines[["top", "right", "left"]].set_visible(False)
        column.axvline(0, color=palette.muted, linewidth=0.8)
        column.tick_params(labelsize=small)
    weight = reading(ATTENTION, attention.stack).one if layer.signed else "softmax"
    if isinstance(layer.program, ScoreProgram) and layer.program.sinks is not None:
        weight += f", {1 - whole.sum():.3f} in sink"
    titles = {strip: "q, and k below", of_products: product, of_scores: formula, of_weights: weight}
    for column, title in titles.items():
        column.set_title(title, fontsize=font_points("axes.labelsize"), **PLAIN)
    if caption:
        note = share_note(magnitude(weights), magnitude(whole), "the query’s\nattention")
        of_weights.set_xlabel(note, fontsize=small, color=palette.muted)
    room = size_in_points(ax)[1] * _HEIGHT / len(k)
    places = np.arange(len(k), dtype=float).tolist()
    label_tokens(of_keys.yaxis, keys, places, room, palette)


def _scored(layer: Layer, head: int, query: int) -> tuple[Floats, Floats, str, str]:
    """(the products of the query's and each key's components; the scores; formulas of both).

    Scores of keys that the query does not see are -inf.
    """
    q, k = layer.head_queries(head)[query], layer.head_keys(head)
    program = layer.program
    if program is None:
        # It is not known, and the layer was kept as weights.
        return q * k, k @ q, "q × k", "q·k"
    if isinstance(program, Recurrence):
        products = np.zeros_like(k)
        products[: query + 1] = program.walked(q, k[: query + 1], head) * k[: query + 1]
        scores = products.sum(axis=1)
        scores[query + 1 :] = -np.inf
        return products, scores, "p × k (p: q, walked back)", "p·k"
    formula = f"{program.head_scale(head):.3g} q·k"
    if program.softcap is not None:
        formula = f"cap({formula})"
    if program.bias is not None or program.relative is not None:
        formula += " + bias"
    return q * k, layer.head_scores(head, np.array([query]))[0], "q × k", formula


def _default_query(attention: Attention) -> int:
    """The first word; with a causal mask the last one, which sees the others."""
    tokens = attention.stack.queries
    program = attention.stack.layer(attention.layer).program
    words = [at for at in range(len(tokens)) if at not in tokens.special]
    last = isinstance(program, Recurrence) or (
        program is not None and program.mask in ("causal", "window")
    )
    return words[-1 if last else 0] if words else 0


def _full_color(vectors: Floats) -> float:
    """The 98th percentile, so that one outlying component does not make all others pale."""
    return float(np.percentile(np.abs(vectors), 98, method="lower")) or 1.0
