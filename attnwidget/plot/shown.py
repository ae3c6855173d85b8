"""The things that a widget shows, as plots take them.

Figures have the choices that matter on paper: stack, layer, head, heads, lens, locked tokens,
segments, words, combined heads, arcs, the record or the difference of a comparison; metrics, order,
colours and included heads; the theme. They leave out those about the screen, or for a moment:
orientation, thumbnails as lines or on images, muted and sorted neurons, folded columns, what is
switched off.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from attnwidget.analysis import ATTENTION, GridScores, HeadScores, Lens, reading
from attnwidget.interventions.answer import Answer
from attnwidget.interventions.answer import answer as answer_of
from attnwidget.view_state import NO_SIZE, PAIR, SIMILARITY, ShownRecord
from attnwidget.wire import SentArc, SentMetric, encode_own_metrics, partner_stacks
from attnwidget.wire.pairing import partners_of

from .attention import Attention, SideName
from .heads import Heads
from .image_plot import on_image
from .prose import Prose, prose_of


class Shown(ShownRecord):
    """A record and the choices of its widget, as plots take them."""

    @property
    def view(self) -> str:
        return str(self.choices["view"])

    @property
    def stack(self) -> str:
        """The name of the stack that is shown: in a comparison, that of A or B."""
        chosen = str(self.choices["stack"])
        return self._partners[chosen] if self.choices["compared"] == "b" else chosen

    @property
    def lens(self) -> Lens:
        return next(each for each in self.lenses if each.name == self.choices["lens"])

    @property
    def lens_by_head(self) -> Lens:
        """The lens; attention in place of one of whole layers, as in the model view."""
        return self.lens if self.lens.by_head else ATTENTION

    @cached_property
    def attention(self) -> Attention:
        """The attention that the head view shows; in the model view, that of the opened head."""
        choices, opened = self.choices, self.view == "model"
        by_key = choices["query"] is None and choices["key"] is not None
        side: SideName = "key" if by_key else "query"
        position = choices[side]
        return Attention(
            self.record,
            self.stack,
            choices["layer"],
            [choices["head"]] if opened else choices["heads"],
            choices["head"],
            self.lens,
            combine="none" if opened else choices["combine"],
            words=choices["words"],
            segments=choices["segments"],
            side=side,
            locked=() if position is None else (position, *choices["also"]),
            grid=choices["grid"],
            partners=partners_of(self.manifest, self.stack, choices["layer"]),
            other=self._partners[self.stack] if choices["compared"] == "difference" else None,
            # Those of B are no choice.
            several=len(self.record.stacks) > (2 if self._partners else 1),
        )

    def check_difference(self, *panels: str) -> None:
        """Raise a ValueError if the difference of two records is shown, and one lacks it."""
        without = sorted({"model", "neuron", "map"}.intersection(panels))
        if self.choices["compared"] == "difference" and without:
            raise ValueError(
                f"the {without[0]} view of a difference is drawn in the browser alone; choose "
                "view='head', or compared='a' or 'b'"
            )

    @property
    def shown_grid(self) -> GridScores:
        """The grid that the grid view shows."""
        number: int = self.choices["shown_grid"]
        return self.grids[number]

    @cached_property
    def prose(self) -> Prose | None:
        """The text that the text view shows; None where nothing was generated."""
        found = self.answer
        return None if found is None else prose_of(found, *self.looked_at(found))

    @cached_property
    def answer(self) -> Answer | None:
        """The answer that the text view shows; None where nothing was generated."""
        try:
            found = answer_of(self.record, stack=self.stack)
        except ValueError:
            return None
        keys, named = self.record.stack(found.stack).keys, self.choices["named_segments"]
        prompt = len(keys) if keys.generated is None else keys.generated
        parts = [(start, min(end, prompt), name) for start, end, name in named if start < prompt]
        return (
            replace(found, named=tuple(parts))
            if self.choices["parts"] == "named" and parts
            else found
        )

    def looked_at(self, found: Answer) -> tuple[int, int]:
        """The tokens of an answer that are locked: the first, and the one after the last; else all.

        Their rows are those before them.
        """
        own = self.record.stack(self.stack).queries
        query, count = self.choices["query"], len(found.tokens)
        first = len(own) - count
        if query is None or query < first:
            return 0, count
        rows = sorted({query, *self.choices["also"]})
        if rows[0] < first or rows[-1] - rows[0] >= len(rows):
            rows = [query]
        return rows[0] - first, rows[-1] - first + 1

    @property
    def shows_image(self) -> bool:
        return bool(self.choices["picture"]) and on_image(self.attention)

    @property
    def stack_arcs(self) -> list[SentArc]:
        """The arcs of the stack, if they are shown. Those of a comparison's A are of B, too."""
        stacks = self.stack, self.choices["stack"]
        return [arc for arc in self.arcs if self.choices["arcs_shown"] and arc["stack"] in stacks]

    @cached_property
    def heads(self) -> Heads:
        sort, color, query, key, also = (
            self.choices[name] for name in ("sort", "color", "query", "key", "also")
        )
        locked = query is not None and key is not None and not also
        own = [self._pair_metric(query, key)] if locked and PAIR in (sort, color) else []
        near = self.similarity
        similarity = near if near is not None and self.stack in near["places"] else None
        overview = self.manifest, self.overview
        return Heads(self.record, self.stack, overview, [*self.metrics, *own], similarity)

    @property
    def color(self) -> str:
        """The colours of heads: their patterns, where the stack lacks the chosen metric."""
        chosen = str(self.choices["color"])
        return chosen if chosen in ("layer", *self.heads.metrics) else "pattern"

    @property
    def included(self) -> dict[str, Any]:
        """The order and the inclusion of heads."""
        return {name: self.choices[name] for name in ("sort", "include_layers", "include_heads")}

    @property
    def places(self) -> dict[str, Any]:
        """The choices that place the map's points; the default where the stack lacks one."""
        known = {"distance", "entropy", NO_SIZE, *self.heads.metrics}
        known |= {SIMILARITY} if self.heads.similarity is not None else set()
        chosen = {"x": "map_x", "y": "map_y", "size": "map_size"}
        places = {name: self.choices[choice] for name, choice in chosen.items()}
        return {name: value for name, value in places.items() if value in known}

    @cached_property
    def _partners(self) -> dict[str, str]:
        return partner_stacks(self.manifest)

    def _pair_metric(self, query: int, key: int) -> SentMetric:
        """The weight of a pair of tokens in every head, or the coefficient."""
        stack, row = self.record.stack(self.stack), np.array([query])
        rows = {
            layer.number: np.array(
                [layer.head_numbers(head, row)[0, key] for head in range(layer.num_heads)],
                np.float64,
            )
            for layer in stack.layers
        }
        # The numbers beside it may be of many texts.
        where = "" if self.manifest["texts"] is None else " in the text shown"
        one = reading(ATTENTION, stack).one
        label = f"{one} {stack.queries.labels[query]} → {stack.keys.labels[key]}{where}"
        scores = HeadScores("weight", "", {self.stack: rows})
        [metric] = encode_own_metrics(self.record, {"weight": scores})
        return {**metric, "name": PAIR, "label": label, "digits": 3}
