"""Widgets embed by themselves where a notebook is executed with no reader in front of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attnwidget import AttentionWidget
from attnwidget.widget import autoembed
from tests.unit.records import PROGRAMS, layer_of, record_of
from tests.unit.shell import Shell, running

CELL = """
from attnwidget import AttentionWidget
from tests.unit.records import PROGRAMS, layer_of, record_of
record = record_of(*(layer_of(PROGRAMS["causal"], seed) for seed in range(3)))
widget = AttentionWidget(record)
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    for name in ("VOILA_KERNEL_ID", "VOILA_REQUEST_URL"):
        monkeypatch.delenv(name, raising=False)
    with running(tmp_path) as shell:
        yield shell


def _run(shell: Shell, code: str, *, allow_stdin: bool) -> AttentionWidget:
    shell.request = {"content": {"code": code, "allow_stdin": allow_stdin}}
    shell.run_cell(code).raise_error()
    widget: AttentionWidget = shell.user_ns["widget"]
    return widget


def test_at_the_end_of_the_cell(shell: Shell) -> None:
    widget = _run(shell, f"{CELL}before = dict(widget._blocks)", allow_stdin=False)
    assert shell.user_ns["before"] == {}
    assert set(widget._blocks) == {"self.0", "self.1", "self.2"}
    assert widget._note == ""


def test_not_where_a_reader_can_ask_for_layers(shell: Shell) -> None:
    assert _run(shell, CELL, allow_stdin=True)._blocks == {}
    # Nor later, when the widget is older than a cell that nobody looks at.
    assert _run(shell, "1", allow_stdin=False)._blocks == {}


def test_no_limit_of_a_hosts_messages_holds_there(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNWIDGET_LARGEST_MESSAGE", "1_000_000")
    large = CELL.replace("in range(3)", "in range(1200)")
    assert _run(shell, large, allow_stdin=False)._blocks
    with pytest.raises(ValueError, match="ATTNWIDGET_LARGEST_MESSAGE is 1,000,000: show it with"):
        _run(shell, large, allow_stdin=True)


def test_not_in_voila_whose_readers_have_a_kernel(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOILA_REQUEST_URL", "http://localhost:8866/")
    assert _run(shell, CELL, allow_stdin=False)._blocks == {}


@pytest.mark.parametrize("parent", [None, {}, {"content": {}}, {"content": {"comm_id": "a"}}])
def test_not_where_nobody_executes_a_cell(shell: Shell, parent: Any) -> None:
    shell.request = parent
    shell.user_ns["request"] = parent
    record = record_of(layer_of(PROGRAMS["causal"]))
    widget = AttentionWidget(record)
    shell.run_cell("1").raise_error()
    assert widget._blocks == {}


def test_with_the_layer_that_the_cell_ends_with(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnwidget.widget.autoembed.BUDGET", 1000)
    widget = _run(shell, f"{CELL}widget.layer = 2", allow_stdin=False)
    assert next(iter(widget._blocks)) == "self.2"
    assert len(widget._blocks) < 3
    assert "the budget is 1 KB" in widget._note


@pytest.mark.parametrize(("call", "expected"), [("embed([1])", {"self.1"}), ("embed([])", set())])
def test_not_where_the_cell_has_chosen(shell: Shell, call: str, expected: set[str]) -> None:
    assert set(_run(shell, f"{CELL}widget.{call}", allow_stdin=False)._blocks) == expected
    assert set(_run(shell, "1", allow_stdin=False)._blocks) == expected


def test_every_widget_of_a_cell_but_those_that_are_closed(shell: Shell) -> None:
    code = f"{CELL}closed, second = widget, AttentionWidget(record)\nclosed.close()"
    _run(shell, code, allow_stdin=False)
    assert set(shell.user_ns["second"]._blocks) == {"self.0", "self.1", "self.2"}
    assert shell.user_ns["closed"]._blocks == {}


def test_in_each_cell_anew(shell: Shell) -> None:
    first = _run(shell, CELL, allow_stdin=False)
    first_blocks = first._blocks
    second = _run(shell, "widget = AttentionWidget(record)", allow_stdin=False)
    assert set(second._blocks) == {"self.0", "self.1", "self.2"}
    assert first._blocks is first_blocks


def test_a_cell_that_fails_keeps_its_widgets(shell: Shell) -> None:
    shell.request = {"content": {"allow_stdin": False}}
    assert not shell.run_cell(f"{CELL}1 / 0").success
    assert len(shell.user_ns["widget"]._blocks) == 3


def test_the_budget_is_8_megabytes() -> None:
    assert autoembed.BUDGET == 8_000_000
