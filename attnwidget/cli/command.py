"""The command: from arguments to a page and an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout

from traitlets import TraitError

from attnwidget.analysis import compare
from attnwidget.corpus import HeadProfile
from attnwidget.describe.describe import describe
from attnwidget.page import viewer_html
from attnwidget.progress import on_step
from attnwidget.record import AttentionRecord
from attnwidget.record.described import kind_of_file
from attnwidget.record.files import printable
from attnwidget.record.record import DOUBT
from attnwidget.show import to_html
from attnwidget.view_state.table import TABLE
from attnwidget.widget import StaticView

from .arguments import COMPARE, DESCRIBE, PROFILE, VIEW, VIEWER, asks_doctor, parse
from .output import STDOUT, Made, check_output, close_stdout, say, say_json, write
from .profile import profile_page
from .text import record_of_text
from .tokens import position_of

# A shell's exit codes of programs that a signal ended.
_INTERRUPTED = 128 + 2
_BROKEN_PIPE = 128 + 13

_BAD_INPUT = (
    ImportError,
    IndexError,
    MemoryError,
    OSError,
    RuntimeError,
    TraitError,
    TypeError,
    ValueError,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page of a text, of records, of a profile, or the viewer; or say what is installed.

    Returns:
        The exit code: 0, 1 for bad input or a report of what is wrong, 130 if interrupted, 141 if
        the output is a closed pipe.

    Raises:
        SystemExit: wrong usage (2), or help or the version was asked for (0).
    """
    arguments = sys.argv[1:] if argv is None else argv
    args: Namespace | None = None
    try:
        asked = asks_doctor(arguments)
        if asked is not None:
            # Imported here: `packaging`, which it needs, comes with transformers and Jupyter.
            from .doctor import doctor

            return doctor(as_json=asked.json)
        args = parse(arguments)
        if args.command == DESCRIBE:
            words = describe(args.file)
            if args.json:
                say_json({"description": words})
            else:
                say(words, sys.stdout)
            return 0
        check_output(args.output, args.records)
        # Libraries must not write to the standard output, which may be the page.
        # A bar that somebody counts already is not shown.
        uncounted = on_step(lambda: None) if args.quiet else nullcontext()
        with redirect_stdout(sys.stderr), warnings.catch_warnings(), uncounted:
            warnings.simplefilter("ignore")
            if args.command == VIEWER:
                made = Made(viewer_html(), (), None)
            elif args.command == PROFILE:
                made = profile_page(args)
            else:
                made = _page(args)
            of_page = args.json and made.about is not None
            words = describe(made.about) if of_page else "a viewer of records, without one"
        write(args.output, made.page)
        if args.json:
            say_json(
                {
                    "output": args.output,
                    "missing": made.missing,
                    "interrupted": made.interrupted,
                    "description": words,
                }
            )
        elif not args.quiet:
            for reason in made.missing:
                # A doubt is of what is in the page.
                absent = "" if DOUBT in reason else "not in the page: "
                say(f"attnwidget: {absent}{printable(reason)}", sys.stderr)
            if args.output != STDOUT:
                say(args.output, sys.stdout)
        return _INTERRUPTED if made.interrupted else 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        close_stdout()
        return _BROKEN_PIPE
    except _BAD_INPUT as error:
        message = " ".join(_words(error).split()) or type(error).__name__
        if args is not None and args.json:
            say_json({"error": message})
        else:
            say(f"attnwidget: {message}", sys.stderr)
        return 1


def _words(error: Exception) -> str:
    """The message of an error, without a number that the system has for it."""
    if not isinstance(error, OSError) or error.strerror is None or error.filename is None:
        return str(error)
    missing = isinstance(error, FileNotFoundError)
    what = "no such file" if missing else error.strerror[:1].lower() + error.strerror[1:]
    return f"{what}: {printable(os.fsdecode(error.filename))}"


def _page(args: Namespace) -> Made:
    """The page of a text, of saved records, or of a saved profile."""
    choices = {name: value for name, value in vars(args).items() if name in TABLE}
    if args.command == VIEW and kind_of_file(args.records[0], needed=True) == "profile":
        profile = HeadProfile.load(args.records[0])
        return Made(to_html(profile, **choices), profile.missing, profile)
    for path in args.records:
        if kind_of_file(path) == "profile":
            raise ValueError(
                f"{printable(path)} is a profile, and {COMPARE} takes records: "
                f"attnwidget {VIEW} FILE -o PAGE shows it"
            )
    records = [AttentionRecord.load(path) for path in args.records]
    if not records:
        records = [record_of_text(args)]
    # They are read from the tokens of the stack that is shown.
    locked = {name: choices.pop(name) for name in ("query", "key", "also") if name in choices}
    view = StaticView(compare(*records) if args.command == COMPARE else records[0], **choices)
    record = view.record
    stack = record.stack(view.stack)
    for side, tokens in (("query", stack.queries), ("key", stack.keys)):
        if side in locked:
            setattr(view, side, position_of(locked[side], tokens, side))
    view.also = locked.get("also", [])
    return Made(view.to_html(quality=args.quality), record.missing, view.comparison or record)
