"""Half of MiniLM's heads rest on [CLS]: 33 of 72 give it more than half of their attention

All of them are in layers 1 to 4. The colour is this share, and the numbers at the
side and below are its means.
"""

import attnwidget as aw

model, tokenizer = aw.default_model()
text = "The quick brown fox jumped over the lazy dog because it was tired."
aw.model_view(model, tokenizer, text, color="first", layer=4, head=0)

# Claims
import numpy as np

record = shown.record
first = np.array([[record.weights(n, h)[:, 0].mean() for h in range(12)] for n in range(6)])
assert (first > 0.5).sum() == 33
assert set(np.nonzero(first > 0.5)[0]) == {1, 2, 3, 4}
