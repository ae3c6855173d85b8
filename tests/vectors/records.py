"""overview.json and record.json: whole records as the browser gets them."""

from base64 import b64decode
from collections.abc import Mapping, Sequence
from random import Random

from attnwidget.analysis import LENSES, METRICS, PATTERNS
from tests.vectors import reference
from tests.vectors.encoding import base64_of, encode_block
from tests.vectors.numbers import eighths, flat
from tests.vectors.reference import Json
from tests.vectors.scores import program

# Texts that a page could take for markup, or that change the direction of a line.
LABELS = [
    "[CLS]",
    '<img src=x onerror="globalThis.attacked=true">',
    "cat",
    "</script><script>globalThis.attacked=true</script>",
    "[SEP]",
    "שלום",
    "🙂",
    "&amp;",
    "[SEP]",
]


def overview() -> Json:
    """Two stacks, unequal layers and heads, and more tokens than a thumbnail has."""
    long = _tokens([f"t{n}" for n in range(37)], [0] * 21 + [1] * 16, special=[0, 36])
    short = _tokens(["eins", "zwei", "drei"])
    five = _tokens(["one", "two", "three", "four", "five"])
    encoder = [_layer(long, long, "e0", 2, dim=3), _layer(long, long, "e1", 3, dim=2, number=1)]
    cross = [
        _layer(short, five, "c0", 1, dim=3, number=3, exact=False),
        _layer(short, five, "c1", 2, dim=5, number=7),
    ]
    stacks = {"encoder": (long, None, encoder), "cross": (short, five, cross)}
    return _record("two stacks", stacks, ["decoder.5: it calls no attention function"])


def record() -> Json:
    """A text pair, with layers of every kind: plain, weights alone, and causal with a softcap."""
    words = {
        "labels": [
            *LABELS[:2],
            LABELS[2] + LABELS[3],
            *LABELS[4:6],
            LABELS[6] + LABELS[7],
            "[SEP]",
        ],
        "of": [0, 1, 2, 2, 3, 4, 5, 5, 6],
    }
    pair = _tokens(LABELS, [0, 0, 0, 0, 0, 1, 1, 1, 1], [0, 4, 8]) | {"words": words}
    capped = program(scale=0.25, mask="causal", softcap=4.0)
    layers = [
        _layer(pair, pair, "plain", 4, dim=4, exact=True),
        _weights_alone(pair, "given", 2, number=1),
        _layer(pair, pair, "capped", 10, number=2, key_heads=5, dim=6, capped=capped, exact=False),
    ]
    return _record("tiny", {"self": (pair, None, layers)}) | {
        "scores": [layer["scores"] and flat(layer["scores"]) for layer in layers],
        "weights": [flat(layer["weights"]) for layer in layers],
    }


def _split(tokens: Json) -> int | None:
    segments = tokens["segments"]
    return None if segments is None else segments.index(1)


def _tokens(
    labels: list[str], segments: list[int] | None = None, special: list[int] | None = None
) -> Json:
    return {
        "labels": labels,
        "segments": segments,
        "special": special or [],
        "words": None,
        "patches": None,
        "generated": None,
    }


def _layer(
    queries: Json,
    keys: Json,
    seed: str,
    heads: int,
    *,
    dim: int,
    number: int = 0,
    key_heads: int | None = None,
    capped: Json | None = None,
    exact: bool | None = None,
) -> Json:
    rows, columns = len(queries["labels"]), len(keys["labels"])
    info = {
        "number": number,
        "heads": heads,
        "key_heads": key_heads or heads,
        "dim": dim,
        "rotary": None,
        "program": capped or program(scale=dim**-0.5),
        "sums": None,
        "fidelity": {"exact": exact, "module": "", "tolerance": 1e-5, "labels": None},
    }
    parts = [
        {"name": "queries", "dtype": "f16", "shape": [heads, rows, dim]},
        {"name": "keys", "dtype": "f16", "shape": [info["key_heads"], columns, dim]},
    ]
    values = {
        "queries": eighths(f"{seed}, queries", heads * rows * dim),
        "keys": eighths(f"{seed}, keys", info["key_heads"] * columns * dim),
    }
    case = {**info, **values, "num_queries": rows, "num_keys": columns}
    return {
        "info": info,
        "block": encode_block(parts, values),
        "scores": [reference.scores(case, head) for head in range(heads)],
        "weights": [reference.weights(case, head) for head in range(heads)],
    }


def _weights_alone(tokens: Json, seed: str, heads: int, *, number: int) -> Json:
    count = len(tokens["labels"])
    random = Random(seed)
    weights = [[_row(random, count) for _ in range(count)] for _ in range(heads - 1)]
    # The last key gets nothing from the last head.
    weights.append([[*_row(random, count - 1), 0.0] for _ in range(count)])
    parts = [{"name": "weights", "dtype": "f16", "shape": [heads, count, count]}]
    values = {"weights": [value for rows in weights for row in rows for value in row]}
    info = {
        "number": number,
        "heads": heads,
        "key_heads": heads,
        "dim": None,
        "rotary": None,
        "program": None,
        "sums": None,
        "fidelity": {"exact": None, "module": "", "tolerance": 1e-5, "labels": None},
    }
    block = encode_block(parts, values)
    return {"info": info, "block": block, "scores": None, "weights": weights}


def _combined(heads: Sequence[reference.Matrix]) -> Json:
    cells = [[weight for row in head for weight in row] for head in heads]
    shape = [len(heads[0]), len(heads[0][0])]
    values = {
        "mean": [sum(cell) / len(heads) for cell in zip(*cells, strict=True)],
        "max": [max(cell) for cell in zip(*cells, strict=True)],
        "head": [float(cell.index(max(cell))) for cell in zip(*cells, strict=True)],
    }
    parts = [{"name": name, "dtype": "f16", "shape": shape} for name in values]
    return encode_block(parts, values)


