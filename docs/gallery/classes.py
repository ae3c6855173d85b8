"""What the class token looks at, head by head: 8-10 gives nose and mouth .36, on .08 of the picture

Every head of the last four layers, laid over the photograph. The class is read from this token.
"""

from matplotlib.cbook import get_sample_data
from PIL import Image
from transformers import AutoImageProcessor, AutoModelForImageClassification

import attnwidget as aw

name = "google/vit-base-patch16-224"
model = AutoModelForImageClassification.from_pretrained(name)
processor = AutoImageProcessor.from_pretrained(name)
image = Image.open(get_sample_data("grace_hopper.jpg"))
record = aw.capture(model, processor, image)
aw.model_view(record, layer=8, head=10, query=0, thumbnails="image", include_layers=[8, 9, 10, 11])

# Claims
row = record.weights(8, 10)[0, 1:].reshape(14, 14)
assert f"{row[5:8, 5:10].sum():.2f} {15 / 196:.2f}" == "0.36 0.08"
