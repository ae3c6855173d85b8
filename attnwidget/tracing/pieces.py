"""The tensors that calls of attention read: the same ones in pieces of one layer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import torch
from torch.utils.weak import WeakIdKeyDictionary

from .calls import Address, Call, FunctionCall
from .layout import heads_of


class Part(NamedTuple):
    """A part of a tensor.

    Attributes:
        whole: the number of the tensor.
        start: the place of its first entry.
        shape, stride: of its entries.
    """

    whole: int
    start: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    def begins(self, other: Part) -> bool:
        """True if this is the same part of the same tensor, or another one has further tokens."""
        count = other.shape[-2]
        alike = self._replace(shape=(*self.shape[:-2], count, self.shape[-1])) == other
        return alike and self.shape[-2] <= count


class Size(NamedTuple):
    """The numbers of items, of heads, of queries, of keys, and of their components."""

    items: int
    heads: int
    queries: int
    keys: int
    width: int


class Piece(NamedTuple):
    """The tensors that a call read, by numbers that they have while they exist.

    Attributes:
        address: its place in the forward pass.
        argument: the tensor that its module was called with, or None.
        read: the tensors that torch's layers in its module read before the call.
        positions: the number of the tokens of all items that its module was called with; 0 if that
            is not known.
        queries, keys, values: what they are parts of, or None.
        size: of its scores, or None.
        heads: the number of heads that its module says it has, or None.
    """

    address: Address
    argument: int | None = None
    read: frozenset[int] = frozenset()
    positions: int = 0
    queries: Part | None = None
    keys: Part | None = None
    values: Part | None = None
    size: Size | None = None
    heads: int | None = None


class Sources:
    """Numbers the tensors that modules and their attention calls read.

    Args:
        follows: true for classes of modules that may compute a layer in pieces.
    """

    def __init__(self, follows: Callable[[type], bool]) -> None:
        self._follows = follows
        self._numbers: WeakIdKeyDictionary = WeakIdKeyDictionary()
        # Of each module, the number of its argument and of the tokens in it.
        self._arguments: dict[int, tuple[int, int]] = {}
        self._read: set[int] = set()
        self._inside = False
        self._count = 0

    def entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        """Note a module that is about to run."""
        follows = self._follows(type(module))
        given = args[0] if args and isinstance(args[0], torch.Tensor) else None
        if next(module.children(), None) is not None:
            self._inside, self._read = follows, set()
        elif self._inside and given is not None and not follows and module._parameters:
            self._read.add(self._number(given))
        if follows:
            self._arguments.pop(id(module), None)
            if given is not None:
                self._arguments[id(module)] = self._number(given), _positions(given)

    def piece(self, address: Address, module: torch.nn.Module, call: Call | None) -> Piece:
        """The tensors that a call of a module read; `call` is None where it is not known."""
        argument, positions = self._arguments.get(id(module), (None, 0))
        read, self._read = frozenset(self._read), set()
        piece = Piece(address, argument, read, positions)
        if call is None or not self._follows(type(module)):
            return piece
        of = call if isinstance(call, FunctionCall) else call.scores
        width = 0 if of is None else of.query.shape[-1]
        piece = piece._replace(size=Size._make((*call.shape, width)), heads=heads_of(module))
        if of is None:
            return piece
        whole = _whole(of.query)
        return piece._replace(
            positions=positions or (_positions(whole) if whole.ndim == 3 else 0),
            queries=self._part(of.query),
            keys=self._part(of.key),
            values=None if call.value is None else self._part(call.value),
        )

    def _number(self, tensor: torch.Tensor) -> int:
        tensor = _whole(tensor)
        if tensor not in self._numbers:
            self._count += 1
            self._numbers[tensor] = self._count
        number: int = self._numbers[tensor]
        return number

    def _part(self, tensor: torch.Tensor) -> Part:
        start, shape = int(tensor.storage_offset()), tuple(tensor.shape)
        return Part(self._number(tensor), start, shape, tensor.stride())


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that another one is a view of."""
    base: torch.Tensor | None = tensor._base
    return tensor if base is None else base


def _positions(tensor: torch.Tensor) -> int:
    """The number of tokens in vectors, or in ids."""
    return tensor.numel() // (tensor.shape[-1] if tensor.is_floating_point() else 1)


def goes_on(last: Piece, piece: Piece) -> bool:
    """True if a call may be a further piece of the same layer as the one before."""
    one, other = last.address, piece.address
    if one.module == other.module:
        return other == one._replace(call=one.call + 1) and _go_together(last, piece)
    if (one.step, one.call) != (other.step, other.call) or _list_of(last, piece) is None:
        return False
    same = last.argument is not None and last.argument == piece.argument
    return same or (bool(last.read) and last.read == piece.read)


