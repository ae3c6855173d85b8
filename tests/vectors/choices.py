"""following.json: what follows from a choice of a view."""

from itertools import product

import numpy as np

from attnwidget.record import Fidelity, Layer, Stack, Tokens
from attnwidget.view_state import Choices, choice_values
from attnwidget.view_state.following import following
from tests.vectors.reference import Json

# By stack: the numbers of queries and keys, and the heads of each layer by its number.
_STACKS: dict[str, tuple[int, int, dict[int, int]]] = {
    "encoder": (7, 7, {0: 4, 1: 2}),
    "cross": (3, 5, {3: 4, 7: 2, 11: 6}),
}


def follows() -> list[Json]:
    """Cases: the stack after a change, the values before it, the change, and all that changes.

    Values that are not named are defaults, and the stack is the encoder.
    """
    place = {"stack": "cross", "layer": 11, "head": 5, "muted": [3], "off": [[7, 1]]}
    place["cut"] = [[[2], [4], [7], [1]]]
    drawn = place | {"include_layers": [3, 11], "include_heads": [1, 5]}
    named = {"named_segments": [[1, 3, "subject"]], "segments": "from:1-3"}
    content = named | {"segments": "content from:1-3"}
    cases: list[tuple[Json, Json]] = [
        ({"layer": 1, "head": 1, "muted": [2]}, {"stack": "cross"}),
        ({"include_layers": [0, 1], "include_heads": [0]}, {"layer": 1}),
        (drawn, {"layer": 7}),
        (drawn, {"stack": "encoder"}),
        (named, {"stack": "cross"}),
        (named | {"parts": "named", "part": 1}, {"stack": "cross"}),
        (content, {"stack": "cross"}),
        ({"segments": "content ab"}, {"stack": "cross"}),
        (drawn | {"include_layers": [7], "include_heads": [5]}, {"stack": "encoder"}),
        *((place, {"head": head}) for head in (0, 4)),
        *((place | {"layer": layer}, {"stack": "encoder"}) for layer in (3, 7)),
    ]
    for heads, change in product(
        (None, [0, 1, 5], [4, 5]), ({"layer": 3}, {"layer": 7}, {"stack": "encoder"})
    ):
        cases.append((place | {"heads": heads}, change))
    # The current head is always drawn.
    for heads, head in product((None, [5], [0, 3, 5], [1, 2]), (5, 3, 4)):
        if head != place["head"]:
            cases.append((place | {"heads": heads}, {"head": head}))
        if heads != [head]:
            cases.append((place | {"heads": [head]}, {"heads": heads}))
    locks: list[Json] = [{side: at} for side in ("query", "key") for at in (None, 0, 4)]
    for query, key in product((None, 2, 6), (None, 1, 6)):
        locked = {"query": query, "key": key, "also": [0, 4, 5]}
        # Nothing is locked beside nothing.
        if query is None and key is None:
            continue
        for change in (*locks, {"stack": "cross"}):
            if locked | change != locked:
                cases.append((locked, change))
    return [_case(before, change) for before, change in cases]


def _case(before: Json, change: Json) -> Json:
    [(name, value)] = change.items()
    values = choice_values(Choices()) | {"stack": "encoder"} | before
    stack = (values | change)["stack"]
    after = change | following(_stack(stack), values, name, value)
    queries, keys, heads = _STACKS[stack]
    return {
        "stack": {"queries": queries, "keys": keys, "heads": heads},
        "before": before,
        "change": change,
        "after": {name: to for name, to in after.items() if to != values[name]},
    }


def _stack(name: str) -> Stack:
    queries, keys, layers = _STACKS[name]
    fidelity = Fidelity("given", "", "", None, None, 1e-5, 0)
    return Stack(
        Tokens(tuple(map(str, range(queries)))),
        Tokens(tuple(map(str, range(keys)))),
        tuple(
            Layer(
                None,
                None,
                None,
                np.full((heads, queries, keys), 1 / keys, np.float32),
                fidelity,
                number,
            )
            for number, heads in layers.items()
        ),
    )
