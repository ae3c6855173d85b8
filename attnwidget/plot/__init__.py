"""Plots of attention with matplotlib: records and profiles come in, Axes go out.

    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    attnwidget.plot.head(record, layer=2, heads=[3, 9], query=11, ax=left)
    attnwidget.plot.matrix(record, layer=2, head=9, ax=right)

Colours follow the background of the Axes, light or dark, and fonts and colour maps the session's
rcParams. A caption below each plot says what it leaves out. Without Axes, a plot opens a new figure
of a fitting size.

Open `matrix_plot.py` first: each plot has a file, which draws the numbers between tokens
(`attention.py`) or of heads (`heads.py`), and `figure.py` draws what a widget shows. The first plot
imports matplotlib: `pip install 'attnwidget[figures]'`. `preview.py`, the picture beside each
display, takes the same numbers and does without it.
"""

from __future__ import annotations

from attnwidget.lazy import lazy_names

_load, __dir__, __all__ = lazy_names(__name__)


def __getattr__(name: str) -> object:
    if name in __all__:
        require_matplotlib()
    return _load(name)


def require_matplotlib() -> None:
    """Raise an ImportError that says what to install if matplotlib is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install 'attnwidget[figures]'"
        ) from error
