"""scores.json: every feature of the score program, alone and together."""

import math
from typing import Any

from tests.vectors import reference
from tests.vectors.numbers import bits, eighths, flat
from tests.vectors.reference import Json

DIM = 3


def cases() -> list[Json]:
    blind = [int(i != 2) for i in range(4) for _ in range(5)]
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
        _case("mask shared by the heads", mask="explicit", visible=[1, 4, 5]),
        _case("mask per head", mask="explicit", visible=[2, 4, 5]),
        _case("mask of one row", mask="explicit", visible=[1, 1, 5]),
        _case("row that sees no key", mask="explicit", visible=[1, 4, 5], cells=blind),
        _case(
            "row that sees a sink alone",
            mask="explicit",
            visible=[1, 4, 5],
            cells=blind,
            sinks=[0.5, -1.25],
        ),
        _case("bias shared by the heads", bias=[1, 4, 5]),
        _case("bias per head", bias=[2, 4, 5]),
        _case("bias of one row", bias=[1, 1, 5]),
        # The same number of entries as one row per head.
        _case("bias of one row per head", heads=4, bias=[4, 1, 5]),
        _case("relative bias", relative=[1, 8]),
        _case("relative bias per head", num_queries=3, relative=[2, 7]),
        _case("relative bias under causality", num_queries=6, mask="causal", relative=[1, 10]),
        _case("softcap", scale=1.0, softcap=2.5),
        _case("softcap under every bias", scale=1.0, softcap=2.5, bias=[1, 4, 5], relative=[1, 8]),
        _case("scale per head", scale=[0.25, -2.0]),
        _case("scale per head, shared key heads", heads=4, key_heads=2, scale=[1.0, 0.5, 2.0, 0.0]),
        _case("blocks", num_queries=6, num_keys=6, blocks=[3, 3]),
        _case("blocks with a short last one", num_queries=5, num_keys=5, blocks=[2, 2]),
        _case("blocks of more queries than keys", num_queries=6, num_keys=4, blocks=[3, 2]),
        _case("blocks of more keys than queries", num_queries=4, num_keys=7, blocks=[2, 4]),
        _case("blocks, and queries after the last", num_queries=5, num_keys=2, blocks=[2, 2]),
        _case("one block, larger than all", blocks=[9, 9], bias=[1, 4, 5]),
        _case("causal blocks", num_queries=7, num_keys=7, mask="causal", blocks=[3, 3]),
        _case("window in blocks", num_queries=6, mask="window", window=[1, 1], blocks=[3, 2]),
        _case("bias for every block", num_queries=6, num_keys=6, blocks=[3, 3], bias=[2, 3, 3]),
        _case(
            "bias for every block, the last one short",
            num_queries=7,
            blocks=[3, 2],
            bias=[1, 3, 2],
            relative=[2, 11],
        ),
        _case("bias of one row for every block", num_queries=6, blocks=[2, 2], bias=[2, 1, 2]),
        _case(
            "mask of its own for each query of a block",
            num_queries=6,
            num_keys=6,
            blocks=[3, 3],
            mask="explicit",
            visible=[1, 6, 3],
            bias=[2, 3, 3],
        ),
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
            bias=[4, 4, 5],
            softcap=3.0,
            sinks=[0.25, -2.0, 1.0, 0.0],
        ),
        _case(
            "everything, with a mask",
            heads=4,
            key_heads=2,
            scale=0.75,
            mask="explicit",
            visible=[4, 4, 5],
            bias=[1, 4, 5],
            softcap=3.0,
            sinks=[0.25, -2.0, 1.0, 0.0],
        ),
        _case(
            "everything, in blocks",
            heads=4,
            key_heads=2,
            num_queries=7,
            num_keys=8,
            scale=[0.75, 1.0, 0.5, 0.25],
            mask="causal",
            blocks=[3, 3],
            bias=[4, 3, 3],
            relative=[4, 14],
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
    bias: list[int] | None = None,
    visible: list[int] | None = None,
    relative: list[int] | None = None,
    cells: list[int] | None = None,
    **fields: Any,
) -> Json:
    """`bias`, `visible` and `relative` are shapes; `cells` what stands in `visible`."""
    key_heads = key_heads or heads
    shapes = {"bias": bias, "visible": visible, "relative": relative}
    counts = {part: math.prod(shape) for part, shape in shapes.items() if shape}
    values = {part: eighths(f"{name}, {part}", count) for part, count in counts.items()}
    if visible:
        values["visible"] = cells or bits(name, counts["visible"])
    case = {
        "name": name,
        "program": program(bias=bias is not None, relative=relative is not None, **fields),
        "heads": heads,
        "key_heads": key_heads,
        "num_queries": num_queries,
        "num_keys": num_keys,
        "dim": DIM,
        "queries": eighths(f"{name}, queries", heads * num_queries * DIM),
        "keys": eighths(f"{name}, keys", key_heads * num_keys * DIM),
        "shapes": {part: shape for part, shape in shapes.items() if shape},
        **dict.fromkeys(shapes),
        **values,
    }
    return case | {
        "scores": flat(reference.scores(case, head) for head in range(heads)),
        "weights": flat(reference.weights(case, head) for head in range(heads)),
    }


def program(**fields: Any) -> Json:
    """A score program as it travels in the manifest."""
    plain = {"scale": DIM**-0.5, "mask": "none", "window": None, "blocks": None, "softcap": None}
    return plain | {"sinks": None, "bias": False, "relative": False} | fields
