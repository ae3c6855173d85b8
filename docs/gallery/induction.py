"""A head that copies: the third “red” looks at the second “lamp”, .84 of head 18-6

The text says the same three times. An induction head looks at what came after the same token before,
which is what comes next. The median of all 270 heads gives this link .01.
"""

from transformers import AutoModelForCausalLM, AutoTokenizer

import attnwidget as aw

name = "HuggingFaceTB/SmolLM2-135M-Instruct"
model, tokenizer = AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
text = " ".join(["red lamp green door blue chair"] * 3)
aw.show(model, tokenizer, text, layer=18, head=6, heads=[6], query=12)

# Claims
tokens, weights = shown.record.tokens()[0], shown.record.weights(18, 6)
assert tokens[12] == "red" and tokens[7] == "lamp"
assert weights[12].argmax() == 7 and f"{weights[12, 7]:.2f}" == "0.84"
every = [shown.record.weights(layer, head)[12, 7] for layer in range(30) for head in range(9)]
assert f"{sorted(every)[135]:.2f}" == "0.01"
