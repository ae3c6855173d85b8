"""Mary or John? The answer moves from the second name to the last token, between layers 18 and 24

Each cell puts the clean text's stream into a run on the other text, which says “Mary gave”: 1 brings
the answer “Mary” back. In between, heads carry it.
"""

from transformers import AutoModelForCausalLM, AutoTokenizer

import attnwidget as aw

name = "HuggingFaceTB/SmolLM2-135M-Instruct"
model, tokenizer = AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
clean = "When Mary and John went to the store, John gave a drink to"
corrupt = "When Mary and John went to the store, Mary gave a drink to"
asked = {"token": " Mary", "against": " John", "layers": range(0, 30, 3)}
scores = aw.patch_scan(model, tokenizer, clean, corrupt, **asked)
aw.show(scores, model, tokenizer, clean)

# Claims
values = scores.values
assert values[:7, 9].min() > 0.95 and abs(values[:7, 13]).max() < 0.05
assert abs(values[8:, 9]).max() < 0.05 and values[8:, 13].min() > 0.9
