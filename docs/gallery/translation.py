"""Ten French words, ten English ones: head 5-0 of a translator finds where each comes from

The model wrote the French. A row is what the next word was made from: the row “Le” wrote “chat”, and
gives “cat” .87. The median of the 48 heads finds two of the ten.
"""

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

import attnwidget as aw

name = "Helsinki-NLP/opus-mt-en-fr"
model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)
text = "The black cat drinks cold milk because it is thirsty."
aw.show(model, tokenizer, text, stack="cross", layer=5, head=0, heads=[0], query=1)

# Claims
record = shown.record
written, source = record.tokens("cross")
weights = record.weights(5, 0, "cross")
found = {word: source[weights[row].argmax()] for row, word in enumerate(written[1:])}
right = {"Le": "The", "chat": "cat", "noir": "black", "boit": "drinks", "lait": "milk"}
right |= {"froid": "cold", "parce": "because", "il": "it", "a": "is", "soif": "thirst"}
assert len(right) == 10 and right.items() <= found.items()
assert f"{weights[1].max():.2f}" == "0.87" and written[1:3] == ["Le", "chat"]


def hits(layer, head):
    largest = record.weights(layer, head, "cross").argmax(axis=1)
    return sum(source[largest[row]] == right.get(word) for row, word in enumerate(written[1:]))


assert sorted(hits(layer, head) for layer in range(6) for head in range(8))[24] == 2
