"""Plots of attention with matplotlib: each function draws into Axes and returns them.

    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    attnwidget.plot.head(record, layer=2, heads=[3, 9], query=11, ax=left)
    attnwidget.plot.matrix(record, layer=2, head=9, ax=right)

Colours follow the background of the Axes, light or dark, and fonts and colour maps the session's
rcParams. A caption below each plot says what it leaves out. Without Axes, a plot opens a new figure
of a fitting size.

`attention.py` has the numbers between tokens, `heads.py` those of heads; each plot has a file, and
`figure.py` draws what a widget shows. The first plot imports matplotlib:
`pip install 'attnwidget[figures]'`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .head_plot import head as head
    from .map_plot import map as map
    from .matrix_plot import matrices as matrices
    from .matrix_plot import matrix as matrix
    from .model_plot import model as model
    from .neuron_plot import neuron as neuron
    from .ranking_plot import ranking as ranking

__all__ = ["head", "map", "matrices", "matrix", "model", "neuron", "ranking"]

_FILES = {name: f"{name}_plot" for name in __all__} | {"matrices": "matrix_plot"}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require_matplotlib()
    return getattr(import_module(f".{_FILES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__


def require_matplotlib() -> None:
    """Raise an ImportError that says what to install if matplotlib is missing."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install 'attnwidget[figures]'"
        ) from error
