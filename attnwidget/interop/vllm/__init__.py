"""Records of texts that a model reads and writes within vLLM: its own rows, checked in its workers.

Nothing here imports vLLM: an engine comes in, and records go out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import exp
from typing import Any

import numpy as np
import torch
from safetensors.torch import load

from attnwidget.arguments import several_numbers
from attnwidget.record import AttentionRecord, Fidelity, Layer, Replay, Stack, Tokens, Written
from attnwidget.running.inputs import labelled, tokens_of
from attnwidget.running.labels import token_labels
from attnwidget.running.reread import answer_tokens
from attnwidget.running.vllm import LIKELIEST, keeping, model_of, name_of, params_of, tokenizer_of
from attnwidget.running.written import texts
from attnwidget.warning import warn

from .worker import Worker as Worker
from .worker import layer_of


def capture(
    llm: Any,
    prompt: Any,
    *,
    generate: int | Any | None = None,
    layers: Iterable[int] | None = None,
    values: bool = False,
) -> Any:
    """Record the attention of a text, and of its answer, while vLLM reads and writes it.

    The engine runs as it was loaded, with one argument more:
    `LLM(…, worker_extension_cls="attnwidget.interop.vllm.Worker")`. Nothing is installed before and
    after. The workers keep the queries and keys of every layer, and check them there: weights times
    values against the engine's own output. They are sent layer by layer.

    Args:
        llm: an engine of vLLM, with workers as above.
        prompt: a string, a chat, or {"prompt_token_ids": [1, 2, 3]}; or a list of these, which
            vLLM reads in the batches that it makes of them.
        generate: the number of new tokens, chosen as the model's generation config says, or
            vLLM's `SamplingParams`; None to read the prompt alone.
        layers: the layers to record, counted from 0; all if None.
        values: True to record the values as well; output projections are not.

    Returns:
        A record with the stack "self", or a list of records for a list of prompts. An answer's
        record is of the generation itself: `record.replay.difference` is 0. `record.missing` names
        layers with attention of another kind, such as those of Mamba.

    Raises:
        TypeError: the prompt is none.
        ValueError: the engine was loaded without the workers' extension, with speculative decoding
            or with data or context parallelism; several answers to a prompt are asked for; or rows
            did not arrive, or no layer has attention that can be recorded.
        IndexError: the model has no attention in a layer of `layers`.
    """
    one = isinstance(prompt, (str, Mapping)) or (
        isinstance(prompt, Sequence) and len(prompt) and isinstance(prompt[0], Mapping)
        and "role" in prompt[0]
    )  # fmt: skip
    tokenizer = tokenizer_of(llm)
    asked = [_tokens(tokenizer, each) for each in ([prompt] if one else prompt)]
    chosen = several_numbers("layers", layers)
    params = params_of(llm, generate)
    with keeping(llm, None if chosen is None else sorted(chosen)) as (names, missing):
        if missing:
            warn(f"not in this record (see its `missing`): {'; '.join(missing[:3])}")
        outputs = llm.generate(
            [{"prompt_token_ids": ids} for ids, _ in asked], params, use_tqdm=False
        )
        records = []
        for (ids, tokens), output in zip(asked, outputs, strict=True):
            [answer] = output.outputs
            replay = None
            if generate is not None:
                read = torch.tensor([*ids, *answer.token_ids[:-1]])
                tokens = answer_tokens(tokenizer, read, torch.arange(len(read)), len(ids), tokens)
                replay = Replay(0.0, 0.0, "", 0.0, _written(llm, tokenizer, answer))
            found = tuple(
                _layer(llm, name, number, output.request_id, len(tokens), values)
                for name, number in sorted(names.items(), key=lambda each: each[1])
            )
            stack = {"self": Stack(tokens, tokens, found)}
            records.append(
                AttentionRecord(stack, model=name_of(llm), missing=missing, replay=replay)
            )
    return records[0] if one else records


def _tokens(tokenizer: Any, prompt: Any) -> tuple[list[int], Tokens]:
    if isinstance(prompt, Mapping):
        if "prompt_token_ids" not in prompt:
            raise TypeError('a prompt is a text, a chat, or {"prompt_token_ids": [1, 2, 3]}')
        ids = list(prompt["prompt_token_ids"])
        return ids, labelled(tokenizer, ids)
    return tokens_of(tokenizer, prompt)


def _layer(llm: Any, name: str, number: int, request: str, count: int, values: bool) -> Layer:
    """One layer of a request, from the parts that the workers have of it."""
    sent = llm.collective_rpc("attnwidget_layer", args=(name, request, count, values))
    return joined([each for each in sent if each], name, number)


def joined(sent: Sequence[bytes], name: str, number: int) -> Layer:
    """The layer of what workers sent, each with some of the heads, in the order of their ranks.

    Raises:
        ValueError: a worker has not all rows.
    """
    about: list[dict[str, Any]] = []
    for data in sent:
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        about.append(json.loads(header["__metadata__"]["about"]))
        if about[-1]["problem"]:
            raise ValueError(about[-1]["problem"])
    parts = [load(data) for data in sent]
    # More workers than key heads: some have the same ones.
    same = max(1, len(parts) * len(parts[0]["keys"]) // about[0]["key_heads"])
    tensors = {
        each: torch.cat(
            [part[each] for part in parts[:: same if each in ("keys", "values") else 1]]
        )
        for each in parts[0]
    }
    error = float(np.max([each["error"] for each in about]))  # NaN counts
    limit, rows = (min(each[key] for each in about) for key in ("tolerance", "rows"))
    fidelity = Fidelity("vLLM", name, "queries and keys", None, error, limit, rows, "checked")
    return layer_of(tensors, about[0], number, fidelity)


def _written(llm: Any, tokenizer: Any, answer: Any) -> tuple[Written, ...]:
    """The tokens of an answer; none if vLLM returns other numbers than the model's own."""
    if model_of(llm).logprobs_mode != "raw_logprobs":
        return ()
    ids, found = list(answer.token_ids), []
    for token, label, text, step in zip(
        ids, token_labels(tokenizer, ids), texts(tokenizer, ids), answer.logprobs, strict=True
    ):
        shares = {each: min(1.0, exp(of.logprob)) for each, of in step.items()}
        best = sorted(shares, key=lambda each: -shares[each])[:LIKELIEST]
        likeliest = tuple((token_labels(tokenizer, [each])[0], shares[each]) for each in best)
        found.append(Written(label, text, shares[token], likeliest))
    return tuple(found)
