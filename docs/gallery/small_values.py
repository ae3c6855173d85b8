"""A large weight that brings nothing: .541 of the attention to [CLS] is .048 of what arrives

The lens multiplies each weight by the length of what it takes, ‖w f(x)‖, and [CLS] is short. Choose
*Attention* under *Weighting* to see the weights themselves.
"""

import attnwidget as aw

model, tokenizer = aw.default_model()
text = "The quick brown fox jumped over the lazy dog because it was tired."
aw.show(model, tokenizer, text, layer=2, head=0, heads=[0], query=11, lens="values")

# Claims
from attnwidget.analysis import row_shares, value_weighted

layer = shown.record.layer(2)
assert f"{layer.head_weights(0)[11, 0]:.3f}" == "0.541"
assert f"{row_shares(value_weighted(layer, 0))[11, 0]:.3f}" == "0.048"
