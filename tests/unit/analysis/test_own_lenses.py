"""Lenses of the user's own: what their numbers are, and which are refused, with what to do."""

import re
from typing import Any

import numpy as np
import pytest
from traitlets import TraitError

from attnwidget import AttentionRecord, AttentionWidget
from attnwidget.analysis import LENSES, FactorLens, MatrixLens, OwnLenses, own_lenses, row_shares
from tests.unit.records import hybrid

LAYERS, HEADS, TOKENS = 2, 3, 5
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(TOKENS), (LAYERS, HEADS, TOKENS))
RECORD = AttentionRecord.from_arrays(WEIGHTS, list("abcde"))
SIGNED = np.random.default_rng(1).normal(size=WEIGHTS.shape).astype(np.float32)
FACTORS = np.abs(SIGNED[:, :, 0])


def own(lenses: OwnLenses, record: AttentionRecord = RECORD) -> Any:
    (lens,) = own_lenses(record, lenses, LENSES)
    return lens


def test_numbers_of_heads() -> None:
    lens = own({"mine": SIGNED})
    assert isinstance(lens, MatrixLens)
    assert (lens.label, lens.one, lens.by_head, lens.signed, lens.shares) == (
        *("mine", "mine"),
        *(True, True, False),
    )
    assert lens.digits == 2, "the largest has three significant digits"
    np.testing.assert_array_equal(lens.matrix(RECORD, "self", 1, 2), SIGNED[1, 2])


def test_numbers_of_layers_and_shares() -> None:
    lens = own({"mine": list(WEIGHTS[:, 0])})
    assert (lens.by_head, lens.signed, lens.shares, lens.digits) == (False, False, True, 3)
    np.testing.assert_allclose(lens.matrix(RECORD, "self", 1, 2), WEIGHTS[1, 0], rtol=1e-6)


def test_factors_of_keys() -> None:
    lens = own({"mine": {"factors": FACTORS, "label": "Gain", "description": "as measured"}})
    assert isinstance(lens, FactorLens)
    assert (lens.label, lens.description, lens.factor) == ("Gain", "as measured", "Gain")
    expected = row_shares((WEIGHTS[0, 1] * FACTORS[0, 1]).astype(np.float32))
    np.testing.assert_allclose(lens.matrix(RECORD, "self", 0, 1), expected, rtol=1e-6)
    np.testing.assert_array_equal(
        np.stack(list(lens.heads(RECORD, "self", 0)))[1], lens.matrix(RECORD, "self", 0, 1)
    )


def test_it_is_of_its_record_and_stacks_alone() -> None:
    both = AttentionRecord({"self": RECORD.stack(), "other": RECORD.stack()})
    lens = own({"mine": {"other": SIGNED}}, both)
    assert lens.why_not(both, "other", 0) is None
    assert lens.why_not(both, "self", 0).brief == "of other alone"
    assert lens.why_not(RECORD, "self", 0).brief == "of the whole model"


@pytest.mark.parametrize(
    ("lenses", "error", "message"),
    [
        ([SIGNED], TypeError, "lenses is list; expected a dict of names and arrays"),
        ({3: SIGNED}, TypeError, "the name 3; expected a string"),
        ({"a\nb": SIGNED}, ValueError, "expected 1 to 200 printable characters"),
        ({"values": SIGNED}, ValueError, "lens 'values': this name is taken"),
        ({"mine": "0.5"}, TypeError, "lens 'mine' is str; expected matrices [layers"),
        ({"mine": [["a"]]}, TypeError, "expected real numbers"),
        ({"mine": SIGNED[:1]}, ValueError, "has the shape [1, 3, 5, 5]; expected matrices"),
        ({"mine": SIGNED[..., :4]}, ValueError, "here, of 'self', the shape [2, 3, 5, 5], or the"),
        ({"mine": SIGNED * np.nan}, ValueError, "has NaN; 0 stands for no number"),
        ({"mine": np.ma.masked_less(SIGNED, 0)}, ValueError, "has NaN; 0 stands for no number"),
        ({"mine": SIGNED * np.inf}, ValueError, "has an infinite number"),
        ({"mine": -FACTORS}, ValueError, "a factor below zero, of which no share"),
        ({"mine": {"matrices": FACTORS}}, ValueError, "has the shape [2, 3, 5]; expected"),
        (
            {"mine": {"selff": SIGNED}},
            ValueError,
            "has 'selff'; there are matrices, factors, label",
        ),
        ({"mine": {"label": "Mine"}}, ValueError, "needs either 'matrices' or 'factors'"),
        (
            {"mine": {"self": {"matrices": SIGNED}}},
            ValueError,
            "a dict for the stack 'self'",
        ),
        ({"mine": 1e-12 * SIGNED}, ValueError, "has no number above 2"),
        ({"mine": {"matrices": SIGNED, "label": ""}}, ValueError, "has an empty label"),
        ({"mine": {"matrices": SIGNED, "unit": "a\n"}}, ValueError, "has the unit 'a\\n'"),
    ],
)
def test_others_are_refused(lenses: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        own(lenses)


def test_as_many_heads_as_queries_need_a_word() -> None:
    square = AttentionRecord.from_arrays(
        WEIGHTS[:, :, :3, :], list("abc"), key_tokens=list("abcde")
    )
    with pytest.raises(ValueError, match="as many heads as queries: say what it is, as"):
        own({"mine": FACTORS}, square)
    assert isinstance(own({"mine": {"factors": FACTORS}}, square), FactorLens)
    assert isinstance(own({"mine": {"matrices": FACTORS}}, square), MatrixLens)


def test_several_stacks_have_to_be_named() -> None:
    both = AttentionRecord({"self": RECORD.stack(), "other": hybrid()})
    with pytest.raises(ValueError, match="does not say of which stack it is"):
        own({"mine": SIGNED}, both)


def test_a_widget_takes_them_as_lens() -> None:
    widget = AttentionWidget(RECORD, lenses={"mine": SIGNED}, lens="mine")
    assert widget.lens == "mine"
    with pytest.raises(TraitError, match="lens 'other' does not exist: there are 'attention'"):
        widget.lens = "other"
    with pytest.raises(TraitError, match="lens is ndarray; expected a name"):
        AttentionWidget(RECORD, lens=SIGNED)
