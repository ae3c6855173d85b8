"""Public names load lazily, and tools read them all the same."""

import ast
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter

import attnwidget as aw
from tests.support import PATIENCE_SECONDS

ROOT = Path(aw.__file__ or "").parent
LAZY = [".".join(stub.relative_to(ROOT.parent).parent.parts) for stub in ROOT.rglob("__init__.pyi")]


@pytest.mark.parametrize("package", LAZY)
def test_every_name_of_a_stub_is_there(package: str) -> None:
    module = import_module(package)
    stub = Path(module.__file__ or "").with_suffix(".pyi").read_text(encoding="utf-8")
    names = [
        alias
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    # Only a name that is repeated is public for a type checker.
    assert all(alias.asname == alias.name for alias in names)
    assert dir(module) == sorted(alias.name for alias in names)
    for name in dir(module):
        assert getattr(module, name) is not None
    assert sorted(module.__all__) == [name for name in dir(module) if name != "__version__"]
    with pytest.raises(AttributeError, match=f"module {package!r} has no attribute 'shwo'"):
        _ = module.shwo
    assert pickle.loads(pickle.dumps(module)) is module


def _python(code: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_the_package_imports_nothing_that_is_large() -> None:
    large = "torch", "transformers", "numpy", "anywidget", "IPython", "matplotlib"
    code = f"import sys, attnwidget; print([m for m in {large} if m in sys.modules])"
    assert _python(code) == "[]"


def test_a_function_is_not_hidden_by_its_module() -> None:
    """The import system makes a loaded module an attribute, under the name of the function."""
    code = """
import attnwidget.show, attnwidget.probe.relations, attnwidget.capture.check
import attnwidget as aw
print(*[type(each).__name__ for each in (aw.show, aw.probe.relations, aw.capture, aw.probe)])
"""
    assert _python(code) == "function function function Package"
    assert isinstance(aw.show, FunctionType)


@pytest.mark.parametrize("with_jedi", [True, False])
@pytest.mark.parametrize(
    ("line", "expected"),
    [("aw.sho", "show"), ("aw.probe.rel", "relations"), ("aw.show(record, comb", "combine=")],
)
def test_completion(with_jedi: bool, line: str, expected: str) -> None:
    completer = IPCompleter(namespace={"aw": aw}, use_jedi=with_jedi)
    with provisionalcompleter():
        found = [each.text.lstrip(".") for each in completer.completions(line, len(line))]
    assert expected in found
