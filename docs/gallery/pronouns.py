"""Who is “he”, who is “her”? Head 2-10 of MPNet looks back: Peter .71, Anna .59

The arcs are annotated links. They are solid where the head finds them. The median of all 144 heads
gives these links .03 and .02.
"""

from transformers import AutoModel, AutoTokenizer

import attnwidget as aw

name = "sentence-transformers/all-mpnet-base-v2"
model, tokenizer = AutoModel.from_pretrained(name), AutoTokenizer.from_pretrained(name)
text = "Anna thanked Peter after he had repaired her old bicycle."
links = [aw.Arc(5, 3, "he"), aw.Arc(8, 1, "her")]
aw.show(model, tokenizer, text, layer=2, head=10, heads=[10], query=5, also=[8], arcs=links)

# Claims
weights = shown.record.weights(2, 10)
assert f"{weights[5, 3]:.2f} {weights[8, 1]:.2f}" == "0.71 0.59"
assert weights[5].argmax() == 3 and weights[8].argmax() == 1
every = [shown.record.weights(layer, head) for layer in range(12) for head in range(12)]
medians = [sorted(each[link] for each in every)[72] for link in ((5, 3), (8, 1))]
assert [f"{median:.2f}" for median in medians] == ["0.03", "0.02"]
