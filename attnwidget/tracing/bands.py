"""The route through attention within bands or blocks: BigBird, Longformer, Pegasus-X, Reformer.

Its softmaxes run over some of the keys alone, and their columns are distances, or places in a
block. The modules' own functions are wrapped during a trace, and their results are reported with a
column for every token. The positions with which a model fills the last window are left out.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from transformers import PreTrainedModel

from . import bigbird, longformer, pegasus_x, reformer
from .modules import Route
from .replacement import replace

_KINDS = (bigbird, longformer, pegasus_x, reformer)


@contextmanager
def band_calls(route: Route) -> Iterator[None]:
    """Observe every call of such attention within this context."""
    stack = route.stack
    # The number of tokens that each model was given.
    lengths: dict[str | None, int] = {}

    def measured(name: str, forward: Callable[..., Any]) -> Callable[..., Any]:
        def model(*args: Any, **kwargs: Any) -> Any:
            given = (*args[:1], kwargs.get("input_ids"), kwargs.get("inputs_embeds"))
            tokens = [tensor for tensor in given if isinstance(tensor, torch.Tensor)]
            if tokens:
                lengths[name] = tokens[0].shape[1]
            return forward(*args, **kwargs)

        return model

    def observed(
        run: Callable[..., Any],
        module: torch.nn.Module,
        owner: str | None,
        forward: Callable[..., Any],
    ) -> Callable[..., Any]:
        signature = inspect.signature(forward)

        def attention(*args: Any, **kwargs: Any) -> Any:
            if route.ignores(module):
                return forward(*args, **kwargs)
            given = signature.bind(*args, **kwargs).arguments
            given.update(given.pop("kwargs", {}))
            with route.paused():
                result, read = run(module, forward, given, lengths.get(owner))
                return route.observe(module, read, result)

        return attention

    with ExitStack() as undo:
        owners: set[str] = set()
        for name, module in stack.model.named_modules():
            run = next((kind.run for kind in _KINDS if kind.is_kind(module)), None)
            if run is None:
                continue
            owner = _owner(stack.model, name)
            if owner is not None:
                owners.add(owner)
            replace(module, "forward", functools.partial(observed, run, module, owner), undo)
        for owner in owners:
            model = stack.model.get_submodule(owner)
            replace(model, "forward", functools.partial(measured, owner), undo)
        yield


def _owner(model: torch.nn.Module, name: str) -> str | None:
    """The name of the innermost model that a module belongs to: it is given the tokens."""
    parts = name.split(".")
    names = (".".join(parts[:count]) for count in reversed(range(len(parts))))
    return next((n for n in names if isinstance(model.get_submodule(n), PreTrainedModel)), None)
