"""recurrences.json: every strength of a recurrence, alone and together."""

from typing import Any

from tests.vectors import reference
from tests.vectors.numbers import eighths, flat
from tests.vectors.reference import Json

TOKENS, DIM = 4, 2


def cases() -> list[Json]:
    return [
        _case("no decay"),
        _case("scalar decay", decay=1, write=True),
        _case("decay of each channel", decay=DIM, write=True),
        _case("erasing", erase=True),
        _case("erasing, writing and decay", decay=1, write=True, erase=True),
        _case("erasing, and decay of each channel", decay=DIM, write=True, erase=True),
        _case("own values", decay=1, own=[0.5, -1.25]),
        _case("shared keys", heads=4, query_heads=4, decay=1, erase=True),
        _case("shared queries and keys", heads=4, decay=1, write=True, own=[0.5, -1.0, 0.0, 0.25]),
    ]


def _case(
    name: str,
    *,
    heads: int = 2,
    query_heads: int = 2,
    decay: int = 0,
    write: bool = False,
    erase: bool = False,
    own: list[float] | None = None,
) -> Json:
    def unit(what: str, count: int) -> list[float]:
        """Multiples of 1/16 from 0 to 1."""
        return [(abs(value) % 2) / 2 for value in eighths(f"{name}, {what}", count)]

    sizes = {"heads": heads, "query_heads": query_heads, "key_heads": 2}
    case: dict[str, Any] = {
        "name": name,
        **sizes,
        "num_tokens": TOKENS,
        "dim": DIM,
        "recurrence": {
            "scale": 0.5,
            "query_heads": query_heads,
            "decay": decay,
            "write": write,
            "erase": erase,
            "own": own,
        },
        "queries": [each / 2 for each in eighths(f"{name}, q", query_heads * TOKENS * DIM)],
        "keys": [each / 2 for each in eighths(f"{name}, k", 2 * TOKENS * DIM)],
        "decay": [-each for each in unit("decay", heads * TOKENS * decay)],
        "write": unit("write", heads * TOKENS) if write else [],
        "erase": unit("erase", heads * TOKENS) if erase else [],
    }
    case["coefficients"] = flat(reference.coefficients(case, head) for head in range(heads))
    return case
