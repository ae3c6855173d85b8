"""A model on a text: its inputs, batches, labels and words, and the forward pass over them.

Inputs of one capture come from `inputs.py`, those of many texts from `batches.py`; `model.py` says
what kind of model it is. Nothing here knows what is read off the pass.
"""
