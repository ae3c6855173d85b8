"""The kind of a model, and what its configuration alone does not tell."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator, Mapping, ValuesView
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.overrides import TorchFunctionMode

from .towers import stem
from .vllm import is_vllm

# The names by which one of a model's inputs is known.
STANDARD = frozenset(
    {"input_ids", "inputs_embeds", "pixel_values", "input_features", "input_values"}
)

_KNOWN = ("transformers.", "torch.", "peft.", "sentence_transformers.", "accelerate.")

# The arguments that hold what a model has read before, and names like these.
CACHES = frozenset({"cache", "past_key_values", "cache_params"})
_CACHE = re.compile("cache|past|mems")


def traceable(model: object) -> torch.nn.Module:
    """The model whose modules run: that inside of a compiled or parallel one, or of one that makes
    vectors of sentences.

    Raises:
        TypeError: `model` is no torch module, or TorchScript.
        ValueError: its weights are not loaded.
    """
    if not isinstance(model, torch.nn.Module):
        if is_vllm(model):
            raise TypeError(
                "model is an engine of vLLM: attnwidget.interop.vllm.capture(llm, text) records "
                "what it reads and writes, and attnwidget.profile(llm, None, texts) measures its "
                "heads; ablations and cut links need the same weights as a model of transformers"
            )
        inner = getattr(model, "model", None)
        if isinstance(inner, torch.nn.Module):
            raise TypeError(
                f"model is {type(model).__name__}, which has a model: pass its .model, with its "
                ".tokenizer or processor"
            )
        raise TypeError(
            f"model is {type(model).__name__}; expected a torch.nn.Module: the order is (model, "
            "tokenizer, text)"
        )
    if isinstance(model, torch.jit.ScriptModule):
        raise TypeError(
            "model is TorchScript, which runs no Python; capture the module it was made from"
        )
    wrappers = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
    while isinstance(model, wrappers) or hasattr(model, "_orig_mod"):
        model = model.module if isinstance(model, wrappers) else model._orig_mod
        assert isinstance(model, torch.nn.Module)
    if type(model).__module__.startswith("sentence_transformers."):
        own = (m for m in model.modules() if type(m).__module__.startswith("transformers."))
        model = next(own, model)
    unloaded = any(parameter.device.type == "meta" for parameter in model.parameters())
    if unloaded and not is_offloaded(model):
        raise ValueError(
            f"the weights of {type(model).__name__} are on the device 'meta', which has no "
            "numbers: load them, with from_pretrained for instance"
        )
    return model


def name_of(model: torch.nn.Module) -> str:
    """The last part of the path or hub name that the model was loaded from, else its class."""
    path = str(getattr(getattr(model, "config", None), "_name_or_path", "") or "")
    return PurePath(path).name or type(model).__name__


def device_of(model: torch.nn.Module) -> torch.device:
    """The device for inputs. Offloaded parameters are on "meta" until their module runs."""
    devices = (p.device for p in model.parameters() if p.device.type != "meta")
    return next(devices, torch.device("cpu"))


def is_foreign(kind: type) -> bool:
    """True for a class of code that the coverage of all architectures does not compare."""
    return not kind.__module__.startswith(_KNOWN)


def has_soft_prompt(model: torch.nn.Module) -> bool:
    """True for an adapter of PEFT that puts vectors before the text."""
    config = getattr(model, "active_peft_config", None)
    return bool(getattr(config, "is_prompt_learning", False))


def before_text(model: torch.nn.Module) -> str:
    """The kind of tokens that a model puts before a text; "" if that is not known.

    They are "global" ones of its own, as Pegasus-X has, or "virtual" ones, a soft prompt.
    """
    if has_soft_prompt(model):
        return "virtual"
    return "global" if traits(model).global_tokens else ""


def autocast_type(device: torch.device) -> torch.dtype | None:
    """The type to which torch rounds a model under autocast; None without it."""
    on = torch.is_autocast_enabled(device.type)
    return torch.get_autocast_dtype(device.type) if on else None


def without_autocast(device: torch.device) -> AbstractContextManager[object]:
    """A context in which torch does not round as it rounds the model under autocast."""
    if not torch.is_autocast_enabled(device.type):
        return nullcontext()  # turning off takes longer than many layers' explanation
    return torch.autocast(device.type, enabled=False)


@dataclass(frozen=True)
class ModelTraits:
    """The kind of a model, which is found once.

    Attributes:
        has_decoder: True if it has a decoder with its own input tokens.
        global_tokens: the number of tokens of its own that an encoder has before the text, as
            Pegasus-X has.
        parameters: the names of the arguments of its forward pass, in its order.
        takes_any: True if it takes arguments of other names as well.
        longest: the number of tokens that it takes at most, or None.
        names: its own names of "input_ids" and "attention_mask", where it has others.
    """

    has_decoder: bool
    global_tokens: int
    parameters: tuple[str, ...]
    takes_any: bool
    longest: int | None
    names: Mapping[str, str]

    def takes(self, name: str) -> bool:
        """True if its forward pass takes an argument of this name."""
        return self.takes_any or self.names.get(name, name) in self.parameters


_known: WeakKeyDictionary[torch.nn.Module, ModelTraits] = WeakKeyDictionary()


def traits(model: torch.nn.Module) -> ModelTraits:
    """The traits of a model."""
    if model not in _known:
        _known[model] = _found(model)
    return _known[model]


def _found(model: torch.nn.Module) -> ModelTraits:
    parameters = inspect.signature(model.forward).parameters
    config: Any = getattr(model, "config", None)
    # Some models have this parameter, but use it only with such a language model.
    configs = [c for c in (config, getattr(config, "text_config", None)) if c is not None]
    uses = not configs or any(getattr(c, "is_encoder_decoder", False) for c in configs)
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    tables = (getattr(module, "embed_global", None) for module in model.modules())
    longest = getattr(config, "max_position_embeddings", None)
    return ModelTraits(
        "decoder_input_ids" in parameters and uses,
        next((t.num_embeddings for t in tables if isinstance(t, torch.nn.Embedding)), 0),
        tuple(name for name, p in parameters.items() if p.kind not in variadic),
        any(p.kind is p.VAR_KEYWORD for p in parameters.values()),
        longest if isinstance(longest, int) else None,
        _own_names(model, parameters),
    )


def _own_names(
    model: torch.nn.Module, parameters: Mapping[str, inspect.Parameter]
) -> dict[str, str]:
    """The names of the token ids and their mask in a forward pass that calls them otherwise.

    The ids are the one argument that must be given, apart from one that is called a mask, if the
    model has a table of embeddings.
    """
    if not STANDARD.isdisjoint(parameters):
        return {}
    plain = [
        p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    masks = [p.name for p in plain if "mask" in p.name.lower()]
    needed = [p.name for p in plain if p.default is p.empty and p.name not in masks]
    if len(needed) != 1 or not any(isinstance(m, torch.nn.Embedding) for m in model.modules()):
        return {}
    names = {"input_ids": needed[0]}
    own = [mask for mask in masks if stem(mask) in ("", stem(needed[0]))]
    # Masks of padding may be true where there is padding.
    if len(own) == 1 and "pad" not in own[0]:
        names["attention_mask"] = own[0]
    return names


def has_places(model: torch.nn.Module) -> bool:
    """True if a text has tokens in whose places the model puts images or sounds."""
    config = getattr(model, "config", None)
    return any(
        isinstance(getattr(config, f"{kind}_token_{name}", None), int)
        for kind in ("image", "video", "audio")
        for name in ("id", "index")
    )


def is_offloaded(model: torch.nn.Module) -> bool:
    """True if accelerate moves weights around a module's run, which must not be stopped midway."""
    return any(hasattr(module, "_hf_hook") for module in model.modules())


