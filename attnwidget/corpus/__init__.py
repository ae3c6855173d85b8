"""Numbers of every head over many texts. Making a profile imports torch; reading one does not."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

from attnwidget.progress import progress_bar

from .accumulators import Estimate
from .example_texts import TextReader
from .head_profile import Example, Examples, HeadProfile
from .matching import HeadMatch, match_heads
from .similarity import Head, HeadSimilarity, Neighbour
from .stack_profile import Picked, ProfileMetric, SampledRows, StackProfile

if TYPE_CHECKING:
    from attnwidget.running.texts import Texts

    from .meter import OwnMetric
    from .nulls import Null
    from .run import EngineName, Model


def profile(
    model: Model,
    tokenizer: Any,
    texts: Texts,
    *,
    metrics: Iterable[str | OwnMetric] | None = None,
    null: Null | Iterable[Null] | None = ("random weights", "position"),
    batch_size: int = 16,
    max_tokens: int | None = None,
    seed: int = 0,
    engine: EngineName | None = None,
    num_workers: int | None = None,
    gpus_per_worker: float = 0,
    resume: str | PathLike[str] | None = None,
) -> HeadProfile:
    """Measure what every head of a model does over many texts, beside nulls.

    The texts are read once, in padded batches, and the weights of each layer are folded into sums
    as the model runs: memory does not depend on the number of texts. Each text counts once.
    The model runs as in `attnwidget.capture`, unchanged; weights are the model's own: those that
    follow from queries, keys and mask count only if they lead to the model's own output.

    Args:
        model: a transformers model that reads text, or another torch module, as for `capture`; or
            a function without arguments that loads one.
        tokenizer: its tokenizer; None if the texts are encoded.
        texts: strings, pairs of strings (of an encoder-decoder, a text and what its decoder
            reads), or what a tokenizer returned for batches of texts, in any iterable, also one
            that can be read only once, such as a generator or a column of a data set; or the path
            (pathlib.Path) of a file with one text per line.
        metrics: names of metrics, and functions of your own: `function(weights, tokens)` gets the
            weights [Tq, Tk] of one head on one text and the keys' `Tokens`, and returns a number,
            or NaN if the text has none. None for all metrics.
        null: a name, several, or None. "random weights" reads the same texts with a newly
            initialised model of the same architecture, which takes as much time and memory again;
            "shuffled" reads them with their tokens in random order (special tokens stay in
            place); "position" has what attention by relative position alone would give, with the
            head's own mean weight at each offset from query to key; "best offset" what attention
            to one fixed offset would, from -5 to 5, the best of each metric. The last two are of
            self-attention, on a sample of 64 texts, and need no further pass.
        batch_size: the texts that the model reads at once; of texts with more than 512 tokens,
            fewer. Encoded batches are read as they come.
        max_tokens: longer texts are cut off, unless they come encoded; None to leave them.
        seed: of all random choices, from 0: random weights, orders, bootstrap and samples.
        engine: None for this process; "ray" for workers of Ray, on the cluster that it is
            connected to (`ray.init`), else on this machine. The result is the same.
        num_workers: the workers of Ray, each with a model of its own.
        gpus_per_worker: the GPUs of each, perhaps a part of one; the model is moved there.
        resume: a folder where what is measured is kept, every half minute and when the run ends,
            so that the same call goes on after an interruption.

    Returns:
        The mean of each metric with its 95% interval, by a bootstrap over texts, for every head,
        and the same of each null; mean thumbnails, examples, and sampled rows for comparisons.
        `profile.missing` lists attention that could not be read, and why.

    Raises:
        TypeError: `model` is no torch module, `texts` are no texts, a metric is no function.
        ValueError: there are no texts, or one is too long for the model; there is no such metric,
            null or engine; a number is out of range; the model has no attention that can be read;
            the folder has texts or settings that are not these.
        ModuleNotFoundError: Ray is not installed.
        RuntimeError: a worker ended several times while it measured the same texts.
    """
    # Imported here, so that profiles can be opened without torch.
    from .run import is_loader, profile_texts

    with progress_bar(
        "Profiling", "texts", len(texts) if isinstance(texts, (list, tuple)) else None
    ):
        found = profile_texts(
            model,
            tokenizer,
            texts,
            metrics=metrics,
            null=null,
            batch_size=batch_size,
            max_tokens=max_tokens,
            seed=seed,
            engine=engine,
            num_workers=num_workers,
            gpus_per_worker=gpus_per_worker,
            resume=resume,
        )
    again: Callable[[], Any] = functools.cache(model) if is_loader(model) else weakref.ref(model)
    found._reader = TextReader(again, tokenizer, max_tokens)
    return found


__all__ = [
    "Estimate",
    "Example",
    "Examples",
    "Head",
    "HeadMatch",
    "HeadProfile",
    "HeadSimilarity",
    "Neighbour",
    "Picked",
    "ProfileMetric",
    "SampledRows",
    "StackProfile",
    "TextReader",
    "match_heads",
    "profile",
]
