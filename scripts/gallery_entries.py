"""The entries of the gallery, docs/gallery: the docstring says what is seen, the code shows it.

The last line of the code is the widget. Below the line CLAIMS, assertions of what the docstring
says: they run with the code, know the widget as `shown`, and no reader sees them.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs" / "gallery"
CLAIMS = "\n# Claims\n"

# In the order in which they are shown.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Encoders": (
        "previous_token",
        "first_token",
        "small_values",
        "beyond_the_layer",
        "sentences",
        "two_texts",
        "atlas",
        "pronouns",
        "two_models",
    ),
    "Decoders": ("induction", "answer", "patches", "head_off", "documents"),
    "Translation, sound, images": ("translation", "speech", "patch", "classes"),
}


@dataclass(frozen=True)
class Entry:
    """One page of the gallery."""

    name: str
    title: str
    text: str
    code: str
    claims: str

    @property
    def embedded(self) -> bool:
        """True if it needs no model but the one that attnwidget brings along."""
        return "from_pretrained" not in self.code

    def run(self, folder: Path | None = None) -> Any:
        """Its widget, run in a folder that has the models by the names that the code uses."""
        *statements, last = ast.parse(self.code).body
        assert isinstance(last, ast.Expr), f"{self.name}: the last line is no widget"
        names: dict[str, Any] = {}
        with _within(folder or Path()):
            exec(compile(ast.Module(statements, []), self.name, "exec"), names)
            names["shown"] = eval(compile(ast.Expression(last.value), self.name, "eval"), names)
        exec(compile(self.claims, f"the claims of {self.name}", "exec"), names)
        return names["shown"]


@contextmanager
def _within(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def entry(name: str) -> Entry:
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(source)) or ""
    title, _, text = said.partition("\n")
    code, _, claims = source.partition('"""\n')[2].partition(CLAIMS)
    return Entry(name, title, " ".join(text.split()), code.strip(), claims)


def entries() -> list[Entry]:
    return [entry(name) for names in SECTIONS.values() for name in names]
