"""attnwidget view record.safetensors: a saved record, and where the page goes"""

import fcntl
import json
import os
import pty
import resource
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import attnwidget
from attnwidget import compare, show, to_html
from attnwidget.cli import main
from attnwidget.cli.arguments import _record_parser
from attnwidget.view_state.table import TABLE
from tests.support import PATIENCE_SECONDS
from tests.unit.pages import content_of
from tests.unit.records import record_with_every_program
from tests.unit.tiny import llama, token_ids


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "record.safetensors"
    record_with_every_program().save(path)
    return path


def _command(record: Path, *arguments: str | bytes) -> list[str | bytes]:
    return [sys.executable, "-m", "attnwidget", "view", str(record), *arguments]


def _run(record: Path, *arguments: str | bytes, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(record, *arguments),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        **options,
    )


def test_a_record_becomes_a_page(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "out.html"
    place = ["--view", "model", "--layer", "2", "--head", "1", "--query", "token5"]
    assert main(["view", str(record), *place, "-o", str(page)]) == 0
    widget = show(record_with_every_program(), view="model", layer=2, head=1, query=5)
    assert page.read_text(encoding="utf-8") == widget.to_html()
    out, err = capsys.readouterr()
    assert (out, err) == (f"{page}\n", "")


def test_every_choice_that_a_word_says_is_an_option(record: Path, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    words = "--stack self --layer 2 --heads 0,1 --key token3 --also 1,2 --lens scores --no-picture"
    words += " --map-size entropy --segments content --include-layers 0,2 --sort pair --theme dark"
    assert main(["view", str(record), *words.split(), "-o", str(page)]) == 0
    widget = show(
        record_with_every_program(),
        **{"stack": "self", "layer": 2, "heads": [0, 1], "key": 3, "also": [1, 2]},
        **{"lens": "scores", "picture": False, "map_size": "entropy", "segments": "content"},
        **{"include_layers": [0, 2], "sort": "pair", "theme": "dark"},
    )
    assert page.read_text(encoding="utf-8") == widget.to_html()
    # The others need lists of Python, or two records.
    left_out = {"named_segments", "off", "cut", "arcs_shown", "shown_grid", "compared"}
    offered = {action.dest for action in _record_parser()._actions}
    assert set(TABLE) - offered == left_out


def test_two_records_become_a_page_of_both(record: Path, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    assert main(["compare", str(record), str(record), "--layer", "2", "-o", str(page)]) == 0
    own = record_with_every_program()
    assert page.read_text(encoding="utf-8") == to_html(compare(own, own), layer=2)
    assert main(["compare", str(page), str(record), "-o", str(page)]) == 1


def test_what_is_missing_is_said(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking = record_with_every_program()
    doubt = "the tokenizer is likely another model's: it has 9 tokens"
    lacking.missing = (doubt, "layers.9: it calls no attention function")
    path, page = tmp_path / "lacking.safetensors", tmp_path / "out.html"
    lacking.save(path)
    assert main(["view", str(path), "-o", str(page)]) == 0
    out, err = capsys.readouterr()
    assert out == f"{page}\n"
    absent = "attnwidget: not in the page: layers.9: it calls no attention function\n"
    assert err == f"attnwidget: {doubt}\n{absent}"
    assert main(["view", str(path), "--quiet", "-o", str(page)]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "attnwidget: no such file: "),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "not a readable safetensors file"),
        (lambda path: path.write_bytes(b""), "not a readable safetensors file"),
    ],
)
def test_no_record(
    damage: Callable[[Path], Any],
    message: str,
    record: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, page = tmp_path / "record.safetensors", tmp_path / "out.html"
    path.write_bytes(record.read_bytes())
    damage(path)
    assert main(["view", str(path), "-o", str(page)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    assert line.startswith("attnwidget: ")
    assert message in line
    assert not page.exists()


def test_the_record_is_not_overwritten(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, link = tmp_path / "record.safetensors", tmp_path / "link.html"
    path.write_bytes(record.read_bytes())
    link.symlink_to(path)
    for page in (path, link):
        assert main(["view", str(path), "-o", str(page)]) == 1
        out, err = capsys.readouterr()
        expected = f"attnwidget: {page} is the record itself; give the page another name\n"
        assert (out, err) == ("", expected)
    assert path.read_bytes() == record.read_bytes()


def test_a_terminal_obeys_nothing_that_a_record_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = record_with_every_program()
    hostile.missing = ("layers.9: \x1b[31mred",)
    path = tmp_path / "hostile.safetensors"
    hostile.save(path)
    assert main(["view", str(path), "-o", str(tmp_path / "out.html")]) == 0
    assert capsys.readouterr().err == "attnwidget: not in the page: 'layers.9: \\x1b[31mred'\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_the_standard_output_holds_the_page_alone(unbuffered: str, record: Path) -> None:
    run = _run(record, "-o", "-", env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == show(record_with_every_program()).to_html()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_nobody_reads_the_standard_output(unbuffered: str, record: Path) -> None:
    command = _command(record, "-o", "-")
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        # The page does not fit into the pipe, so it is being written.
        run.stdout.read(10)
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 128 + signal.SIGPIPE


def test_the_standard_output_by_its_path(record: Path) -> None:
    command = ["sh", "-c", '"$@" | cat', "sh", *_command(record, "-o", "/dev/stdout")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert run.stderr == ""
    assert run.stdout == show(record_with_every_program()).to_html() + "/dev/stdout\n"


def test_interrupted(record: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = _command(record, "-o", str(pipe))

    def heed_interrupts() -> None:
        # A shell has whatever it runs in the background ignore them.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_interrupts
        ) as run,
        open(pipe, "rb", buffering=0) as reader,
    ):
        # The page does not fit into the pipe, so it is being written.
        reader.read(1)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE_SECONDS)
    assert (run.returncode, out, err) == (130, b"", b"")


def test_what_cannot_be_written_leaves_what_was_there(record: Path, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    page.write_text("before", encoding="utf-8")

    def no_large_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    run = _run(record, "-o", str(page), preexec_fn=no_large_files)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == f"attnwidget: cannot write {page}: File too large\n"
    assert page.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [page]


def test_a_page_that_was_there_keeps_its_place_and_rights(record: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    page, link = tmp_path / "real" / "out.html", tmp_path / "link.html"
    page.write_text("before", encoding="utf-8")
    page.chmod(0o640)
    link.symlink_to(page)
    assert main(["view", str(record), "-o", str(link)]) == 0
    assert link.is_symlink()
    assert page.stat().st_mode & 0o777 == 0o640
    assert content_of(page)["manifest"]["model"] == "a model"
    assert list(page.parent.iterdir()) == [page]


def test_a_new_page_has_the_rights_of_any_new_file(record: Path, tmp_path: Path) -> None:
    page, other = tmp_path / "out.html", tmp_path / "other"
    other.touch()
    assert main(["view", str(record), "-o", str(page)]) == 0
    assert page.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("name", [b"out-\xff.html", "ö 🦜.html".encode()])
def test_any_path_is_printed(name: bytes, record: Path, tmp_path: Path) -> None:
    """Also one that is not UTF-8, and where the terminal knows ASCII alone."""
    path = os.fsencode(tmp_path) + b"/" + name
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = _run(record, "-o", path, env=environment)
    assert (run.returncode, run.stderr) == (0, "")
    shown = os.fsdecode(path).encode("ascii", "backslashreplace").decode()
    assert run.stdout == f"{shown}\n"
    assert os.path.getsize(path) > 0
    run = _run(record, "-o", path + b"/out.html", env=environment)
    assert run.returncode == 1
    assert run.stderr.startswith(f"attnwidget: cannot write {shown}/out.html: there is no folder")


@pytest.mark.parametrize("quiet", [False, True])
def test_a_terminal_sees_progress(quiet: bool, record: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    # Bars appear after a second, which this work does not take everywhere.
    at_once = (
        "import attnwidget.progress as progress; progress._DELAY_SECONDS = 0; "
        "from attnwidget.cli import main; raise SystemExit(main())"
    )
    arguments = ["view", str(record), "-o", str(tmp_path / "out.html")]
    command = [sys.executable, "-c", at_once, *arguments, *(["--quiet"] if quiet else [])]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, timeout=PATIENCE_SECONDS)
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 4096):
            seen += piece
    except OSError:  # so Linux says that the other side is closed
        pass
    os.close(ours)
    assert run.returncode == 0
    if quiet:
        assert (run.stdout, seen) == (b"", b"")
        return
    layers = len(record_with_every_program().stack().layers)
    for what in ("Summarizing heads", "Packing"):
        assert f"{what}:".encode() in seen
        assert f"/{layers} [".encode() in seen
    # At the end, its line is empty again.
    assert seen.endswith(b"\r") or seen.endswith(b"\x1b[A")


def test_a_profile_becomes_a_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "heads.safetensors", tmp_path / "out.html"
    texts = [{"input_ids": token_ids(5, seed=0)}]
    attnwidget.profile(llama(), None, texts, metrics=["first"], null=None).save(path)
    assert main(["view", str(path), "-o", str(page)]) == 0
    assert page.read_text("utf-8") == to_html(path)
    choices = ["--view", "model", "--layer", "1"]
    assert main(["view", str(path), *choices, "-o", str(page)]) == 0
    assert page.read_text("utf-8") == to_html(path, view="model", layer=1)
    capsys.readouterr()
    assert main(["view", str(path), "--view", "head", "-o", str(page)]) == 1
    assert "view is 'head': Heads alone" in capsys.readouterr().err
    code = "import sys, attnwidget; attnwidget.to_html(sys.argv[1]); print('torch' in sys.modules)"
    command = [sys.executable, "-c", code, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert run.stdout == "False\n", run.stderr
    assert main(["describe", str(path)]) == 0
    assert capsys.readouterr().out == f"{attnwidget.describe(path)}\n"
    assert main(["compare", str(path), str(path), "-o", str(page)]) == 1
    assert "compare takes records: attnwidget view FILE" in capsys.readouterr().err


def test_a_record_in_words(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", str(record), "--json"]) == 0
    words = attnwidget.describe(record)
    assert json.loads(capsys.readouterr().out) == {"description": words}
    assert main(["describe", f"{record}x"]) == 1
    assert capsys.readouterr().err == f"attnwidget: no such file: {record}x\n"


def test_a_record_is_no_text(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(record), "-o", "out.html"]) == 1
    assert f"attnwidget view {record} -o out.html" in capsys.readouterr().err
