"""A model and a text → the same with attention changed, and numbers of what that changes.

In come a model, an input and edits as data (`edits.py`, without torch); out come a context in which
the model runs changed (`editor.py`, which tells where an edit applies: the file to open first),
the effect on one text (`measure.py`), or a number for every head (`analysis.HeadScores`): of a scan
(`scan.py`), a gradient (`importance.py`), or a part of a logit (`attribution.py`). `sites.py` names
the attention calls of a pass; `rerun.py` answers a view's requests.
"""
