"""The notebooks on other models, and those that replay published findings, run."""

from collections.abc import Callable

import pytest

from tests.notebooks.claims import CLAIMS, TOUR


@pytest.mark.parametrize("name", sorted(CLAIMS.keys() - set(TOUR)))
def test_it_runs(name: str, runs: Callable[[str], None]) -> None:
    """Without the trained models, on random weights, and what the text claims is not checked."""
    runs(name)
