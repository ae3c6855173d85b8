"""The running modules of a model, tracked by torch's module hooks.

Calls of other models, and of the same model on other threads, are ignored.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch.nn.modules import module as torch_module

from .calls import Observer
from .handler import Handler


class ModuleStack:
    """The stack of one model's running modules, and a counter of its forward passes.

    Attributes:
        names: the name of each module, by identity; the first one if it has several.
        called: the names of the modules that have been called.
        step: the number of the current forward pass, counted from 0: of the whole model, or of its
            language model if that generates by itself.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model
        self.names = {id(module): name for name, module in model.named_modules()}
        self.called: set[str] = set()
        self.step = -1
        self._thread = threading.get_ident()
        self._stack: list[torch.nn.Module] = []
        # Of each running module of others, how many of the model's own it was called within.
        self._foreign: list[int] = []

    @property
    def elsewhere(self) -> bool:
        """True if a module of others is running that was called last, by a hook for instance.

        The model may itself run within such a module.
        """
        return bool(self._foreign) and self._foreign[-1] == len(self._stack)

    @property
    def innermost(self) -> torch.nn.Module:
        """The module that was entered last, or the model between its forward passes."""
        return self._stack[-1] if self._stack else self.model

    @property
    def attention(self) -> torch.nn.Module:
        """The innermost running module of a class for attention, or the innermost of all."""
        return next((m for m in reversed(self._stack) if is_attention(m)), self.innermost)

    def name(self, module: torch.nn.Module) -> str:
        name: str = self.names[id(module)]
        return name

    def owns(self, module: Any) -> bool:
        """True if this is a module of the model, called on the thread of the trace."""
        return id(module) in self.names and threading.get_ident() == self._thread

    def _is_pass(self, module: torch.nn.Module) -> bool:
        """True if a forward pass starts: of the whole model, or of its part that generates."""
        if self._stack and self._stack[0] is self.model:
            return False
        if any(can_generate(m) for m in self._stack):
            return False
        return module is self.model or can_generate(module)

    def _is_foreign(self, module: torch.nn.Module) -> bool:
        # Modules without parameters are ignored: models create softmaxes as they run.
        here = threading.get_ident() == self._thread
        return here and any(True for _ in module.parameters())

    @contextmanager
    def following(self, handler: Handler) -> Iterator[None]:
        """Update the stack within this context, and report modules to the handler."""

        def enter(module: torch.nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
            if id(module) not in self.names:
                if self._is_foreign(module):
                    self._foreign.append(len(self._stack))
            elif self.owns(module):
                if self._is_pass(module):
                    self.step += 1
                self.called.add(self.name(module))
                self._stack.append(module)
                return handler.module_entered(module, args)
            return None

        def leave(module: torch.nn.Module, _args: Any, output: Any) -> Any:
            # Modules whose forward failed without this hook are popped as well.
            if id(module) not in self.names:
                if self._foreign and self._is_foreign(module):
                    self._foreign.pop()
            elif self.owns(module) and module in self._stack:
                while self._stack.pop() is not module:
                    pass
                while self._foreign and self._foreign[-1] > len(self._stack):
                    self._foreign.pop()
                parent = self._stack[-1] if self._stack else None
                return handler.module_left(module, output, parent)
            return None

        with ExitStack() as undo:
            before = torch_module.register_module_forward_pre_hook(enter)  # type: ignore[arg-type]
            undo.callback(before.remove)
            after = torch_module.register_module_forward_hook(leave, always_call=True)
            undo.callback(after.remove)
            yield


class Route(NamedTuple):
    """The way of the calls that functions of one kind make.

    Attributes:
        stack: the running modules.
        observe: is passed every call.
        paused: a context in which torch's functions are not followed; the call and its observation
            run within.
    """

    stack: ModuleStack
    observe: Observer
    paused: Callable[[], AbstractContextManager[None]]

    def ignores(self, module: torch.nn.Module) -> bool:
        """True for a module whose calls are none of the model's on the thread of the trace."""
        return self.stack.elsewhere or not self.stack.owns(module)


def is_attention(module: torch.nn.Module) -> bool:
    """True if the name of a module's class says that it is attention."""
    return _names_attention(type(module).__name__)


@functools.cache
def _names_attention(name: str) -> bool:
    return any(part in name.lower() for part in ("attention", "attn"))


def can_generate(module: torch.nn.Module) -> bool:
    """True if a module has a `generate` that works."""
    able = getattr(module, "can_generate", None)
    return callable(able) and bool(able())
