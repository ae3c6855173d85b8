"""The picture beside a widget, for hosts where no widget can run."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.display import display
from IPython.utils.capture import capture_output

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.record import Fidelity, Layer, ScoreProgram, Stack, Tokens
from attnwidget.widget import record_view
from tests.unit.records import PROGRAMS, layer_of, record_of
from tests.unit.shell import running

VIEW = "application/vnd.jupyter.widget-view+json"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def widget() -> AttentionWidget:
    return AttentionWidget(record_of(layer_of(PROGRAMS["causal"])), head=2)


@pytest.fixture(autouse=True)
def _shell(tmp_path: Path) -> Iterator[None]:
    with running(tmp_path):
        yield


def _output(shown: object) -> Any:
    """The output of a cell's last expression in a notebook."""
    with capture_output() as captured:
        display(shown)
    [output] = captured.outputs
    return output


def _displayed(widget: AttentionWidget) -> dict[str, Any]:
    data: dict[str, Any] = _output(widget).data
    return data


def test_a_widget_that_was_closed_is_words_alone(widget: AttentionWidget) -> None:
    widget.close()
    assert set(_displayed(widget)) == {"text/plain"}


def test_a_picture_and_words_beside_the_widget(widget: AttentionWidget) -> None:
    data = _displayed(widget)
    # HTML would be shown instead of the picture, and SVG not where nothing is trusted.
    assert set(data) == {VIEW, "image/png", "text/plain"}
    assert data[VIEW]["model_id"] == widget.model_id
    assert base64.b64decode(data["image/png"]).startswith(PNG)
    assert data["text/plain"].startswith("Attention of a model: head view, layer 0, head 2.")


def test_the_picture_is_of_what_is_chosen(widget: AttentionWidget) -> None:
    before = _displayed(widget)["image/png"]
    widget.query = 4
    assert _displayed(widget)["image/png"] != before


def test_where_no_widget_runs_it_is_what_is_shown(widget: AttentionWidget) -> None:
    """GitHub, which converts a notebook and drops its scripts, and PDF show the picture."""
    nbconvert = pytest.importorskip("nbconvert")
    nbformat = pytest.importorskip("nbformat")
    shown, figure = _output(widget), _output(widget.figure(panel="matrix"))
    data = shown.data
    output = nbformat.v4.new_output("display_data", data, metadata=shown.metadata)
    drawn = nbformat.v4.new_output("display_data", figure.data, metadata=figure.metadata)
    cell = nbformat.v4.new_code_cell("widget", outputs=[output, drawn])
    notebook = nbformat.v4.new_notebook(cells=[cell])
    html, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert html.count(f'src="data:image/png;base64,{data["image/png"][:100]}') == 1
    assert VIEW not in html
    # The template "lab" of nbconvert 7.17 has no alternative texts of outputs.
    html, _ = nbconvert.HTMLExporter(template_name="classic").from_notebook_node(notebook)
    for part in ("head view", "matrix"):
        assert html.count(f'alt="Attention of a model: {part}, layer 0, head 2. Layer 0') == 1
    latex, resources = nbconvert.LatexExporter().from_notebook_node(notebook)
    (name, picture), _ = resources["outputs"].items()
    assert picture == base64.b64decode(data["image/png"])
    assert name in latex


def test_without_pillow_the_words_say_what_to_install(
    widget: AttentionWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_view, "find_spec", lambda name: None)
    data = _displayed(widget)
    assert set(data) == {VIEW, "text/plain"}
    assert "pip install 'attnwidget[figures]'" in data["text/plain"]


def test_a_picture_that_fails_is_none_and_the_words_say_why(
    widget: AttentionWidget, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> bytes:
        raise ValueError("no picture of this")

    monkeypatch.setattr(AttentionWidget, "_preview", fail)
    data = _displayed(widget)
    assert set(data) == {VIEW, "text/plain"}
    assert data["text/plain"].endswith("ValueError: no picture of this")


def test_of_very_many_heads_the_picture_is_as_small() -> None:
    weights = np.full((6, 84, 2, 2), 0.5, np.float32)
    many = AttentionWidget(AttentionRecord.from_arrays(weights, ["a", "b"]), view="model")
    assert len(_displayed(many)["image/png"]) < 100_000


@pytest.mark.parametrize("failing", [False, True])
def test_a_terminal_obeys_none_of_the_words(failing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    record = record_of(layer_of(PROGRAMS["causal"]))
    record.model = "\x1b[31mred"

    def fail(widget: AttentionWidget, *_: Any) -> bytes:
        raise ValueError(f"no picture of {widget.record.model}")

    if failing:
        monkeypatch.setattr(AttentionWidget, "_preview", fail)
    said = _displayed(AttentionWidget(record))["text/plain"]
    assert "\x1b" not in said
    assert said.startswith("'Attention of \\x1b[31mred: head view, layer 0, head 0'.")


def test_the_words_name_the_stack_where_there_are_several(widget: AttentionWidget) -> None:
    stacks = {"encoder": widget.record.stack(), "cross": widget.record.stack()}
    several = AttentionWidget(AttentionRecord(stacks), view="model")
    said = _displayed(several)["text/plain"]
    assert said.startswith("Attention: model view of cross.\n")


def test_of_a_very_long_text_there_is_a_picture_too() -> None:
    queries, keys = np.ones((2, 1, 12_300, 1), np.float32)
    fidelity = Fidelity("given", "", "queries and keys", None, None, 1e-4, 0)
    layer = Layer(queries, keys, ScoreProgram(1, "causal"), None, fidelity)
    tokens = Tokens(tuple(f"w{n}" for n in range(12_300)))
    record = AttentionRecord({"self": Stack(tokens, tokens, (layer,))})
    assert set(_displayed(AttentionWidget(record))) == {VIEW, "image/png", "text/plain"}
