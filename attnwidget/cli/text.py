"""Capture of the command line's text."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.util import find_spec
from os.path import isfile
from typing import Any

from attnwidget.default_model import default_model
from attnwidget.record import AttentionRecord
from attnwidget.record.described import kind_of_file

from .models import load


def record_of_text(args: Namespace) -> AttentionRecord:
    """Load the model, and capture its attention over the text.

    Raises:
        ModuleNotFoundError: torch or transformers is not installed.
        OSError, ValueError: there is no such model, or it is damaged; or the text is a file of
            attnwidget.
        TypeError, ValueError, IndexError: see `attnwidget.capture`.
    """
    if args.text.endswith(".safetensors") or (isfile(args.text) and kind_of_file(args.text)):
        raise ValueError(
            f"{args.text} is a file, not a text: attnwidget view {args.text} -o {args.output} "
            "shows a saved record or profile"
        )
    for text in (args.text, args.pair, args.target):
        try:
            # A shell's text may be in another encoding than the declared one.
            (text or "").encode()
        except UnicodeEncodeError:
            raise ValueError(f"the text {text!r} is no Unicode text") from None
    with loaded_model(args.model, quiet=args.quiet) as (model, tokenizer):
        # Imported here, so that records can be shown without torch.
        from attnwidget.capture import capture

        # Without sampling, the page is the same every time.
        options = {"max_new_tokens": args.generate, "do_sample": False}
        return capture(
            model,
            tokenizer,
            args.text,
            args.pair,
            target=args.target,
            generate=None if args.generate is None else options,
        )


@contextmanager
def loaded_model(name: str | None, *, quiet: bool) -> Iterator[tuple[Any, Any]]:
    """The model and its tokenizer; within this context, transformers is quiet.

    Raises:
        ModuleNotFoundError: torch or transformers is not installed.
        OSError, ValueError: there is no such model, or it is damaged.
    """
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            raise ModuleNotFoundError(f"to read a text, {package} is needed: pip install {package}")
    with _quiet_transformers(bars=not quiet and sys.stderr.isatty()):
        yield load(name) if name is not None else default_model()


@contextmanager
def _quiet_transformers(*, bars: bool) -> Iterator[None]:
    """Turn off transformers' warnings, and its progress bars unless `bars`."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        if bars:
            yield
        else:
            # Some of its bars cannot be switched off.
            with (
                open(os.devnull, "w", encoding="utf-8", errors="replace") as null,
                redirect_stderr(null),
            ):
                yield
    finally:
        logging.set_verbosity(verbosity)
