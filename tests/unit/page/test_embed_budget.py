"""Layers that are saved with a notebook without room for all."""

from typing import Any

import numpy as np
import pytest

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.page import pack
from attnwidget.record import Layer
from attnwidget.wire.compression import LIMITS, pack_layer
from tests.unit.records import FIDELITY, floats, numbered, program, record_of

LAYERS = 7


@pytest.fixture(scope="module")
def record() -> AttentionRecord:
    """Layers long enough for qualities to differ in size, and all of about the same size."""
    return record_of(*(_layer(seed) for seed in range(LAYERS)))


def _layer(seed: int) -> Layer:
    queries, keys = floats(2, 90, 16, seed=seed), floats(2, 90, 16, seed=seed + 50)
    return Layer(queries, keys, program(), None, FIDELITY)


def _size(widget: AttentionWidget) -> int:
    """Size of the layers in the notebook, in base64."""
    return sum(-(-len(block["data"]) // 3) * 4 for block in widget._blocks.values())


def _whole(record: AttentionRecord, quality: Any) -> int:
    return _size(AttentionWidget(record).embed(quality=quality))


def test_all_of_them_where_there_is_room(record: AttentionRecord) -> None:
    widget = AttentionWidget(record).embed(budget=8_000_000)
    assert len(widget._blocks) == LAYERS
    assert widget._blocks == AttentionWidget(record).embed()._blocks
    assert widget._note == ""


def test_rollout_while_it_is_shown_and_there_is_room(record: AttentionRecord) -> None:
    widget = AttentionWidget(record, lens="rollout").embed()
    layers = _size(AttentionWidget(record).embed())
    whole = _size(widget)
    layers_alone = {f"self.{n}" for n in range(LAYERS)}
    assert set(widget._blocks) == {*layers_alone, *(f"{name}.rollout" for name in layers_alone)}
    fitting = set(widget.embed(budget=whole - 1)._blocks)
    assert layers_alone < fitting
    assert len(fitting) == 2 * LAYERS - 1
    assert whole - layers < 2 * 90 * 90 * LAYERS * 4 / 3
    assert widget.embed([])._blocks == {}


def test_more_of_them_in_a_static_cell(record: AttentionRecord) -> None:
    """Base 85 takes fewer characters than the base 64 of a widget's state."""
    layers = [pack_layer(record.layer(n), LIMITS["compact"])[1] for n in range(LAYERS)]
    budget = sum(-(-len(data) * 5 // 4) for data in layers)
    blocks = AttentionWidget(record).static(quality="compact", budget=budget).html.count
    assert blocks("data-block=") == LAYERS
    assert len(AttentionWidget(record).embed(quality="compact", budget=budget)._blocks) < LAYERS


def test_all_of_them_more_coarsely_where_that_makes_room(record: AttentionRecord) -> None:
    """Still at the default quality, which is as exact as there is room for."""
    fine = AttentionWidget(record).embed()
    budget = _size(fine) * 2 // 3
    widget = AttentionWidget(record).embed(budget=budget)
    assert len(widget._blocks) == LAYERS
    assert budget * 0.8 < _size(widget) <= budget
    assert widget._note == ""
    largest = max(block["error"]["largest"] for block in widget._blocks.values())
    assert 0.0005 < largest < 0.02


def test_all_of_them_as_a_draft_where_that_makes_room(record: AttentionRecord) -> None:
    packed = [pack_layer(layer, LIMITS["draft"]) for layer in record.stack().layers]
    budget = sum(-(-len(data) // 3) * 4 for _, data in packed)
    widget = AttentionWidget(record).embed(budget=budget)
    assert [block["data"] for block in widget._blocks.values()] == [data for _, data in packed]
    assert "All 7 layers are saved with this notebook, at draft quality" in widget._note
    assert "at compact quality they would take about" in widget._note
    assert "widget.embed(layers=…, quality=…, budget=…)" in widget._note


def test_else_those_nearest_to_the_one_shown(record: AttentionRecord) -> None:
    budget = _whole(record, "draft") * 3 // 6
    widget = AttentionWidget(record, layer=4).embed(budget=budget)
    assert list(widget._blocks) == ["self.4", "self.3", "self.5"]
    assert _size(widget) <= budget
    assert widget._note.startswith("Saved with this notebook: layers 3–5, at draft quality, in ")
    assert "; all 7 layers would take about " in widget._note


def test_a_quality_that_was_chosen_stays(record: AttentionRecord) -> None:
    budget = _whole(record, "exact") * 2 // 5
    widget = AttentionWidget(record, layer=6).embed(quality="exact", budget=budget)
    assert list(widget._blocks) == ["self.6", "self.5"]
    exact = AttentionWidget(record).embed([6, 5], quality="exact")
    assert widget._blocks == exact._blocks
    assert "layers 5–6, at exact quality" in widget._note


def test_layers_that_were_chosen_go_in_their_order(record: AttentionRecord) -> None:
    budget = _whole(record, "draft") * 2 // 6
    widget = AttentionWidget(record).embed(np.array([5, 1, 6]), budget=budget)
    assert list(widget._blocks) == ["self.5", "self.1"]
    assert "layers 1, 5, at draft" in widget._note
    assert "all 3 layers would take about" in widget._note


def test_where_not_even_one_has_room(record: AttentionRecord) -> None:
    widget = AttentionWidget(record).embed(budget=100)
    assert widget._blocks == {}
    assert widget._note.startswith(
        "No layer is saved with this notebook: all 7 layers would take about "
    )
    assert "the budget is 0 KB" in widget._note


def test_other_stacks_come_after_the_one_shown() -> None:
    stacks = {
        name: record_of(*numbered(_layer(seed), _layer(seed + 1))).stack()
        for name, seed in (("encoder", 0), ("cross", 2), ("decoder", 4))
    }
    widget = AttentionWidget(AttentionRecord(stacks), layer=1)
    assert widget.stack == "cross"
    whole = _size(widget.embed(quality="exact"))
    budgeted = AttentionWidget(AttentionRecord(stacks), layer=1)
    budgeted.embed(quality="exact", budget=whole * 7 // 12)
    assert list(budgeted._blocks) == ["cross.1", "cross.0", "encoder.0"]
    assert "layers 0–1 of cross, 0 of encoder, at exact quality" in budgeted._note


def test_what_was_embedded_before_goes(record: AttentionRecord) -> None:
    """So that what the view says of the last call is true of all that is there."""
    widget = AttentionWidget(record).embed([0, 1])
    widget.embed([3], budget=1)
    assert widget._blocks == {}
    assert widget._note.startswith("No layer is saved with this notebook")
    assert set(widget.embed([0])._blocks) == {"self.0"}
    assert widget._note == ""
    assert widget.embed([])._blocks == {}


@pytest.mark.parametrize("budget", [-1, "8 MB", True, float("nan")])
def test_what_is_no_budget(record: AttentionRecord, budget: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="expected a number of bytes"):
        AttentionWidget(record).embed(budget=budget)


@pytest.mark.parametrize("layers", [3, "3", [0.5]])
def test_what_are_no_layers(record: AttentionRecord, layers: Any) -> None:
    with pytest.raises(TypeError, match=r"expected (several|layer) numbers"):
        AttentionWidget(record).embed(layers)


def test_a_layer_that_no_page_can_show_keeps_out_no_other(
    record: AttentionRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = Layer(floats(2, 90, 32, seed=9), floats(2, 90, 32, seed=10), program(), None, FIDELITY)
    mixed = record_of(large, *record.stack().layers[:2])
    monkeypatch.setattr(pack, "_MAX_NUMBERS", large.queries.size - 1)
    widget = AttentionWidget(mixed).embed(budget=8_000_000)
    assert list(widget._blocks) == ["self.1", "self.2"]
    assert widget._note.startswith("Saved with this notebook: layers 1–2, ")
    assert "; all 3 layers would take about " in widget._note


def test_a_layer_that_no_page_can_show_is_left_out(
    record: AttentionRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack, "_MAX_NUMBERS", 1000)
    widget = AttentionWidget(record).embed(budget=8_000_000)
    assert widget._blocks == {}
    assert "No layer is saved with this notebook: all 7 layers would take" in widget._note
    with pytest.raises(ValueError, match="larger than a page can show"):
        AttentionWidget(record).embed([0])
