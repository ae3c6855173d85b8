"""lenses.json: the numbers of lenses that are sent, matrices and factors, and as they are shown."""

from random import Random

from tests.vectors.encoding import encode_block
from tests.vectors.reference import Json

HEADS, QUERIES, KEYS = 2, 3, 4


def lenses() -> Json:
    """Matrices of two heads as integers with steps, and the shares of weights times factors."""
    random = Random("lenses")
    steps = [0.25, 2.0**-20]
    size = QUERIES * KEYS
    integers = [[random.randint(-32767, 32767) for _ in range(size)] for _ in range(HEADS)]
    # The largest magnitude decides the step.
    for own in integers:
        own[5] = -32767
    parts = [
        {"name": "numbers", "dtype": "i16", "shape": [HEADS, QUERIES, KEYS]},
        {"name": "steps", "dtype": "f32", "shape": [HEADS]},
    ]
    values = {"numbers": [float(n) for own in integers for n in own], "steps": steps}
    weights = [random.randint(0, 64) / 64 for _ in range(HEADS * size)]
    weights[:KEYS] = [0.0] * KEYS
    factors = [random.randint(0, 64) / 8 for _ in range(HEADS * KEYS)]
    shares = []
    for head in range(HEADS):
        for query in range(QUERIES):
            start = (head * QUERIES + query) * KEYS
            own = factors[head * KEYS : (head + 1) * KEYS]
            row = [w * f for w, f in zip(weights[start : start + KEYS], own, strict=True)]
            shares += [each / (sum(row) or 1) for each in row]
    return {
        "shape": [HEADS, QUERIES, KEYS],
        "block": encode_block(parts, values),
        "numbers": [n * step for own, step in zip(integers, steps, strict=True) for n in own],
        "weights": weights,
        "factors": factors,
        "shares": shares,
    }
