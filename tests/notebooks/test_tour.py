"""The notebooks that a newcomer opens first run, and all can be read without running them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.notebooks.claims import CLAIMS, TOUR


def test_each_has_claims(scripts: Any) -> None:
    assert scripts.names() == sorted(CLAIMS)


@pytest.mark.parametrize("name", TOUR)
def test_it_runs(name: str, runs: Callable[[str], None]) -> None:
    runs(name)


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_what_is_committed_can_be_read_without_scripts(name: str, scripts: Any) -> None:
    """A picture for every view on GitHub, and no widget state, which would hide it."""
    import nbformat

    path = scripts.FOLDER / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    assert "widgets" not in notebook.metadata
    assert scripts.clean(nbformat.from_dict(notebook)) == notebook
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    pictures = [out for out in outputs if "image/png" in out.get("data", {})]
    widgets = [
        out for out in outputs if "AttentionWidget" in out.get("data", {}).get("text/plain", "")
    ]
    assert len(pictures) >= 1
    assert all("image/png" in out.data for out in widgets)
    assert path.stat().st_size < 600_000
