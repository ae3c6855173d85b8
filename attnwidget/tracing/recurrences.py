"""The route through layers without a softmax: recurrences, and convolutions between two gates.

The functions that models call are known by their arguments, whatever their names. All are linear in
their values, and their coefficients follow from what they read: Yang et al. 2025, "Gated Delta
Networks" (arXiv 2412.06464); Kimi Team 2025, "Kimi Linear" (2510.26692); Dao and Gu 2024,
"Transformers are SSMs" (2405.21060); Beck et al. 2024, "xLSTM" (2405.04517); Qin et al. 2024,
"Lightning Attention-2" (2401.04658). A caller checks them against the function's own output.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import FunctionType
from typing import Any, NamedTuple

import torch
from torch.nn.functional import logsigmoid, softplus

from .calls import MixingCall, Strengths
from .known_functions import Known, Reader, Readers, calls_of, reader_of
from .modules import Route, is_attention
from .replacement import replace as replaced

# As flash-linear-attention and transformers normalize.
_NORM_EPS = 1e-6

_GOES_ON = (
    "it goes on from the state of earlier tokens, which does not say what each of them wrote: "
    "capture the whole text at once"
)


@contextmanager
def mixing_calls(route: Route) -> Iterator[None]:
    """Observe every call without a softmax within this context."""
    with calls_of(_READERS, route), ExitStack() as undo:
        for module in route.stack.model.modules():
            if _is_lightning(module):
                _follow_lightning(module, route, undo)
        yield


def mixing_names(model: torch.nn.Module) -> list[str]:
    """The names of the modules that mix tokens without a softmax, by the functions of their code.

    Of those within each other the innermost, and a convolution only where none of them is around it
    and its module is no attention.
    """
    found = {name: _mixes(module) for name, module in model.named_modules()}
    mixing = [name for name, readers in found.items() if readers - _OF_PARTS]
    inner = [n for n in mixing if not any(other.startswith(f"{n}.") for other in mixing)]
    alone = [
        name
        for name, readers in found.items()
        if readers == {_convolution}
        and not is_attention(model.get_submodule(name))
        and not any(f"{name}.".startswith(f"{n}.") or n.startswith(f"{name}.") for n in mixing)
    ]
    return [name for name in found if name in inner or name in alone]


def _mixes(module: torch.nn.Module) -> set[Any]:
    """The readers of the functions that the code of a module's class names."""
    if _is_lightning(module):
        return {_lightning}
    found = set()
    for kind in type(module).__mro__:
        if kind.__module__.partition(".")[0] in ("torch", "builtins"):
            continue
        for own in vars(kind).values():
            if not isinstance(own, FunctionType):
                continue
            code = inspect.unwrap(own)
            for name in code.__code__.co_names:
                places = vars(module), vars(kind), code.__globals__
                found |= {reader_of(_READERS, each.get(name)) for each in places}
    return found - {None}


def _delta(known: Known) -> MixingCall:
    """Gated delta rule and Kimi delta: query, key, value and g, [batch, T, heads, ...]."""
    given = known.given
    _check_start(given, "initial_state")
    query, key, decay, erase = (
        given[name].transpose(1, 2).float() for name in ("query", "key", "g", "beta")
    )
    if given.get("use_qk_l2norm_in_kernel"):
        query, key = map(_normalized, (query, key))
    strengths = Strengths(
        query,
        key,
        given.get("scale") or query.shape[-1] ** -0.5,
        decay if decay.ndim == 4 else decay[..., None],
        erase,
        erase,
    )
    return _linear(known, "value", _BY_TOKEN, strengths)


def _normalized(vectors: torch.Tensor) -> torch.Tensor:
    return vectors * torch.rsqrt((vectors * vectors).sum(-1, keepdim=True) + _NORM_EPS)


def _mamba2(known: Known) -> MixingCall:
    """Mamba-2: hidden_states [batch, T, heads, d_v], dt [batch, T, heads], B and C of groups."""
    given = known.given
    _check_start(given, "initial_states")
    step = given["dt"]
    if given["dt_bias"] is not None:
        step = step + given["dt_bias"].to(step.dtype)
    if given["dt_softplus"]:
        step = softplus(step)
    step = step.clamp(*given["dt_limit"]).float().transpose(1, 2)
    decay = given["A"].float()[:, None] * step
    query, key = (given[name].float().transpose(1, 2) for name in ("C", "B"))
    own = given.get("D")
    if own is not None and own.ndim > 1:
        raise ValueError("it adds its own value to each channel by a factor of its own")
    strengths = Strengths(query, key, 1.0, decay[..., None], step, None, own)
    return _linear(known, "hidden_states", _BY_TOKEN, strengths)


def _by_other_names(reader: Reader, own: dict[str, str], *without: str) -> Reader:
    """The reader of functions that have other names for arguments, as kernels of other packages.

    Args:
        own: by the reader's name of an argument, that of the function.
        without: arguments that the reader does not know, which have to be None or False.
    """

    def read(known: Known) -> MixingCall:
        for name in without:
            if known.given.get(name) is not None and known.given[name] is not False:
                raise ValueError(f"its function is called with {name}, which is not known here")

        def renamed(**arguments: Any) -> Any:
            return known.function(**{own.get(name, name): each for name, each in arguments.items()})

        names = {theirs: name for name, theirs in own.items()}
        given = {names.get(name, name): each for name, each in known.given.items()}
        call: MixingCall = reader(known._replace(function=renamed, given=given))
        return call

    return read


