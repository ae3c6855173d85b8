"""attnwidget "text" -o out.html"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, get_args

from attnwidget.default_model import NAME, default_model
from attnwidget.encoding import Quality
from attnwidget.show import show
from attnwidget.widget import View


def main(argv: Sequence[str] | None = None) -> int:
    """Capture a text and write one HTML page. Returns the exit code: 1 for bad input."""
    args = _parser().parse_args(argv)
    try:
        model, tokenizer = _load(args.model) if args.model else default_model()
        widget = show(model, tokenizer, args.text, args.pair, view=args.view)
        widget.save_html(args.output, quality=args.quality)
    except (OSError, ValueError, TypeError, ModuleNotFoundError) as error:
        print(f"attnwidget: {error}", file=sys.stderr)
        return 1
    print(args.output)
    return 0


def _load(name: str) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    try:
        return AutoModel.from_pretrained(name), AutoTokenizer.from_pretrained(name)
    except OSError as error:
        # The library's own message goes on with paragraphs about its hub.
        raise OSError(f"cannot load {name}: {str(error).strip().splitlines()[0]}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attnwidget", description="Write a page that shows a model's attention over a text."
    )
    parser.add_argument("text", help="the text")
    parser.add_argument("--pair", help="a second text, for models that take a pair")
    parser.add_argument(
        "--model", help=f"a local directory or a hub name; by default the embedded {NAME}"
    )
    parser.add_argument(
        "--view", choices=get_args(View), default="head", help="the view it opens with"
    )
    parser.add_argument(
        "--quality",
        choices=get_args(Quality),
        default="default",
        help="how far rounding may move attention: 2%%, 0.75%%, or that of float16",
    )
    parser.add_argument("-o", "--output", required=True, help="the HTML file to write")
    return parser
