"""Packages whose public names load when they are first asked for (PEP 562).

The list of a package's names is its `__init__.pyi`, which type checkers and completion read, too:

    from .scan import ablation_scan as ablation_scan

To add or to move a name, change its line there. `__init__.py` has a docstring and two lines:

    from attnwidget.lazy import lazy_names

    __getattr__, __dir__, __all__ = lazy_names(__name__)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """A package's `__getattr__`, `__dir__` and `__all__`, for the names in its stub."""
    module = sys.modules[package]
    # Through its loader, because a package may lie in a zip file.
    stub = module.__loader__.get_data(f"{module.__file__}i")  # type: ignore[union-attr]
    # By name, the module that has it, relative to the package; "." if it is a submodule itself.
    modules = {
        alias.name: "." * node.level + (node.module or "")
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def load(name: str) -> object:
        if name not in modules:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=module)
        if modules[name] == ".":
            return import_module(f".{name}", package)
        found = module.__dict__[name] = getattr(import_module(modules[name], package), name)
        return found

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            # The import system makes a loaded submodule an attribute of its package, also where a
            # public name is spelled the same: attnwidget.show is the function.
            if not isinstance(value, ModuleType) or modules.get(name, ".") == ".":
                super().__setattr__(name, value)

        def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
            # Functions of a notebook that use the package are pickled, for Ray, with it.
            return import_module, (package,)

    # A class with a `__getattr__` would be one that IPython does not complete.
    module.__class__ = Package
    return load, lambda: list(modules), [name for name in modules if not name.startswith("_")]
