"""Parsing of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.metadata import version
from typing import get_args

from attnwidget.default_model import NAME
from attnwidget.view_state import View
from attnwidget.wire.compression import Quality

VIEW = "view"
DOCTOR = "doctor"

_EXIT_CODES = "Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted."


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; `record` is None unless the first one is "view".

    Raises:
        SystemExit: wrong usage (2), or help was asked for (0).
    """
    if argv[:1] == [VIEW]:
        return _record_parser().parse_args(argv[1:])
    return _text_parser().parse_args(argv)


def _text_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attnwidget",
        allow_abbrev=False,
        description="Write a page that shows a model's attention over a text. "
        f'"attnwidget {VIEW} RECORD -o FILE" shows a record that was saved; "attnwidget {DOCTOR}" '
        "says what is installed, what is wrong with it, and what to do.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument(
        "--version", action="version", version=f"attnwidget {version('attnwidget')}"
    )
    parser.add_argument("text", help=f'the text ("{VIEW}" alone has to come last)')
    parser.add_argument("--pair", metavar="TEXT", help="a second text, for models that take a pair")
    parser.add_argument(
        "--target",
        metavar="TEXT",
        help="the text that an encoder-decoder's decoder reads; without it, the model generates it",
    )
    parser.add_argument(
        "--generate",
        metavar="N",
        type=_count,
        help="generate up to N tokens, always the likeliest, and show these as well",
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        help=f"a local directory, a .gguf file, or a hub name; by default the embedded {NAME}",
    )
    parser.set_defaults(record=None)
    _add_shared(parser)
    return parser


def _record_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"attnwidget {VIEW}",
        allow_abbrev=False,
        description="Write a page that shows a saved record. Needs neither torch nor a model.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("record", help="a file written by AttentionRecord.save")
    _add_shared(parser)
    return parser


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--view", choices=get_args(View), default="head", help="the view that opens"
    )
    parser.add_argument("--layer", metavar="N", type=int, help="the layer, counted from 0")
    parser.add_argument("--head", metavar="N", type=int, default=0, help="the head, from 0")
    parser.add_argument(
        "--query", metavar="TOKEN", help="the locked query: a position from 0, or a token's text"
    )
    parser.add_argument(
        "--quality",
        choices=get_args(Quality),
        default="default",
        help="default: weights right to three decimals if the page stays under 2 MB; exact: at any "
        "size; compact and draft: 0.75%% and 2%% of the attention moves",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help='the HTML file to write; "-" is the standard output',
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tokens; expected 1, 2, ...")
    return int(text)
