"""Reference of attnwidget's computations: plain loops in double precision.

Nothing here comes from attnwidget or numpy, so that agreement with it means something. Arrays are
flat lists in C order.
"""

import math
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]
Matrix = Sequence[Sequence[float]]


def sees(program: Json, i: int, j: int, visible: int) -> bool:
    """True if query i sees key j; `visible` is the explicit mask's entry."""
    if program["blocks"] is not None:
        queries, keys = program["blocks"]
        if i // queries != j // keys:
            return False
    if program["mask"] == "causal":
        return j <= i
    if program["mask"] == "window":
        left, right = program["window"]
        return i - left <= j <= i + right
    return program["mask"] == "none" or visible == 1


def scores(case: Json, head: int) -> list[list[float]]:
    """Scores of one head before the softmax, [Tq][Tk]."""
    program, dim = case["program"], case["dim"]
    rows, columns = case["num_queries"], case["num_keys"]
    key_head = head // (case["heads"] // case["key_heads"])
    out = []
    for i in range(rows):
        row = []
        for j in range(columns):
            dot = 0.0
            for n in range(dim):
                q = case["queries"][(head * rows + i) * dim + n]
                dot += q * case["keys"][(key_head * columns + j) * dim + n]
            scale = program["scale"]
            score = dot * (scale[head] if isinstance(scale, list) else scale)
            if program["softcap"] is not None:
                score = program["softcap"] * math.tanh(score / program["softcap"])
            if program["bias"]:
                score += cell(case, "bias", head, i, j)
            if program["relative"]:
                distances = rows + columns - 1
                own = head if len(case["relative"]) > distances else 0
                score += case["relative"][own * distances + j - i + rows - 1]
            visible = cell(case, "visible", head, i, j) if program["mask"] == "explicit" else 1
            row.append(score if sees(program, i, j, visible) else -math.inf)
        out.append(row)
    return out


def cell(case: Json, name: str, head: int, i: int, j: int) -> Any:
    """Entry for query i and key j of a block's array over heads, rows of queries and keys."""
    heads, rows, columns = case["shapes"][name]
    return case[name][((head % heads) * rows + i % rows) * columns + j % columns]


def softmax(row: Sequence[float], sink: float = -math.inf) -> list[float]:
    """The sink takes its share and belongs to no key; a row that sees nothing is all zero."""
    peak = max(*row, sink)
    if peak == -math.inf:
        return [0.0] * len(row)
    total = math.exp(sink - peak)
    for score in row:
        total += math.exp(score - peak)
    return [math.exp(score - peak) / total for score in row]


def weights(case: Json, head: int) -> list[list[float]]:
    """One head's attention, [Tq][Tk]."""
    sinks = case["program"]["sinks"]
    # Null for a head whose sink is switched off.
    sink = None if sinks is None else sinks[head]
    return [softmax(row, -math.inf if sink is None else sink) for row in scores(case, head)]


def levels(
    matrix: Matrix, splits: tuple[int | None, int | None] = (None, None), size: int = 32
) -> list[int]:
    """A thumbnail's cells, 0 to 15: the square root of the largest weight that falls into each."""
    out = []
    for rows in spans(len(matrix), splits[0], size):
        for columns in spans(len(matrix[0]), splits[1], size):
            largest = max(matrix[i][j] for i in rows for j in columns)
            exact = 15 * math.sqrt(largest)
            # Single precision must not be able to fall on the other side.
            assert abs(exact % 1 - 0.5) > 1e-5, "choose other numbers"
            out.append(round(exact))
    return out


def spans(length: int, split: int | None, size: int) -> list[range]:
    """The positions of each cell. No cell holds positions on both sides of a split."""
    cells = min(length, size)
    if split is None:
        return [range(n * length // cells, (n + 1) * length // cells) for n in range(cells)]
    first = min(max(int(cells * split / length + 0.5), 1), cells - 1)
    second = [
        range(split + span.start, split + span.stop)
        for span in spans(length - split, None, cells - first)
    ]
    return spans(split, None, first) + second


def nibbles(cells: Sequence[int]) -> bytes:
    """Two cells per byte, the first in its high half; an odd last one stands alone."""
    padded = [*cells, 0]
    return bytes(padded[n] << 4 | padded[n + 1] for n in range(0, len(cells), 2))


def metrics(matrix: Matrix, special: Sequence[int]) -> dict[str, float]:
    """One head's numbers: the mean over those queries that see any key, and have such a key."""
    neighbours = {"previous": -1, "same": 0, "next": 1}
    found: dict[str, list[float]] = {name: [] for name in ("entropy", "distance", *neighbours)}
    found |= {"first": [], "special": []}
    for i, row in enumerate(matrix):
        if sum(row) == 0:
            continue
        found["entropy"].append(-sum(weight * math.log(weight) for weight in row if weight > 0))
        found["distance"].append(sum(weight * (j - i) for j, weight in enumerate(row)))
        for name, offset in neighbours.items():
            if 0 <= i + offset < len(row):
                found[name].append(row[i + offset])
        found["first"].append(row[0])
        found["special"].append(sum(row[j] for j in special))
    return {name: sum(values) / max(len(values), 1) for name, values in found.items()}


# By metric, the place in the list of words. The first that fits counts: [CLS] is special, too.
SHARES = {"first": 4, "special": 3, "previous": 0, "next": 2, "same": 1}


def pattern(metrics: dict[str, float]) -> int:
    """The place of the share of at least half; 5 if there is none."""
    return [*(place for name, place in SHARES.items() if metrics.get(name, 0) >= 0.5), 5][0]


def coefficients(case: Json, head: int) -> list[list[float]]:
    """Coefficients of one head of a recurrence, [T][T]: what its state holds of each token's value.

    The state holds, in each dimension of the keys, a multiple of each token's value.
    """
    tokens, dim, recurrence = case["num_tokens"], case["dim"], case["recurrence"]

    def vector(name: str, heads: int, token: int) -> Sequence[float]:
        start = (head // (case["heads"] // heads) * tokens + token) * dim
        values: Sequence[float] = case[name][start : start + dim]
        return values

    def strength(name: str, token: int, default: float) -> float:
        return float(case[name][head * tokens + token]) if recurrence[name] else default

    state = [[0.0] * tokens for _ in range(dim)]
    out = []
    for t in range(tokens):
        query = vector("queries", case["query_heads"], t)
        key = vector("keys", case["key_heads"], t)
        columns = recurrence["decay"]
        for n in range(dim):
            at = (head * tokens + t) * columns + (n if columns > 1 else 0)
            kept = math.exp(case["decay"][at]) if columns else 1.0
            state[n] = [kept * value for value in state[n]]
        held = [sum(key[n] * state[n][s] for n in range(dim)) for s in range(tokens)]
        for n in range(dim):
            erased = strength("erase", t, 0.0) * key[n]
            state[n] = [state[n][s] - erased * held[s] for s in range(tokens)]
            state[n][t] += strength("write", t, 1.0) * key[n]
        row = [
            recurrence["scale"] * sum(query[n] * state[n][s] for n in range(dim))
            for s in range(tokens)
        ]
        row[t] += recurrence["own"][head] if recurrence["own"] else 0.0
        out.append(row)
    return out
