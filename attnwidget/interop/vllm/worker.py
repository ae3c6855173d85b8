"""The extension of vLLM's workers, which keeps what attention receives, and checks it there."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save as save_arrays
from safetensors.torch import save

from attnwidget.corpus.measurement import Measurement
from attnwidget.corpus.meter import Meter
from attnwidget.corpus.packed import as_arrays, unpack
from attnwidget.corpus.profiler import digest_of
from attnwidget.corpus.settings import metrics_of_rows
from attnwidget.corpus.vllm_engine import ReadTexts
from attnwidget.record import Fidelity, Floats, Layer, ScoreProgram, sample_rows
from attnwidget.running.stacks import Kind
from attnwidget.running.tolerance import largest_score, output_distance, tolerance
from attnwidget.running.towers import tower
from attnwidget.tracing import CallId

# Of outputs, which the check alone needs, these are kept: all of a short text, then some.
_FIRST, _EVERY = 64, 8
_UNCHECKED = Fidelity("", "", "", None, None, 0.0, 0)
_NUMBER = re.compile(r"\.(\d+)\.")
_REPLAYED = (
    "vLLM has read the others from a cache, or replays a CUDA graph without Python: load it with "
    "enforce_eager=True"
)


class Worker:
    """The extension of vLLM's workers, by which they keep what attention receives.

    Nothing is installed until a capture begins, and all is removed when it ends.
    """

    vllm_config: Any
    model_runner: Any

    def attnwidget_begin(self, layers: list[int] | None) -> str:
        """Begin to keep; JSON of {"problem": …} or {"layers": {name: number}, "missing": […]}."""
        self.attnwidget_end()
        if problem := _refused(self.vllm_config):
            return json.dumps({"problem": problem})
        context = self.vllm_config.compilation_config.static_forward_context
        reasons = {name: _unlike(name, layer) for name, layer in context.items()}
        numbers = {
            name: int(_NUMBER.findall(name)[0]) for name, why in reasons.items() if why == ""
        }
        if layers is not None:
            numbers = {name: number for name, number in numbers.items() if number in layers}
        self._attnwidget = _Keeper(self.model_runner, {name: context[name] for name in numbers})
        missing = [f"{name}: {why}" for name, why in reasons.items() if why]
        return json.dumps({"layers": numbers, "missing": missing})

    def attnwidget_layer(self, name: str, request: str, count: int, values: bool) -> bytes:
        """One layer of a request, checked, as safetensors; empty if it is another worker's.

        Args:
            count: the number of rows: of a prompt and its answer, without the last token.
        """
        keeper = self._attnwidget
        if name not in keeper.layers:
            return b""
        try:
            tensors, about, outputs = keeper.read(name, request, count)
        except ValueError as error:
            return save({}, {"about": json.dumps({"problem": str(error)})})
        layer = layer_of(tensors, about, 0, _UNCHECKED)
        about |= _checked(layer, tensors["queries"].dtype, outputs)
        # Those of the whole model: with more workers than key heads, some have the same ones.
        about["key_heads"] = self.vllm_config.model_config.get_total_num_kv_heads()
        if not values:
            del tensors["values"]
        kept = {key: each.contiguous() for key, each in tensors.items()}
        return save(kept, {"about": json.dumps(about)})

    def attnwidget_fold(self, reading: str, asked: str) -> str:
        """Add the attention of texts to a reading's sums, and drop it; return a problem, or "".

        Args:
            asked: JSON of `ReadTexts`.
        """
        keeper, read = self._attnwidget, unpack(ReadTexts, json.loads(asked), {})
        sums = keeper.sums.setdefault(reading, Measurement(read.metrics, read.seed))
        meter = Meter(metrics_of_rows(read.metrics), sums, offsets=read.offsets)
        try:
            for request, index, tokens in read.texts:
                for name in keeper.layers:
                    tensors, about, outputs = keeper.read(name, request, len(tokens))
                    layer = layer_of(tensors, about, 0, _UNCHECKED)
                    weights = layer.all_weights(np.arange(len(tokens)))
                    about |= _checked(layer, tensors["queries"].dtype, outputs, weights)
                    if not about["error"] <= about["tolerance"]:  # or NaN
                        why = f"{name}: its weights times values are not the engine's output"
                        sums.missing += [] if why in sums.missing else [why]
                        continue
                    kind = (*Kind(tower(name), False).key, "softmax")
                    meter.add(CallId(name, 0), kind, index, weights, tokens, tokens)
        except ValueError as error:
            return str(error)
        meter.finish()
        keeper.forget()
        return ""

    def attnwidget_sums(self, reading: str) -> bytes:
        """The sums of a reading and the model's digest, as safetensors; they begin anew."""
        sums = self._attnwidget.sums.pop(reading, None)
        digest = digest_of(self.model_runner.get_model())
        return save_arrays(as_arrays((digest, sums)))

    def attnwidget_end(self) -> None:
        """Remove what was installed, and drop what was kept."""
        keeper = self.__dict__.pop("_attnwidget", None)
        if keeper is not None:
            keeper.remove()


