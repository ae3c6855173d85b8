"""The notebooks' models, and one kernel that runs them all."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.claims import CLAIMS, NEEDS

MODELS = os.environ.get("ATTNWIDGET_MODELS")


@pytest.fixture(scope="session")
def scripts() -> Any:
    """scripts.notebooks, with which notebooks are run and kept. It takes seconds to import."""
    from scripts import notebooks

    return notebooks


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, scripts: Any, smollm2: Any) -> Path:
    """A folder with the models under the names that the notebooks use."""
    from tests.notebooks import standins

    folder = tmp_path_factory.mktemp("notebooks")
    scripts.lay(folder, None if MODELS is None else Path(MODELS), smollm2)
    for name, own in scripts.HUB.items():
        if not (folder / name).exists():
            standins.MAKE[own](folder / name)
    return folder


@pytest.fixture(scope="session")
def kernel(folder: Path, scripts: Any) -> Iterator[Any]:
    """One kernel for all of them: most of a notebook's time would be imports."""
    with scripts.kernel(folder) as manager:
        yield manager


@pytest.fixture
def runs(kernel: Any, scripts: Any) -> Callable[[str], None]:
    """Runs a notebook from its first cell to its last, and what it says of trained models."""

    def run(name: str) -> None:
        checked = _has_all(NEEDS.get(name, []))
        # The next notebook begins without the variables of this one.
        notebook = scripts.run(name, kernel, f"{CLAIMS[name] if checked else ''}\n%reset -f")
        assert [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]

    return run


def _has_all(names: list[str]) -> bool:
    return not names or (MODELS is not None and all((Path(MODELS) / own).is_dir() for own in names))
