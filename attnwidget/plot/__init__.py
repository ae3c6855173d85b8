"""Attention as matplotlib plots: Axes in, Axes out.

    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    attnwidget.plot.head(record, layer=2, heads=[3, 9], query=11, ax=left)
    attnwidget.plot.matrix(record, layer=2, head=9, ax=right)

Colours follow the background of the Axes, light or dark, and fonts the session's rcParams. A note
below each plot says what it leaves out. Without Axes, a new figure of a fitting size is made.

matplotlib is imported by the first plot: `pip install 'attnwidget[figures]'`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from attnwidget.record import AttentionRecord

from .shown import Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

__all__ = ["head", "matrix", "model", "neuron"]


def head(
    record: AttentionRecord,
    layer: int,
    heads: Iterable[int] | None = None,
    *,
    query: int | None = None,
    stack: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Tokens, and lines between them whose strength is the attention weight.

    Args:
        heads: the heads drawn, each in its colour; all of the layer if None.
        query: a position whose attention alone is drawn, with the share of every head beside the
            keys; all queries if None. Over 64 tokens, lines of all are those of groups.
        stack: the record's first if None.
        ax: where it is drawn; a new figure if None.

    Returns:
        The Axes. Lines are its first collection, with a width and an opacity for each.

    Raises:
        IndexError: there is no such layer, head or query.
        KeyError: there is no such stack.
        ValueError: `heads` is empty.
        ImportError: matplotlib is not installed.
    """
    needs_matplotlib()
    from .head_plot import draw_head
    from .sizes import head_size

    chosen = None if heads is None else list(dict.fromkeys(heads))
    if chosen == []:
        raise ValueError("heads is empty; give at least one, or None for all")
    shown = Shown(record, layer=layer, heads=chosen, query=query, stack=stack)
    shown.check()
    ax = ax or _new_axes(head_size(shown))
    draw_head(ax, shown)
    return ax


def matrix(
    record: AttentionRecord,
    layer: int,
    head: int,
    *,
    stack: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The weights of a head as a matrix: rows are queries, columns keys.

    Args:
        stack, ax: as in `head`.

    Returns:
        The Axes. `ax.images[0]` has the weights, for a colour bar; over 400 tokens, or more than
        the Axes have points, a cell is the largest weight of its group.

    Raises:
        IndexError, KeyError, ImportError: as in `head`.
    """
    needs_matplotlib()
    from .head_plot import titled
    from .matrix_plot import draw_matrix
    from .sizes import matrix_size
    from .weights import head_matrix

    shown = Shown(record, layer=layer, head=head, stack=stack)
    shown.check()
    ax = ax or _new_axes(matrix_size(shown))
    found = head_matrix(shown, head)
    draw_matrix(ax, shown, found, titled(shown, found.name))
    return ax


def model(
    record: AttentionRecord,
    *,
    metric: str | ArrayLike | None = None,
    stack: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Every head of every layer: its thumbnail, in the colour of its pattern, or a number of it.

    Args:
        metric: a number per head, drawn as a heat map with a colour bar: "entropy" (nats),
            "distance" (tokens), a share on the "previous", "same", "next", "first" or "special"
            token, or an array [layers, heads] (NaN where a layer has fewer heads). Negative numbers
            get colours that diverge from zero. None for thumbnails.
        stack, ax: as in `head`.

    Returns:
        The Axes; `ax.images[0]` has the thumbnails as one picture, or the numbers.

    Raises:
        ValueError: the record has no such number, or the array has another shape.
        KeyError, ImportError: as in `head`.
    """
    needs_matplotlib()
    from .model_plot import draw_metric, draw_model, metric_of
    from .sizes import model_size

    numbers = record.stack(stack).numbers
    shown = Shown(record, view="model", layer=numbers[0], stack=stack)
    values = None if metric is None else metric_of(shown, metric)
    if values is None:
        ax = ax or _new_axes(model_size(shown))
        draw_model(ax, shown)
    else:
        ax = ax or _new_axes(None)
        draw_metric(ax, shown, *values)
    return ax


def neuron(
    record: AttentionRecord,
    layer: int,
    head: int,
    query: int,
    *,
    stack: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """How query and key vectors make the weights of one query: q, k, q × k, q·k and the softmax.

    Args:
        stack, ax: as in `head`.

    Returns:
        The Axes; `ax.images` are the queries, the keys and the products of the rows drawn.

    Raises:
        ValueError: the layer was recorded as weights alone.
        IndexError, KeyError, ImportError: as in `head`.
    """
    needs_matplotlib()
    from .neuron_plot import draw_neuron
    from .sizes import neuron_size

    shown = Shown(record, view="neuron", layer=layer, head=head, query=query, stack=stack)
    shown.check()
    shown.current_layer.head_queries(head)  # A ValueError where there are none.
    ax = ax or _new_axes(neuron_size(shown))
    draw_neuron(ax, shown)
    return ax


def needs_matplotlib() -> None:
    """Raise an ImportError that says what to install unless matplotlib is there."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install 'attnwidget[figures]'"
        ) from error


def _new_axes(size: tuple[float, float] | None) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]
