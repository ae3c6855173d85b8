"""The command line: attnwidget "text" -o out.html; attnwidget view record.safetensors -o out.html

Arguments come in (arguments.py), a page and an exit code go out: open `command.py` first.
"""

from .command import main

__all__ = ["main"]
