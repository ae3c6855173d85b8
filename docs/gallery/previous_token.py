"""Head 0-2 reads one token: the one before. It gets all of its attention but .0003

Every line goes up by one. No other head of MiniLM gives the token before more than .3.
"""

import attnwidget as aw

model, tokenizer = aw.default_model()
text = "The quick brown fox jumped over the lazy dog because it was tired."
aw.show(model, tokenizer, text, layer=0, head=2, heads=[2])

# Claims
import numpy as np

record = shown.record
before = np.array([[np.diag(record.weights(n, h), -1).mean() for h in range(12)] for n in range(6)])
assert 0.99965 < before[0, 2] < 0.99975
before[0, 2] = 0
assert before.max() < 0.3
