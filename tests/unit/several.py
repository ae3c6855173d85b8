"""Arguments of BertViz: weights of a model with self-attention alone, and of an encoder-decoder."""

import torch

from tests.unit.records import labels, some_weights

TOKENS = ["[CLS]", "play", "##ing", "[SEP]", "and", "more", "[SEP]"]
ATTENTION = tuple(torch.from_numpy(some_weights(heads))[None] for heads in (4, 4, 4))
ENCODER = [torch.from_numpy(some_weights(4))[None]] * 2
DECODER = [torch.from_numpy(some_weights(2, 5, 5))[None]] * 3
CROSS = [torch.from_numpy(some_weights(2, 5, 7))[None]] * 3
SEVERAL = {
    "encoder_attention": ENCODER,
    "decoder_attention": DECODER,
    "cross_attention": CROSS,
    "encoder_tokens": TOKENS,
    "decoder_tokens": labels(5),
}
