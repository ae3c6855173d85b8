"""Write js/src/state/choices.generated.ts from the table of attnwidget/view_state/table.py.

Usage: python -m scripts.choices [--check]

With --check, nothing is written: it fails if the file differs.
"""

import json
import sys
from pathlib import Path
from typing import Any

from traitlets import Bool, Enum, Unicode

from attnwidget.view_state import table
from attnwidget.view_state.traits import (
    Integer,
    Integers,
    Links,
    Name,
    NamedSegments,
    Pairs,
    Position,
)

PATH = Path(__file__).parents[1] / "js/src/state/choices.generated.ts"

# The functions of js/src/state/kinds.ts.
KINDS: dict[type, str] = {
    Enum: "oneOf",
    Bool: "flag",
    Unicode: "text",
    Name: "text",
    Integer: "index",
    Position: "index",
    Integers: "indices",
    Pairs: "pairs",
    Links: "links",
    NamedSegments: "segments",
}


def source() -> str:
    """The file's content, as Biome formats it."""
    traits = {name: choice.trait for name, choice in table.TABLE.items()}
    constants = {name: getattr(table, name) for name in ("PAIR", "SIMILARITY", "NO_SIZE")}
    kinds = sorted({KINDS[type(trait)] for trait in traits.values()})
    lines = [
        "// Written by scripts/choices.py from attnwidget/view_state/table.py.",
        "",
        f'import {{ {", ".join(kinds)} }} from "./kinds.ts";',
        "",
        "export const SCHEMA = {",
        *(f"  {name}: {_kind(trait)}," for name, trait in traits.items()),
        "};",
        "",
        *(f"export const {name} = {json.dumps(value)};" for name, value in constants.items()),
    ]
    return "\n".join(lines) + "\n"


def _kind(trait: Any) -> str:
    options = trait.values if isinstance(trait, Enum) else [trait.default()]
    return f"{KINDS[type(trait)]}({', '.join(map(json.dumps, options))})"


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        PATH.write_text(source())
    elif PATH.read_text() != source():
        sys.exit(f"{PATH.name} is not what the table says: run python -m scripts.choices")
