"""“big” becomes “small”: “it” gives the word .68 of head 2-8 before, .54 after

Two texts and their difference in one place: blue is more, orange is less. What differs most is
listed below the matrix.
"""

import attnwidget as aw

model, tokenizer = aw.default_model()
text = "The trophy did not fit in the suitcase because it was too big."
comparison = aw.compare(model, tokenizer, text, text.replace("big", "small"))
aw.show(comparison, layer=2, head=8, heads=[8], query=10)

# Claims
a, b = (record.weights(2, 8)[10, 13] for record in comparison.records)
assert f"{a:.2f} {b:.2f}" == "0.68 0.54"
