"""Measurement in the workers of vLLM, which fold what they read into sums, each of its own heads.

Texts go there, and the sums of a shard come back: neither memory nor traffic depends on the number
of texts.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from safetensors.numpy import load

from attnwidget.record import Tokens
from attnwidget.running.batches import TextBatch
from attnwidget.running.vllm import keeping, model_of, name_of, params_of, tokenizer_of

from .copying import CopyShares
from .measurement import Measurement, ModelIdentity, Reading
from .meter import MetricSet
from .packed import of_arrays, pack
from .profiler import Profiler
from .settings import COPYING, Settings

SENT = tuple[str, Measurement | None]
"""A digest of a worker's weights, and what it has measured; None if there was no text."""

_WHERE = "profile a model of transformers with the same weights"


@dataclass(frozen=True)
class ReadTexts:
    """Texts that the workers have read, and what to measure of them.

    Attributes:
        metrics, seed: see `Measurement`.
        offsets: see `Meter`.
        texts: (vLLM's id of the request, the index, the tokens) of each.
    """

    metrics: tuple[str, ...]
    seed: int
    offsets: bool
    texts: tuple[tuple[str, int, Tokens], ...]


class VllmModel(torch.nn.Module):
    """A stand-in for the engine's model: batches of texts read its limits and arguments."""

    def __init__(self, llm: Any) -> None:
        super().__init__()
        found = model_of(llm)
        self.config = copy.copy(found.hf_text_config)
        # The engine may have been loaded for shorter texts.
        self.config.max_position_embeddings = found.max_model_len
        self._size = found.get_vocab_size()

    def get_input_embeddings(self) -> Any:
        return SimpleNamespace(num_embeddings=self._size)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> None:
        raise NotImplementedError


@contextmanager
def vllm_engine(llm: Any, tokenizer: Any, settings: Settings) -> Iterator[Profiler]:
    """Measures with an engine of vLLM, which is as before afterwards.

    Raises:
        ValueError: a null or a metric needs the model in this process; or see
            `attnwidget.interop.vllm.capture`.
    """
    if "random weights" in settings.nulls:
        raise ValueError(
            'the null "random weights" needs a model with other weights, which an engine of vLLM '
            'is not: choose null="position", "shuffled", "best offset", several of them, or None; '
            "or profile the same architecture in transformers"
        )
    needs = [*settings.own, *(name for name in COPYING if name in settings.names)]
    if needs and not settings.every:
        raise ValueError(f"{', '.join(needs)} cannot be measured in vLLM's workers: {_WHERE}")
    with keeping(llm, None) as (_, missing):
        if tokenizer is None:
            tokenizer = tokenizer_of(llm)
            if settings.max_tokens and getattr(tokenizer, "truncation_side", "right") != "right":
                raise ValueError(
                    "vLLM's own tokenizer drops the beginning of texts, not their end: with "
                    "max_tokens, pass a tokenizer, as AutoTokenizer.from_pretrained(...)"
                )
        yield VllmProfiler(llm, tokenizer, settings, missing)


class VllmProfiler(Profiler):
    """Measures texts with the workers of vLLM, which keep what attention receives.

    Args:
        missing: the layers that they cannot read, with the reason.
    """

    def __init__(
        self, llm: Any, tokenizer: Any, settings: Settings, missing: Sequence[str]
    ) -> None:
        super().__init__(VllmModel(llm), tokenizer, settings)
        self._llm, self._absent = llm, missing
        self._params = params_of(llm, None)
        copies = [name for name in COPYING if name in settings.names]
        if copies:
            self._missing = f"{', '.join(copies)}: needs output projections: {_WHERE}"

    def identity(self) -> ModelIdentity:
        """The same, of the weights that the workers have now."""
        self._taken(None, self._settings.on_texts)
        return self._identity

    def _add(self, batch: TextBatch, reading: Reading, metrics: MetricSet, offsets: bool) -> None:
        """Let the engine read texts, and the workers add them to their sums."""
        prompts = []
        for row in batch.rows:
            assert row.text is not None  # decoders alone
            ids = batch.tensors["input_ids"][row.index][row.text.kept]
            prompts.append({"prompt_token_ids": ids.tolist()})
        outputs = self._llm.generate(prompts, self._params, use_tqdm=False)
        texts = tuple(
            (output.request_id, text.index, text.tokens)
            for output, text in zip(outputs, batch.texts, strict=True)
        )
        asked = ReadTexts(metrics.names, self._settings.seed, offsets, texts)
        arguments = reading or "", json.dumps(pack(asked, {}))
        for problem in self._llm.collective_rpc("attnwidget_fold", args=arguments):
            if problem:
                raise ValueError(problem)

    def _taken(self, reading: Reading, metrics: MetricSet) -> Measurement:
        """The sums of all workers, with which a digest of their weights comes."""
        sent = self._llm.collective_rpc("attnwidget_sums", args=(reading or "",))
        parts = [of_arrays(SENT, load(each)) for each in sent]
        empty = Measurement(metrics.names, self._settings.seed)
        digest, found = joined_sums(parts, empty, self._absent)
        self._identity = ModelIdentity(name_of(self._llm), digest)
        return found

    def _further(self, batch: TextBatch, model: torch.nn.Module) -> dict[str, CopyShares]:
        return {}  # which `missing` says


def joined_sums(
    parts: Iterable[SENT], found: Measurement, missing: Sequence[str] = ()
) -> tuple[str, Measurement]:
    """(the digests as one, the sums) of workers with some heads each, in the order of their ranks.

    Args:
        found: an empty measurement, which receives them.
        missing: what else is missing, as "module: reason".
    """
    digest, failed = hashlib.blake2b(digest_size=16), set()
    for own, part in parts:
        digest.update(own.encode())
        if part is not None:
            # A layer that fails in one worker has not all heads.
            failed |= {why.partition(": ")[0] for why in part.missing}
            found.join(part)
    found.leave_out(failed)
    found.missing = [*missing, *found.missing]
    return digest.hexdigest(), found
