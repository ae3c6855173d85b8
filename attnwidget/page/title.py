"""The title of a page, a frame or a picture, in a line."""

from __future__ import annotations

from collections.abc import Sequence

from attnwidget.analysis.words import words
from attnwidget.counted import counted
from attnwidget.record import Tokens
from attnwidget.view_state import ShownRecord
from attnwidget.wire.text import sendable

# Browsers show less of a title in a tab.
_LONGEST = 40


def title_of(shown: Sequence[ShownRecord], *, atlas: bool = False) -> str:
    """The title of a page that shows these records, of which those of an atlas are one.

    Several that differ are named by their models alone.
    """
    titles = {_title(each, atlas) for each in shown}
    if len(titles) == 1:
        return titles.pop()
    models = dict.fromkeys(each.manifest["model"] for each in shown)
    return f"Attention{_of(', '.join(filter(None, models)))}"


def _title(shown: ShownRecord, atlas: bool) -> str:
    manifest, choices = shown.manifest, shown.choices
    model = _of(manifest["model"])
    if manifest.get("texts") is not None:
        return f"{'Atlas' if atlas else 'Profile'}{model} over {counted(manifest['texts'], 'text')}"
    if "compared" in manifest:
        return " beside ".join(_cut(" ".join(name)) for name in manifest["compared"]["names"])
    keys = shown.record.stack(choices["stack"]).keys
    # A sound is a single row.
    is_sound = keys.patches is not None and all(grid.rows == 1 for grid in keys.patches.grids)
    medium = "a sound" if is_sound else "an image"
    on = f" on {medium}" if keys.patches else _on(_text(keys))
    # What `show` was given scores of; a reader who chose another colour sees attention first.
    color = choices["color"]
    if choices["view"] == "model" and color in {own["name"] for own in shown.metrics}:
        return f"{color[0].upper()}{_cut(color[1:])} of the heads{model}{on}"
    return f"Attention{model}{on}"


def _of(model: str) -> str:
    return f" of {model}" if model else ""


def _on(text: str) -> str:
    return f" on “{text}”" if text else ""


def _text(tokens: Tokens) -> str:
    """The text of these tokens, of a chat what its user asks first; "" if it is not known."""
    chosen = range(len(tokens))
    asked = [piece for piece in tokens.pieces or () if not piece.template]
    if asked:
        piece = next((each for each in asked if each.role == "user"), asked[0])
        chosen = range(piece.start, piece.end)
    spans = [span for n in chosen if tokens.offsets and (span := tokens.offsets[n])]
    if tokens.text is not None and spans:
        return _cut(tokens.text[spans[0][0] : spans[-1][1]])
    found = words(tokens)
    if found is None:
        return ""
    shown = dict.fromkeys(found.of[n] for n in chosen if n not in tokens.special)
    return _cut(" ".join(found.labels[word] for word in shown))


def _cut(text: str) -> str:
    """The text on one line, cut between words."""
    text = " ".join(sendable(text).split())
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST].rsplit(' ', 1)[0]}…"
