"""The scripts of the front end, which are built and not in the repository."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parents[1] / "static"


def bundle(name: str) -> str:
    """The text of a script of the front end.

    Raises:
        FileNotFoundError: it was not built, or not installed.
    """
    file = STATIC / name
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{file} is missing, so nothing can be shown. In a clone, run: make demo. Else install "
            "attnwidget again: pip install --force-reinstall --no-deps attnwidget"
        ) from None
