"""Padded batches of texts."""

from attnwidget.running.batches import Batches
from attnwidget.running.texts import shards_of
from tests.unit.tiny import tiny


def test_batches_have_texts_of_like_length_and_fewer_long_ones() -> None:
    model = tiny("Llama", max_position_embeddings=4096)
    texts = [("token " * length).strip() for length in (5, 2000, 700, 6, 5, 700, 700)]

    class Words:
        """A token for each word."""

        all_special_ids = ()

        def __call__(self, text: str, pair: None = None) -> dict[str, list[int]]:
            return {"input_ids": [5] * len(text.split())}

    [shard] = shards_of(texts, 64)
    batches = Batches(model, Words(), batch_size=3, max_tokens=None)
    lengths = [[len(text.tokens) for text in batch.texts] for batch in batches.of(shard)]
    assert lengths == [[5, 5, 6], [700, 700, 700], [2000]]
    batches = Batches(model, Words(), batch_size=4, max_tokens=None)
    [_, shard] = shards_of([*texts[:2], *texts[:2] * 3], 6)
    assert [[text.index for text in batch.texts] for batch in batches.of(shard)] == [[6], [7]]
    [shard] = shards_of(texts[:2] * 3, 6)
    assert [[text.index for text in batch.texts] for batch in batches.of(shard)] == [
        [0, 2, 4], [1], [3], [5]
    ]  # fmt: skip
