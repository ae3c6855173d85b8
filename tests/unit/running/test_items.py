"""Which entries of an attention call belong to one item."""

import torch

from attnwidget.running.items import Item


def test_positions_first_asked_for_in_inference_mode_are_of_use_later() -> None:
    with torch.inference_mode():
        Item(1, 0).select(1, (1009, 1009))
    assert not Item(1, 0).select(1, (1009, 1009)).queries.is_inference()
