"""Checks of arguments: what they take, what they make of it, and what they say of the rest."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import BatchEncoding

from attnwidget.arguments import (
    check_fields,
    checked,
    instance,
    list_of,
    one_of,
    real,
    several_numbers,
    two_numbers,
    whole,
    whole_number,
    whole_numbers,
)

Mode = Literal["zero", "mean"]

SIZE = real("a number of bytes, as 8_000_000")
SIDE = real("inches above 0, as 6", above=True, none=True)
FACTOR = real("a finite number", signed=True)
LABELS = list_of(str, "labels", none=True)
LINKS = list_of(two_numbers, "links", any_order=True)
TEXT = instance(str, "a string", none=True)


class Rows:
    """As a Dataset of datasets, which gives a row at a time."""

    column_names = ("text",)

    def __iter__(self) -> Iterator[dict[str, int]]:
        return iter([{"text": 0}])


@pytest.mark.parametrize(
    ("check", "given", "expected"),
    [
        (one_of(Mode), "mean", "mean"),
        (one_of(Mode, None), None, None),
        (one_of(True, False, None), False, False),
        (whole(1), np.int64(3), 3),
        (whole(0), torch.tensor(0), 0),
        (whole(1, none=True), None, None),
        (SIZE, 0, 0.0),
        (SIDE, np.float32(0.5), 0.5),
        (SIDE, None, None),
        (whole_numbers, np.int64(3), 3),
        (whole_numbers, torch.tensor([0, 5]), (0, 5)),
        (whole_numbers, None, None),
        (several_numbers, range(2), (0, 1)),
        (FACTOR, np.float32(-2), -2.0),
        (FACTOR, torch.tensor(3), 3.0),
        (LABELS, (label for label in "ab"), ["a", "b"]),
        (LABELS, np.array(["a"], object), ["a"]),
        (LABELS, None, None),
        (LINKS, {(0, np.int64(1))}, [(0, 1)]),
        (TEXT, None, None),
    ],
)
def test_what_is_taken(check: Any, given: Any, expected: Any) -> None:
    found = check("name", given)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("check", "given", "error", "words"),
    [
        (one_of(Mode), "off", ValueError, "name is 'off'; expected one of 'zero', 'mean'"),
        (one_of(Mode, None), np.ones(2), ValueError, "expected one of 'zero', 'mean', None"),
        (one_of(True, False, None), 1, ValueError, "name is 1; expected one of True, False, None"),
        (one_of("ray"), 5, ValueError, "name is 5; expected 'ray'"),
        (whole(1), 0, ValueError, "name is 0; expected a number from 1"),
        (whole(1), True, TypeError, "name is True; expected a number from 1"),
        (whole(0, none=True), 1.0, TypeError, "name is 1.0; expected a number from 0, or None"),
        (SIZE, -1, ValueError, "name is -1; expected a number of bytes, as 8_000_000"),
        (SIZE, "1", TypeError, "name is '1'; expected a number of bytes"),
        (SIZE, True, TypeError, "name is True; expected a number of bytes"),
        (SIDE, 0, ValueError, "name is 0; expected inches above 0, as 6"),
        (SIDE, float("nan"), ValueError, "name is nan; expected inches above 0, as 6"),
        (SIZE, np.ones(2), TypeError, r"name is array\(\[1., 1.\]\); expected a number of bytes"),
        (FACTOR, "a", TypeError, "name is 'a'; expected a finite number"),
        (FACTOR, None, TypeError, "name is None; expected a finite number"),
        (FACTOR, -float("inf"), ValueError, "name is -inf; expected a finite number"),
        (FACTOR, float("nan"), ValueError, "name is nan; expected a finite number"),
        (SIDE, float("inf"), ValueError, "name is inf; expected inches above 0, as 6"),
        (whole_numbers, "1", TypeError, r"name is '1'; expected a number, several as \[0, 5\], or"),
        (whole_numbers, [0, True], TypeError, r"name is \[0, True\]; expected a number"),
        (whole_numbers, [], ValueError, "name is empty; give at least one, or None for all"),
        (several_numbers, 3, TypeError, r"name is 3; expected several numbers, as \[0, 5\]"),
        (
            several_numbers,
            {0: "a"},
            TypeError,
            "is dict; .* or None for all; give one of its columns",
        ),
        (several_numbers, pd.DataFrame({0: [1]}), TypeError, "name is DataFrame; .*its columns"),
        (several_numbers, Rows(), TypeError, "name is Rows; .*its columns"),
        (several_numbers, BatchEncoding({"ids": [0]}), TypeError, "name is BatchEncoding"),
        (LABELS, "letters", TypeError, "name is 'letters'; expected labels"),
        (LABELS, {"a", "b"}, TypeError, "name is a set, which has no order; expected labels"),
        (LABELS, ["a", 1], TypeError, r"name is \['a', 1\]; expected labels"),
        (LINKS, [(0, 1, 2)], TypeError, r"name is \[\(0, 1, 2\)\]; expected links"),
        (TEXT, 3, TypeError, "name is int; expected a string"),
    ],
)
def test_what_is_refused(check: Any, given: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        check("name", given)


def test_a_function_gets_what_the_checks_return() -> None:
    @checked(count=whole(1), mode=one_of(Mode))
    def function(first: str, *, count: int = 0, mode: Mode = "zero") -> Any:
        """It has its own name and words."""
        return first, count, mode

    # A default is the function's own.
    assert function("a") == ("a", 0, "zero")
    assert function("a", count=np.int64(2), mode="mean") == ("a", 2, "mean")
    assert (function.__name__, function.__doc__) == ("function", "It has its own name and words.")
    with pytest.raises(ValueError, match="count is 0; expected a number from 1"):
        function("a", count=0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
        function(count=1)  # type: ignore[call-arg]


def test_fields_of_a_frozen_dataclass() -> None:
    @dataclass(frozen=True)
    class Edit:
        layers: Any = None

        def __post_init__(self) -> None:
            check_fields(self, layers=whole_numbers)

    assert Edit(np.array([1, 2])).layers == (1, 2)
    with pytest.raises(TypeError, match="layers is 'all'"):
        Edit("all")


@pytest.mark.parametrize("given", [True, np.bool_(True), torch.tensor(True), 1.0, "1", None])
def test_no_whole_numbers(given: Any) -> None:
    with pytest.raises(TypeError):
        whole_number(given)
