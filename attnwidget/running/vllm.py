"""An engine of vLLM whose workers keep what attention receives, for a while.

Nothing here imports vLLM. The workers' side is in `attnwidget.interop.vllm`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import PurePath
from typing import Any, SupportsIndex

from attnwidget.arguments import whole

_EXTENSION = "attnwidget.interop.vllm.Worker"
LIKELIEST = 3


def is_vllm(model: object) -> bool:
    """True for an engine of vLLM."""
    return any(kind.__module__.startswith("vllm.") for kind in type(model).__mro__)


def model_of(llm: Any) -> Any:
    """The configuration of an engine's model."""
    return llm.llm_engine.vllm_config.model_config


def name_of(llm: Any) -> str:
    """The last part of the path or hub name that the model was loaded from."""
    return PurePath(str(model_of(llm).model)).name


@contextmanager
def keeping(llm: Any, chosen: list[int] | None) -> Iterator[tuple[dict[str, int], list[str]]]:
    """Within this context, workers keep what attention receives: (layers, what is missing)."""
    engine = llm.llm_engine
    _check_extension(engine.vllm_config.parallel_config.worker_extension_cls)
    if engine.has_unfinished_requests():
        raise ValueError("requests are waiting in this engine: let it finish them first")
    try:
        begun = [
            json.loads(each) for each in llm.collective_rpc("attnwidget_begin", args=(chosen,))
        ]
        for each in begun:
            if "problem" in each:
                raise ValueError(each["problem"])
        names = {name: number for each in begun for name, number in each["layers"].items()}
        missing = list(dict.fromkeys(why for each in begun for why in each["missing"]))
        absent = set(chosen or ()) - set(names.values())
        if absent or not names:
            more = "".join(f"; {why}" for why in missing[:3])
            kind = IndexError if absent else ValueError
            raise kind(f"the model has no attention to record in {sorted(absent) or 'it'}{more}")
        yield names, missing
    except BaseException:
        engine.abort_request(list(engine.output_processor.request_states), internal=True)
        raise
    finally:
        llm.collective_rpc("attnwidget_end")


def _check_extension(name: str) -> None:
    module, _, extension = (name or "").rpartition(".")
    if module and hasattr(getattr(import_module(module), extension), "attnwidget_begin"):
        return
    raise ValueError(
        f'this engine hands nothing over: load it as LLM(…, worker_extension_cls="{_EXTENSION}")'
        + (f", or make {name} a subclass of it" if name else "")
    )


def params_of(llm: Any, generate: Any) -> Any:
    """vLLM's parameters, with which no row is hidden by a cache."""
    counted = generate is None or isinstance(generate, SupportsIndex)
    params = (llm.get_default_sampling_params() if counted else generate).clone()
    if params.n != 1:
        raise ValueError(f"n is {params.n}: capture one answer to a prompt, or several prompts")
    if counted:
        count = whole(1, "a number of new tokens from 1", none=True)("generate", generate)
        params.max_tokens, params.min_tokens = count or 1, 0
    params.skip_reading_prefix_cache = True
    params.logprobs = max(params.logprobs or 0, 0 if generate is None else LIKELIEST)
    return params


def tokenizer_of(llm: Any) -> Any:
    """The engine's own tokenizer; None if it was loaded without."""
    return None if model_of(llm).skip_tokenizer_init else llm.get_tokenizer()
