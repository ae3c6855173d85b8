"""Capture of a forward pass as an AttentionRecord. The first capture imports torch.

In come a model and a text, out comes a record. Open `forward.py` first, the way through all: the
recorder (`recorder.py`) receives the calls of a trace, `explain_*.py` make layers of them, and
`check.py` compares these with the model's own numbers; `running/missing.py` says why a call is
none; `weights.py` does so for many texts, without a record.
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
