"""The atlas of a profile: a page with its map, and examples of heads that open in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attnwidget.corpus import HeadProfile, TextReader
from attnwidget.page import pack_example, page_of_examples
from attnwidget.progress import on_step, progress_bar, step_done
from attnwidget.wire import encode_examples

from .profile_widget import StaticProfile

# The most texts of a page.
_MAX_TEXTS = 64


def atlas_html(
    profile: HeadProfile, reader: TextReader, *, size: int, similarity: bool, **choices: Any
) -> str:
    """The HTML of an atlas.

    Args:
        reader: reads the texts.
        size: the most bytes of the page, which has one text in any case.
        similarity: see `ProfileView`.
        choices: those of `AttentionWidget`, with which the page opens.
    """
    texts = profile.example_texts(_MAX_TEXTS)
    with progress_bar("Reading", "texts"):
        with _whole_step():
            view = StaticProfile(profile, reader, similarity=similarity, **choices)
            shown = view.shown_record()
            packed = [pack_example(shown.record)]
        # With fewer texts, there are fewer examples.
        room = size - len(page_of_examples(shown, encode_examples(profile, texts), packed))
        for text in texts[1:]:
            with _whole_step():
                example = pack_example(reader.read(profile.text(text)))
            room -= example.size
            if room < 0:
                break
            packed.append(example)
    return page_of_examples(shown, encode_examples(profile, texts[: len(packed)]), packed)


@contextmanager
def _whole_step() -> Iterator[None]:
    """Count what is done within this context as one step."""
    with on_step(lambda: None):
        yield
    step_done()
