"""An answer's probabilities without some of the links that it was written from."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from attnwidget.running.generation import cache_name, cache_of_all
from attnwidget.running.items import Batch
from attnwidget.running.model import CACHES, run, traits
from attnwidget.running.one_text import OneText
from attnwidget.running.padding import Padded
from attnwidget.running.replay import in_half_precision
from attnwidget.running.reread import is_per_token
from attnwidget.tracing import Address, Handler, ReadMixing, trace, undisturbed

from .effect import Doubles
from .left_out import without_links
from .off import Cut
from .sites import Site, SiteFinder, with_those_beside
from .skipping import repeated

# In bytes, of the cache, the mask of a layer, and the logits of a batch of cuts.
_LARGEST = 1 << 29
# Of few cuts, a batch is as fast as a line, which is checked by one.
_FEW = 12
# The rows of a line: enough for fast products, and few beside the keys of a long prompt.
_ROWS = 256
# The cuts in its first pass, by which it is checked.
_LEAST = 3
# In nats: a pass that goes on from a prompt's cache counts if it is the plain one up to rounding.
_ROUNDING, _ROUNDING_IN_HALF = 1e-3, 0.1


@dataclass(frozen=True)
class _Begun:
    """A prompt that was read, and what is to be read after it.

    Attributes:
        cache: what the prompt left, and `taken`, the model's argument for it.
        rest: the arguments for the rows of the answer; the mask is of all tokens.
        sites: the calls whose links are cut.
        kept: the positions of the record's keys.
        prompt: the number of tokens in the cache.
        vocabulary: that of logits.
    """

    cache: Any
    taken: str
    rest: dict[str, torch.Tensor]
    sites: Sequence[Site]
    kept: torch.Tensor
    prompt: int
    vocabulary: int


class AnswerCuts:
    """The passes over an answer with cuts: in all layers that mix its tokens, or in some heads.

    Args:
        given: the prompt with the answer but its last token, as one text.
        answer: the ids of the answer's tokens.
        probabilities: those of the answer's tokens in its generation.
        stack: the stack whose links are cut; those of all heads also in layers beside it.
    """

    def __init__(
        self,
        given: OneText,
        answer: Sequence[int],
        probabilities: Sequence[float],
        stack: str,
    ) -> None:
        self._given, self._answer, self._stack = given, tuple(answer), stack
        self._count = len(self._answer)
        self._expected = np.log(np.maximum(probabilities, np.finfo(float).tiny))

    def log_probabilities(self, model: torch.nn.Module, cuts: Sequence[Cut]) -> Doubles:
        """The log probability of each token of the answer, before and after each cut.

        Of a decoder, the prompt is read once, and all cuts go on from what it left in the cache,
        if the answer without a cut then has the probabilities that it was generated with: many in
        one line of rows, if the model reads that as it reads a batch. Else each pass reads the
        whole text.

        Returns:
            Nats, [1 + cuts, tokens], the first without any cut.

        Raises:
            ValueError: the stack has no such head, its scores cannot be changed, or the model gives
            the answer other probabilities than in its generation.
        """
        all_cuts = [Cut(()), *cuts]
        with undisturbed(model):
            try:
                found = self._from_cache(model, all_cuts)
            except Exception:
                # Caches of recurrent layers cannot be repeated, others lack keys, and so on.
                found = None
            return self._whole(model, all_cuts) if found is None else found

    def _from_cache(self, model: torch.nn.Module, cuts: Sequence[Cut]) -> Doubles | None:
        """Passes over the rows of the answer alone; None where they are not the plain ones."""
        tensors, text = self._given.batch.tensors, self._given.row.text
        ids, mask, rows = tensors.get("input_ids"), tensors.get("attention_mask"), self._count
        taken = cache_name(model)
        if traits(model).has_decoder or text is None or taken not in traits(model).parameters:
            return None
        if not isinstance(ids, torch.Tensor) or ids.shape != (1, text.length):
            return None
        length = text.length
        if length <= rows or (isinstance(mask, torch.Tensor) and mask.ndim != 2):
            return None
        prompt = length - rows
        own = {name: x for name, x in tensors.items() if is_per_token(name, x, length)}
        # Of others, as masks of images by token, it is not known how the answer's are cut out.
        others = (x for name, x in tensors.items() if name not in own and x is not mask)
        if any(isinstance(x, torch.Tensor) and length in x.shape[1:-1] for x in others):
            return None
        begin = {**tensors, **{name: x[..., :prompt] for name, x in own.items()}}
        rest = {name: x[..., prompt:] for name, x in own.items()}
        if isinstance(mask, torch.Tensor):
            rest["attention_mask"] = mask
        finder, keeping = SiteFinder(), {"use_cache": True, **self._last(model, 1)}
        # That of a window would forget tokens, which a mask hides as well.
        if (whole := cache_of_all(model)) is not None:
            keeping[taken] = whole
        with trace(model, finder, 1):
            read = model(**{**begin, **keeping})
        cache: Any = next(
            filter(None, (getattr(read, name, None) for name in sorted(CACHES))), None
        )
        if not hasattr(cache, "batch_repeat_interleave"):
            return None
        sites = with_those_beside(finder, finder.sites(model, 1).found, self._stack)
        if any(site.signed for site in sites):
            return None  # a state does not say what each token wrote
        begun = _Begun(cache, taken, rest, sites, text.kept.cpu(), prompt, read.logits.shape[-1])
        has_room = 4 * _LEAST * rows * begun.vocabulary <= _LARGEST
        if len(cuts) > _FEW and has_room and not any(cut.heads for cut in cuts):
            with suppress(Exception):  # other models do not take such a mask
                in_line = self._in_line(model, cuts, begun)
                if in_line is not None:
                    return in_line
        return self._in_batches(model, cuts, begun)

    def _in_batches(
        self, model: torch.nn.Module, cuts: Sequence[Cut], begun: _Begun
    ) -> Doubles | None:
        """The cuts as the items of batches, each with the cache."""
        rows, length = self._count, begun.prompt + self._count
        each = 4 * rows * begun.vocabulary + sum(x.nbytes for x in _tensors(begun.cache))
        found: list[Doubles] = []
        for some in _chunks(cuts, each + 4 * rows * length * _heads(cuts, begun.sites)):
            several = copy.deepcopy(begun.cache)
            several.batch_repeat_interleave(len(some))
            batch = {name: _rows(value, len(some)) for name, value in begun.rest.items()}
            editor = _CutLinks(begun.sites, self._stack, some, begun.kept, begun.prompt, length)
            with trace(model, editor, len(some)):
                # Not by `run`, which would copy the cache once more.
                output = model(**batch, **{begun.taken: several, "use_cache": True})
            found.append(self._read(output.logits))
            # The first is without a cut.
            if len(found) == 1 and not self._is_plain(model, found[0][0]):
                return None
        return np.concatenate(found)

    def _in_line(
        self, model: torch.nn.Module, cuts: Sequence[Cut], begun: _Begun
    ) -> Doubles | None:
        """The cuts one after the other in passes of one item, which share the cache.

        A mask hides from the rows of each cut those of the others. None if the model does not read
        it so: without a cut, after other rows, or with all cuts in one, its numbers are others than
        those of a batch.
        """
        plain, whole = Cut(()), Cut(tuple(sorted({key for cut in cuts for key in cut.keys})))
        expected = self._in_batches(model, [plain, whole], begun)
        if expected is None:
            return None
        rows, prompt = self._count, begun.prompt
        length, asked = prompt + rows, [plain, whole, plain, *cuts[1:]]
        seen = torch.ones(rows, length, dtype=torch.bool).tril(prompt)
        if (mask := begun.rest.get("attention_mask")) is not None:
            seen &= mask[0].cpu().bool()
        rest = {name: x for name, x in begun.rest.items() if name != "attention_mask"}
        ids = rest["input_ids"]
        rest.setdefault("position_ids", torch.arange(prompt, length, device=ids.device)[None])
        dtype = next(x.dtype for x in _tensors(begun.cache) if x.is_floating_point())
        size, found = max(_LEAST, _ROWS // rows), list[Doubles]()
        for at in range(0, len(asked), size):
            some = asked[at : at + size]
            shown = torch.zeros(len(some), rows, prompt + len(some) * rows, dtype=torch.bool)
            for place, cut in enumerate(some):
                own = seen.clone()
                own[:, begun.kept[list(cut.keys)]] = False
                own.diagonal(prompt)[:] = True
                shown[place, :, :prompt] = own[:, :prompt]
                first = prompt + place * rows
                shown[place, :, first : first + rows] = own[:, prompt:]
            hidden = torch.zeros(shown.shape, dtype=dtype)
            hidden.masked_fill_(~shown, torch.finfo(dtype).min)
            batch = {name: torch.cat([x] * len(some), dim=-1) for name, x in rest.items()}
            batch["attention_mask"] = hidden.flatten(0, 1)[None, None].to(ids.device)
            output = model(**batch, **{begun.taken: copy.deepcopy(begun.cache), "use_cache": True})
            found.append(self._read(output.logits[0].unflatten(0, (len(some), rows))))
            if at == 0:
                apart = np.abs(found[0][:_LEAST] - expected[[0, 1, 0]])
                apart /= np.maximum(1, -found[0][:_LEAST])
                if apart.max() > _rounding(model):
                    return None
        numbers = np.concatenate(found)
        return np.concatenate([numbers[:1], numbers[3:]])

    def _whole(self, model: torch.nn.Module, cuts: Sequence[Cut]) -> Doubles:
        tensors = {**self._given.batch.tensors, **self._last(model, self._count)}
        if "use_cache" in traits(model).parameters:
            tensors["use_cache"] = False
        given = replace(self._given.batch, tensors=tensors)
        finder = SiteFinder()
        with trace(model, finder, 1):
            plain = run(model, tensors)
        sites = with_those_beside(finder, finder.sites(model, 1).found, self._stack)
        of_rows, of_keys = sides(self._given.row, cross=sites[0].kind.cross)
        kept, queries = of_keys.kept, of_rows.length
        if sites[0].kind.cross and any(len(set(cut.keys)) >= len(kept) for cut in cuts):
            raise ValueError("without this part, nothing of the source is left to read")
        mask = 4 * queries * (int(kept[-1]) + 1) * _heads(cuts, sites)
        found: list[Doubles] = []
        for some in _chunks(cuts, 4 * plain.logits.numel() // len(plain.logits) + mask):
            batch, rows = repeated(given, len(some))
            for part in [some] if rows > 1 else [[cut] for cut in some]:
                first = queries - self._count
                editor = _CutLinks(sites, self._stack, part, kept, first, None)
                with trace(model, editor, len(part)):
                    found.append(self._read(run(model, batch.tensors).logits))
        if not self._is_plain(model, found[0][0]):
            raise ValueError(
                "the model no longer gives this answer the probabilities that it was generated "
                "with: it has been changed since, so run the cell again"
            )
        return np.concatenate(found)

    def _is_plain(self, model: torch.nn.Module, numbers: Doubles) -> bool:
        """True if the answer without a cut is as likely as in its generation, up to rounding."""
        return bool(np.abs(numbers - self._expected).max() <= _rounding(model))

    @staticmethod
    def _last(model: torch.nn.Module, rows: int) -> dict[str, int]:
        """The argument for the logits of the last rows alone, if the model takes it."""
        return {"logits_to_keep": rows} if "logits_to_keep" in traits(model).parameters else {}

    def _read(self, logits: torch.Tensor) -> Doubles:
        logits = logits[:, -self._count :].float()
        chosen = torch.tensor(self._answer, device=logits.device)
        own = logits.gather(2, chosen[None, :, None].expand(len(logits), -1, 1))[..., 0]
        numbers: Doubles = (own.double() - logits.logsumexp(2).double()).cpu().numpy()
        return numbers


def sides(batch: Batch, *, cross: bool) -> tuple[Padded, Padded]:
    """The tokens among which an answer's rows are, and those of the keys that they may see."""
    own = batch.text if batch.target is None else batch.target
    keys = batch.text if cross else own
    assert own is not None
    assert keys is not None
    return own, keys


