"""Resolution of a token named on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from attnwidget.record import Tokens

_LISTED = 12


def position_of(query: str, tokens: Tokens, side: str = "query") -> int:
    """The position of a token, given by its position or by its text if that is unique.

    Raises:
        ValueError: no token or several match; the message lists candidates.
    """
    labels = tokens.labels
    if query.isdecimal() and int(query) < len(labels):
        return int(query)
    folded = query.casefold()
    matches = [n for n, label in enumerate(labels) if label == query]
    # The vocabularies of many models have no capitals.
    matches = matches or [n for n, label in enumerate(labels) if label.casefold() == folded]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ValueError(
            f"{len(matches)} tokens are {query!r}, so give a position: {_listed(matches, labels)}"
        )
    near = [n for n, label in enumerate(labels) if folded in label.casefold()]
    hint = f"these contain it: {_listed(near, labels)}" if query and near else ""
    raise ValueError(
        f"no {side} is the token {query!r}; "
        + (hint or f"there are {_listed(range(len(labels)), labels)}")
    )


def _listed(positions: Sequence[int], labels: Sequence[str]) -> str:
    shown = [f"{n} {labels[n]!r}" for n in positions[:_LISTED]]
    return ", ".join(shown) + (", ..." if len(positions) > _LISTED else "")
