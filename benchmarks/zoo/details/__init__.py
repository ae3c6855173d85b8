"""Details of single architectures, beyond the rules for all."""

from __future__ import annotations

from .detail import Detail
from .detection import DETECTION
from .images import IMAGES
from .multimodal import MULTIMODAL
from .series import SERIES
from .sound import SOUND
from .text import TEXT
from .towers import TOWERS

_ALL = {**TEXT, **IMAGES, **DETECTION, **SOUND, **SERIES, **TOWERS, **MULTIMODAL}


def detail(name: str) -> Detail:
    """The detail of a model type; an empty one for most."""
    return _ALL.get(name, Detail())
