"""Progress of long work reaches callbacks and bars."""

import io
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from IPython.utils.capture import capture_output

from attnwidget import AttentionRecord, AttentionWidget, capture
from attnwidget.cli.text import _quiet_transformers
from attnwidget.progress import on_step
from tests.unit.records import PROGRAMS, layer_of, record_of
from tests.unit.shell import running
from tests.unit.tiny import Loaded


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> AttentionRecord:
    """A record whose work has a bar from its first step on."""
    monkeypatch.setattr("attnwidget.progress._DELAY_SECONDS", 1e-9)
    monkeypatch.setattr("attnwidget.progress._REFRESH_SECONDS", 0)
    return record_of(*(layer_of(PROGRAMS["causal"], seed) for seed in range(3)))


WORK: dict[str, Callable[[AttentionWidget, Path], Any]] = {
    "Packing": lambda widget, folder: widget.save_html(folder / "page.html"),
    "Packing ": lambda widget, _: widget.embed(),
    "Packing  ": lambda widget, _: widget.static(),
    "Drawing": lambda widget, folder: widget.save_figure(folder / "figure.svg"),
    "Summarizing heads": lambda widget, _: AttentionWidget(widget.record),
}


@pytest.mark.parametrize("name", WORK)
def test_long_work_has_a_bar_on_a_terminal(
    record: AttentionRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    widget = AttentionWidget(record, view="model")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    WORK[name](widget, tmp_path)
    *_, last = shown = terminal.getvalue().split("\r")
    assert any(text.startswith(f"{name.strip()}:") for text in shown)
    assert last == ""


@pytest.mark.parametrize("name", WORK)
def test_scripts_without_a_terminal_are_quiet(
    record: AttentionRecord, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    WORK[name](AttentionWidget(record, view="model"), tmp_path)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("reader", [True, False])
def test_a_notebook_has_a_bar_where_somebody_reads_it(
    record: AttentionRecord, tmp_path: Path, reader: bool
) -> None:
    """Without a reader there is none: an executed notebook would keep the empty output of a bar."""
    widget = AttentionWidget(record)
    with running(tmp_path) as shell, capture_output() as captured:
        shell.kernel = object()
        shell.request = {"content": {"allow_stdin": reader}}
        WORK["Packing"](widget, tmp_path)
    data = [output.data for output in captured.outputs]
    if reader:
        assert data[0]["text/plain"].startswith("Packing:")
        assert data[-1] == {}
    else:
        assert data == []
    assert captured.stderr == ""


def test_a_notebook_in_a_browser_has_no_threads(
    record: AttentionRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr("attnwidget.progress._CellBar.monitor_interval", 0)
    with running(tmp_path) as shell, capture_output() as captured:
        shell.kernel = object()
        shell.request = {"content": {"allow_stdin": True}}
        for work in WORK.values():
            work(AttentionWidget(record), tmp_path)
    assert captured.stderr == ""


def test_an_interrupt_leaves_no_half_file(record: AttentionRecord, tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    widget = AttentionWidget(record, view="model")
    for name in ("Packing", "Drawing"):
        with on_step(interrupt), pytest.raises(KeyboardInterrupt):
            WORK[name](widget, tmp_path)
    with on_step(interrupt), pytest.raises(KeyboardInterrupt):
        widget.embed()
    assert list(tmp_path.iterdir()) == []
    assert widget._blocks == {}


def test_every_attention_call_every_layer_seen_and_every_layer_packed(smollm2: Loaded) -> None:
    model, tokenizer = smollm2
    steps: list[None] = []
    with on_step(lambda: steps.append(None)):
        record = capture(
            model, tokenizer, "The dog", generate={"max_new_tokens": 3, "do_sample": False}
        )
        layers, tokens = record.num_layers(), 3
        assert len(steps) == tokens + layers  # the generated tokens, and what one pass reads
        steps.clear()
        widget = AttentionWidget(record)
        assert len(steps) == layers
        steps.clear()
        widget.to_html()
        assert len(steps) == layers


def test_what_a_library_says_may_be_any_text() -> None:
    with _quiet_transformers(bars=False):
        print("loaded \udcff ⏎", file=sys.stderr)
