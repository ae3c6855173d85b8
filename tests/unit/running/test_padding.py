"""The tokens of an item that its mask does not hide, whatever the mask is called."""

import pytest
import torch

from attnwidget.running.padding import kept_positions

IDS = torch.arange(10).view(2, 5)
SEEN = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])


def _kept(name: str, item: int = 0, **tensors: torch.Tensor) -> list[int]:
    padded = kept_positions(tensors, name, item)
    assert padded is not None
    return padded.kept.tolist()


@pytest.mark.parametrize(
    ("name", "mask"),
    [
        ("input_ids", "attention_mask"), ("decoder_input_ids", "decoder_attention_mask"),
        ("src", "src_mask"), ("query_ids", "query_mask"), ("doc_ids", "doc_mask"),
        ("tokens", "mask"), ("context", "mask"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", [SEEN, SEEN.bool(), SEEN[:, None], SEEN[:, None, None]])
def test_a_mask_of_the_same_name(name: str, mask: str, form: torch.Tensor) -> None:
    assert _kept(name, **{name: IDS, mask: form}) == [0, 1, 2]
    assert _kept(name, 1, **{name: IDS, mask: form}) == [0, 1, 2, 3, 4]


def test_each_of_two_texts_has_a_mask() -> None:
    tensors = {"src": IDS, "tgt": IDS, "src_mask": SEEN, "tgt_mask": SEEN.flip(1)}
    assert _kept("src", **tensors) == [0, 1, 2]
    assert _kept("tgt", **tensors) == [2, 3, 4]


def test_a_mask_of_one_of_two_texts_is_of_neither() -> None:
    tensors = {"src": IDS, "tgt": IDS, "mask": SEEN}
    assert _kept("src", **tensors) == _kept("tgt", **tensors) == [0, 1, 2, 3, 4]
    assert _kept("src", src=IDS, tgt=IDS[:, :3], mask=SEEN) == [0, 1, 2]


@pytest.mark.parametrize("name", ["key_padding_mask", "src_key_padding_mask", "pad_mask"])
def test_masks_of_torch_are_true_for_padding(name: str) -> None:
    assert _kept("src", src=IDS, **{name: SEEN == 0}) == [0, 1, 2]
    assert _kept("src", src=IDS, **{name: SEEN}) == [0, 1, 2, 3, 4]  # it may be either


def test_numbers_that_are_added_to_scores() -> None:
    assert _kept("src", src=IDS, mask=torch.zeros(2, 5).masked_fill(SEEN == 0, -1e9)) == [0, 1, 2]


@pytest.mark.parametrize("name", ["loss_mask", "prompt_mask"])
def test_other_masks_hide_no_tokens(name: str) -> None:
    assert _kept("tokens", tokens=IDS, **{name: SEEN}) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("mask", [torch.ones(5, 5).tril(), torch.ones(5, 5).tril(1).triu(-1)])
def test_a_square_mask_may_say_which_tokens_see_each_other(mask: torch.Tensor) -> None:
    ids = torch.arange(25).view(5, 5)
    assert _kept("tokens", tokens=ids, attn_mask=mask) == [0, 1, 2, 3, 4]
    assert (
        _kept("input_ids", 1, input_ids=ids, attention_mask=mask)
        == mask[1].nonzero()[:, 0].tolist()
    )
