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

from attnwidget.progress import end_asked, step_done
from attnwidget.record import Tokens
from attnwidget.running.batches import Batches, TextBatch, shuffled
from attnwidget.running.texts import Shard
from attnwidget.running.vllm import keeping, model_of, name_of, params_of, tokenizer_of

from .measurement import Measured, Measurement, ModelIdentity, Reading
from .meter import MetricSet
from .packed import of_arrays, pack
from .profiler import Repeated
from .repeated import repeated_tokens
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


class _Reader(torch.nn.Module):
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
def vllm_engine(llm: Any, tokenizer: Any, settings: Settings) -> Iterator[VllmEngine]:
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
        yield VllmEngine(llm, tokenizer, settings, missing)


class VllmEngine:
    """Measures shards with the workers of vLLM, which keep what attention receives.

    Args:
        missing: the layers that they cannot read, with the reason.
    """

    def __init__(
        self, llm: Any, tokenizer: Any, settings: Settings, missing: Sequence[str]
    ) -> None:
        self._llm, self._settings, self._missing = llm, settings, missing
        self._params = params_of(llm, None)
        reader = _Reader(llm)
        self._batches = Batches(reader, tokenizer, settings.batch_size, settings.max_tokens)
        self._repeated: TextBatch | None = None
        if settings.has_repeated:
            self._repeated = repeated_tokens(reader, tokenizer, settings.seed)
        self._readings: list[Reading] = [None]
        if "shuffled" in settings.nulls:
            self._readings.append("shuffled")

    def measured(self, shards: Iterable[Shard]) -> Iterator[tuple[Shard, Measured]]:
        """The measurements of each shard."""
        for shard in shards:
            yield shard, self._measure(shard)

    def repeated(self) -> Repeated:
        """The measurements of repeated tokens."""
        metrics = self._settings.on_repeated
        if self._repeated is not None and metrics.names:
            for reading in self._readings:
                self._read(self._repeated, reading, metrics)
        found = {reading: self._sums(reading, metrics)[1] for reading in self._readings}
        copies = [name for name in COPYING if name in self._settings.names]
        why = f"{', '.join(copies)}: needs output projections: {_WHERE}" if copies else ""
        return Repeated(found, why)

    def _measure(self, shard: Shard) -> Measured:
        sources: dict[int, str | tuple[str, ...]] = {}
        metrics, empty = self._settings.on_texts, 0
        for batch in self._batches.of(shard):
            for reading in self._readings:
                self._read(batch, reading, metrics)
            for text in batch.texts:
                sources[text.index] = text.source or text.tokens.labels
                step_done()
            if end_asked():
                break
        else:
            empty = shard.count - len(sources)
        sums: dict[Reading, Measurement] = {}
        for reading in self._readings:
            digest, sums[reading] = self._sums(reading, metrics)
        identity = ModelIdentity(name_of(self._llm), digest)
        measured = Measured(identity, sums, {}, len(sources), empty)
        if sources and not measured.own.layers:
            raise ValueError(f"no attention could be read: {'; '.join(measured.own.missing[:3])}")
        measured.sources = measured.own.needed(sources)
        return measured

    def _read(self, batch: TextBatch, reading: Reading, metrics: MetricSet) -> None:
        """Let the engine read texts, and the workers add them to their sums."""
        settings = self._settings
        if reading == "shuffled":
            batch = shuffled(batch, settings.seed)
        prompts = []
        for row in batch.rows:
            assert row.text is not None  # decoders alone
            ids = batch.tensors["input_ids"][row.index][row.text.kept]
            prompts.append({"prompt_token_ids": ids.tolist()})
        outputs = self._llm.generate(prompts, self._params, use_tqdm=False)
        of_position = {"position", "best offset"} & set(settings.nulls)
        offsets = reading is None and bool(of_position) and metrics is settings.on_texts
        texts = tuple(
            (output.request_id, text.index, text.tokens)
            for output, text in zip(outputs, batch.texts, strict=True)
        )
        asked = ReadTexts(metrics.names, settings.seed, offsets, texts)
        arguments = reading or "", json.dumps(pack(asked, {}))
        for problem in self._llm.collective_rpc("attnwidget_fold", args=arguments):
            if problem:
                raise ValueError(problem)

    def _sums(self, reading: Reading, metrics: MetricSet) -> tuple[str, Measurement]:
        """(a digest of the weights, the sums of all workers since they were last asked)."""
        sent = self._llm.collective_rpc("attnwidget_sums", args=(reading or "",))
        parts = [of_arrays(SENT, load(each)) for each in sent]
        return joined_sums(parts, Measurement(metrics.names, self._settings.seed), self._missing)


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
