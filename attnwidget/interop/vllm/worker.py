"""What runs in vLLM's workers: it keeps what attention receives, and checks it there."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from attnwidget.record import Fidelity, Layer, ScoreProgram, sample_rows
from attnwidget.running.tolerance import largest_score, output_distance, tolerance

ROUTE = "vLLM"
# Of outputs, which the check alone needs, these are kept: all of a short text, then some.
_FIRST, _EVERY = 64, 8


@dataclass
class _Rows:
    """The rows of one request in one layer: queries, keys, values, and some outputs."""

    parts: list[tuple[torch.Tensor, ...]] = field(default_factory=list)
    outputs: dict[int, torch.Tensor] = field(default_factory=dict)
    count: int = 0


class Worker:
    """The extension of vLLM's workers, by which they keep what attention receives.

    Nothing is installed until a capture begins, and all is removed when it ends.
    """

    vllm_config: Any
    model_runner: Any
    rank: int

    def attnwidget_begin(self, layers: list[int] | None) -> str:
        """Begin to keep; JSON of {"problem": …} or {"layers": {name: number}, "missing": […]}."""
        self.attnwidget_end()
        if problem := _refused(self.vllm_config):
            return json.dumps({"problem": problem})
        context = self.vllm_config.compilation_config.static_forward_context
        reasons = {name: _unlike(layer) for name, layer in context.items()}
        missing = [f"{name}: {why}" for name, why in reasons.items() if why]
        numbers = {name: _number(name) for name, why in reasons.items() if why == ""}
        if layers is not None:
            numbers = {name: n for name, n in numbers.items() if n in layers}
        self._attnwidget = _Keeper(self.model_runner, {name: context[name] for name in numbers})
        return json.dumps({"layers": numbers, "missing": missing})

    def attnwidget_layer(self, name: str, request: str, count: int, values: bool) -> bytes:
        """One layer of a request, checked, as safetensors; empty if it is another worker's.

        Args:
            count: the number of its rows: of a prompt and its answer, without the last token.
        """
        keeper = self._attnwidget
        return (
            b"" if name not in keeper.layers else keeper.packed(self, name, request, count, values)
        )

    def attnwidget_end(self) -> None:
        """Remove what was installed, and drop what was kept."""
        keeper = self.__dict__.pop("_attnwidget", None)
        if keeper is not None:
            keeper.remove()


class _Keeper:
    """Keeps what some layers receive, while it is installed."""

    def __init__(self, runner: Any, layers: dict[str, Any]) -> None:
        self.layers = layers
        self._rows: dict[tuple[str, str], _Rows] = defaultdict(_Rows)
        self._problem = ""
        self._runner = runner
        self._batch: Any = None
        self._known: tuple[Any, list[tuple[str, int, int, int]]] | None = None
        # The second kind of runner hands its batch on, and keeps none.
        if hasattr(runner, "prepare_inputs"):
            _wrap(runner, "prepare_inputs", self._note_batch)
        for name, layer in layers.items():
            _wrap(layer.impl, "forward", self._receiver(name))

    def remove(self) -> None:
        for owner, name in [(self._runner, "prepare_inputs")] + [
            (layer.impl, "forward") for layer in self.layers.values()
        ]:
            owner.__dict__.pop(name, None)

    def _note_batch(self, batch: Any, *_: Any, **__: Any) -> None:
        self._batch = batch

    def _receiver(self, name: str) -> Callable[..., None]:
        def receive(
            _: Any, __: Any, query: Any, key: Any, value: Any, ___: Any, metadata: Any,
            output: Any, *____: Any, **_____: Any,
        ) -> None:  # fmt: skip
            # An exception here would end the engine.
            try:
                if metadata is not None and not self._problem:
                    self._receive(name, metadata, query, key, value, output)
            except Exception as error:
                self._problem = f"{type(error).__name__}: {error}"

        return receive

    def _receive(self, name: str, metadata: Any, *tensors: torch.Tensor) -> None:
        heads = self.layers[name].num_heads
        query, key, value, output = (each.detach() for each in tensors)
        output = output.view(len(output), heads, -1)
        for request, start, end, position in self._places(metadata):
            kept = self._rows[name, request]
            if position < kept.count:  # read anew, after vLLM had put the request off
                _cut(kept, position)
            if position > kept.count:
                self._problem = _HIDDEN
                return
            rows = slice(start, end)
            kept.parts.append(tuple(each[rows].cpu().clone() for each in (query, key, value)))
            length = end - start
            wanted = [
                n for n in range(length) if n + position < _FIRST or not (n + position) % _EVERY
            ]
            picked = output[rows][wanted].cpu()
            kept.outputs.update(zip((n + position for n in wanted), picked, strict=True))
            kept.count += length

    def _places(self, metadata: Any) -> list[tuple[str, int, int, int]]:
        """(request, first row, end, position of the first) of each request of a step."""
        if self._known is not None and self._known[0] is metadata:
            return self._known[1]
        requests = (self._batch or self._runner.input_batch).req_ids
        try:
            starts, lengths = metadata.query_start_loc.tolist(), metadata.seq_lens.tolist()
        except AttributeError:
            raise ValueError(
                f"{type(metadata).__name__} does not say whose rows are whose"
            ) from None
        places = [
            (request, start, end, length - (end - start))
            for request, start, end, length in zip(
                # Metadata may be padded.
                requests,
                starts,
                starts[1:],
                lengths,
                strict=False,
            )
        ]
        self._known = metadata, places
        return places

    def packed(self, worker: Worker, name: str, request: str, count: int, values: bool) -> bytes:
        layer, found = (
            self.layers[name],
            [r for r in self._rows if r[0] == name and _is(r[1], request)],
        )
        about: dict[str, Any] = {"problem": self._problem}
        if not self._problem and (len(found) != 1 or self._rows[found[0]].count < count):
            have = sum(self._rows[each].count for each in found)
            about["problem"] = f"{have} of {count} rows of {name} arrived. {_HIDDEN}"
        if about["problem"]:
            return save({}, {"about": json.dumps(about)})
        kept = self._rows[found[0]]
        # Scheduled ahead, vLLM may have read a last token that counts for nothing.
        _cut(kept, count)
        query, key, value = (
            torch.cat(each).transpose(0, 1) for each in zip(*kept.parts, strict=True)
        )
        impl, window = layer.impl, layer.sliding_window
        sinks = getattr(impl, "sinks", None)
        tensors = {"queries": query, "keys": key, "values": value}
        about |= {
            "scale": float(impl.scale),
            "window": None if window is None else int(window),
            "softcap": getattr(impl, "logits_soft_cap", None) or None,
            "kv_heads": worker.vllm_config.model_config.get_total_num_kv_heads(),
        }
        if sinks is not None:
            tensors["sinks"] = sinks.detach().cpu().float()
        about |= _checked(tensors, about, kept.outputs, query.dtype)
        if not values:
            del tensors["values"]
        return save({n: t.contiguous() for n, t in tensors.items()}, {"about": json.dumps(about)})


def layer_of(
    tensors: dict[str, Any], about: dict[str, Any], number: int, fidelity: Fidelity
) -> Layer:
    """The layer of arrays and of what is said about them."""
    arrays: dict[str, Any] = {
        name: np.ascontiguousarray(each.float().numpy()) for name, each in tensors.items()
    }
    sinks, window = arrays.pop("sinks", None), about["window"]
    program = ScoreProgram(
        about["scale"],
        "causal" if window is None else "window",
        None if window is None else (window - 1, 0),  # theirs counts the token itself
        softcap=about["softcap"],
        sinks=sinks,
    )
    return Layer(program=program, weights=None, fidelity=fidelity, number=number, **arrays)


def _checked(
    tensors: dict[str, Any], about: dict[str, Any], outputs: dict[int, Any], dtype: torch.dtype
) -> dict[str, Any]:
    """The largest error of weights times values, its bound, and the number of rows."""
    none = Fidelity(ROUTE, "", "queries and keys", None, None, 0.0, 0)
    layer = layer_of(tensors, about, 0, none)
    rows = np.array(sorted(outputs))
    rows = rows[sample_rows(len(rows))]
    output = torch.stack([outputs[row] for row in rows.tolist()], 1).float().numpy()
    assert layer.values is not None
    largest = np.maximum(np.abs(layer.values).max(axis=(1, 2)), 1e-30)
    errors = output_distance(layer.all_weights(rows), layer.values, largest, output)
    limit = tolerance(dtype, largest_score(layer))
    return {"error": float(errors.max()), "tolerance": limit, "rows": len(rows)}


def _cut(kept: _Rows, count: int) -> None:
    """Forget the rows from a position on."""
    while kept.count > count:
        last = kept.parts.pop()
        kept.count -= len(last[0])
        if kept.count < count:
            kept.parts.append(tuple(each[: count - kept.count] for each in last))
            kept.count = count
    kept.outputs = {row: each for row, each in kept.outputs.items() if row < count}


def _wrap(owner: Any, name: str, after: Callable[..., None]) -> None:
    """Call `after` with the result and the arguments of a method of this object."""
    method = getattr(owner, name)

    def wrapped(*args: Any, **options: Any) -> Any:
        result = method(*args, **options)
        after(result, *args, **options)
        return result

    setattr(owner, name, wrapped)


_HIDDEN = (
    "vLLM does not hand over the others: it replays a whole CUDA graph without Python, or has read "
    "them from a cache. Load it with enforce_eager=True"
)


def _is(internal: str, request: str) -> bool:
    return internal == request or internal.rpartition("-")[0] == request


def _number(name: str) -> int:
    return int(re.findall(r"\.(\d+)\.", name)[0])


def _refused(config: Any) -> str:
    """The reason why nothing of an engine can be captured, or ""."""
    parallel = config.parallel_config
    if getattr(config, "speculative_config", None) is not None:
        return "speculative decoding reads tokens that are dropped again: load it without"
    for name in (
        "data_parallel_size",
        "decode_context_parallel_size",
        "prefill_context_parallel_size",
    ):
        if getattr(parallel, name, 1) > 1:
            return f"{name} is {getattr(parallel, name)}: no worker has all rows. Load it with 1"
    return ""


def _unlike(layer: Any) -> str | None:
    """The reason why a layer's attention is not recorded, or ""; None if it has no attention."""
    kinds = [kind.__name__ for kind in type(layer).__mro__]
    if "AttentionLayerBase" not in kinds:  # experts
        return None
    if kinds[0] != "Attention":
        return f"{kinds[0]} has attention of another kind than softmax(q · k)"
    if layer.attn_type != "decoder":
        return f"attention of type {layer.attn_type} is not causal"
    if getattr(layer.impl, "alibi_slopes", None) is not None:
        return "ALiBi is not recorded"
    if layer.kv_sharing_target_layer_name is not None:
        return f"it reads the keys of {layer.kv_sharing_target_layer_name}"
    return ""