class _CutLinks(Handler):
    """Cuts other links in each row of a batch.

    Args:
        sites: the calls.
        stack: that of the heads of a cut which names some.
        cuts: one for each row of the batch.
        kept: the positions of the record's keys in a call's.
        first: the position of the first row that wrote the answer.
        keys: the number of keys that each call must have; None for any.
    """

    def __init__(
        self,
        sites: Sequence[Site],
        stack: str,
        cuts: Sequence[Cut],
        kept: torch.Tensor,
        first: int,
        keys: int | None,
    ) -> None:
        self._sites, self._cuts, self._first, self._keys = sites, cuts, first, keys
        self._stack, self._kept = stack, kept.cpu()

    def bias(self, address: Address, shape: Any, seen: Any) -> torch.Tensor | None:
        site = next((each for each in self._sites if each.holds(address)), None)
        if site is None:
            return None
        leading, heads, queries, keys = shape()
        hidden = self._hidden(site, range(heads), leading, queries, keys)
        return torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)

    def mixing(self, address: Address, read: ReadMixing) -> torch.Tensor | None:
        site = next((each for each in self._sites if each.holds(address, signed=True)), None)
        if site is None:
            return None
        call = read()
        leading, count, tokens, _ = call.output.shape
        # Of a layer of several calls, each is one head.
        own = [site.ids.index(address.id)] if site.further else range(count)
        return without_links(call, self._hidden(site, own, leading, tokens, tokens))

    def _hidden(
        self, site: Site, own: Sequence[int], leading: int, queries: int, keys: int
    ) -> torch.Tensor:
        """True where a link is cut, [rows of the batch, 1 or heads, queries, keys].

        Args:
            own: the numbers of a call's heads.
        """
        if leading != len(self._cuts) or (self._keys is not None and keys != self._keys):
            raise ValueError("a call has other keys than the text has tokens")
        # Of a pass that goes on from a cache, the queries are those of the answer.
        begin = 0 if self._keys is not None else self._first
        # Of all heads, one mask is that of each.
        several = own if any(cut.heads is not None for cut in self._cuts) else own[:1]
        hidden = torch.zeros(leading, len(several), queries, keys, dtype=torch.bool)
        for row, cut in enumerate(self._cuts):
            named = (cut.heads or ()) if site.stack == self._stack else ()
            off = [cut.heads is None or (site.layer, head) in named for head in several]
            of_keys = torch.zeros(keys, dtype=torch.bool)
            of_keys[self._kept[list(cut.keys)]] = True
            hidden[row, :, begin:] = torch.tensor(off)[:, None, None] & of_keys
        if not site.kind.cross:
            rows = torch.arange(begin, queries)
            hidden[:, :, rows, rows + self._first - begin] = False
        return hidden


def _rows(value: torch.Tensor, count: int) -> torch.Tensor:
    """A tensor of one item, for so many; positions of several axes have items second."""
    return value.expand(*[count if size == 1 else size for size in value.shape[:-1]], -1).clone()


def _chunks(cuts: Sequence[Cut], each: int) -> Iterator[Sequence[Cut]]:
    """The cuts of a batch, by the bytes that each takes."""
    size = max(1, _LARGEST // each)
    return (cuts[at : at + size] for at in range(0, len(cuts), size))


def _heads(cuts: Sequence[Cut], sites: Sequence[Site]) -> int:
    """The number of heads whose masks differ."""
    return sites[0].heads if any(cut.heads is not None for cut in cuts) else 1


def _tensors(cache: Any) -> list[torch.Tensor]:
    return [
        tensor
        for layer in cache.layers
        for tensor in vars(layer).values()
        if isinstance(tensor, torch.Tensor)
    ]


def _rounding(model: torch.nn.Module) -> float:
    return _ROUNDING_IN_HALF if in_half_precision(model) else _ROUNDING
