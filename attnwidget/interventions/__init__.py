"""A model and a text → the same with attention changed, and numbers of what that changes.

In come a model, an input and edits as data (`edits.py`, without torch); out come a context in which
the model runs changed, or numbers.

- **A changed model.** `editor.py` is the file to open first: `intervene`. `applied_edit.py` tells
  where an edit applies, `chosen.py` what it chooses there, `call_editor.py` applies it to calls of
  attention, by `substitution.py` and `replacements.py`, and `layer_places.py` to the stream of
  layers, whose parts `layer_parts.py` finds. `sites.py` names the attention calls of a pass.
- **Of one text.** `measure.py` has the effect of heads that are off, `scan.py` that of every head,
  `attribution.py` their parts of a logit (`residual.py`), `logit_lens.py` what each layer would
  predict, `weight_gradients.py` gradients by weights.
- **Of many texts.** `importance.py` has gradients by heads, `pruning.py` losses without them.
- **Of two texts** (`two_texts.py`). `patch_scan.py`, `patch_estimate.py`, `path_patch.py` and
  `edges.py` tell what one brings back in the other: of `cells.py`, put in place by
  `cell_patches.py`.
- **Of an answer.** `answer.py` has its sources, `answer_cuts.py` the cuts that check them.

`rerun.py` answers a view's requests. What is measured in rows of a batch, from the lowest layer
that is changed on, stands on `skipping.py`.
"""
