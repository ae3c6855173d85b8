"""Parsing of the command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, get_args

from traitlets import Bool, Enum, Unicode

from attnwidget.default_model import NAME
from attnwidget.view_state.table import TABLE, described
from attnwidget.view_state.traits import Integer, Integers, Name, Position
from attnwidget.wire.compression import Quality

from .output import STDOUT

VIEW = "view"
COMPARE = "compare"
PROFILE = "profile"
VIEWER = "viewer"
DESCRIBE = "describe"
DOCTOR = "doctor"

NULLS: dict[str, Any] = {
    "random": ("random weights", "position"),
    "random weights": ("random weights", "position"),
    "shuffled": ("shuffled", "position"),
    "position": ("position",),
    "best offset": ("best offset", "position"),
    "none": None,
}
"""The nulls of `attnwidget.profile` by their names here."""


# Choices and values that need numbers, links or names of the user's own.
_OF_PYTHON = ("arcs_shown", "shown_grid")
_VALUES_OF_PYTHON = ("grid", "named")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a page: `command` is "text", or the first argument.

    Raises:
        SystemExit: wrong usage (2), or help was asked for (0).
    """
    command = argv[0] if argv and argv[0] in _COMMANDS else None
    parser = _text_parser() if command is None else _COMMANDS[command]()
    args = parser.parse_args(argv if command is None else argv[1:])
    if args.json and args.output == STDOUT:
        parser.error("--json is written to the standard output, so the page needs -o FILE")
    return args


