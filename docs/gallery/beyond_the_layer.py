"""What head 2-8 does that its layer does not: “it” gives “tired” .56 more than the heads do on average

Numbers of your own in place of weights, one for every query and key: here, each head less the mean
of its layer. What is below zero is orange.
"""

import numpy as np

import attnwidget as aw

model, tokenizer = aw.default_model()
text = "The quick brown fox jumped over the lazy dog because it was tired."
record = aw.capture(model, tokenizer, text)
weights = [layer.all_weights(np.arange(16)) for layer in record.stack().layers]
own = {"beyond the layer": [each - each.mean(axis=0) for each in weights]}
aw.show(record, layer=2, head=8, heads=[8], query=11, lenses=own, lens="beyond the layer")

# Claims
assert record.tokens()[0][11] == "it" and record.tokens()[0][13] == "tired"
assert f"{own['beyond the layer'][2][8, 11, 13]:.2f}" == "0.56"
