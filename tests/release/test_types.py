"""A user's type checker sees the types of the installed package."""

import subprocess
import sys
from pathlib import Path

from tests.release.environment import Installed
from tests.support import PATIENCE_SECONDS

SCRIPT = """\
import attnwidget as aw

record = aw.AttentionRecord.load("dog.safetensors")
reveal_type(record.weights(0, 0))
widget = aw.show(record, view="model", layer=2)
reveal_type(widget)
reveal_type(widget.to_html(quality="draft"))
reveal_type(widget.selection.query)
aw.show(record, view="tree")
aw.show(record, colour="pattern")
record.weights("first", 0)
"""

# Line by line, what is said.
REVEALED = {
    4: "ndarray[",
    6: "attnwidget.widget.widget.AttentionWidget | attnwidget.widget.static_view.StaticView",
    7: 'Revealed type is "str"',
    8: "int | None",
    9: 'error: Argument "view" to "show" has incompatible type',
    10: 'error: Unexpected keyword argument "colour" for "show"',
    11: 'error: Argument 1 to "weights" of "AttentionRecord" has incompatible type "str"',
}


def test_types(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    options = ["--strict", "--no-pretty", "--no-error-summary", "--cache-dir", str(tmp_path)]
    command = [sys.executable, "-m", "mypy", *options, "--python-executable"]
    run = subprocess.run(
        [*command, str(installed.python), "script.py"],
        cwd=tmp_path,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    said: dict[int, str] = {}
    for line in run.stdout.splitlines():
        _, number, text = line.split(":", 2)
        said[int(number)] = said.get(int(number), "") + text
    assert said.keys() == REVEALED.keys(), run.stdout + run.stderr
    for number, text in REVEALED.items():
        assert text in said[number]
