"""The logit lens: predictions of a model as if its layers ended earlier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np
import torch
from numpy.typing import NDArray

from attnwidget.analysis import Numbers, Tabular, data_frame
from attnwidget.arguments import checked, whole
from attnwidget.progress import progress_bar, step_done
from attnwidget.record import Floats
from attnwidget.running.forward import run_model
from attnwidget.running.model import traceable
from attnwidget.running.one_text import one_text
from attnwidget.running.vocabulary import label_of, token_id, unembedding_of
from attnwidget.tracing import undisturbed

from .effect import largest, rank
from .streams import find_stream
from .text_output import read_output

if TYPE_CHECKING:
    import pandas as pd

Ids = NDArray[np.int64]

NULL = "median rank of the same token at other positions"

# The null's positions, at most; and by how much the last row may miss the model's own logits,
# relative to the largest.
_POSITIONS, _APART = 9, 1e-5


class Guess(NamedTuple):
    """A token that a row predicts, and its probability."""

    token: str
    probability: float


@dataclass(frozen=True)
class LogitLens(Tabular):
    """Predictions of a model as if its layers ended earlier: rows are layers, columns positions.

    Of each row, the stream is given to all that follows the last layer of the model: its final
    normalisation, its unembedding and what changes logits after that, such as a soft cap. The last
    row has the model's own predictions.

    Only the last row is what the model was trained to predict: layers may write in other directions
    until later ones turn them, so that a low rank does not say that something is not known there.

    Attributes:
        rows: "embeddings", then the number of each layer, after which the stream was read.
        tokens: the labels of the positions.
        followed: the label of the token whose rank is told at each position: the chosen one, or
            what the model predicts there in the end.
        ranks: its rank among all tokens, from 1, [rows, positions].
        log_probabilities: its log probability in nats, [rows, positions].
        null: the median rank of the same token in the same row at other positions, of which nine
            are taken at most: a token that ranks as high there is frequent, and not found from this
            text. Other positions are of the same text, so that a token may be right there, too.
        null_label: what the null is.
        top: the likeliest tokens, int [rows, positions, top], and
        probabilities: their probabilities.
        label: returns the label of a token's id.
    """

    rows: tuple[str, ...]
    tokens: tuple[str, ...]
    followed: tuple[str, ...]
    ranks: Numbers = field(repr=False)
    log_probabilities: Numbers = field(repr=False)
    null: Numbers = field(repr=False)
    null_label: str
    top: Ids = field(repr=False)
    probabilities: Numbers = field(repr=False)
    label: Callable[[int], str] = field(repr=False)

    def __repr__(self) -> str:
        """The row from which on the followed token is first, at the last position."""
        ranks = self.ranks[:, -1]
        behind = np.flatnonzero(ranks > 1)
        first = int(behind[-1]) + 1 if len(behind) else 0
        said = f"rank {ranks[-1]:.0f} in the end"
        if first < len(ranks):
            said = f"first from layer {self.rows[first]} on" if first else "first in all rows"
        return (
            f"<LogitLens, {len(self.rows)} rows × {len(self.tokens)} positions; at the last, "
            f"{self.followed[-1]!r} {said}>"
        )

    def guesses(self, row: int, position: int = -1) -> list[Guess]:
        """The likeliest tokens in a row, 0 for the embeddings, at a position.

        Raises:
            IndexError: there is no such row or position.
        """
        found = zip(self.top[row, position], self.probabilities[row, position], strict=True)
        return [Guess(self.label(int(token)), float(share)) for token, share in found]

    def table(self) -> pd.DataFrame:
        """A row for each layer and position.

        Columns: row, position, token, the likeliest token as guess with its probability, and the
        followed token with its rank, null_rank and log_probability.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        places = [(row, at) for row in range(len(self.rows)) for at in range(len(self.tokens))]
        best = [self.guesses(row, at)[0] for row, at in places]
        return data_frame(
            {
                "row": [self.rows[row] for row, _ in places],
                "position": [at for _, at in places],
                "token": [self.tokens[at] for _, at in places],
                "guess": [each.token for each in best],
                "probability": [each.probability for each in best],
                "followed": [self.followed[at] for _, at in places],
                "rank": self.ranks.ravel().astype(int).tolist(),
                "null_rank": self.null.ravel().tolist(),
                "log_probability": self.log_probabilities.ravel().tolist(),
            }
        )


