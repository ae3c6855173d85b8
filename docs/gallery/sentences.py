"""Head 3-8 tells two sentences apart: neuron 11 has one sign in the first, mostly the other in the second

Queries and keys of each token, neuron by neuron. A word's score, q · k, is 1.6 on average within a
sentence, and −.8 across.
"""

import attnwidget as aw

model, tokenizer = aw.default_model()
record = aw.capture(model, tokenizer, "The rabbit quickly hopped.", "The turtle slowly crawled.")
aw.neuron_view(record, layer=3, head=8, query=3)

# Claims
import numpy as np

keys, scores = record.keys(3, 8)[:, 11], record.scores(3, 8)
assert (keys[1:6] < 0).all() and (keys[7:12] > 0).sum() == 4
inner = [*range(1, 6), *range(7, 12)]
same = np.array([[(i < 6) == (j < 6) for j in inner] for i in inner])
found = scores[np.ix_(inner, inner)]
assert f"{found[same].mean():.1f} {found[~same].mean():.1f}" == "1.6 -0.8"
