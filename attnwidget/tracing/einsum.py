"""Recognition of queries and keys in an Einstein summation."""

from __future__ import annotations

import string
from typing import NamedTuple

import torch


def terms_of(equation: str, a: torch.Tensor, b: torch.Tensor) -> tuple[str, str, str] | None:
    """One letter for each dimension of both operands and of the result, or None if that fails."""
    inputs, arrow, out = equation.replace(" ", "").partition("->")
    first, comma, second = inputs.partition(",")
    if not arrow or not comma:
        return None
    free = [letter for letter in string.ascii_letters if letter not in equation]
    hidden = max(t.ndim - len(s.replace("...", "")) for t, s in ((a, first), (b, second)))
    shared = "".join(free[: max(hidden, 0)])

    def spelled(letters: str, count: int) -> str:
        # Broadcasting aligns the last dimensions that "..." stands for.
        return letters.replace("...", shared[len(shared) - count :])

    first = spelled(first, a.ndim - len(first.replace("...", "")))
    second = spelled(second, b.ndim - len(second.replace("...", "")))
    out = spelled(out, len(shared))
    fits = len(first) == a.ndim and len(second) == b.ndim
    return (first, second, out) if fits else None


class Product(NamedTuple):
    """A result that is the product of queries and keys.

    Attributes:
        query, key: [..., Tq, d] and [..., Tk, d].
        order: the dimensions of [..., Tq, Tk] in the order of the result.
    """

    query: torch.Tensor
    key: torch.Tensor
    order: list[int]


def product_of(letters: tuple[str, str, str], a: torch.Tensor, b: torch.Tensor) -> Product | None:
    """The queries and keys of a result; None for anything else, as a sum over two dimensions."""
    first, second, out = letters
    summed = (set(first) & set(second)) - set(out)
    if len(summed) != 1 or set(first) | set(second) != set(out) | summed:
        return None
    [d] = summed
    sides = [[n for n in out if n not in other] for other in (second, first)]
    if [len(side) for side in sides] == [1, 1]:
        query, key = sorted((side[0] for side in sides), key=out.index)
    else:  # heads of one side alone
        query, key = out[-2:-1], out[-1:]
    if query in second:
        a, b, first, second = b, a, second, first
    if not (query and query in first and query not in second):
        return None
    if not (key in second and key not in first):
        return None
    lead = "".join(letter for letter in out if letter not in (query, key))
    order = [(lead + query + key).index(letter) for letter in out]
    return Product(arranged(a, first, lead + query + d), arranged(b, second, lead + key + d), order)


def weighted_values(weights: str, value: str, out: str) -> tuple[str, str] | None:
    """The letters (value, product) in the order of the weights, whose keys are the last.

    Args:
        weights: the letters of the weights, as [..., Tq, Tk].
        value: those of the values.
        out: those of their product.

    Returns:
        As [..., Tk, d_v] and [..., Tq, d_v]; None if it is no such product.
    """
    width = [letter for letter in value if letter not in weights]
    keys = [letter for letter in weights if letter in value and letter not in out]
    queries = [letter for letter in weights if letter in out and letter not in value]
    if len(width) != 1 or len(keys) != 1:
        return None
    lead = weights.replace(keys[0], "")
    query = queries[0] if len(queries) == 1 else lead[-1:]  # values may be without heads
    product = lead + width[0]
    if query not in queries or set(product) != set(out):
        return None
    return lead.replace(query, keys[0]) + width[0], product


def arranged(tensor: torch.Tensor, letters: str, wanted: str) -> torch.Tensor:
    """Permute the tensor's dimensions; one that it lacks gets length 1."""
    present = [letter for letter in wanted if letter in letters]
    arranged = tensor.permute([letters.index(letter) for letter in present])
    for place, letter in enumerate(wanted):
        if letter not in letters:
            arranged = arranged.unsqueeze(place)
    return arranged
