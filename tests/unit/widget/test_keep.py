"""Keeping a live view in its notebook: a static cell comes in place of the widget."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attnwidget import AttentionWidget
from tests.unit.records import PROGRAMS, layer_of, record_of
from tests.unit.shell import Shell, running


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    with running(tmp_path) as shell:
        monkeypatch.setattr(shell, "kernel", True, raising=False)
        yield shell


def _shown(shell: Shell, *, allow_stdin: bool) -> tuple[AttentionWidget, list[dict[str, Any]]]:
    sent: list[dict[str, Any]] = []
    shell.display_pub.publish = lambda **message: sent.append(message)  # type: ignore[method-assign]
    shell.request = {"content": {"allow_stdin": allow_stdin}}
    widget = AttentionWidget(record_of(*(layer_of(PROGRAMS["causal"], seed) for seed in range(3))))
    shell.display_formatter.format(widget)
    return widget, sent


def test_it_takes_the_place_of_each_display_as_the_reader_left_it(shell: Shell) -> None:
    widget, sent = _shown(shell, allow_stdin=True)
    [shown] = sent
    assert widget._keepable
    widget._handle_custom_msg({"op": "keep", "choices": {"layer": 2, "head": 1, "query": 3}}, [])
    kept = sent[1]
    assert kept["update"]
    assert kept["transient"] == shown["transient"]
    assert widget.static().html in kept["data"]["text/html"]
    assert (widget.layer, widget.head, widget.query) == (2, 1, 3)
    assert kept["data"]["text/plain"].startswith("Attention of a model: head view, layer 2, head 1")
    assert "application/vnd.jupyter.widget-view+json" not in kept["data"]


def test_it_is_not_offered_where_nobody_reads_the_cell(shell: Shell) -> None:
    widget, sent = _shown(shell, allow_stdin=False)
    assert not widget._keepable
    # ipywidgets 7 displays it itself, but as nothing that can be replaced.
    assert not any(each.get("transient") for each in sent)