class _Form(NamedTuple):
    """The form of a function's values: what turns it into [M, heads, T, d_v], and back."""

    turn: Callable[[torch.Tensor], torch.Tensor]
    back: Callable[[torch.Tensor], torch.Tensor]


_BY_HEAD = _Form(lambda values: values, lambda values: values)
_BY_TOKEN = _Form(lambda values: values.transpose(1, 2), lambda values: values.transpose(1, 2))
# [batch, T, channels], and [batch, channels, T].
_CHANNELS = _Form(lambda values: values[:, None], lambda values: values[:, 0])
_CHANNELS_FIRST = _Form(lambda values: values.mT[:, None], lambda values: values[:, 0].mT)


def _linear(
    known: Known,
    name: str,
    form: _Form,
    strengths: Strengths | None = None,
    *,
    local: bool = False,
) -> MixingCall:
    """The call of a function of values, the argument of this name.

    It returns an output of the same form, alone or before its states.
    """
    function, module, given, result = known

    def rerun(values: torch.Tensor) -> torch.Tensor:
        changes = {name: form.back(values), "return_last_state": False, "return_state": False}
        again = form.turn(_first(function(**_bound(given, changes))))
        return again[:, :, : values.shape[2]]

    def rebuild(changed: torch.Tensor) -> Any:
        first = form.back(changed).to(_first(result)).contiguous()
        return (first, *result[1:]) if isinstance(result, (list, tuple)) else first

    value, output = form.turn(given[name]), form.turn(_first(result))
    return MixingCall(module, value, output, strengths, rerun, rebuild, local)


def _mlstm(known: Known) -> MixingCall:
    """xLSTM's matrix memory: query, key, value [batch, heads, T, d], gates [batch, heads, T]."""
    given = known.given
    _check_start(given, "c_initial")
    query, key, enter, forget = (
        given[name].cpu().double()  # which not every device has
        for name in ("query", "key", "igate", "fgate")
    )
    decay, scale = logsigmoid(forget), query.shape[-1] ** -0.5
    # An output is divided by its normalizer, which the state has beside the values, at least 1 or
    # what is 1 beside the largest that was written: as a factor on its query.
    largest = enter.amax(-1, keepdim=True)
    write = torch.exp(enter - largest)
    state, lowest, read = torch.zeros_like(key[:, :, 0]), torch.zeros_like(largest[..., 0]), []
    for at in range(query.shape[2]):
        state = decay[:, :, at, None].exp() * state + write[:, :, at, None] * key[:, :, at]
        now = enter[:, :, at]
        lowest = now if at == 0 else torch.maximum(decay[:, :, at] + lowest, now)
        size = scale * (query[:, :, at] * state).sum(-1).abs()
        least = torch.exp(-largest[..., 0])
        eps = _MLSTM_EPS * torch.exp(lowest - largest[..., 0])
        read.append(1 / (torch.maximum(size, least) + eps))
    query = query * torch.stack(read, -1)[..., None]
    query, key, decay, write = (
        each.float().to(given["query"].device) for each in (query, key, decay[..., None], write)
    )
    strengths = Strengths(query, key, scale, decay, write)
    return _linear(known, "value", _BY_HEAD, strengths)


_MLSTM_EPS = 1e-6


def _mamba1(known: Known) -> MixingCall:
    """Mamba's scan: hidden_states [batch, channels, T], which it may multiply by a gate z."""
    return _linear(known, "hidden_states", _CHANNELS_FIRST)


def _convolution(known: Known) -> MixingCall:
    """A causal convolution of every channel: hidden_states [batch, channels, T]."""
    call = _linear(known, "hidden_states", _CHANNELS_FIRST, local=True)
    # With an activation it is not linear in values: it prepares those of another mixer.
    if known.given.get("activation") is not None:
        return replace(call, rerun=None)
    # Once more, a step would also move its state once more.
    return replace(call, rerun=_step) if "conv_state" in known.given else call


def _gated_linear(known: Known) -> MixingCall:
    """RG-LRU: hidden_states [batch, T, channels], times a gate of every channel."""
    _check_start(known.given, "recurrent_states")
    return _linear(known, "hidden_states", _CHANNELS)


def _rwkv(known: Known) -> MixingCall:
    """RWKV-4: value [batch, T, channels], averaged by weights of every channel."""
    _check_start(known.given, "state")
    return _linear(known, "value", _CHANNELS)


def _step(*_: Any) -> Any:
    """A single token, which reads a state."""
    raise ValueError(_GOES_ON)


