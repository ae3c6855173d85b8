"""scores.json: every feature of the score program, alone and together."""

from typing import Any

from tests.vectors import reference
from tests.vectors.numbers import bits, eighths, flat
from tests.vectors.reference import Json

DIM = 3


def cases() -> list[Json]:
    blind = [int(i != 2) for i in range(4) for _ in range(5)]
    per_head = 2 * 4 * 5
    return [
        _case("no mask"),
        _case("scale of one", scale=1.0),
        _case("causal", num_keys=4, mask="causal"),
        _case("causal, more keys than queries", num_queries=3, mask="causal"),
        _case("causal, far more queries than keys", num_queries=7, num_keys=3, mask="causal"),
        _case("window to the left", mask="window", window=[2, 0]),
        _case("window to the right", mask="window", window=[0, 1]),
        _case("window to both sides", mask="window", window=[1, 2]),
        _case("window past the keys", num_queries=7, num_keys=3, mask="window", window=[1, 1]),
        _case("mask shared by the heads", mask="explicit", visible=bits("shared", 20)),
        _case("mask per head", mask="explicit", visible=bits("per head", per_head)),
        _case("row that sees no key", mask="explicit", visible=blind),
        _case("row that sees a sink alone", mask="explicit", visible=blind, sinks=[0.5, -1.25]),
        _case("bias shared by the heads", bias=eighths("shared bias", 20)),
        _case("bias per head", bias=eighths("bias per head", per_head)),
        _case("softcap", scale=1.0, softcap=2.5),
        _case("softcap under a bias", scale=1.0, softcap=2.5, bias=eighths("capped", 20)),
        _case("sinks", sinks=[1.5, -0.75]),
        _case("sinks above every score", sinks=[60.0, 900.0]),
        _case("a sink switched off", sinks=[None, 0.5]),
        # exp() of these overflows even double precision.
        _case("scores in the thousands", scale=512.0),
        _case("shared key heads", heads=4, key_heads=2),
        _case("one key head for all", heads=3, key_heads=1),
        _case(
            "everything, with a window",
            heads=4,
            key_heads=2,
            scale=0.75,
            mask="window",
            window=[2, 1],
            bias=eighths("bias, window", 4 * 20),
            softcap=3.0,
            sinks=[0.25, -2.0, 1.0, 0.0],
        ),
        _case(
            "everything, with a mask",
            heads=4,
            key_heads=2,
            scale=0.75,
            mask="explicit",
            visible=bits("mask", 4 * 20),
            bias=eighths("bias, mask", 20),
            softcap=3.0,
            sinks=[0.25, -2.0, 1.0, 0.0],
        ),
    ]


def _case(
    name: str,
    *,
    heads: int = 2,
    key_heads: int | None = None,
    num_queries: int = 4,
    num_keys: int = 5,
    bias: list[float] | None = None,
    visible: list[int] | None = None,
    **fields: Any,
) -> Json:
    key_heads = key_heads or heads
    case = {
        "name": name,
        "program": program(bias=bias is not None, **fields),
        "heads": heads,
        "key_heads": key_heads,
        "num_queries": num_queries,
        "num_keys": num_keys,
        "dim": DIM,
        "queries": eighths(f"{name}, queries", heads * num_queries * DIM),
        "keys": eighths(f"{name}, keys", key_heads * num_keys * DIM),
        "bias": bias,
        "visible": visible,
    }
    return case | {
        "scores": flat(reference.scores(case, head) for head in range(heads)),
        "weights": flat(reference.weights(case, head) for head in range(heads)),
    }


def program(**fields: Any) -> Json:
    """A score program as it travels in the manifest."""
    plain = {"scale": DIM**-0.5, "mask": "none", "window": None, "softcap": None, "sinks": None}
    return plain | {"bias": False} | fields
