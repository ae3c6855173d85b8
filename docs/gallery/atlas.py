"""Every head of MiniLM in one map: 1 looks at the token before, in all texts

A profile measures each head on all texts, and the same network with random weights beside it, the
crosses: none of them comes near. Choose a head for its numbers and its examples.
"""

import attnwidget as aw

model, tokenizer = aw.default_model()
texts = """The river rose in the night. By morning, the bridge was closed.
She opened the letter slowly. Then she put it in her pocket.
Bees find their way home by the sun. On cloudy days, they use the light of the sky.
The committee met on Tuesday. It could not agree on a date.
The children built a tower of stones. The sea took it in an hour."""
profile = aw.profile(model, tokenizer, texts.splitlines(), null="random weights")
aw.show(profile, map_x="previous", map_y="first", color="layer", layer=0, head=2)

# Claims
import numpy as np

previous = profile.values("previous").mean
assert np.argwhere(previous > 0.5).tolist() == [[0, 2]]
assert profile.null_values("previous").mean.max() < 0.15
