"""Numbers and matrices of heads. Imports numpy only.

In come records; out come numbers of every head (`HeadScores`), matrices and other records. Open
`metrics.py` first, which has the numbers that every view takes. `lenses/` has other readings of a
weight, a file each, `levels.py` words and segments, `comparison.py` two records.
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
