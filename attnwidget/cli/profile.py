"""The profile of a file of texts, as an atlas."""

from __future__ import annotations

import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attnwidget.progress import ending_when, progress_bar
from attnwidget.record.files import writable, write_whole
from attnwidget.running.texts import read_texts
from attnwidget.show import to_html

from .arguments import NULLS
from .output import Made, say
from .text import loaded_model


class _Interrupt:
    """Ctrl-C once: the work ends with what it has. Twice: it ends at once.

    Attributes:
        asked: True after the first.
    """

    def __init__(self) -> None:
        self.asked = False

    @contextmanager
    def heeded(self) -> Iterator[None]:
        before = signal.signal(signal.SIGINT, self._ask)
        try:
            with ending_when(lambda: self.asked):
                yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _ask(self, *_: Any) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        say("attnwidget: ending with the texts that were read; Ctrl-C again stops", sys.stderr)


def profile_page(args: Namespace) -> Made:
    """The atlas of a file of texts.

    Writes the table, too, if it was asked for.

    Raises:
        ModuleNotFoundError: torch or transformers, or pandas for the table, is not installed.
        OSError: the texts cannot be read, or the table not written; or there is no such model.
        ValueError: there are no texts; or see `attnwidget.profile`.
    """
    # Imported here, because it imports torch.
    from attnwidget.corpus import profile

    if args.table is not None:
        if find_spec("pandas") is None:
            raise ModuleNotFoundError("for a table, pandas is needed: pip install pandas")
        writable(args.table)
    texts = Path(args.texts)
    count = sum(1 for _ in read_texts(texts))
    interrupt = _Interrupt()
    with loaded_model(args.model, quiet=args.quiet) as (model, tokenizer):
        with progress_bar("Profiling", "texts", count), interrupt.heeded():
            found = profile(
                model, tokenizer, texts, null=NULLS[args.null], max_tokens=args.max_tokens
            )
        if interrupt.asked:
            # The page and its words name it, too.
            read = f"texts: {found.num_texts:,} of {count:,} were read"
            found.missing = (read, *found.missing)
        if args.table is not None:
            write_whole(args.table, found.table().to_csv(index=False).encode())
        page = to_html(found, similarity=find_spec("sklearn") is not None)
    return Made(page, found.missing, found, interrupt.asked)
