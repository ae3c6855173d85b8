"""Two models, one sentence: layer 3 of MiniLM gives its first token .51 of its attention, layer 7 of MPNet .05

Layers are paired by depth. Orange is what MPNet has less of: the first column is orange from layer
3 on, and most of all there.
"""

from transformers import AutoModel, AutoTokenizer

import attnwidget as aw

name = "sentence-transformers/all-mpnet-base-v2"
mpnet = AutoModel.from_pretrained(name), AutoTokenizer.from_pretrained(name)
text = "The quick brown fox jumped over the lazy dog because it was tired."
a, b = aw.capture(*aw.default_model(), text), aw.capture(*mpnet, text)
aw.show(aw.compare(a, b, layers="depth"), view="model", layer=3, head=0)

# Claims
import numpy as np

first = [
    np.array([[r.weights(n, h)[:, 0].mean() for h in range(12)] for n in range(r.num_layers())])
    for r in (a, b)
]
assert f"{first[0][3].mean():.2f} {first[1][7].mean():.2f}" == "0.51 0.05"
less = first[0].mean(axis=1) - first[1].mean(axis=1)[[0, 2, 4, 7, 9, 11]]
assert less.argmax() == 3 and less[3:].min() > 0.15
