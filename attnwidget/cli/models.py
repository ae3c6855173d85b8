"""Loading of a model and its tokenizer from a directory, a file or the hub."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_WEIGHTS = ("*.safetensors", "*.bin")
# "./name" and "../name" are paths.
_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


@dataclass(frozen=True)
class _Place:
    """The arguments of `from_pretrained`.

    Attributes:
        name: the user's name of the model.
    """

    name: str
    path: str
    options: dict[str, Any] = field(default_factory=dict)


def load(name: str) -> tuple[Any, Any]:
    """Load (model, tokenizer). No code that comes with a model is run.

    Args:
        name: a directory as `save_pretrained` writes it, or with one .gguf file; a .gguf file; or
            a name on the hub.

    Raises:
        OSError: there is no such model.
        ValueError: it cannot be loaded completely, or takes no text.
    """
    from transformers import AutoConfig, AutoTokenizer

    place = _place(name)
    model_class = _class(_loaded(AutoConfig, place), place)
    input_name = getattr(model_class, "main_input_name", "input_ids")
    if input_name != "input_ids":
        raise ValueError(
            f"{model_class.__name__} reads {input_name}, not text; in a notebook, "
            "attnwidget.show(model, processor, inputs) shows what its processor returns"
        )
    tokenizer = _loaded(AutoTokenizer, place)
    # Some tokenizers load without their files, but with special tokens alone.
    if len(tokenizer) <= len(tokenizer.all_special_ids):
        raise ValueError(f"{name} has no tokenizer, or one of special tokens alone")
    model, loading = _loaded(model_class, place, output_loading_info=True)
    # The pooler follows all attention, and is often not saved.
    absent = sorted(key for key in loading["missing_keys"] if "pooler" not in key)
    if absent:
        raise ValueError(
            f"{name} lacks {len(absent)} weights of {type(model).__name__}, which would be random: "
            + ", ".join(absent[:3])
            + (", ..." if len(absent) > 3 else "")
        )
    if file := place.options.get("gguf_file"):
        # The record is named after the file, because its directory may have several.
        model.config._name_or_path = Path(file).stem
    return model, tokenizer


def _place(name: str) -> _Place:
    path = Path(name)
    # The record is named after the last part of the path, which "." does not have.
    absolute = Path(os.path.abspath(path))
    if path.is_file():
        if path.suffix != ".gguf":
            raise OSError(f"{name} is no .gguf file; give the directory that the model is in")
        return _gguf(name, absolute)
    if not name or not path.is_dir():
        if not _HUB_NAME.fullmatch(name):
            raise OSError(
                f"there is no directory {name!r}; give one that save_pretrained wrote, a .gguf "
                "file, or a name on the hub, as org/name"
            )
        return _Place(name, name)
    files = sorted(absolute.glob("*.gguf"))
    if files and not any(any(absolute.glob(pattern)) for pattern in _WEIGHTS):
        if len(files) > 1:
            names = ", ".join(file.name for file in files)
            raise OSError(f"{name} has several models, give the path of one: {names}")
        return _gguf(name, files[0])
    if not (path / "config.json").is_file():
        raise OSError(f"{name} has no config.json: it is no directory of a model")
    return _Place(name, str(absolute), {"local_files_only": True})


def _gguf(name: str, file: Path) -> _Place:
    return _Place(name, str(file.parent), {"gguf_file": file.name, "local_files_only": True})


def _class(config: Any, place: _Place) -> Any:
    """The model class of the saved weights, which has the language modelling head if they do."""
    import transformers

    for name in getattr(config, "architectures", None) or ():
        model_class = getattr(transformers, str(name), None)
        if isinstance(model_class, type) and issubclass(model_class, transformers.PreTrainedModel):
            return model_class
    if getattr(config, "is_encoder_decoder", False):
        return transformers.AutoModelForSeq2SeqLM
    # GGUF files are language models.
    if "gguf_file" in place.options:
        return transformers.AutoModelForCausalLM
    return transformers.AutoModel


def _loaded(loader: Any, place: _Place, **options: Any) -> Any:
    """Call a class's `from_pretrained`."""
    options |= place.options
    try:
        return loader.from_pretrained(place.path, trust_remote_code=False, **options)
    except Exception as error:  # damaged files raise many types of errors
        text = str(error).strip().splitlines()
        reason = text[0] if text else type(error).__name__
        if not isinstance(error, (OSError, ValueError)):
            reason = f"{type(error).__name__}: {reason}"
        raise ValueError(f"cannot load {place.name}: {reason}") from error
