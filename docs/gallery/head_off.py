"""Without which head? 0-4 alone moves the predictions by .41 nats, and half of the 270 by less than .005

Each head is switched off in turn. Its colour, by the scale below the heads, is how far the predictions move;
beside it in numbers, a null: as many random directions of the same layer.
"""

from transformers import AutoModelForCausalLM, AutoTokenizer

import attnwidget as aw

name = "HuggingFaceTB/SmolLM2-135M-Instruct"
model, tokenizer = AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
text = "The capital of France is"
scores = aw.ablation_scan(model, tokenizer, text)
aw.show(scores, model, tokenizer, text)

# Claims
import numpy as np

moved = scores.values()
assert divmod(int(moved.argmax()), 9) == (0, 4) and f"{moved.max():.2f}" == "0.41"
assert np.median(moved) < 0.005
