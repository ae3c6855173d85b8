"""Damage to real inputs, which gets further into a parser than noise does."""

import json
from copy import deepcopy
from random import Random
from typing import Any

from tests.hostile import TEXTS

NUMBERS: list[Any] = [
    *(0, 1, -1, 2, 3, 7, 127, 128, 255, 256, 4095, 65535, 65536),
    *(2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, 10**30, 10**400),
    *(0.5, -0.0, 1e-45, 1e-320, 1e38, 1e39, 1e308, float("nan"), float("inf"), float("-inf")),
]
VALUES: list[Any] = [*NUMBERS, None, True, False, "", [], {}, [[]], [0, 0], "none", "combined"]


def bytes_of(seed: bytes, others: list[bytes], random: Random) -> bytes:
    """Damage data one to four times: flip bits, insert, delete, or copy from another seed."""
    data = bytearray(seed)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(data) + 1)
        span = random.choice((1, 2, 4, 8, 64))
        match random.randrange(7):
            case 0 if at < len(data):
                data[at] ^= 1 << random.randrange(8)
            case 1:
                data[at : at + span] = random.randbytes(span)
            case 2:
                del data[at : at + span]
            case 3:
                del data[at:]
            case 4:
                data[at:at] = random.randbytes(span)
            case 5:
                other = random.choice(others)
                start = random.randrange(len(other) + 1)
                data[at:] = other[start:]
            case _:
                width = random.choice((1, 2, 4, 8))
                number = random.choice((0, 1, 2**7, 2**15, 2**31, 2**63, -1))
                mask = 2 ** (8 * width) - 1
                data[at : at + width] = (number & mask).to_bytes(width, "little")
    return bytes(data)


def json_of(value: Any, random: Random) -> Any:
    """A copy in which one to three parts are something else, somewhere else, or gone."""
    # No cycles, and NaN stays what it is.
    copied = {"": json.loads(json.dumps(value))}
    for _ in range(random.randint(1, 3)):
        places = list(_places(copied))
        holder, key = random.choice(places)
        match random.randrange(8):
            case 0 | 1 | 2:
                # Else later damage would change the list of values itself.
                holder[key] = deepcopy(random.choice(VALUES))
            case 3:
                holder[key] = random.choice(TEXTS)
            case 4:
                other, name = random.choice(places)
                holder[key] = json.loads(json.dumps(other[name]))
            case 5 if isinstance(holder[key], (int, float)):
                holder[key] = random.choice((holder[key] + 1, -holder[key], holder[key] * 2))
            case 6 if isinstance(holder, list):
                holder.insert(key, json.loads(json.dumps(holder[key])))
            case _ if holder is not copied:
                del holder[key]
    return copied[""]


def _places(value: Any) -> Any:
    """(what holds it, its key) of every part."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])
