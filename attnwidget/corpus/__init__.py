"""Numbers of every head over many texts. Making a profile imports torch; reading one does not.

A model and texts come in (run.py, the way through all), a `HeadProfile` goes out (head_profile.py).
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
