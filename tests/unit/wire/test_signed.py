"""Layers without a softmax: what is sent of them, and what a page holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import attnwidget as aw
from attnwidget.analysis import COEFFICIENTS
from attnwidget.analysis.thumbnails import signed_levels
from attnwidget.page.pack import ToPack, bare_layer, packed_layer
from attnwidget.record import Layer, Recurrence
from attnwidget.wire import encode_block, encode_comparison, encode_overview
from attnwidget.wire.block import block_size
from attnwidget.wire.columns import coefficients_column
from attnwidget.wire.comparison import joined_record
from attnwidget.wire.compression import COMPACT, FINE
from attnwidget.wire.manifest import decode_overview, encode_record
from tests.decoding import decode_arrays
from tests.unit.records import HEADS, KEY_HEADS, LENGTH
from tests.unit.signed import kept, linear, recurrent, with_both
from tests.unit.wire.test_rows import Reader


def all_coefficients(layer: Layer) -> Any:
    return np.stack([layer.head_coefficients(head) for head in range(layer.num_heads)])


@pytest.fixture(params=["recurrence", "coefficients"])
def layer(request: pytest.FixtureRequest) -> Layer:
    own = recurrent()
    return own if request.param == "recurrence" else kept(all_coefficients(own))


def test_thumbnails_are_signed_up_to_the_peaks_of_the_lens_attention() -> None:
    record = with_both()
    manifest, thumbnails = encode_overview(record)
    [attention] = [lens for lens in manifest["lenses"] if lens["name"] == COEFFICIENTS.name]
    assert list(attention["peaks"]) == ["linear"]
    levels = decode_overview(record, manifest, thumbnails)["linear"]
    for number, heads in enumerate(levels):
        expected = all_coefficients(record.layer(number, "linear"))
        peaks = np.abs(expected).max(axis=(1, 2))
        assert attention["peaks"]["linear"][number] == pytest.approx(peaks)
        for cells, matrix, peak in zip(heads, expected, peaks, strict=True):
            assert np.array_equal(cells, signed_levels(matrix, peak))


def test_records_with_a_softmax_are_sent_as_before() -> None:
    record = with_both()
    alone = aw.AttentionRecord({"self": record.stack("self")})
    manifest, _ = encode_overview(alone)
    assert all(lens["peaks"] is None for lens in manifest["lenses"][:3])
    assert not {"signed", "recurrence"} & manifest["stacks"][0]["layers"][0].keys()
    assert not {"negative", "row_sum"} & {metric["name"] for metric in manifest["metrics"]}


def test_coefficients_are_within_half_a_step() -> None:
    expected = all_coefficients(recurrent())
    expected[1] *= 1000
    block = encode_block(kept(expected))
    arrays = decode_arrays(block.parts, block.buffers)
    sent = arrays["coefficients"] * arrays["steps"][:, None, None]
    error = np.abs(sent - expected).max(axis=(1, 2))
    assert (error <= arrays["steps"] * 0.5001).all()
    assert block.error == {"largest": pytest.approx(float(arrays["steps"].max()) / 2)}
    assert block.size == block_size(kept(expected))


def test_the_size_of_a_recurrence_is_known_before_it_is_encoded() -> None:
    assert encode_block(recurrent()).size == block_size(recurrent())


def test_coefficients_travel_without_the_queries_and_keys_beside_them() -> None:
    own = recurrent(heads=KEY_HEADS)
    layer = replace(kept(all_coefficients(own)), queries=own.queries, keys=own.keys)
    record = aw.AttentionRecord({"linear": linear(layer)})
    [sent] = encode_record(record)["stacks"][0]["layers"]
    assert (sent["dim"], sent["program"], sent["recurrence"]) == (None, None, None)
    assert [part["name"] for part in encode_block(layer).parts] == ["coefficients", "steps"]


def test_rows_and_columns(layer: Layer) -> None:
    record, reader = aw.AttentionRecord({"linear": linear(layer)}), Reader()
    expected = all_coefficients(layer)
    for side, axis in (("query", 1), ("key", 2)):
        for position in range(LENGTH):
            id_ = f"{side} {position}"
            reader.ask(record, id_, stack="linear", side=side, position=position)
            own = expected.take(position, axis)
            assert reader.array(id_, "coefficients") == pytest.approx(own, abs=1e-5)


def test_layers_are_not_combined() -> None:
    record, reader = with_both(), Reader()
    reader.replies.to(record, {"id": "1", "op": "combined", "stack": "linear"})
    assert "coefficients" in reader.heard["1"][0]["error"]


def test_a_page_holds_what_is_smaller_and_vectors_where_there_is_room() -> None:
    short = recurrent()
    to_pack = ToPack(short, {})
    alone = packed_layer(to_pack, FINE, vectors=False)
    assert alone.bare
    assert [part["name"] for part in alone.content["parts"]] == ["coefficients", "steps"]
    whole = packed_layer(to_pack, FINE)
    assert not whole.bare
    assert "queries" in {part["name"] for part in whole.content["parts"]}
    assert packed_layer(to_pack, COMPACT).bare
    # Of a long text, T x T coefficients are larger.
    assert not packed_layer(ToPack(recurrent(length=200), {}), COMPACT).bare
    exact = packed_layer(to_pack, None, vectors=False)
    assert exact.content["error"] == {"largest": 0}
    record = aw.AttentionRecord({"linear": linear(short)})
    [info] = encode_record(record)["stacks"][0]["layers"]
    bare = bare_layer(info)
    assert (bare["dim"], bare["recurrence"], bare["bare"]) == (None, None, 1)
    assert bare["signed"] == "coefficients"


def test_a_comparison_has_differences_of_coefficients() -> None:
    a, b = (
        aw.AttentionRecord({"linear": linear(replace(recurrent(seed), number=0))})
        for seed in (0, 7)
    )
    comparison = aw.compare(a, b)
    manifest, _ = encode_comparison(comparison, joined_record(comparison))
    [pair] = manifest["compared"]["stacks"]
    matrices = [all_coefficients(each.layer(0)) for each in (a, b)]
    peaks = np.abs(matrices[1] - matrices[0]).max(axis=(1, 2))
    assert pair["peaks"][0] == pytest.approx(peaks, abs=2e-5, rel=0.01)
    [attention, *_] = manifest["lenses"]
    assert list(attention["peaks"]) == ["linear", "linear of B"]


def test_the_selection_of_a_widget_has_coefficients(layer: Layer) -> None:
    record = aw.AttentionRecord({"linear": linear(layer)})
    widget = aw.AttentionWidget(record, head=HEADS - 1, query=3)
    chosen = widget.selection
    assert (chosen.weights, chosen.scores) == (None, None)
    assert chosen.coefficients == pytest.approx(layer.head_coefficients(HEADS - 1)[3])
    assert f"({LENGTH} coefficients)" in repr(chosen)


def test_columns_are_those_of_the_rows_also_far_away() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(2, 1, 3000, 4)).astype(np.float32)
    decay = np.full((1, 3000, 1), -1 / 1024 / 3, np.float32)
    program = Recurrence(1.0, decay)
    layer = replace(recurrent(), queries=vectors[0], keys=vectors[1], program=program, values=None)
    last = layer.head_coefficients(0, np.array([2999]))[0, 0]
    np.testing.assert_allclose(coefficients_column(layer, 0)[0, 2999], last, rtol=2e-6)