def run(model: torch.nn.Module, tensors: Mapping[str, Any]) -> Any:
    """The model's output; it may change caches among its inputs, so it gets copies of these."""
    names = traits(model).names
    return model(**own_copies({names.get(name, name): value for name, value in tensors.items()}))


class _Detached(TorchFunctionMode):
    """Lets tensors be copied that have a history of gradients."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is torch.Tensor.__deepcopy__:
            return args[0].detach().clone()
        return func(*args, **(kwargs or {}))


def own_copies(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a model, with copies of the caches and tokens, which it may change."""
    if not any(_may_change(name, value) for name, value in given.items()):
        return dict(given)
    with _Detached():
        return {
            name: copy.deepcopy(value) if _may_change(name, value) else value
            for name, value in given.items()
        }


def _may_change(name: str, value: Any) -> bool:
    return name.endswith("_ids") or bool(_CACHE.search(name)) or holds_tensors(value)


def holds_tensors(value: Any) -> bool:
    """True for a list, a tuple or a mapping with tensors in it."""
    inside = value.values() if isinstance(value, Mapping) else value
    if not isinstance(inside, (list, tuple, ValuesView)):
        return False
    return any(isinstance(each, torch.Tensor) or holds_tensors(each) for each in inside)


@contextmanager
def state_kept(model: torch.nn.Module) -> Iterator[None]:
    """Undo what passes within this context change in attributes and buffers of one's own modules.

    Those of transformers prepare themselves in a first pass, which must not be undone by half.
    """
    own = [module for module in model.modules() if is_foreign(type(module))]
    every = (each for module in own for each in (vars(module), *vars(module).values()))
    before = [(each, dict(each)) for each in every if isinstance(each, dict)]
    buffers = (each for module in own for each in module.buffers(recurse=False))
    numbers = [(each, each.detach().clone()) for each in buffers if not each.is_meta]
    try:
        yield
    finally:
        for changed, kept in before:
            changed.clear()
            changed.update(kept)
        with torch.no_grad():
            for buffer, kept_numbers in numbers:
                if not torch.equal(buffer, kept_numbers):
                    buffer.copy_(kept_numbers)
