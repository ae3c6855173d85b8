"""The route through torch's functions: attention written as a product, a softmax, a product.

A torch function mode intercepts every torch function, and follows those that compute, move or
change scores and weights. The same functions run as without it, except that torch does not use
its fused encoder layers while any such mode is active.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from .calls import Bias, FunctionCall, Observer, Read, SoftmaxCall
from .einsum import arranged, product_of, terms_of, weighted_values
from .layout import Layout
from .masks import check_seen, seen_scores
from .modules import ModuleStack, is_attention
from .provenance import Scores, Weights
from .shifts import Rolls

SDPA = "scaled_dot_product_attention"


class AttentionMode(TorchFunctionMode):
    """A torch function mode in which `observe` receives every attention call.

    Args:
        stack: the running modules; the innermost one makes the call.
        observe: called with the result of the last function of a call.
        batch: the size of the batch, for tensors whose layout does not tell it.
        bias: called before each softmax of scores, for numbers to add to these.

    Attributes:
        products: the names of the modules that multiplied two tensors of the model's own.
        rolls: of grids of tokens.
    """

    def __init__(
        self, stack: ModuleStack, observe: Observer, batch: int | None, bias: Bias | None = None
    ) -> None:
        super().__init__()
        self._stack = stack
        self._observe = observe
        self._batch = batch
        self._bias = bias
        self._paused = False
        # The calls that the latest function completed.
        self._completed: list[tuple[torch.nn.Module, Read]] = []
        self._origins: WeakIdKeyDictionary = WeakIdKeyDictionary()
        # Logarithms of weights, with the scores that they are of.
        self._logarithms: WeakIdKeyDictionary = WeakIdKeyDictionary()
        # Tensors that scores and others were put together to.
        self._joined: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self.products: set[str] = set()
        self.rolls = Rolls()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Follow nothing within this context."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = _name(func)
        if self._paused or self._stack.elsewhere:
            return func(*args, **kwargs)
        if name == "multi_head_attention_forward":
            return self._run_within(func, args, kwargs)
        if name == "softmax" and self._bias is not None:
            args, kwargs = self._biased(self._bias, args, kwargs)
        out = func(*args, **kwargs)
        follow = _FOLLOWED.get(name)
        # Without a tensor of known origin, there is none to pass on.
        if follow is not None and (self._origins.data or name in _SOURCES):
            with suppress(Exception):  # a failure to follow must not stop the model
                follow(self, out, func, args, kwargs)
            completed, self._completed = self._completed, []
            for module, read in completed:
                out = self._observe(module, read, out)
        return out

    def _run_within(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Run multi_head_attention_forward so that the mode sees the functions within it.

        If its first check for a mode were answered True, it would go to the mode as one function.
        """
        functions: Any = F
        original = functions.has_torch_function

        def answer_false_once(_relevant: Any) -> bool:
            functions.has_torch_function = original
            return False

        functions.has_torch_function = answer_false_once
        try:
            with self:
                return func(*args, **kwargs)
        finally:
            functions.has_torch_function = original

    def _origin(self, tensor: Any) -> Scores | Weights | None:
        if not isinstance(tensor, torch.Tensor):
            return None
        origin: Scores | Weights | None = self._origins.get(tensor)  # type: ignore[no-untyped-call]
        return origin

    def _product(self, out: torch.Tensor, _func: Any, args: Any, kwargs: Any) -> None:
        """Follow matmul, bmm, @: queries and keys give scores, or weights and values an output."""
        a, b = [*args, *(kwargs[name] for name in ("input", "other", "mat2") if name in kwargs)][:2]
        if a.ndim < 2 or b.ndim < 2:
            return
        if self._weighs(a, [a.ndim - 1], b, out) or self._weighs(
            b, [b.ndim - 2], a.mT, out.mT, lambda product: product.mT
        ):
            return
        self._multiplied(out, a, b.mT)

    def _added_product(self, out: torch.Tensor, _func: Any, args: Any, kwargs: Any) -> None:
        """Follow baddbmm: a bias plus scores, in one function."""
        arguments = {**dict(zip(("input", "batch1", "batch2"), args, strict=False)), **kwargs}
        a, b = arguments["batch1"], arguments["batch2"]
        if not self._weighs(a, [a.ndim - 1], b, out):
            self._multiplied(out, a, b.mT, kwargs.get("alpha", 1))

    def _einsum(self, out: torch.Tensor, _func: Any, args: Any, _kwargs: Any) -> None:
        equation, *operands = args
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
        first, second = operands
        letters = terms_of(equation, first, second)
        if letters is None:
            return
        *inputs, result = letters
        used = [
            self._weighs(
                operand,
                [n for n, letter in enumerate(axes) if letter not in result],
                *_of_einsum(axes, other_axes, result, operand, other, out),
            )
            for operand, axes, other, other_axes in (
                (first, inputs[0], second, inputs[1]),
                (second, inputs[1], first, inputs[0]),
            )
        ]
        product = product_of(letters, first, second)
        if product is not None and not any(used):
            self._multiplied(out, product.query, product.key, order=product.order)

    def _multiplied(
        self,
        out: torch.Tensor,
        query: torch.Tensor,
        key: torch.Tensor,
        scale: float = 1,
        order: list[int] | None = None,
    ) -> None:
        # A single matrix for a whole batch is a layer's parameter, not keys.
        if key.ndim > 2 or (query.ndim == 2 and not isinstance(key._base, torch.nn.Parameter)):
            scores = Scores.of(query, key, scale)
            self._origins[out] = scores if order is None else scores.permuted(order)
            self.products.add(self._stack.name(self._stack.innermost))

    def _weighs(
        self,
        operand: torch.Tensor,
        summed: list[int],
        value: torch.Tensor | None = None,
        product: torch.Tensor | None = None,
        back: Callable[[torch.Tensor], torch.Tensor] = lambda product: product,
    ) -> bool:
        """True if an operand is weights: the dimension of their softmax is summed over.

        Args:
            operand: a factor of the product.
            summed: its dimensions that are summed over.
            value: the other factor, [..., Tk, d_v], if its layout is that of the weights.
            product: the product, likewise [..., Tq, d_v].
            back: arranges such a product as the function returned it.
        """
        origin = self._origin(operand)
        if not isinstance(origin, Weights) or origin.axis not in summed:
            return False
        module = self._stack.innermost
        other = self._origin(value)
        if isinstance(other, Weights) and other.known:
            # What weighs the values is a product of weights.
            self.products.add(self._stack.name(module))
        elif not origin.known and not is_attention(module):
            # A softmax of unknown scores may be a router's.
            self.products.add(self._stack.name(module))
        elif not origin.used:
            origin.used.append(True)
            weights = operand if origin.latest is None else origin.latest
            # Logits that were overwritten since are not those of the softmax.
            logits = origin.logits if origin.intact else weights
            scores = origin.scores if origin.intact else None

            def read() -> SoftmaxCall:
                layout = Layout.of(weights.shape, module, self._batch)
                call = SoftmaxCall(module, logits, weights, scores, value, layout)
                return call if product is None else self._with_output(call, product, back)

            self._completed.append((module, read))
        return True

    def _with_output(
        self,
        call: SoftmaxCall,
        product: torch.Tensor,
        back: Callable[[torch.Tensor], torch.Tensor],
    ) -> SoftmaxCall:
        """The call with its head outputs, if their layout is known.

        Batch and heads are often folded into one dimension between the softmax and the product.
        """
        layout = call.layout
        with suppress(ValueError):
            if product.ndim != layout.ndim:
                layout = Layout.of(product.shape, call.module, self._batch)
            output = layout.apply(product)
            if output.shape[1:3] == call.layout.apply(call.weights).shape[1:3]:

                def rebuild(heads: torch.Tensor) -> torch.Tensor:
                    return back(layout.restore(heads, product.shape))

                return replace(call, output=output, rebuild=rebuild)
        return call

    def _softmax(self, out: torch.Tensor, func: Any, args: Any, kwargs: Any) -> None:
        logits = args[0] if args else kwargs["input"]
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        origin = self._origin(logits)
        scores = origin if isinstance(origin, Scores) else None
        if logits.ndim < 2 or dim is None or (scores is None and dim not in (-1, logits.ndim - 1)):
            return
        if _name(func) == "log_softmax":
            self._logarithms[out] = logits, scores, dim
        else:
            joined = bool(self._joined.get(logits, False))  # type: ignore[no-untyped-call]
            self._origins[out] = Weights.of(logits, scores, out, dim, joined=joined)

    def _exp(self, out: torch.Tensor, _func: Any, args: Any, _kwargs: Any) -> None:
        known = self._logarithms.get(args[0])  # type: ignore[no-untyped-call]
        if known is not None:
            logits, scores, dim = known
            self._origins[out] = Weights.of(logits, scores, out, dim)

    def _cat(self, out: torch.Tensor, _func: Any, args: Any, kwargs: Any) -> None:
        """Note that scores and others, such as those of a sink, were put together."""
        tensors = args[0] if args else kwargs["tensors"]
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        of_keys = dim in (-1, out.ndim - 1)
        if of_keys and any(isinstance(self._origin(each), Scores) for each in tensors):
            self._joined[out] = True

    def _biased(self, bias: Bias, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments of a softmax, with numbers added to the scores if there are any."""
        logits = args[0] if args else kwargs["input"]
        origin = self._origin(logits)
        if not isinstance(origin, Scores) or logits.ndim < 2:
            return args, kwargs
        module = self._stack.attention
        layout = functools.cache(lambda: Layout.of(logits.shape, module, self._batch))

        def scores() -> torch.Tensor:
            return layout().apply(logits)

        added = bias(module, lambda: scores().shape, lambda: seen_scores(scores()))
        if added is None:
            return args, kwargs
        whole = added.to(logits).expand(scores().shape)
        changed = logits + layout().restore(whole, logits.shape)
        check_seen(logits, changed)
        self._origins[changed] = origin
        if args:
            return (changed, *args[1:]), kwargs
        return args, {**kwargs, "input": changed}

    def _multiply(self, out: torch.Tensor, func: Any, args: Any, kwargs: Any) -> None:
        inverse = "div" in _name(func)
        tracked = [n for n in (0, 1) if n < len(args) and self._origin(args[n]) is not None]
        scores = self._origin(args[tracked[0]]) if tracked else None
        factor = args[1 - tracked[0]] if tracked and len(args) > 1 else kwargs.get("other")
        if not isinstance(scores, Scores) or factor is None or (inverse and tracked[0] != 0):
            self._change(out, func, args, kwargs)
        elif out.shape == scores.index.shape:
            self._origins[out] = scores.times(factor, inverse=inverse)

    def _tanh(self, out: torch.Tensor, _func: Any, args: Any, _kwargs: Any) -> None:
        origin = self._origin(args[0])
        if isinstance(origin, Scores):
            self._origins[out] = origin.tanh()

    def _change(self, out: torch.Tensor, func: Any, args: Any, kwargs: Any) -> None:
        """Follow a function that changes values, but not the layout."""
        arguments = (*args, *kwargs.values())
        origin = next((o for o in map(self._origin, arguments) if o is not None), None)
        if isinstance(origin, Scores):
            if out.shape == origin.index.shape:
                self._origins[out] = origin
        elif origin is None or out.shape != origin.column.shape:
            return
        # Without later weights, this tensor is the latest, in the layout of the logits.
        elif origin.latest is None or _name(func) in _COPIES.split():
            self._origins[out] = origin
        elif origin.ordered:
            self._origins[out] = replace(origin, latest=out.reshape(origin.latest.shape))

    def _view(self, out: torch.Tensor, func: Any, args: Any, kwargs: Any) -> None:
        """Follow a function that changes the layout, but no values."""
        origin = self._origin(args[0])
        if origin is None or out is args[0]:
            return
        if any(isinstance(index, (list, torch.Tensor)) for index in _flattened(args[1:])):
            return  # heads or rows that are picked by index have other places
        before = origin.index if isinstance(origin, Scores) else origin.column
        index = func(before, *args[1:], **kwargs)
        if isinstance(origin, Scores):
            self._origins[out] = replace(origin, index=index)
        elif out.shape[:-1] == before.shape[:-1] and out.shape != before.shape:
            first = int(index.flatten()[0])
            if index.shape[-1] != before.shape[-1] - 1 or first not in (0, 1):
                return  # some of the keys, while the others are in another tensor
            # The last or the first column, which belongs to no key, is cut off: a sink.
            self._origins[out] = replace(origin, latest=None, column=index - first, scores=None)
        else:
            latest = args[0] if origin.latest is None else origin.latest
            ordered = origin.ordered and _name(func) not in _PERMUTATIONS.split()
            self._origins[out] = replace(origin, latest=latest, column=index, ordered=ordered)

    def _roll(self, out: torch.Tensor, _func: Any, args: Any, kwargs: Any) -> None:
        arguments = {**dict(zip(("input", "shifts", "dims"), args, strict=False)), **kwargs}
        self.rolls.add(out, arguments["shifts"], arguments.get("dims"))

    def _sdpa(self, out: torch.Tensor, _func: Any, args: Any, kwargs: Any) -> None:
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale")
        arguments = {**dict(zip(names, args, strict=False)), **kwargs}
        module = self._stack.innermost
        query, key, value = (_spread(arguments[name], out) for name in names[:3])

        def read() -> FunctionCall:
            size, mask = (query.shape[-2], key.shape[-2]), arguments.get("attn_mask")
            layout = Layout.of_function(query.shape, module, self._batch)
            if mask is not None:
                if layout == Layout.plain(len(query)):
                    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape).expand(-1, -1, *size)
                else:
                    mask = layout.apply(mask.expand(*query.shape[:-2], *size))

            def rerun(
                query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor
            ) -> tuple[Any, torch.Tensor]:
                heads = F.scaled_dot_product_attention(
                    query,
                    key,
                    value,
                    attn_mask=mask.to(query.dtype),
                    scale=arguments.get("scale"),
                    enable_gqa=bool(kwargs.get("enable_gqa")),
                )
                return layout.restore(heads, torch.Size((*out.shape[:-1], heads.shape[-1]))), heads

            return FunctionCall(
                module,
                SDPA,
                layout.apply(query),
                layout.apply(key),
                layout.apply(value),
                mask,
                causal=bool(arguments.get("is_causal")),
                options={"scaling": arguments.get("scale")},
                output=layout.apply(out),
                rebuild=lambda heads: layout.restore(heads, out.shape),
                rerun=rerun,
            )

        self._completed.append((module, read))


def _spread(tensor: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """Queries, keys or values with all items of a product, also where these share them."""
    lead = (1,) * (out.ndim - tensor.ndim) + tensor.shape[:-2]
    sizes = [own if own > 1 else size for own, size in zip(lead, out.shape[:-2], strict=True)]
    # Heads that share keys have fewer of these.
    heads = [lead[-1]] if len(lead) > 1 else []
    return tensor.expand(*sizes[: len(sizes) - len(heads)], *heads, *tensor.shape[-2:])


def _of_einsum(
    axes: str,
    other_axes: str,
    result: str,
    weights: torch.Tensor,
    value: torch.Tensor,
    out: torch.Tensor,
) -> tuple[Any, ...]:
    """The arguments of `_weighs` for a product of weights and values; none if it is no such one."""
    letters = weighted_values(axes, other_axes, result)
    if letters is None:
        return ()
    of_value, of_product = letters
    sizes = dict(zip(axes + other_axes, (*weights.shape, *value.shape), strict=True))
    back = [of_product.index(letter) for letter in result]
    return (
        arranged(value, other_axes, of_value).expand([sizes[letter] for letter in of_value]),
        arranged(out, result, of_product),
        lambda product: product.permute(back),
    )


@functools.cache
def _name(func: Any) -> str:
    """A function's name without the marks of operators, reflected operators and in-place."""
    name = str(getattr(func, "__name__", ""))
    if name == "__get__":  # a property, e.g. Tensor.mT
        return str(getattr(getattr(func, "__self__", None), "__name__", ""))
    plain = name.strip("_")
    return _OPERATORS.get(plain, plain)


def _flattened(arguments: Any) -> list[Any]:
    """The arguments, with the entries of tuples in place of these."""
    return [x for a in arguments for x in (a if isinstance(a, tuple) else (a,))]


_OPERATORS = {
    "truediv": "div", "itruediv": "div", "divide": "div", "true_divide": "div",
    "rmul": "mul", "imul": "mul", "multiply": "mul", "rtruediv": "rdiv",
    "iadd": "add", "radd": "add", "isub": "sub",
}  # fmt: skip

# Functions that change values only by rounding.
_COPIES = "to type type_as float double half bfloat16 clone contiguous detach"

_CHANGES = """
    add sub subtract addcmul max min maximum minimum clamp clamp_min clamp_max clip where rdiv
    masked_fill masked_scatter nan_to_num dropout alpha_dropout
"""

_PERMUTATIONS = "transpose swapaxes swapdims permute movedim moveaxis t T mT mH"

_VIEWS = """
    view view_as reshape reshape_as expand expand_as unsqueeze squeeze flatten unflatten getitem
"""

# Functions that give a tensor its origin, or complete a call, or move tokens.
_SOURCES = frozenset(("matmul", "bmm", "mm", "baddbmm", "einsum", "softmax", "exp", "roll", SDPA))

_Follow = Callable[[AttentionMode, Any, Any, Any, Any], None]

_FOLLOWED: dict[str, _Follow] = {
    "matmul": AttentionMode._product,
    "bmm": AttentionMode._product,
    "mm": AttentionMode._product,
    "baddbmm": AttentionMode._added_product,
    "einsum": AttentionMode._einsum,
    "softmax": AttentionMode._softmax,
    "log_softmax": AttentionMode._softmax,
    "exp": AttentionMode._exp,
    "cat": AttentionMode._cat,
    "concat": AttentionMode._cat,
    "mul": AttentionMode._multiply,
    "div": AttentionMode._multiply,
    "tanh": AttentionMode._tanh,
    "roll": AttentionMode._roll,
    "scaled_dot_product_attention": AttentionMode._sdpa,
    **dict.fromkeys(f"{_COPIES} {_CHANGES}".split(), AttentionMode._change),
    **dict.fromkeys(f"{_PERMUTATIONS} {_VIEWS}".split(), AttentionMode._view),
}
