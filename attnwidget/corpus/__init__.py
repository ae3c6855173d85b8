"""Numbers of every head over many texts.

A model and texts come in, a `HeadProfile` goes out. Begin with run.py, the way through all: it
checks settings (settings.py), has shards of texts measured (profiler.py, or ray_engine.py) into
sums that merge (measurement.py), and builds the profile of them (build.py). Reading a profile needs
no torch.
"""

from attnwidget.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