def _go_together(last: Piece, piece: Piece) -> bool:
    """True if two calls of a module may be of what it computed at once."""
    if last.size is None or piece.size is None or last.size.heads != piece.size.heads:
        return False
    if last.queries is None or last.keys is None or piece.queries is None or piece.keys is None:
        return False
    same = [a.whole == b.whole for a, b in ((last.queries, piece.queries), (last.keys, piece.keys))]
    if all(same):
        return True
    if piece.read:  # a layer has run in between
        return last.read == piece.read and piece.size.heads == 1
    crossed = piece.queries.whole == last.keys.whole or piece.keys.whole == last.queries.whole
    return any(same) or (piece.size.heads == 1 and not crossed)


_NUMBERED = re.compile(r"(\D*)(\d+)(\D*)")


def _list_of(last: Piece, piece: Piece) -> str | None:
    """The module in which two calls' modules follow each other, as in a list; None if in none."""
    names = [each.address.module.split(".") for each in (last, piece)]
    differing = [n for n, (a, b) in enumerate(zip(*names, strict=False)) if a != b]
    if len(names[0]) != len(names[1]) or len(differing) != 1:
        return None
    [place] = differing
    one, other = (_NUMBERED.fullmatch(each[place]) for each in names)
    if one is None or other is None or (one[1], one[3]) != (other[1], other[3]):
        return None
    return ".".join(names[0][:place]) if int(other[2]) == int(one[2]) + 1 else None


class _HasPiece(Protocol):
    @property
    def piece(self) -> Piece: ...


_Each = TypeVar("_Each", bound=_HasPiece)


def runs(calls: Iterable[_Each]) -> Iterator[list[_Each]]:
    """Calls that may be pieces of one layer, and others by themselves."""
    run: list[_Each] = []
    for call in calls:
        if run and not goes_on(run[-1].piece, call.piece):
            yield run
            run = []
        run.append(call)
    if run:
        yield run


class Joined(NamedTuple):
    """A way in which calls are one layer.

    Attributes:
        module: the name of the layer's module.
        kind: what each piece is: heads of all tokens, queries of all heads, or parts of a kind that
            is not known.
    """

    module: str
    kind: Literal["heads", "queries", "parts"]


def joined_as(run: Sequence[Piece]) -> Joined | None:
    """The way in which the calls of a run are one layer; None if they are layers of their own.

    Modules of one list read the same tensor side by side, each with one head. Calls of one module
    read parts of the same queries and keys: other heads of all tokens, or other queries of the
    same keys, of which later ones may see more.
    """
    if len(run) < 2:
        return None
    module, sizes = run[0].address.module, [piece.size for piece in run if piece.size]
    if module != run[-1].address.module:
        around = _list_of(run[0], run[1])
        alike = len(set(sizes)) <= 1 and all(size.heads == 1 for size in sizes)
        return Joined(around, "heads") if alike and around is not None else None
    tokens = [size.items * size.queries for size in sizes]
    if set(tokens) == {run[0].positions}:
        kind = _as_heads(run) if len(set(sizes)) == 1 else None
        return None if kind is None else Joined(module, kind)
    keys = [piece.keys for piece in run if piece.keys]
    growing = all(a.begins(b) for a, b in pairwise(keys))
    # Without a tensor to count tokens in, self-attention has as many queries as keys.
    count = run[0].positions or sizes[-1].items * sizes[-1].keys
    return Joined(module, "queries" if growing and sum(tokens) == count else "parts")


def _as_heads(run: Sequence[Piece]) -> Literal["heads", "parts"] | None:
    """The kind of a module's calls that see all tokens each; None for attentions of their own."""
    sizes = [piece.size for piece in run if piece.size]
    if len({(piece.queries, piece.keys) for piece in run}) < len(run):
        return None
    count, values = run[0].heads, {piece.values for piece in run}
    apart = count is None and None not in values and len(values) == len(run)
    # Several attentions over parts of one projection have all heads each.
    if sizes[0].heads > 1 and sum(size.heads for size in sizes) != count and not apart:
        return None
    sides = zip(*((piece.queries, piece.keys) for piece in run), strict=True)
    same = any(len({part.whole for part in side if part}) == 1 for side in sides)
    read = {piece.read for piece in run if piece.read}
    # All that was computed of one tensor, before all calls or before each.
    of_one = len(read) == 1 and (run[-1].read in read or len(run[0].read) == 1)
    return "heads" if same or of_one else "parts"
