"""The classes that BertViz brought along for its neuron view: here, those of transformers.

BertViz had to change its models so that they return queries and keys. Ours are captured from any
model, so that `BertModel`, `GPT2Tokenizer` and so on are the classes of the installed transformers.
"""

from typing import Any

import transformers


def __getattr__(name: str) -> Any:
    # What begins with an underscore is the module's own, such as where it was found.
    if name.startswith("_") or not hasattr(transformers, name):
        raise AttributeError(
            f"{__name__} has the classes of transformers {transformers.__version__}, which has no "
            f"{name}; AutoModel and AutoTokenizer find the class that a model needs"
        )
    return getattr(transformers, name)
