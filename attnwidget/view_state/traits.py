"""The traits of choices: whole numbers as Python, numpy and torch have them, links, segments."""

from __future__ import annotations

from typing import Any, get_args

import traitlets
from traitlets import TraitError

from attnwidget.arguments import head_pairs, holds_entries, list_of, segment, whole_number
from attnwidget.interventions.off import Link

NamedSegment = tuple[int, int, str]
"""The positions of a segment's first token, and of the one after its last; its name."""

# Older versions of traitlets, as Colab's, cannot be asked for TraitType[Any, Any].


def one_of(options: object) -> Any:
    """A trait of the options of a Literal, of which the first is the default."""
    return traitlets.Enum(get_args(options), get_args(options)[0])


# By the trait that has numbers of the user's own: a name that there is, and one of theirs.
_NAMES = {"metrics": ("entropy", "my score"), "lenses": ("scores", "mine")}


class Name(traitlets.Unicode):  # type: ignore[type-arg]
    """The name of a metric or a lens, or one of a few others.

    Args:
        own: the trait that has the user's own, "metrics" or "lenses".
        beside: the few others.
    """

    def __init__(self, default: str, own: str = "metrics", *, beside: tuple[str, ...] = ()) -> None:
        super().__init__(default)
        self.own, self.beside = own, beside

    def validate(self, obj: Any, value: Any) -> Any:
        if isinstance(value, str):
            return value
        known, mine = _NAMES[self.own]
        raise TraitError(
            f"{self.name} is {type(value).__name__}; expected a name, as {known!r}. Numbers of "
            f"your own have one in {self.own}: {self.own}={{{mine!r}: array}}, {self.name}={mine!r}"
        )


class Integer(traitlets.TraitType):  # type: ignore[type-arg]
    """The type of numbers that `whole_number` accepts; None, too, where that is the default.

    `traitlets.Int` takes True, and in older versions no number of numpy.
    """

    def __init__(self, default: int | None = 0) -> None:
        super().__init__(default, allow_none=default is None)

    def info(self) -> str:
        return "an int or None" if self.allow_none else "an int"

    def validate(self, obj: Any, value: Any) -> int:
        try:
            return whole_number(value)
        except TypeError:
            self.error(obj, value)


class Position(Integer):
    """The position of a token, or its text, which the view looks up among the tokens shown."""

    def validate(self, obj: Any, value: Any) -> Any:
        return value if isinstance(value, str) else super().validate(obj, value)


class Integers(traitlets.List):  # type: ignore[type-arg]
    """A list of them, from anything that holds some: a range, a set, an array."""

    def __init__(self, default: list[int] | None) -> None:
        super().__init__(Integer(), default, allow_none=default is None)

    def validate(self, obj: Any, value: Any) -> Any:
        expected = f"several numbers, as [0, 5]{', or None for all' if self.allow_none else ''}"
        try:
            numbers = list_of(whole_number, expected, any_order=True)(self.name or "", value)
        except TypeError as error:
            raise TraitError(str(error)) from None
        return super().validate(obj, numbers)


class Pairs(traitlets.List):  # type: ignore[type-arg]
    """A list of pairs of them, as (layer, head)."""

    def __init__(self) -> None:
        super().__init__(traitlets.Any(), [])

    def validate(self, obj: Any, value: Any) -> Any:
        try:
            pairs = head_pairs()(self.name or "", value)
        except TypeError as error:
            raise TraitError(str(error)) from None
        return super().validate(obj, pairs)


class Links(traitlets.List):  # type: ignore[type-arg]
    """A list of `Link`, from `KnockOut` or their fields."""

    def __init__(self) -> None:
        super().__init__(traitlets.Any(), [])

    def validate(self, obj: Any, value: Any) -> Any:
        if holds_entries(value):
            try:
                value = [Link.of(each, obj.stack) for each in value]
            except (TypeError, ValueError) as error:
                raise TraitError(f"{self.name}: {error}") from error
        return super().validate(obj, value)


class NamedSegments(traitlets.List):  # type: ignore[type-arg]
    """A list of `NamedSegment`."""

    def __init__(self) -> None:
        super().__init__(traitlets.Any(), [])

    def validate(self, obj: Any, value: Any) -> Any:
        given = value
        try:
            segments = []
            for given in value if holds_entries(value) else [value]:
                segments.append(segment(given))
        except (TypeError, ValueError):
            raise TraitError(
                f"segments are {given!r:.100}; expected (start, end, name) for each, as "
                "(1, 5, 'subject'): the positions of the first token and of the one after the last"
            ) from None
        return super().validate(obj, segments)
