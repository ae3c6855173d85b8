"""The model classes of BertViz's neuron view, which are those of transformers here.

BertViz has its own models that return queries and keys. attnwidget captures these from any model,
so `BertModel`, `GPT2Tokenizer` and so on are the classes of the installed transformers.
"""

from typing import Any

import transformers


def __getattr__(name: str) -> Any:
    # Names with an underscore are attributes of the module, such as __path__.
    if name.startswith("_") or not hasattr(transformers, name):
        raise AttributeError(
            f"{__name__} has the classes of transformers {transformers.__version__}, which has no "
            f"{name}; AutoModel and AutoTokenizer find the class that a model needs"
        )
    return getattr(transformers, name)
