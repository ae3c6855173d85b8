"""A saved record opens, and is shown, where torch and transformers are not installed."""

import subprocess
import sys
from pathlib import Path

from attnwidget import capture, profile
from tests.support import PATIENCE_SECONDS
from tests.unit.tiny import llama, token_ids

# A finder that stands in front of all others and finds what must not be imported.
WITHOUT_TORCH = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "tokenizers", "huggingface_hub"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""

OPEN_AND_SHOW = """
import attnwidget
record = attnwidget.AttentionRecord.load(sys.argv[1])
print(record.weights(1, 3)[4].tobytes().hex())
widget = attnwidget.show(record, view="neuron", layer=1)
assert widget.layer == 1
widget.embed()
widget.save_html(sys.argv[2])
widget.save_figure(sys.argv[3])
attnwidget.plot.head(record, layer=1, heads=[3]).figure.savefig(sys.argv[4])
record.save(sys.argv[1])
attnwidget.AttentionRecord.from_arrays([[[[1.0]]]], ["a"])
"""


VIEW = """
from attnwidget.cli import main
sys.exit(main(["view", sys.argv[1], "-o", sys.argv[2]]))
"""


def _run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_TORCH + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)


def test_load_and_show(tmp_path: Path) -> None:
    record = capture(llama(), None, {"input_ids": token_ids(6)})
    path, page = tmp_path / "record.safetensors", tmp_path / "page.html"
    figures = tmp_path / "figure.svg", tmp_path / "plot.png"
    record.save(path)
    run = _run(OPEN_AND_SHOW, *map(str, (path, page, *figures)))
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == record.weights(1, 3)[4].tobytes().hex()
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert figures[0].read_text(encoding="utf-8").startswith("<?xml")
    assert figures[1].read_bytes().startswith(b"\x89PNG")


OPEN_PROFILE = """
import attnwidget
profile = attnwidget.HeadProfile.load(sys.argv[1])
print(len(profile.table()), len(profile.patterns()), profile.similarity().num_rows)
"""


def test_a_saved_profile(tmp_path: Path) -> None:
    path = tmp_path / "profile.safetensors"
    text = {"input_ids": token_ids(6)}
    profile(llama(), None, text, metrics=["first"], null=None).save(path)
    run = _run(OPEN_PROFILE, str(path))
    assert (run.stdout.split(), run.stderr) == (["8", "2", "4"], "")


def test_view_on_the_command_line(tmp_path: Path) -> None:
    path, page = tmp_path / "record.safetensors", tmp_path / "page.html"
    capture(llama(), None, {"input_ids": token_ids(6)}).save(path)
    run = _run(VIEW, str(path), str(page))
    assert (run.returncode, run.stderr) == (0, "")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_capture_says_what_is_missing() -> None:
    run = _run("import attnwidget\nattnwidget.capture(None, None, 'A text.')")
    assert run.returncode == 1
    assert run.stderr.strip().endswith("ModuleNotFoundError: No module named 'torch'")
