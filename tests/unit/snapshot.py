"""Everything about a model and its process that a capture has to leave alone."""

import sys
from typing import Any

import torch
from torch.nn.modules import module as torch_module
from torch.overrides import _get_current_function_mode_stack
from transformers import modeling_utils

from tests.unit.tiny import Model

# Before transformers 4.50 a plain dict.
_INTERFACE = type(modeling_utils.ALL_ATTENTION_FUNCTIONS)
# The state before any capture of this process: this module is imported before the first test.
_BEFORE = dict(vars(_INTERFACE))
_FUNCTIONAL = dict(vars(torch.nn.functional))


class Snapshot:
    """A snapshot of a model and its process, to compare with later."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._weights = {name: value.clone() for name, value in model.state_dict().items()}
        self._rest = self._look()

    def assert_unchanged(self) -> None:
        weights = self._model.state_dict()
        assert weights.keys() == self._weights.keys()
        for name, value in weights.items():
            before = self._weights[name]
            # Offloaded parameters are on "meta", without numbers.
            assert value.device == before.device, name
            assert value.is_meta or torch.equal(value, before), name
        assert dict(vars(_INTERFACE)) == _BEFORE
        assert dict(vars(torch.nn.functional)) == _FUNCTIONAL
        now = self._look()
        for what, before in self._rest.items():
            assert now[what] == before, what

    def _look(self) -> dict[str, Any]:
        registry = modeling_utils.ALL_ATTENTION_FUNCTIONS
        modules = dict(self._model.named_modules())
        return {
            "config": self._model.config.to_dict(),
            "attention implementation": self._model.config._attn_implementation,
            "modes": {name: module.training for name, module in modules.items()},
            "hooks": {name: _hooks(module) for name, module in modules.items()},
            "attributes": {name: sorted(vars(module)) for name, module in modules.items()},
            "gradients": [(p.requires_grad, p.grad) for p in self._model.parameters()],
            "interface's base": dict(vars(_INTERFACE.__mro__[1])),
            "registered functions": dict(registry),
            "local functions": dict(getattr(registry, "_local_mapping", {})),
            "files of the model": {
                name: {key: id(value) for key, value in vars(file).items()}
                for name, file in _modeling_files(modules).items()
            },
            "hooks of all modules": {
                name: [(number, id(hook)) for number, hook in hooks.items()]
                for name, hooks in vars(torch_module).items()
                if name.startswith("_global") and isinstance(hooks, dict)
            },
            "function modes": list(map(id, _get_current_function_mode_stack())),
            "gradient mode": torch.is_grad_enabled(),
            "random state": torch.get_rng_state().tolist(),
        }


def _hooks(module: torch.nn.Module) -> dict[str, list[Any]]:
    return {
        name: [(number, id(hook)) for number, hook in hooks.items()]
        for name, hooks in vars(module).items()
        if "hooks" in name and isinstance(hooks, dict)
    }


def _modeling_files(modules: dict[str, torch.nn.Module]) -> dict[str, Any]:
    names = {type(module).__module__ for module in modules.values()}
    return {name: sys.modules[name] for name in names if name.startswith("transformers.")}


def torch_compiles() -> bool:
    """True if torch.compile works in this process."""
    compiled: list[bool] = []

    def backend(graph: Any, _inputs: Any) -> Any:
        compiled.append(True)
        return graph.forward

    # Without it, the ninth call in a process does not compile: torch limits recompilations.
    torch.compiler.reset()
    torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2))
    return bool(compiled)
