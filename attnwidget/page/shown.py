"""The views and layers that a page includes, and the choices with which it opens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, get_args

from attnwidget.arguments import entries, list_of, several_numbers, whole_number
from attnwidget.record import AttentionRecord, spans
from attnwidget.view_state import Choices, ShownRecord, View, choice_values

# A check of the layers that a notebook keeps, which may be none.
layer_numbers = list_of(
    whole_number, "several numbers, as [0, 5], or None for all", none=True, any_order=True
)

VIEWS: tuple[View, ...] = get_args(View)


def included_views(views: Iterable[View] | None, shown: Sequence[ShownRecord]) -> tuple[View, ...]:
    """The views in the order of their tabs; all that there are if None.

    Raises:
        TypeError: `views` is one name, or no collection of names.
        ValueError: it is empty, has a name of no view, or only that of grids, which some lack.
    """
    if views is None:
        some = any(each.grids for each in shown)
        return tuple(name for name in VIEWS if name != "grid" or some)
    names = list(entries("views", views, "several names, as ['head', 'model']"))
    if not names:
        raise ValueError("views is empty; give at least one name, or None for all")
    for name in names:
        if name not in VIEWS:
            raise ValueError(f"no view {name!r}; there are {', '.join(map(repr, VIEWS))}")
    if set(names) == {"grid"} and not all(each.grids for each in shown):
        raise ValueError("views has 'grid' alone, and a record without grids would have none")
    return tuple(name for name in VIEWS if name in names)


def included_layers(
    layers: Iterable[SupportsIndex] | None, records: Sequence[AttentionRecord]
) -> list[int] | None:
    """The layers' numbers, increasing; None for all of them.

    Raises:
        TypeError: `layers` is one number, or no collection of numbers.
        ValueError: it is empty.
        IndexError: no stack of any record has such a layer.
    """
    chosen = several_numbers("layers", layers)
    if chosen is None:
        return None
    numbers = sorted(set(chosen))
    stacks = {name: record.stack(name) for record in records for name in record.stacks}
    existing = {number for r in records for name in r.stacks for number in r.stack(name).numbers}
    for number in numbers:
        if number not in existing:
            have = "; ".join(f"{name} has {spans(s.numbers)}" for name, s in stacks.items())
            raise IndexError(f"layer {number} does not exist: {have}")
    return numbers


def opening_choices(
    shown: ShownRecord, views: Sequence[View], layers: Sequence[int] | None
) -> dict[str, Any]:
    """The choices with which a page opens: the given ones, or the nearest that the page has.

    These are the first view, and the nearest layer of the chosen stack, or of the first stack that
    has a layer on the page.
    """
    record, values = shown.record, shown.choices
    views = [name for name in views if name != "grid" or shown.grids]
    choices = Choices.of(record, shown.manifest, values, shown.metrics, shown.similarity)
    if choices.view not in views:
        choices.view = views[0]
    for name in (values["stack"], *record.stacks):
        numbers = record.stack(name).numbers
        included = [number for number in numbers if layers is None or number in layers]
        if included:
            choices.stack = name
            choices.layer = min(included, key=lambda number: abs(number - values["layer"]))
            break
    return choice_values(choices)