class _Keeper:
    """Keeps what some layers receive, until it is removed."""

    def __init__(self, runner: Any, layers: dict[str, Any]) -> None:
        self.layers = layers
        self.sums: dict[str, Measurement] = {}
        self._runner = runner
        self._batch: Any = None
        self._problem = ""
        # By layer and request: (position, queries, keys, values) of each step, and some outputs.
        self._steps: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
        self._outputs: dict[tuple[str, str], dict[int, torch.Tensor]] = defaultdict(dict)
        self._own_ids: dict[str, str] = {}
        self._installed: list[tuple[Any, str]] = []
        for name, layer in layers.items():
            self._after(layer.impl, "forward", self._receiver(name))
        # vLLM's second kind of runner keeps no batch, but hands it on.
        if hasattr(runner, "prepare_inputs"):
            self._after(runner, "prepare_inputs", self._note)

    def _after(self, owner: Any, name: str, then: Callable[..., None]) -> None:
        """Call `then` with the result and the arguments of this object's method."""
        method = getattr(owner, name)

        def wrapped(*args: Any, **options: Any) -> Any:
            result = method(*args, **options)
            # An exception would end the engine.
            try:
                then(result, *args, **options)
            except Exception as error:
                self._problem = self._problem or f"{type(error).__name__}: {error}"
            return result

        setattr(owner, name, wrapped)
        self._installed.append((owner, name))

    def remove(self) -> None:
        """Make all methods those of their classes again."""
        for owner, name in self._installed:
            delattr(owner, name)

    def forget(self) -> None:
        """Drop what was kept of texts so far."""
        self._steps.clear()
        self._outputs.clear()
        self._own_ids.clear()

    def _note(self, batch: Any, *_: Any, **__: Any) -> None:
        self._batch = batch

    def _receiver(self, name: str) -> Callable[..., None]:
        def receive(
            _: Any, layer: Any, query: Any, key: Any, value: Any, kv_cache: Any, attn_metadata: Any,
            output: Any, *args: Any, **options: Any,
        ) -> None:  # fmt: skip
            if attn_metadata is not None:  # else it warms up
                output = output.view(*query.shape[:2], -1)
                self._receive(name, attn_metadata, (query, key, value), output)

        return receive

    def _receive(self, layer: str, metadata: Any, inputs: Any, output: torch.Tensor) -> None:
        for request, rows, position in self._requests(metadata):
            at = layer, request
            # vLLM puts random signs behind the ids that it returns.
            self._own_ids[request.rpartition("-")[0]] = request
            copies = [each[rows].to("cpu", copy=True) for each in inputs]
            self._steps[at].append((position, *copies))
            places = range(position, position + rows.stop - rows.start)
            some = [row for row in places if row < _FIRST or row % _EVERY == 0]
            picked = output[rows][[row - position for row in some]].cpu()
            self._outputs[at].update(zip(some, picked, strict=True))

    def _requests(self, metadata: Any) -> Iterator[tuple[str, slice, int]]:
        """(id, rows, position of the first) of each request of a step."""
        try:
            starts, lengths = metadata.query_start_loc.tolist(), metadata.seq_lens.tolist()
        except AttributeError:
            kind = type(metadata).__name__
            raise TypeError(
                f"{kind} does not say whose rows are whose: take another backend"
            ) from None
        batch = self._runner.input_batch if self._batch is None else self._batch
        for number, request in enumerate(batch.req_ids):
            start, end = starts[number : number + 2]
            yield request, slice(start, end), lengths[number] - (end - start)

    def read(
        self, name: str, request: str, count: int
    ) -> tuple[dict[str, Any], dict[str, Any], dict[int, torch.Tensor]]:
        """The rows of a request: (arrays, what else is known of the layer, some outputs).

        Raises:
            ValueError: some are not there.
        """
        if self._problem:
            raise ValueError(self._problem)
        at = name, self._own_ids.get(request, request)
        whole: list[torch.Tensor] = []
        there = np.zeros(count, bool)
        # What was read anew, after the request had been put off, counts. A last token may have been
        # read ahead, which does not.
        for position, *parts in self._steps[at]:
            whole = whole or [each.new_zeros(count, *each.shape[1:]) for each in parts]
            for into, each in zip(whole, parts, strict=True):
                into[position : position + len(each)] = each[: max(0, count - position)]
            there[position : position + len(parts[0])] = True
        if not there.all():
            raise ValueError(f"{there.sum()} of {count} rows of {name} arrived: {_REPLAYED}")
        layer = self.layers[name]
        names = "queries", "keys", "values"
        tensors = {key: each.transpose(0, 1) for key, each in zip(names, whole, strict=True)}
        if getattr(layer.impl, "sinks", None) is not None:
            tensors["sinks"] = layer.impl.sinks.detach().cpu().float()
        about = {
            "problem": "",
            "scale": float(layer.impl.scale),
            "window": layer.sliding_window,
            "softcap": getattr(layer.impl, "logits_soft_cap", None) or None,
        }
        outputs = {row: each for row, each in self._outputs[at].items() if row < count}
        return tensors, about, outputs