def _row(random: Random, count: int) -> list[float]:
    """64ths that add up to one, in float16 too; never 16 of them, halfway between two levels."""
    while True:
        cuts = [0, *sorted(random.randint(0, 64) for _ in range(count - 1)), 64]
        shares = [cuts[n + 1] - cuts[n] for n in range(count)]
        if 16 not in shares:
            return [share / 64 for share in shares]


def _bytes(layer: Json) -> int:
    """The size of the layer's block as a kernel sends it: integers of 16 bits, and their steps."""
    info = layer["info"]
    halves = sum(len(b64decode(data)) for data in layer["block"]["buffers"])
    return halves + 4 * (info["dim"] or 0) * (info["heads"] + info["key_heads"])


# Of every layer that lacks the lens.
SCORES = (
    "weights alone",
    "was recorded as weights alone: it has no scores. They follow from queries, keys and a score "
    "program, as capture(…) and from_arrays(…, queries=…, keys=…) record them",
)
VALUES = (
    "needs capture(values=True)",
    "has no values: record them with capture(…, values=True). With that, only layers lack them "
    "whose values are not multiplied in a way that capture follows",
)
ROLLOUT = (
    "self-attention only",
    "has queries and keys that are different tokens: rollout multiplies the layers of "
    "self-attention",
)


def _lenses(stacks: Sequence[Json]) -> list[Json]:
    """The lenses of stacks without values, with the layers that lack them."""
    lacks = {
        "attention": (("", ""), lambda stack, layer: False),
        "scores": (SCORES, lambda stack, layer: layer["program"] is None),
        "values": (VALUES, lambda stack, layer: True),
        "rollout": (ROLLOUT, lambda stack, layer: stack["keys"] is not None),
    }
    kinds = {"values": "factors", "rollout": "layers"}
    known = {lens.name: lens for lens in LENSES}
    sent = []
    for name, ((brief, sentence), lacking) in lacks.items():
        lens = known[name]
        without = {
            stack["name"]: [each["number"] for each in stack["layers"] if lacking(stack, each)]
            for stack in stacks
        }
        why_not = {
            name: [{"brief": brief, "sentence": sentence, "layers": layers}]
            for name, layers in without.items()
            if layers
        }
        words = {
            name: getattr(lens, name)
            for name in (
                *("name", "label", "description", "one", "many"),
                *("signed", "digits", "unit", "adds_up"),
            )
        }
        sent.append(
            {
                **words,
                "kind": kinds.get(lens.name, "browser"),
                "accumulates": lens.name == "rollout",
                "symbols": ["‖f(x)‖", "‖w f(x)‖"] if lens.name == "values" else None,
                "peaks": None,
                "why_not": why_not,
            }
        )
    return sent


def _record(
    model: str,
    stacks: dict[str, tuple[Json, Json | None, list[Json]]],
    missing: Sequence[str] = (),
) -> Json:
    sent, levels, blocks = [], [], {}
    numbers: dict[str, list[list[dict[str, float]]]] = {}
    for name, (queries, keys, layers) in stacks.items():
        special = (keys or queries)["special"]
        infos = [layer["info"] | {"bytes": _bytes(layer)} for layer in layers]
        numbers[name] = [
            [_metrics(head, special, keys is None) for head in layer["weights"]] for layer in layers
        ]
        axes = {"queries": queries, "keys": keys, "sampled": None}
        sent.append({"name": name, **axes, "layers": infos})
        splits = _split(queries), _split(keys or queries)
        levels.append(
            [[reference.levels(head, splits) for head in layer["weights"]] for layer in layers]
        )
        blocks |= {f"{name}.{layer['info']['number']}": layer["block"] for layer in layers}
        blocks[f"{name}.combined"] = _combined(
            [head for layer in layers for head in layer["weights"]]
        )
    thumbnails = [cells for stack in levels for layer in stack for cells in layer]
    return {
        "manifest": {
            "version": 5,
            "model": model,
            "missing": list(missing),
            "lenses": _lenses(sent),
            "stacks": sent,
            "images": [],
            "texts": None,
            "metrics": _sent_metrics(numbers),
            "patterns": {
                "kinds": list(PATTERNS),
                "values": {
                    name: [[reference.pattern(head) for head in heads] for heads in layers]
                    for name, layers in numbers.items()
                },
            },
        },
        "overview": base64_of(b"".join(map(reference.nibbles, thumbnails))),
        # One hexadecimal digit per cell.
        "levels": [
            [["".join(f"{n:x}" for n in cells) for cells in layer] for layer in stack]
            for stack in levels
        ],
        "blocks": blocks,
    }


def _metrics(
    matrix: reference.Matrix, special: Sequence[int], attends_to_itself: bool
) -> dict[str, float]:
    return {
        name: round(value, 4)
        for name, value in reference.metrics(matrix, special).items()
        if attends_to_itself or not METRICS[name].self_only
    }


def _sent_metrics(numbers: Mapping[str, list[list[dict[str, float]]]]) -> list[Json]:
    """The metrics of the reference, under their names in Python."""
    names = dict.fromkeys(name for [[head, *_], *_] in numbers.values() for name in head)
    return [
        {
            "name": name,
            "label": METRICS[name].label,
            "unit": METRICS[name].unit,
            "digits": METRICS[name].digits,
            "signed": name == "distance",
            "directions": ["to the left", "to the right"] if name == "distance" else None,
            "description": METRICS[name].description,
            "values": {
                stack: [[head[name] for head in heads] for heads in layers]
                for stack, layers in numbers.items()
                if name in layers[0][0]
            },
        }
        for name in names
    ]
