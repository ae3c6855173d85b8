"""A trait of links between tokens that are cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import traitlets

from attnwidget.interventions.off import Link


# Older versions of traitlets, as Colab's, cannot be asked for List[Link].
class Links(traitlets.List):  # type: ignore[type-arg]
    """A list of `Link`, from `KnockOut` or their fields."""

    def validate(self, obj: Any, value: Any) -> Any:
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
            try:
                value = [Link.of(each, obj.stack) for each in value]
            except (TypeError, ValueError) as error:
                raise traitlets.TraitError(f"{self.name}: {error}") from error
        return super().validate(obj, value)
