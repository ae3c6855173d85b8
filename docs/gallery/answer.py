"""Where did the answer get the mill? From sentence 3: without it, “mill” loses 6.4 nats

Shades are attention, and so is the list, beside an even share. *If cut* is what the answer loses if
it may not see a sentence: the other five cost nothing.
"""

from transformers import AutoModelForCausalLM, AutoTokenizer

import attnwidget as aw

name = "HuggingFaceTB/SmolLM2-135M-Instruct"
model, tokenizer = AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
asked = (
    "The lamp burned whale oil until 1902. After that, it ran on electricity from the village "
    "mill. The stairs have 214 steps. Dogs may visit the garden. What does the lamp run on?"
)
rule = "You answer questions from the text that you are given, in one short sentence."
chat = [{"role": "system", "content": rule}, {"role": "user", "content": asked}]
found = aw.answer(model, tokenizer, chat, generate=30)
found.cut()
aw.show(found, query=83)

# Claims
assert found.text == "The lamp runs on electricity from the village mill."
assert found.record.tokens()[0][84] == "mill"
cut = found.table("mill")["cut"]
assert f"{cut[3]:.1f}" == "-6.4" and cut.drop(3).abs().max() < 0.05
