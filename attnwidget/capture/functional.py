"""See attention that a model writes out itself: a product, a softmax, a product.

A torch function mode is told of every torch function that runs, and looks at those that
make, move or change scores and weights. Nothing that runs is changed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from .calls import Call, FunctionCall, SoftmaxCall, by_head
from .einsum import product_of, terms_of
from .modules import Running
from .scores import Scores, Weights, moved

SDPA = "scaled_dot_product_attention"


class FunctionalAttention(TorchFunctionMode):
    """Within this mode, `observe` is given every attention that torch functions compute.

    Args:
        running: the model's modules, to name the one that computes.
        observe: called with each attention, after it has been computed.
        batch: the size of the batch, where a tensor's layout leaves it open.
    """

    def __init__(self, running: Running, observe: Callable[[Call], None], batch: int) -> None:
        super().__init__()
        self._running = running
        self._observe = observe
        self._batch = batch
        self._paused = False
        self._origins: WeakIdKeyDictionary = WeakIdKeyDictionary()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """See nothing of what is computed within."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if self._paused:
            return func(*args, **kwargs)
        handler = _HANDLERS.get(_name(func))
        return func(*args, **kwargs) if handler is None else handler(self, func, args, kwargs)

    def _origin(self, tensor: Any) -> Scores | Weights | None:
        if not isinstance(tensor, torch.Tensor):
            return None
        found: Scores | Weights | None = self._origins.get(tensor)  # type: ignore[no-untyped-call]
        return found

    def _product(self, func: Any, args: Any, kwargs: Any) -> Any:
        """matmul, bmm, @: scores are made, or values are weighed."""
        out = func(*args, **kwargs)
        a, b = _operands(args, kwargs, ("input", "other", "mat2"))
        if a is None or b is None or a.ndim < 2 or b.ndim < 2:
            return out
        reversed_ = out.mT if out.ndim >= 2 else None
        if not (
            self._weighs(a, [a.ndim - 1], b, out) or self._weighs(b, [b.ndim - 2], a.mT, reversed_)
        ):
            self._multiplied(out, a, b.mT)
        return out

    def _added_product(self, func: Any, args: Any, kwargs: Any) -> Any:
        """baddbmm: a bias plus scores, in one."""
        out = func(*args, **kwargs)
        _, a, b = (*args, *(kwargs[k] for k in ("batch1", "batch2") if k in kwargs))[:3]
        if not self._weighs(a, [a.ndim - 1], b, out):
            self._multiplied(out, a, b.mT, kwargs.get("alpha", 1))
        return out

    def _einsum(self, func: Any, args: Any, kwargs: Any) -> Any:
        out = func(*args, **kwargs)
        equation, *operands = args
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
        if not isinstance(equation, str) or len(operands) != 2:
            return out
        letters = terms_of(equation, *operands)
        if letters is None:
            return out
        *inputs, kept = letters
        used = [
            self._weighs(operand, [n for n, letter in enumerate(own) if letter not in kept])
            for operand, own in zip(operands, inputs, strict=True)
        ]
        product = product_of(letters, *operands)
        if product is not None and not any(used):
            self._multiplied(out, *product)
        return out

    def _multiplied(
        self, out: torch.Tensor, query: torch.Tensor, key: torch.Tensor, scale: float = 1
    ) -> None:
        # One matrix for a whole batch is a layer's weight.
        if key.ndim > 2 or (query.ndim == 2 and not isinstance(key._base, torch.nn.Parameter)):
            self._origins[out] = Scores.of(query, key, scale)

    def _weighs(
        self,
        operand: torch.Tensor,
        summed: list[int],
        value: torch.Tensor | None = None,
        output: torch.Tensor | None = None,
    ) -> bool:
        """Whether an operand is weights: the dimension of their softmax is summed over."""
        origin = self._origin(operand)
        if not isinstance(origin, Weights) or origin.axis not in summed:
            return False
        module = self._running.innermost
        if not origin.seen and (origin.scores is not None or _is_attention(module)):
            origin.seen.append(True)
            scores = origin.scores if origin.scores is not None and origin.scores.intact else None
            call = SoftmaxCall(module, origin.logits, origin.latest, scores, value, output)
            self._observe(call)
        return True

    def _softmax(self, func: Any, args: Any, kwargs: Any) -> Any:
        out = func(*args, **kwargs)
        logits = args[0] if args else kwargs["input"]
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if isinstance(logits, torch.Tensor) and logits.ndim >= 2 and dim in (-1, logits.ndim - 1):
            origin = self._origin(logits)
            scores = origin if isinstance(origin, Scores) else None
            self._origins[out] = Weights.of(logits, scores, out)
        return out

    def _multiply(self, func: Any, args: Any, kwargs: Any) -> Any:
        inverse = "div" in _name(func)
        tracked = [n for n in (0, 1) if n < len(args) and self._origin(args[n]) is not None]
        scores = self._origin(args[tracked[0]]) if tracked else None
        factor = args[1 - tracked[0]] if tracked and len(args) > 1 else kwargs.get("other")
        if not isinstance(scores, Scores) or factor is None or (inverse and tracked[0] != 0):
            return self._change(func, args, kwargs)
        before = args[tracked[0]].shape
        out = func(*args, **kwargs)
        if out.shape == before:
            self._origins[out] = scores.times(factor, inverse=inverse)
        return out

    def _tanh(self, func: Any, args: Any, kwargs: Any) -> Any:
        origin = self._origin(args[0]) if args else None
        out = func(*args, **kwargs)
        if isinstance(origin, Scores):
            self._origins[out] = origin.tanh()
        return out

    def _change(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Values may change, the layout does not."""
        origin = next((o for o in map(self._origin, (*args, *kwargs.values())) if o), None)
        out = func(*args, **kwargs)
        if origin is None or not isinstance(out, torch.Tensor):
            return out
        if isinstance(origin, Scores):
            if out.shape == origin.index.shape:
                self._origins[out] = origin
        elif out.shape == origin.column.shape:
            self._origins[out] = replace(origin, latest=out.reshape(origin.latest.shape))
        return out

    def _view(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The layout changes, values do not."""
        origin = self._origin(args[0]) if args else None
        out = func(*args, **kwargs)
        if origin is None or not isinstance(out, torch.Tensor):
            return out
        before = origin.index if isinstance(origin, Scores) else origin.column
        index = moved(before, lambda tensor: func(tensor, *args[1:], **kwargs))
        if index is None:
            return out
        if isinstance(origin, Scores):
            self._origins[out] = replace(origin, index=index)
        elif out.shape[:-1] == origin.latest.shape[:-1] and out.shape != origin.latest.shape:
            # Columns cut off, which belong to no key: sinks.
            self._origins[out] = replace(origin, latest=out, column=index, scores=None)
        else:
            self._origins[out] = replace(origin, column=index)
        return out

    def _sdpa(self, func: Any, args: Any, kwargs: Any) -> Any:
        out = func(*args, **kwargs)
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        module = self._running.innermost
        query, key, value, output = (
            by_head(tensor, module, self._batch)
            for tensor in (given["query"], given["key"], given["value"], out)
        )
        mask = given.get("attn_mask")
        if mask is not None and mask.ndim not in (2, 4):
            mask = by_head(mask.expand(*given["query"].shape[:-2], *mask.shape[-2:]), module, 1)
        call = FunctionCall(
            module, SDPA, query, key, value, mask, bool(given.get("is_causal")),
            {"scaling": given.get("scale")}, None, None, output,
        )  # fmt: skip
        self._observe(call)
        return out

    def _multi_head_attention(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Torch's own attention is one function to a mode, but does its work in others."""
        functions: Any = F
        asked = functions.has_torch_function

        def not_this_time(_relevant: Any) -> bool:
            functions.has_torch_function = asked
            return False

        functions.has_torch_function = not_this_time
        try:
            with self:
                return func(*args, **kwargs)
        finally:
            functions.has_torch_function = asked


@functools.cache
def _name(func: Any) -> str:
    """A function's name without what marks operators, reflected operators and in-place."""
    name = str(getattr(func, "__name__", ""))
    if name == "__get__":  # a property, e.g. Tensor.mT
        return str(getattr(getattr(func, "__self__", None), "__name__", ""))
    plain = name.strip("_")
    return _OPERATORS.get(plain, plain)


def _operands(args: Any, kwargs: Any, names: tuple[str, ...]) -> Any:
    found = [*args, *(kwargs[name] for name in names if name in kwargs)]
    return found[:2] if len(found) >= 2 else (None, None)


def _is_attention(module: torch.nn.Module) -> bool:
    """A softmax whose scores are not known to come from queries and keys may be a router's."""
    return any(part in type(module).__name__.lower() for part in ("attention", "attn"))


_OPERATORS = {
    "truediv": "div", "itruediv": "div", "divide": "div", "true_divide": "div",
    "rmul": "mul", "imul": "mul", "multiply": "mul", "rtruediv": "rdiv",
    "iadd": "add", "radd": "add", "isub": "sub", "rmatmul": "matmul_reflected",
}  # fmt: skip

_CHANGES = """
    add sub subtract addcmul max min maximum minimum clamp clamp_min clamp_max clip where rdiv
    masked_fill masked_scatter nan_to_num dropout alpha_dropout to type type_as float double half
    bfloat16 clone contiguous detach
"""

_VIEWS = """
    view view_as reshape reshape_as expand expand_as transpose swapaxes swapdims permute movedim
    moveaxis unsqueeze squeeze flatten unflatten getitem T mT
"""

_Handler = Callable[[FunctionalAttention, Any, Any, Any], Any]

_HANDLERS: dict[str, _Handler] = {
    "matmul": FunctionalAttention._product,
    "bmm": FunctionalAttention._product,
    "baddbmm": FunctionalAttention._added_product,
    "einsum": FunctionalAttention._einsum,
    "softmax": FunctionalAttention._softmax,
    "mul": FunctionalAttention._multiply,
    "div": FunctionalAttention._multiply,
    "tanh": FunctionalAttention._tanh,
    "scaled_dot_product_attention": FunctionalAttention._sdpa,
    "multi_head_attention_forward": FunctionalAttention._multi_head_attention,
    **dict.fromkeys(_CHANGES.split(), FunctionalAttention._change),
    **dict.fromkeys(_VIEWS.split(), FunctionalAttention._view),
}
