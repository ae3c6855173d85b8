"""Up, one patch: head 1-4 of a vision transformer on average gives .96 to the patch above

That is the mean of all patches; the locked one, on the cap, gives more. Head 3 of this layer looks to the
left, head 11 to the right, both with .93 on average. The median of all 144 heads gives .01 to the patch above.
"""

from matplotlib.cbook import get_sample_data
from PIL import Image
from transformers import AutoImageProcessor, AutoModelForImageClassification

import attnwidget as aw

name = "google/vit-base-patch16-224"
model = AutoModelForImageClassification.from_pretrained(name)
processor = AutoImageProcessor.from_pretrained(name)
image = Image.open(get_sample_data("grace_hopper.jpg"))
aw.show(model, processor, image, layer=1, head=4, query=1 + 2 * 14 + 7)

# Claims
import numpy as np

patches = np.arange(196).reshape(14, 14)


def to(head, queries, keys, layer=1):
    return shown.record.weights(layer, head)[1 + queries.ravel(), 1 + keys.ravel()].mean()


assert f"{to(4, patches[1:], patches[:-1]):.2f}" == "0.96"
assert f"{to(3, patches[:, 1:], patches[:, :-1]):.2f}" == "0.93"
assert f"{to(11, patches[:, :-1], patches[:, 1:]):.2f}" == "0.93"
every = [to(head, patches[1:], patches[:-1], n) for n in range(12) for head in range(12)]
assert f"{sorted(every)[72]:.2f}" == "0.01"
