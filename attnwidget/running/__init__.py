"""A model on a text: what a reader gives becomes a forward pass, with a label for each token.

In come a model, a tokenizer and texts, pairs or tensors; out come the model's inputs, the items
without their padding, and the names of tokens and parts. Open `inputs.py` first, which has one
text; `batches.py` has many, `generation.py` a text that a model writes itself (`reread.py` the one
pass that reads it again, `replay.py` the comparison of both), `model.py` says what kind of model it
is, `structure.py` what its attention reads, where names and lengths do not tell, and `stacks.py` to
which stack a module belongs. What several readers of a pass ask is here as well: bounds of
rounding, output projections, and attention that nobody saw.
"""
