"""Arguments of BertViz's functions."""

import html
import re
from typing import Any

import IPython.display
import numpy as np
import pytest

from attnwidget import AttentionWidget
from attnwidget.interop.bertviz import head_view, model_view, neuron_view
from tests.unit.records import labels, some_weights
from tests.unit.several import ATTENTION, CROSS, SEVERAL, TOKENS
from tests.unit.tiny import Loaded


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> list[AttentionWidget]:
    """The output that a notebook would display."""
    displayed: list[AttentionWidget] = []
    monkeypatch.setattr(IPython.display, "display", displayed.append)
    return displayed


def test_head_view(shown: list[AttentionWidget]) -> None:
    assert head_view(ATTENTION, TOKENS, 4, layer=1, heads=[3, 1]) is None  # type: ignore[func-returns-value]
    [widget] = shown
    assert (widget.view, widget.layer, widget.heads, widget.theme) == ("head", 1, [1, 3], "auto")
    assert widget.head == 1
    tokens = widget.record.stack().queries
    assert tokens.labels == tuple(TOKENS)
    assert (tokens.split, tokens.special) == (4, (0, 3, 6))
    for layer, own in enumerate(ATTENTION):
        assert np.array_equal(widget.record.weights(layer, 2), own[0, 2])


def test_model_view(shown: list[AttentionWidget]) -> None:
    model_view(ATTENTION, TOKENS, include_layers=[2, 0], include_heads=[1, 3])
    model_view(ATTENTION, TOKENS, display_mode="light")
    assert [(w.view, w.theme, w.include_heads) for w in shown] == [
        ("model", "dark", [1, 3]),
        ("model", "light", None),
    ]
    assert [w.record.stack().numbers for w in shown] == [(0, 2), (0, 1, 2)]
    assert np.array_equal(shown[0].record.weights(2, 1), ATTENTION[2][0, 1])


@pytest.mark.parametrize("view", [head_view, model_view])
def test_three_kinds_of_attention_of_unequal_depth(view: Any, shown: list[AttentionWidget]) -> None:
    view(**SEVERAL)
    record = shown[0].record
    assert record.stacks == ("encoder", "decoder", "cross")
    assert shown[0].stack == "encoder"
    assert [record.num_layers(stack) for stack in record.stacks] == [2, 3, 3]
    assert record.tokens("cross") == (labels(5), TOKENS)
    assert np.array_equal(record.weights(2, 1, "cross"), CROSS[2][0, 1])


def test_one_kind_alone(shown: list[AttentionWidget]) -> None:
    head_view(cross_attention=CROSS, encoder_tokens=TOKENS, decoder_tokens=labels(5), layer=2)
    assert shown[0].record.stacks == ("cross",)
    assert (shown[0].stack, shown[0].layer) == ("cross", 2)


@pytest.mark.parametrize(
    ("spelled", "read"),
    [
        (["play", "##ing", "[UNK]"], ["play", "##ing", "[UNK]"]),
        (["<s>", "CafÃ©", "Ġau", "Ġlait", "Ċ"], ["<s>", "Café", "au", "lait", "⏎"]),
        (["Ġ", "ðŁĺ", "Ģ"], ["␣", "😀 1/2", "😀 2/2"]),
        (["▁The", "▁caf", "é", "▁", "<0xE2>"], ["The", "caf", "é", "␣", "⟨E2⟩"]),
        (["hello</w>", "wor", "ld</w>"], ["hello", "wor", "ld"]),
        (["Ġurnata", "##ħ", "sabiħa"], ["Ġurnata", "##ħ", "sabiħa"]),
        (["<0xE2>"], ["<0xE2>"]),
    ],
)
def test_tokens_as_vocabularies_spell_them(
    spelled: list[str], read: list[str], shown: list[AttentionWidget]
) -> None:
    attention = [some_weights(2, len(spelled), len(spelled))]
    head_view(attention, spelled)
    head_view(attention, spelled, prettify_tokens=False)
    assert shown[0].record.tokens()[0] == read
    assert shown[1].record.tokens()[0] == spelled


def test_neuron_view(minilm: Loaded, shown: list[AttentionWidget]) -> None:
    model, tokenizer = minilm
    neuron_view.show(model, "bert", tokenizer, "The cat sat", "The dog lay", layer=2, head=5)
    neuron_view.show(model, "whatever", tokenizer, "The cat sat", display_mode="light")
    pair, single = shown
    assert (pair.view, pair.layer, pair.head, pair.theme) == ("neuron", 2, 5, "dark")
    assert pair.record.stack().queries.split == 5
    assert pair.record.layer(2).fidelity.exact is True
    assert (single.layer, single.head, single.theme) == (0, 0, "light")
    assert single.record.stack().queries.segments is None


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
def test_html(view: str, minilm: Loaded, shown: list[AttentionWidget]) -> None:
    """The function returns HTML for a notebook, a file, or another page, and displays nothing."""
    if view == "neuron":
        found = neuron_view.show(minilm[0], "bert", minilm[1], "One</script>", html_action="return")
    else:
        function = {"head": head_view, "model": model_view}[view]
        found = function(ATTENTION, ['"</iframe>', *"abcdeé"], html_action="return")
    assert isinstance(found, IPython.display.HTML)
    assert shown == []
    assert found.data.isascii()
    # The host's parser sees the page in the frame as one attribute.
    [page] = re.findall(r'srcdoc="([^"]*)"', found.data)
    assert html.unescape(page).startswith("<!doctype html>")
    assert f'"view":"{view}"' in html.unescape(page)
    assert found.data.count("<") == 4


def test_positions_as_numpy_has_them(shown: list[AttentionWidget]) -> None:
    head_view(ATTENTION, TOKENS, np.int64(2), layer=np.int64(1), heads=np.array([1, 2]))
    assert shown[0].record.stack().queries.split == 2
    assert (shown[0].layer, shown[0].heads) == (1, [1, 2])