def _row(logits: Floats, ids: Ids, top: int) -> tuple[Numbers, Numbers, Numbers, Ids, Numbers]:
    """A row's (ranks, log probabilities, null, likeliest tokens, their probabilities)."""
    count, top = len(logits), min(top, logits.shape[1])
    shifts = np.unique(np.linspace(1, count - 1, min(_POSITIONS, count - 1)).astype(int))
    ranks, log_probabilities = np.empty((2, count))
    elsewhere = np.full((max(1, len(shifts)), count), np.nan)
    best, probabilities = np.empty((count, top), np.int64), np.empty((count, top))
    # A position at a time: of all, arrays as wide as a vocabulary would take gigabytes.
    for at, row in enumerate(logits):
        exact = row.astype(np.float64)
        exact -= exact.max()
        logs = exact - np.log(np.exp(exact).sum())
        ranks[at], log_probabilities[at] = rank(row, ids[at]), logs[ids[at]]
        for number, shift in enumerate(shifts):
            elsewhere[number, at - shift] = rank(row, ids[at - shift])
        best[at] = largest(row, top)
        probabilities[at] = np.exp(logs[best[at]])
    null = np.median(elsewhere, axis=0)
    return ranks, log_probabilities, null, best, probabilities


@progress_bar("Reading", "layers")
@checked(top=whole(1))
def logit_lens(
    model: torch.nn.Module,
    tokenizer: Any,
    text: str | Mapping[str, Any],
    *,
    token: str | SupportsIndex | None = None,
    top: int = 5,
) -> LogitLens:
    """Read what every layer of a model would predict at every position if it were the last one.

    Args:
        model: a model that predicts tokens, with one stream through its layers.
        tokenizer, text: see `attnwidget.capture`; the first text of a batch.
        token: the token whose rank is told: a string that is one token, or its id; None for what
            the model itself predicts at each position.
        top: how many of the likeliest tokens to keep.

    Returns:
        Tokens with probabilities, ranks and log probabilities, beside a null.

    Raises:
        TypeError, ValueError: see `attnwidget.capture`; the string is several tokens; or the model
            has no unembedding or no such layers, or reads more in the end than the last layer's
            stream.
    """
    model = traceable(model)
    unembedding_of(model)
    given = one_text(model, tokenizer, text)
    wanted = None if token is None else token_id(model, tokenizer, token)

    def read(output: Any) -> tuple[tuple[str, ...], Floats]:
        found = read_output(model, output, given.row, given.sequences)
        if found.logits is None:
            raise ValueError(f"{type(model).__name__} returned no logits")
        return found.tokens, found.logits

    def run() -> Any:
        return run_model(model, given.batch, all_logits=True)

    with undisturbed(model):
        output, stream = find_stream(model, run)
        tokens, own = read(output)
        ids = own.argmax(axis=1) if wanted is None else np.full(len(own), wanted)
        rows = []
        for place in stream.places:
            with stream.ending_with(model, place):
                _, logits = read(run())
            rows.append(_row(logits, ids, top))
            step_done()
    if np.abs(logits - own).max() > _APART * np.abs(own).max():
        raise ValueError(
            f"{type(model).__name__} reads more in the end than the stream after its last layer, "
            f"{stream.layers[-1].name}: with that alone, its logits are others"
        )
    ranks, log_probabilities, null, best, probabilities = map(np.array, zip(*rows, strict=True))
    if all(np.array_equal(row, log_probabilities[-1]) for row in log_probabilities[:-1]):
        raise ValueError(
            f"{stream.layers[-1].name} and the layers before it do not lead to the logits of "
            f"{type(model).__name__}"
        )
    labels = {int(each): label_of(tokenizer, int(each)) for each in np.unique(ids)}
    return LogitLens(
        ("embeddings", *map(str, range(len(stream.layers)))),
        tokens,
        tuple(labels[int(each)] for each in ids),
        ranks,
        log_probabilities,
        null,
        NULL,
        best,
        probabilities,
        lambda number: label_of(tokenizer, number),
    )
