"""Heads and layers against annotated text: what they find, beside baselines and a null.

A head that finds a relation need not be why a model says what it says: see docs/guide/probes.md.
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
