"""An answer's probabilities without some of the links that it was written from."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attnwidget.running.model import CACHES, run, traits
from attnwidget.running.one_text import OneText
from attnwidget.running.replay import in_half_precision
from attnwidget.running.reread import is_per_token
from attnwidget.tracing import Address, Handler, trace, undisturbed

from .effect import Doubles
from .off import Cut
from .scan import repeated
from .sites import Site, SiteFinder, sites_of

# In bytes, of the logits of a batch of cuts.
_LARGEST = 1 << 27
# In nats: a pass that goes on from a prompt's cache counts if it is the plain one up to rounding.
_ROUNDING, _ROUNDING_IN_HALF = 1e-3, 0.1


class AnswerCuts:
    """The passes over an answer with cuts.

    Args:
        given: the prompt with the answer but its last token, as one text.
        answer: the ids of the answer's tokens.
        probabilities: those of the answer's tokens in its generation.
        stack: the stack whose links are cut.
    """

    def __init__(
        self,
        given: OneText,
        answer: Sequence[int],
        probabilities: Sequence[float],
        stack: str,
    ) -> None:
        self._given, self._answer, self._stack = given, tuple(answer), stack
        self._expected = np.log(np.maximum(probabilities, np.finfo(float).tiny))

    def log_probabilities(self, model: torch.nn.Module, cuts: Sequence[Cut]) -> Doubles:
        """The log probability of each token of the answer, before and after each cut.

        Of a decoder, the prompt is read once, and all cuts go on from what it left in the cache,
        if the answer without a cut then has the probabilities that it was generated with. Else
        each pass reads the whole text.

        Returns:
            Nats, [1 + cuts, tokens], the first without any cut.

        Raises:
            ValueError: the stack has no such head, or its scores cannot be changed.
        """
        all_cuts = [Cut(()), *cuts]
        with undisturbed(model):
            found = self._from_cache(model, all_cuts)
            return self._whole(model, all_cuts) if found is None else found

    def _from_cache(self, model: torch.nn.Module, cuts: Sequence[Cut]) -> Doubles | None:
        """Passes over the rows of the answer alone; None where they are not the plain ones."""
        tensors, text = self._given.batch.tensors, self._given.row.text
        ids, rows = tensors.get("input_ids"), len(self._answer)
        if traits(model).has_decoder or text is None or not isinstance(ids, torch.Tensor):
            return None
        length = ids.shape[1]
        if length <= rows or length != text.length or len(ids) != 1:
            return None
        prompt, mask = length - rows, tensors.get("attention_mask")
        if isinstance(mask, torch.Tensor) and mask.ndim != 2:
            return None
        prefix = {
            name: value[..., :prompt] if is_per_token(name, value, length) else value
            for name, value in tensors.items()
        }
        finder = SiteFinder()
        with trace(model, finder, 1):
            read = run(model, {**prefix, **self._last(model, 1), "use_cache": True})
        cache: Any = next(
            filter(None, (getattr(read, name, None) for name in sorted(CACHES))), None
        )
        if not hasattr(cache, "batch_repeat_interleave"):
            return None
        taken = next((name for name in sorted(CACHES) if name in traits(model).parameters), None)
        if taken is None:
            return None
        sites = sites_of(finder.sites(model, 1).found, self._stack)
        rest = {
            name: value[..., prompt:]
            for name, value in tensors.items()
            if is_per_token(name, value, length)
        }
        if isinstance(mask, torch.Tensor):
            rest["attention_mask"] = mask
        found: list[Doubles] = []
        for some in _chunks(cuts, rows, read):
            own = copy.deepcopy(cache)
            own.batch_repeat_interleave(len(some))
            batch = {name: _rows(value, len(some)) for name, value in rest.items()}
            editor = _CutLinks(sites, some, text.kept, prompt, length)
            try:
                with trace(model, editor, len(some)):
                    # Not by `run`, which would copy the cache once more.
                    output = model(**batch, **{taken: own, "use_cache": True})
            except _OtherKeys:
                return None
            found.append(self._read(output))
            # The first is without a cut.
            rounding = _ROUNDING_IN_HALF if in_half_precision(model) else _ROUNDING
            if len(found) == 1 and np.abs(found[0][0] - self._expected).max() > rounding:
                return None
        return np.concatenate(found)

    def _whole(self, model: torch.nn.Module, cuts: Sequence[Cut]) -> Doubles:
        tensors = {**self._given.batch.tensors, **self._last(model, len(self._answer))}
        if "use_cache" in traits(model).parameters:
            tensors["use_cache"] = False
        given = replace(self._given.batch, tensors=tensors)
        finder = SiteFinder()
        with trace(model, finder, 1):
            plain = run(model, tensors)
        sites = sites_of(finder.sites(model, 1).found, self._stack)
        keys, queries = self._sides(sites[0])
        found: list[Doubles] = []
        for some in _chunks(cuts, len(self._answer), plain):
            batch, rows = repeated(given, len(some))
            for part in [some] if rows > 1 else [[cut] for cut in some]:
                editor = _CutLinks(sites, part, keys, queries - len(self._answer), None)
                with trace(model, editor, len(part)):
                    found.append(self._read(run(model, batch.tensors)))
        return np.concatenate(found)

    @staticmethod
    def _last(model: torch.nn.Module, rows: int) -> dict[str, int]:
        """The argument for the logits of the last rows alone, if the model takes it."""
        return {"logits_to_keep": rows} if "logits_to_keep" in traits(model).parameters else {}

    def _sides(self, site: Site) -> tuple[torch.Tensor, int]:
        """The positions of the record's keys in a call's, and the number of its queries."""
        row = self._given.row
        own = row.target if row.target is not None else row.text
        keys = row.text if site.kind.cross else own
        assert own is not None
        assert keys is not None
        return keys.kept, own.length

    def _read(self, output: Any) -> Doubles:
        logits = output.logits[:, -len(self._answer) :].float()
        chosen = torch.tensor(self._answer, device=logits.device)
        own = logits.gather(2, chosen[None, :, None].expand(len(logits), -1, 1))[..., 0]
        numbers: Doubles = (own.double() - logits.logsumexp(2).double()).cpu().numpy()
        return numbers


class _OtherKeys(Exception):
    """A call has other keys than the text has tokens, as a cache of a window has."""


class _CutLinks(Handler):
    """Cuts other links in each row of a batch.

    Args:
        sites: the calls of the stack.
        cuts: one for each row of the batch.
        kept: the positions of the record's keys in a call's.
        first: the position of the first row that wrote the answer.
        keys: the number of keys that each call must have; None for any.
    """

    def __init__(
        self,
        sites: Sequence[Site],
        cuts: Sequence[Cut],
        kept: torch.Tensor,
        first: int,
        keys: int | None,
    ) -> None:
        self._sites, self._cuts, self._first, self._keys = sites, cuts, first, keys
        self._kept = kept.cpu()

    def bias(self, address: Address, shape: Any, seen: Any) -> torch.Tensor | None:
        site = next((each for each in self._sites if each.holds(address)), None)
        if site is None:
            return None
        leading, heads, queries, keys = shape()
        if leading != len(self._cuts) or (self._keys is not None and keys != self._keys):
            raise _OtherKeys
        # Of a pass that goes on from a cache, the queries are those of the answer.
        begin = 0 if self._keys is not None else self._first
        # Of all heads, one mask is that of each.
        several = range(heads) if any(cut.heads is not None for cut in self._cuts) else range(1)
        hidden = torch.zeros(leading, len(several), queries, keys, dtype=torch.bool)
        for row, cut in enumerate(self._cuts):
            own = [cut.heads is None or (site.layer, head) in cut.heads for head in several]
            of_keys = torch.zeros(keys, dtype=torch.bool)
            of_keys[self._kept[list(cut.keys)]] = True
            hidden[row, :, begin:] = torch.tensor(own)[:, None, None] & of_keys
        if not site.kind.cross:
            rows = torch.arange(begin, queries)
            hidden[:, :, rows, rows + self._first - begin] = False
        return torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)


def _rows(value: torch.Tensor, count: int) -> torch.Tensor:
    """A tensor of one item, for so many; positions of several axes have items second."""
    return value.expand(*[count if size == 1 else size for size in value.shape[:-1]], -1).clone()


def _chunks(cuts: Sequence[Cut], rows: int, plain: Any) -> Iterator[Sequence[Cut]]:
    logits = plain.logits
    size = max(1, _LARGEST // (logits.shape[-1] * 4 * rows))
    return (cuts[at : at + size] for at in range(0, len(cuts), size))
