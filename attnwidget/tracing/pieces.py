"""What calls of attention read: those that are pieces of one layer read the same tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import torch
from torch.utils.weak import WeakIdKeyDictionary

from .calls import Address, Call, FunctionCall
from .layout import heads_of


class Piece(NamedTuple):
    """What a call read, by numbers that tensors have while they exist.

    Attributes:
        address: its place in the forward pass.
        argument: the tensor that its module was called with, or None.
        queries, keys: the tensors that queries and keys are parts of, or None.
        part: which part of theirs the keys are.
        size: the numbers of its heads, of its queries, of its keys, and of their components; none
            if it is not known.
        heads: the number of heads that its module says it has, or None.
    """

    address: Address
    argument: int | None
    queries: int | None = None
    keys: int | None = None
    part: tuple[int, ...] = ()
    size: tuple[int, ...] = ()
    heads: int | None = None


class Sources:
    """Numbers the tensors that modules and their attention calls read.

    Args:
        follows: true for classes of modules that may compute a layer in pieces.
    """

    def __init__(self, follows: Callable[[type], bool]) -> None:
        self._follows = follows
        self._numbers: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self._of: dict[int, int] = {}
        self._count = 0

    def entered(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        """Note a module that is about to run."""
        if not self._follows(type(module)):
            return
        self._of.pop(id(module), None)
        if args and isinstance(args[0], torch.Tensor):
            self._of[id(module)] = self._number(args[0])

    def piece(self, address: Address, module: torch.nn.Module, call: Call | None) -> Piece:
        """What a call of a module read; None for a call that is not known."""
        argument = self._of.get(id(module))
        if call is None or not self._follows(type(module)):
            return Piece(address, argument)
        of = call if isinstance(call, FunctionCall) else call.scores
        if of is None:
            return Piece(address, argument, size=(*call.shape[1:], 0))
        queries, keys = (self._number(_whole(tensor)) for tensor in (of.query, of.key))
        part = (of.key.storage_offset(), *of.key.shape, *of.key.stride())
        size = (*call.shape[1:], of.query.shape[-1])
        return Piece(address, argument, queries, keys, part, size, heads_of(module))

    def _number(self, tensor: torch.Tensor) -> int:
        if tensor not in self._numbers:
            self._count += 1
            self._numbers[tensor] = self._count
        number: int = self._numbers[tensor]
        return number


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that another one is a view of."""
    base: torch.Tensor | None = tensor._base
    return tensor if base is None else base


def goes_on(last: Piece, piece: Piece) -> bool:
    """True if a call may be a further piece of the same layer as the one before."""
    one, other = last.address, piece.address
    if one.module == other.module:
        return (
            other == one._replace(call=one.call + 1)
            and last.queries is not None
            and (last.queries, last.keys) == (piece.queries, piece.keys)
            and last.size[0] == piece.size[0]
        )
    (list_of_one, _, first), (list_of_other, _, second) = (
        address.module.rpartition(".") for address in (one, other)
    )
    return (
        last.argument is not None
        and last.argument == piece.argument
        and (list_of_one, one.step, one.call) == (list_of_other, other.step, other.call)
        and first.isdigit()
        and second.isdigit()
        and int(second) == int(first) + 1
    )


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


def joined_as(run: Sequence[Piece]) -> Literal["modules", "heads", "queries"] | None:
    """How the calls of a run are one layer; None if they are layers of their own.

    Modules of one list read the same tensor side by side, each with one head. Calls of one module
    read parts of the same queries and keys: other heads of all tokens, or other queries of the
    same keys.
    """
    sizes = [piece.size for piece in run if piece.size]
    if len(run) < 2:
        return None
    if run[0].address.module != run[-1].address.module:
        alike = len(set(sizes)) <= 1 and all(size[0] == 1 for size in sizes)
        return "modules" if alike else None
    same_keys = len({piece.part for piece in run}) == 1
    if same_keys and sum(size[1] for size in sizes) == sizes[0][2]:
        return "queries"
    # Several attentions over parts of one projection have all heads each.
    of_heads = sizes[0][0] == 1 or sum(size[0] for size in sizes) == run[0].heads
    others = not same_keys or sizes[0][1] == sizes[0][2]  # heads may share their keys
    return "heads" if of_heads and others and len(set(sizes)) == 1 else None