def layer_of(
    tensors: dict[str, Any], about: dict[str, Any], number: int, fidelity: Fidelity
) -> Layer:
    """The layer of arrays and of what else is known of it."""
    arrays: dict[str, Any] = {key: each.float().numpy() for key, each in tensors.items()}
    sinks, window = arrays.pop("sinks", None), about["window"]
    mask: Any = "causal" if window is None else "window"
    # vLLM counts the token itself.
    band = None if window is None else (int(window) - 1, 0)
    program = ScoreProgram(about["scale"], mask, band, softcap=about["softcap"], sinks=sinks)
    return Layer(program=program, weights=None, fidelity=fidelity, number=number, **arrays)


def _checked(
    layer: Layer,
    dtype: torch.dtype,
    outputs: dict[int, torch.Tensor],
    weights: Floats | None = None,
) -> dict[str, Any]:
    """The largest error of weights times values in some rows, its bound, and their number.

    Args:
        weights: of all rows, if they are there.
    """
    assert layer.values is not None
    places = sorted(outputs)
    rows = np.array(places)[sample_rows(len(places))]
    output = torch.stack([outputs[row] for row in rows.tolist()], 1).float().numpy()
    largest = np.maximum(np.abs(layer.values).max(axis=(1, 2)), 1e-30)
    some = layer.all_weights(rows) if weights is None else weights[:, rows]
    errors = output_distance(some, layer.values, largest, output)
    limit = tolerance(dtype, largest_score(layer))
    return {"error": float(errors.max()), "tolerance": limit, "rows": len(rows)}


def _refused(config: Any) -> str:
    """The reason why nothing of an engine can be captured, or ""."""
    if config.speculative_config is not None:
        return "speculative decoding reads tokens that are dropped again: load the engine without"
    for kind in ("data", "decode_context", "prefill_context"):
        if getattr(config.parallel_config, f"{kind}_parallel_size", 1) > 1:
            return f"with {kind}_parallel_size above 1, no worker has all rows of a text"
    return ""


def _unlike(name: str, layer: Any) -> str | None:
    """The reason why a layer's attention is not recorded, or ""; None if it has no attention."""
    kinds = [kind.__name__ for kind in type(layer).__mro__]
    if "AttentionLayerBase" not in kinds:  # experts
        return None
    if not _NUMBER.search(name):
        return "its name has no number of a layer"
    if kinds[0] != "Attention":
        return f"attention of vLLM's kind {kinds[0]} is not recorded"
    if layer.attn_type != "decoder":
        return "attention that is not causal is not recorded"
    if getattr(layer.impl, "alibi_slopes", None) is not None:
        return "ALiBi is not recorded"
    if layer.kv_sharing_target_layer_name is not None:
        return f"it reads the keys of {layer.kv_sharing_target_layer_name}"
    return ""