def _check_start(given: dict[str, Any], name: str) -> None:
    """Raise a ValueError for a call that goes on from a state; one of zeros is left out.

    The model may write its later state into the same memory.
    """
    states = given.get(name)
    # Of several, the last one of RWKV is the largest exponent, which is low at the start.
    for state in states[:2] if isinstance(states, (list, tuple)) else [states]:
        if isinstance(state, torch.Tensor) and bool(state.any()):
            raise ValueError(_GOES_ON)
    given[name] = None


def _first(result: Any) -> torch.Tensor:
    first: torch.Tensor = result[0] if isinstance(result, (list, tuple)) else result
    return first


def _bound(given: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, some of them changed; those that a function takes in ** as its own."""
    bound = {**given, **{name: value for name, value in changes.items() if name in given}}
    return {**bound.pop("kwargs", {}), **bound}


# A convolution may prepare what another function mixes, and a step is beside one of a whole text.
_OF_PARTS = {_convolution, _step}

_READERS: Readers = {
    frozenset({"query", "key", "value", "g", "beta"}): _delta,
    frozenset({"hidden_states", "dt", "A", "B", "C", "chunk_size", "dt_limit"}): _mamba2,
    frozenset({"query", "key", "value", "igate", "fgate", "c_initial", "mode"}): _mlstm,
    frozenset({"state", "hidden_states", "dt", "A", "B", "C"}): _step,
    frozenset({"hidden_states", "dt", "A", "B", "C", "delta_bias"}): _mamba1,
    frozenset({"hidden_states", "recurrent_gate", "reset"}): _gated_linear,
    frozenset({"time_decay", "time_first", "key", "value", "return_state"}): _rwkv,
    frozenset({"hidden_states", "weight", "bias", "activation"}): _convolution,
    # Of flash-linear-attention and mamba-ssm.
    frozenset({"q", "k", "v", "g", "beta"}): _by_other_names(
        _delta,
        {"query": "q", "key": "k", "value": "v"},
        *("cu_seqlens", "use_gate_in_kernel", "head_first"),
    ),
    frozenset({"x", "dt", "A", "B", "C", "chunk_size", "dt_limit"}): _by_other_names(
        _mamba2, {"hidden_states": "x"}, "z", "seq_idx", "cu_seqlens"
    ),
    frozenset({"u", "delta", "A", "B", "C", "delta_bias"}): _by_other_names(
        _mamba1, {"hidden_states": "u", "dt": "delta"}
    ),
}


def _is_lightning(module: torch.nn.Module) -> bool:
    """True for lightning attention, which is between a module's projection and its norm."""
    parts = ("qkv_proj", "norm", "slope_rate", "act_fn")
    return all(getattr(module, part, None) is not None for part in parts)


def _follow_lightning(module: Any, route: Route, undo: ExitStack) -> None:
    stack = route.stack
    seen: dict[str, Any] = {}

    def entering(forward: Callable[..., Any]) -> Callable[..., Any]:
        def entered(*args: Any, **kwargs: Any) -> Any:
            if not stack.owns(module):  # on another thread
                return forward(*args, **kwargs)
            # The name of the cache is another one in each version.
            given = (*args, *kwargs.values())
            cache = next((each for each in given if hasattr(each, "get_linear_cache")), None)
            seen.update(mask=kwargs.get("attention_mask"), cache=cache)
            try:
                return forward(*args, **kwargs)
            finally:
                seen.clear()  # tensors of every layer, with their history

        return entered

    def projecting(forward: Callable[..., Any]) -> Callable[..., Any]:
        def project(*args: Any, **kwargs: Any) -> Any:
            projected = forward(*args, **kwargs)
            if stack.owns(module):
                seen["projected"] = projected
            return projected

        return project

    def norming(forward: Callable[..., Any]) -> Callable[..., Any]:
        def normed(output: torch.Tensor) -> Any:
            if not route.ignores(module):
                with route.paused():
                    read = functools.partial(_lightning, module, seen, output)
                    output = route.observe(module, read, output)
            return forward(output)

        return normed

    replaced(module, "forward", entering, undo)
    replaced(module.qkv_proj, "forward", projecting, undo)
    replaced(module.norm, "forward", norming, undo)


def _lightning(module: Any, seen: dict[str, Any], output: torch.Tensor) -> MixingCall:
    mask, cache = seen["mask"], seen["cache"]
    if cache is not None and cache.get_linear_cache(module.layer_idx) is not None:
        raise ValueError(_GOES_ON)
    heads = module.slope_rate.shape[0]
    read = module.act_fn(seen["projected"])
    if mask is not None and mask.ndim == 2:
        read = read * mask[:, -read.shape[1] :, None].to(read)
    read = read.reshape(*read.shape[:2], heads, -1).transpose(1, 2)
    query, key, value = read.chunk(3, dim=-1)
    decay = -module.slope_rate.float().reshape(1, heads, 1, 1).expand(*value.shape[:3], 1)

    def rebuild(changed: torch.Tensor) -> Any:
        return changed.transpose(1, 2).flatten(2).to(output)

    strengths = Strengths(query.float(), key.float(), 1.0, decay)
    of_heads = output.reshape(*output.shape[:2], heads, -1).transpose(1, 2)
    return MixingCall(module, value, of_heads, strengths, None, rebuild)
