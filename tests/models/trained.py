"""A trained model, and the same with eager attention."""

from collections.abc import Callable
from typing import Any, NamedTuple

# Classes of transformers are untyped to us.
Model = Any


class Trained(NamedTuple):
    """A model as it is loaded by default, the same with eager attention, and its processor."""

    model: Model
    eager: Model
    processor: Any


Load = Callable[[str, Any, Any], Trained]
