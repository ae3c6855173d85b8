"""The rows of scores in which a relation between words counts."""

from __future__ import annotations

ALL = "all"
"""The row of all relations but punctuation."""

SUBTYPES = ":*"
"""The end of the name of a row with a relation and all its subtypes."""


def rows_of(relation: str) -> tuple[str, ...]:
    """Its own row, that with its subtypes, and "all"; none for "punct" and "root"."""
    base = relation.split(":")[0]
    return () if base in ("punct", "root") else (relation, f"{base}{SUBTYPES}", ALL)
