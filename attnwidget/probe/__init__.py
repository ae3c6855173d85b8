"""Heads and layers against annotated text: what they find, beside baselines and a null.

A model and `Annotated` texts come in, or arrays of attention in its place; scores go out, with
numbers of every head for views and tables (results.py). Each probe is a file. Begin with
coreference.py: it opens a source and divides the texts (halves.py), counts right decisions
(best_heads.py), and says what is scored. To add a probe: such a file, and its names in
__init__.pyi.

A head that finds a relation need not be why a model says what it says: see docs/guide/probes.md.
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
