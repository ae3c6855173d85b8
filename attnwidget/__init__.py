"""Interactive views of a transformer's attention in a notebook.

import attnwidget as aw
aw.show(model, tokenizer, "The dog was tired because it ran.")
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
