"""Links that are cut where a layer has no softmax: values left out, or tokens never written."""

from __future__ import annotations

import torch

from attnwidget.tracing import MixingCall, Strengths


def coefficients(
    of: Strengths,
    heads: int,
    rows: torch.Tensor,
    first: int = 0,
    unwritten: torch.Tensor | None = None,
) -> torch.Tensor:
    """The coefficients of a recurrence, as `attnwidget.record.Recurrence` explains them.

    Args:
        of: what the recurrence reads.
        heads: the number of its heads.
        rows: positions of queries.
        first: the position of the first key.
        unwritten: True where a token neither writes nor erases for a query,
            [1 or M, 1 or heads, rows, T].

    Returns:
        [M, heads, rows, keys]: from the first key to that of the last row.
    """

    def of_heads(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.repeat_interleave(heads // tensor.shape[1], dim=1)

    key, reading = of_heads(of.key), of_heads(of.query)[:, :, rows] * of.scale
    write, erase, decay = (
        None if each is None else of_heads(each) for each in (of.write, of.erase, of.decay)
    )
    columns = []
    # Not in place, so that gradients pass.
    for at in range(int(rows.max()), first - 1, -1):
        sees = (rows >= at).to(reading.device)
        own = key[:, :, at, :, None]
        read = (reading @ own)[..., 0] * sees
        if unwritten is not None:
            read = read.masked_fill(unwritten[..., at], 0)
        columns.append(read if write is None else read * write[:, :, at, None])
        if erase is not None:
            reading = reading - (erase[:, :, at, None] * read)[..., None] * own.mT
        if decay is not None:
            kept = decay[:, :, at, None].exp()
            reading = torch.where(sees[:, None], reading * kept, reading)
    found = torch.stack(columns[::-1], dim=-1)
    if of.own is not None:
        keys = torch.arange(first, first + found.shape[-1])
        same = (rows[:, None] == keys).to(found)
        found = found + of.own.to(found)[:, None, None] * same
    return found


def without_links(
    call: MixingCall, left_out: torch.Tensor, unwritten: torch.Tensor | None = None
) -> torch.Tensor:
    """The outputs of a call without some links; nothing else of a row is changed.

    Args:
        call: a call without a softmax.
        left_out: True where the key's value is left out of the query's output,
            bool [1 or M, 1 or heads, T, T].
        unwritten: likewise, where the key's token is never written for the query.

    Raises:
        ValueError: it mixes channels each by itself, of which none was written apart from others;
            or it does not erase what was written.
    """
    if unwritten is not None and (call.strengths is None or call.strengths.erase is None):
        raise ValueError(
            f'{type(call.module).__name__} erases nothing as it writes, so that "never written" '
            'has no meaning of its own there: use meaning="value left out"'
        )
    every = left_out if unwritten is None else left_out | unwritten
    # A later token has no part in a row.
    every = every & torch.ones(every.shape[-2:], dtype=torch.bool).tril()
    before = call.passed_on
    if not bool(every.any()):
        return before
    if call.strengths is None:
        return before + (_without_values(call, every) - call.output)
    rows, keys = (every.any(dim=(0, 1)).any(dim=dim).nonzero()[:, 0] for dim in (1, 0))
    device, (heads, first) = before.device, (before.shape[1], int(keys[0]))
    # What is never written is also erased no more at earlier tokens.
    first = first if unwritten is None else 0
    seen = slice(first, int(rows.max()) + 1)
    out = left_out[:, :, rows, seen].to(device)
    found = coefficients(call.strengths, heads, rows, first)
    if unwritten is None:
        change = -(found * out)
    else:
        never = unwritten[:, :, rows].to(device)
        without = coefficients(call.strengths, heads, rows, first, never)
        change = without.masked_fill(out | never[..., seen], 0) - found
        # Heads and texts without such a link keep their outputs to the last bit.
        change = change * every[:, :, rows].any(dim=-1, keepdim=True).to(change)
    parts = change @ call.value[:, :, seen].to(change)
    changed = before.clone()
    changed[:, :, rows] = (before[:, :, rows].to(parts) + parts).to(before)
    return changed


def _without_values(call: MixingCall, left_out: torch.Tensor) -> torch.Tensor:
    """The outputs of the function with values of zero, in the rows of which they are left out."""
    if call.rerun is None:
        raise ValueError(f"{type(call.module).__name__} cannot be run on other values")
    output = call.output
    by_item = left_out[:, 0].expand(len(output), -1, -1)
    # The different sets of keys of each item; sets of several items go into one run.
    sets = [torch.unique(rows[rows.any(dim=1)], dim=0) for rows in by_item]
    for number in range(max(map(len, sets))):
        empty = by_item.new_zeros(by_item.shape[-1])
        keys = torch.stack([own[number] if number < len(own) else empty for own in sets])
        again = call.rerun(call.value.masked_fill(keys[:, None, :, None].to(output.device), 0))
        rows = (by_item == keys[:, None]).all(dim=-1) & keys.any(dim=-1)[:, None]
        output = torch.where(rows[:, None, :, None].to(output.device), again, output)
    return output