def asks_doctor(argv: Sequence[str]) -> argparse.Namespace | None:
    """The arguments of the doctor; None if they are those of another command, or of a text.

    Raises:
        SystemExit: help was asked for (0).
    """
    first, *options = argv or [""]
    if first != DOCTOR or not {*options} <= {"--json", "-h", "--help"}:
        return None
    parser = argparse.ArgumentParser(
        prog=f"attnwidget {DOCTOR}",
        description="Say what is installed, what is wrong with it, and what to do.",
        epilog="Exit codes: 0 nothing is wrong, 1 something is.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(options)


def _parser(command: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"attnwidget {command}".rstrip(),
        allow_abbrev=False,
        description=description,
        epilog="Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted.",
    )
    parser.set_defaults(command=command or "text", records=[])
    return parser


def _text_parser() -> argparse.ArgumentParser:
    parser = _parser(
        "",
        "Write a page that shows a model's attention over a text. "
        f'"attnwidget {VIEW} RECORD -o FILE" shows a record that was saved; '
        f'"attnwidget {COMPARE} A B -o FILE" shows two of them and their difference; '
        f'"attnwidget {PROFILE} '
        '--texts FILE -o FILE" shows what every head does over many texts; '
        f'"attnwidget {VIEWER} -o FILE" opens records, profiles and pages from a disk, in a '
        "browser alone; "
        f'"attnwidget {DESCRIBE} FILE" says in words what is in a record or a profile; '
        f'"attnwidget {DOCTOR}" '
        "says what is installed, what is wrong with it, and what to do, with --json as JSON.",
    )
    parser.add_argument(
        "--version", action="version", version=f"attnwidget {version('attnwidget')}"
    )
    parser.add_argument(
        "text",
        help=f'the text ("{VIEW}", "{COMPARE}", "{PROFILE}", "{VIEWER}" or "{DESCRIBE}" alone has '
        "to come last)",
    )
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
    _add_model(parser)
    _add_shared(parser)
    return parser


def _record_parser() -> argparse.ArgumentParser:
    parser = _parser(
        VIEW,
        "Write a page that shows a saved record, or the map of a saved profile. Needs neither "
        "torch nor a model.",
    )
    parser.add_argument(
        "records",
        nargs=1,
        metavar="record",
        help="a file written by AttentionRecord.save or HeadProfile.save",
    )
    _add_shared(parser)
    return parser


def _compare_parser() -> argparse.ArgumentParser:
    parser = _parser(
        COMPARE,
        "Write a page that shows two saved records and their difference in the same place. Needs "
        "neither torch nor a model.",
    )
    for name in ("A", "B"):
        parser.add_argument(
            "records", action="append", metavar=name, help="a file written by AttentionRecord.save"
        )
    _add_shared(parser)
    return parser


def _profile_parser() -> argparse.ArgumentParser:
    parser = _parser(
        PROFILE,
        "Write an atlas of a model: one page with the numbers of every head over many texts, and "
        "examples that open in it. Ctrl-C writes it of the texts that were read.",
    )
    _add_model(parser)
    parser.add_argument(
        "--texts", metavar="FILE", required=True, help="a file with one text per line"
    )
    parser.add_argument(
        "--null",
        choices=NULLS,
        default="random",
        help="what the numbers stand beside: random, the default, is the model with random "
        "weights, which takes as much time again; shuffled, the texts with their tokens in random "
        "order; position, what relative position alone would give, which comes with all others; "
        "best offset, attention to one fixed offset; none, nothing",
    )
    parser.add_argument(
        "--max-tokens", metavar="N", type=_count, help="cut longer texts off after N tokens"
    )
    parser.add_argument("--table", metavar="FILE", help="write the numbers as CSV, too")
    _add_output(parser)
    return parser


def _viewer_parser() -> argparse.ArgumentParser:
    parser = _parser(
        VIEWER,
        "Write a page without a record, which opens records, profiles and saved pages from its "
        "reader's disk. It needs no server, and sends nothing.",
    )
    _add_output(parser)
    return parser


def _describe_parser() -> argparse.ArgumentParser:
    parser = _parser(
        DESCRIBE,
        "Say in words what is in a saved record or profile, in at most 60 lines. Needs neither "
        "torch nor a model.",
    )
    parser.add_argument("file", help="a file written by AttentionRecord.save or HeadProfile.save")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object: description, or error"
    )
    parser.set_defaults(output=None)
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        metavar="MODEL",
        help=f"a local directory, a .gguf file, or a hub name; by default the embedded {NAME}",
    )


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quality",
        choices=get_args(Quality),
        default="default",
        help="default: weights right to three decimals if the page stays under 2 MB; exact: at any "
        "size; compact and draft: 0.75%% and 2%% of the attention moves",
    )
    _add_output(parser)
    _add_choices(parser)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Offer every choice of a view that a word can say, by its line in the table."""
    group = parser.add_argument_group("choices of the view", "as attnwidget.show takes them")
    meanings = _meanings()
    for name, (_, trait) in TABLE.items():
        of_two = name == "compared" and parser.get_default("command") != COMPARE
        if of_two or name in _OF_PYTHON:
            continue
        options: dict[str, Any] = {"dest": name, "default": argparse.SUPPRESS}
        options["help"] = meanings.get(name)
        if isinstance(trait, Bool):
            options["action"] = argparse.BooleanOptionalAction
        elif isinstance(trait, Enum):
            options["choices"] = [
                each for each in trait.values or () if each not in _VALUES_OF_PYTHON
            ]
        else:
            kinds = [kind for kind in _WORDS if isinstance(trait, kind)]
            if not kinds:
                continue
            options["metavar"], options["type"] = _WORDS[kinds[0]]
        group.add_argument(f"--{name.replace('_', '-')}", **options)


def _meanings() -> dict[str, str]:
    """The first clause on each choice in the table's description."""
    meanings = {"view": "the view that opens, by default the head view"}
    for names, text in re.findall(r"(?ms)^ *(\w[\w, ]*): (.+?)(?=^ {8}\w|\Z)", described()):
        clause = re.split(r"[.;:](?: |$)", " ".join(text.split()))[0]
        meanings |= dict.fromkeys(names.split(", "), clause.replace("%", "%%"))
    return meanings


def _add_output(parser: argparse.ArgumentParser) -> None:
    said = parser.add_mutually_exclusive_group()
    said.add_argument("--quiet", action="store_true", help="print nothing but errors")
    said.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object in place of lines: output, missing, interrupted, and a "
        "description in words of what is in the page; or error",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help='the HTML file to write; "-" is the standard output',
    )


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers, as 0,2,5") from None


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tokens; expected 1, 2, ...")
    return int(text)


_COMMANDS = {
    VIEW: _record_parser,
    COMPARE: _compare_parser,
    PROFILE: _profile_parser,
    VIEWER: _viewer_parser,
    DESCRIBE: _describe_parser,
}

# By the kind of a choice, what stands for its value and how that is read.
_WORDS: dict[type, tuple[str, Callable[[str], Any]]] = {
    Position: ("TOKEN", str),
    Integer: ("N", int),
    Integers: ("N,N", _numbers),
    Name: ("NAME", str),
    Unicode: ("NAME", str),
}
