"""The choices of a view as traits, which can be set from the view and from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

import traitlets
from traitlets import TraitError

from attnwidget.analysis.token_positions import position_of
from attnwidget.interventions.off import check_link
from attnwidget.record import AttentionRecord, Layer, Stack, spans
from attnwidget.wire import SentMetric, SentSimilarity, partner_stacks

from .following import following, following_metrics, layer_of
from .segments import segment_choice
from .table import SIMILARITY, TABLE, View

Side = Literal["query", "key"]


CHOICES = tuple(TABLE)
"""The names of all choices, those first that others depend on."""

WITHOUT_TEXT: tuple[View, ...] = ("model", "map")
"""The views of heads alone, without a text."""


def check_names(choices: Iterable[str]) -> None:
    """Raise a TypeError if a name is that of no choice."""
    unknown = sorted(set(choices) - set(CHOICES))
    if unknown:
        raise TypeError(no_choice("AttentionWidget", unknown[0]))


def no_choice(owner: str, name: str) -> str:
    """The message for the name of no choice."""
    meant = get_close_matches(
        name, (*CHOICES, "metrics", "arcs", "grids", "head_names", "lenses"), 1
    )
    end = f"; did you mean {meant[0]}?" if meant else f"; it has {', '.join(CHOICES)}"
    return f"{owner} has no choice {name}{end}"


class Choices(traitlets.HasTraits):
    """Every choice that a reader of the view can make, checked against the record shown."""

    # In the body of a class, this is its namespace.
    locals().update({name: trait.tag(sync=True, choice=True) for name, (_, trait) in TABLE.items()})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    _record: AttentionRecord
    # It has the metrics of the record, or of its profile.
    _manifest: Mapping[str, Any]
    # The user's own, by which heads can be sorted and coloured too.
    _metrics: Sequence[SentMetric] = ()
    _similarity: SentSimilarity | None = None
    # Why the record has no text, for the reader; "" if it has one.
    _heads_alone = ""

    @classmethod
    def of(
        cls,
        record: AttentionRecord,
        manifest: Mapping[str, Any],
        values: Mapping[str, Any],
        metrics: Sequence[SentMetric] = (),
        similarity: SentSimilarity | None = None,
    ) -> Choices:
        """Choices without a widget, which follow each other as a widget's do."""
        choices = Choices()
        choices._record, choices._manifest = record, manifest
        choices._metrics, choices._similarity = metrics, similarity
        for name in CHOICES:
            choices.set_trait(name, values[name])
        return choices

    @traitlets.validate("view")
    def _valid_view(self, proposal: Any) -> Any:
        if self._heads_alone and proposal.value not in WITHOUT_TEXT:
            raise TraitError(f"view is {proposal.value!r}: {self._heads_alone}")
        if proposal.value == "grid" and not self._manifest.get("grids"):
            raise TraitError(
                "view is 'grid', but there are no grids: attnwidget.show(record, grids=[scores]) "
                "shows those of attnwidget.patch_scan"
            )
        return proposal.value

    @traitlets.validate("shown_grid")
    def _valid_shown_grid(self, proposal: Any) -> Any:
        count = len(self._manifest.get("grids", ()))
        return _in_range("shown_grid", proposal.value, max(count, 1))

    @traitlets.validate("stack")
    def _valid_stack(self, proposal: Any) -> Any:
        return self._known_stack(proposal.value)

    @traitlets.validate("compared")
    def _valid_compared(self, proposal: Any) -> Any:
        if proposal.value != "a" and not self._partners:
            raise TraitError(
                f"compared is {proposal.value!r}, but there is one record: "
                "attnwidget.show([a, b]) shows two"
            )
        return proposal.value

    @traitlets.validate("layer")
    def _valid_layer(self, proposal: Any) -> Any:
        return self._known_layer(proposal.value)

    @traitlets.validate("head")
    def _valid_head(self, proposal: Any) -> Any:
        return _in_range("head", proposal.value, self._layer.num_heads)

    @traitlets.validate("heads", "include_heads")
    def _valid_heads(self, proposal: Any) -> Any:
        heads = _chosen(proposal.trait.name, proposal.value)
        layers = [self._layer] if proposal.trait.name == "heads" else self._shown.layers
        most = max(layer.num_heads for layer in layers)
        return heads and [_in_range("head", head, most) for head in heads]

    @traitlets.validate("query", "key")
    def _valid_position(self, proposal: Any) -> Any:
        return self._known_position(proposal.trait.name, proposal.value)

    @traitlets.validate("also")
    def _valid_also(self, proposal: Any) -> Any:
        if proposal.value and self.query is None and self.key is None:
            raise TraitError("also names more tokens beside a locked one: set query or key first")
        side = self._locked_side
        # A token is locked once.
        return [
            self._known_position(side, at)
            for at in dict.fromkeys(proposal.value)
            if at != getattr(self, side)
        ]

    @traitlets.validate("part", "cut_part")
    def _valid_part(self, proposal: Any) -> Any:
        if proposal.value is None:
            return None
        sent = next(each for each in self._manifest["stacks"] if each["name"] == self.stack)
        if sent.get("text") is None:
            raise TraitError(f"stack {self.stack!r} has no running text with parts")
        named = self.named_segments if self.parts == "named" else ()
        count = max(len(sent["text"]["sentences"]), len(named))
        if not 1 <= proposal.value <= count:
            raise TraitError(f"part {proposal.value} does not exist: there are 1 to {count}")
        return proposal.value

    @traitlets.validate("grid")
    def _valid_grid(self, proposal: Any) -> Any:
        if proposal.value is None:
            return None
        sides = self._shown.queries.patches, self._shown.keys.patches
        count = max(0 if patches is None else len(patches.grids) for patches in sides)
        if not count:
            raise TraitError(f"stack {self.stack!r} has no grids of patches")
        return _in_range("grid", proposal.value, count)

    @traitlets.validate("parts")
    def _valid_parts(self, proposal: Any) -> Any:
        if proposal.value == "named" and not self.named_segments:
            raise TraitError(
                'parts="named" needs segments with names: named_segments=[(1, 5, "subject")]'
            )
        return proposal.value

    @traitlets.validate("named_segments")
    def _valid_named_segments(self, proposal: Any) -> Any:
        for start, end, name in proposal.value:
            count = max(len(self._shown.queries), len(self._shown.keys))
            if end > count:
                raise TraitError(
                    f"segment {name!r} is of the tokens {start} to {end - 1}, but there are {count}"
                )
        return proposal.value

    @traitlets.validate("segments")
    def _valid_segments(self, proposal: Any) -> Any:
        try:
            return segment_choice(proposal.value, self.named_segments)
        except ValueError as error:
            raise TraitError(str(error)) from None

    @traitlets.validate("lens")
    def _valid_lens(self, proposal: Any) -> Any:
        lenses = {lens["name"]: lens["why_not"] for lens in self._manifest["lenses"]}
        name = _one_of("lens", proposal.value, list(lenses))
        reasons = [reason for own in lenses[name].values() for reason in own]
        layers = sum(len(self._record.stack(stack).layers) for stack in self._record.stacks)
        if layers == sum(len(reason["layers"]) for reason in reasons):
            # That of the stack that is shown, if it is one of these.
            first = next(iter(lenses[name].get(self.stack, ())), reasons[0])
            raise TraitError(
                f"lens {name!r} is not known: layer {first['layers'][0]} {first['sentence']}"
            )
        return name

    @traitlets.validate("sort", "color", "map_x", "map_y", "map_size")
    def _valid_metric(self, proposal: Any) -> Any:
        by_similarity = proposal.trait.name == "map_x" and self._similarity is not None
        places = [SIMILARITY] if by_similarity else []
        there = [*proposal.trait.beside, *self._metric_names, *places]
        return _one_of(proposal.trait.name, proposal.value, there)

    @traitlets.validate("include_layers")
    def _valid_include_layers(self, proposal: Any) -> Any:
        layers = _chosen("include_layers", proposal.value)
        return layers and [self._known_layer(layer) for layer in layers]

    @traitlets.validate("muted")
    def _valid_muted(self, proposal: Any) -> Any:
        neurons = sorted(set(proposal.value))
        vectors = self._layer.queries
        if neurons and vectors is None:
            what = "coefficients" if self._layer.signed else "weights"
            raise TraitError(f"this layer was recorded as {what} alone: it has no neurons to mute")
        if vectors is None:
            return []
        return [_in_range("neuron", neuron, vectors.shape[2]) for neuron in neurons]

    @traitlets.validate("off")
    def _valid_off(self, proposal: Any) -> Any:
        for layer, head in proposal.value:
            count = self._shown.layer(self._known_layer(layer)).num_heads
            _in_range(f"layer {layer}'s head", head, count)
        return sorted(set(proposal.value))

    @traitlets.validate("cut")
    def _valid_cut(self, proposal: Any) -> Any:
        try:
            for link in proposal.value:
                check_link(self._shown, link)
        except (TypeError, ValueError, IndexError) as error:
            raise TraitError(f"cut: {error}") from error
        return list(dict.fromkeys(proposal.value))

    def notify_change(self, change: Any) -> None:
        """Notify observers of a choice, and then of the choices that follow from it.

        All values are set before the first notification, so that an observer of the stack finds a
        layer of that stack, and a linked widget gets the stack before the layer.
        """
        changes = [change]
        self.notify_change = changes.append  # type: ignore[method-assign, assignment]
        try:
            for name, value in self._following(change).items():
                self.set_trait(name, value)
        finally:
            del self.notify_change
        # An observer that raises does not keep the others from being notified.
        with ExitStack() as notifications:
            for follower in reversed(changes):
                notifications.callback(self._notify, follower)

    def _notify(self, change: Any) -> None:
        # An observer of an earlier change may have set this choice again.
        change.new = getattr(self, change.name)
        super().notify_change(change)

    def _following(self, change: Any) -> dict[str, Any]:
        name, values = change.name, choice_values(self)
        if name in ("_metrics", "_similarity"):
            return following_metrics(values, self._metric_names, self._similarity is not None)
        # Under hold_trait_notifications, the value may differ from that of the change.
        return following(self._shown, values | {name: change.old}, name, getattr(self, name))

    @property
    def _shown(self) -> Stack:
        # Traits set together are validated in any order, this one perhaps not yet.
        known = self.stack if self.stack in self._record.stacks else None
        return self._record.stack(known)

    @property
    def _layer(self) -> Layer:
        return layer_of(self._shown, self.layer)

    @property
    def _metric_names(self) -> list[str]:
        return [metric["name"] for metric in (*self._manifest["metrics"], *self._metrics)]

    @property
    def _locked_side(self) -> Side:
        return "key" if self.query is None else "query"

    @property
    def _partners(self) -> dict[str, str]:
        return partner_stacks(self._manifest)

    @property
    def _own_stacks(self) -> list[str]:
        """The stacks that can be chosen: those of b are not."""
        return [name for name in self._record.stacks if name not in self._partners.values()]

    def _known_stack(self, name: str) -> str:
        names = self._own_stacks
        if name not in names:
            raise TraitError(f"no stack {name!r}; this record has {', '.join(names)}")
        return name

    def _known_layer(self, number: int) -> int:
        numbers = self._shown.numbers
        if number not in numbers:
            raise TraitError(f"layer {number} does not exist: this stack has {spans(numbers)}")
        return number

    def _known_position(self, side: Side, position: int | str | None) -> int | None:
        tokens = self._shown.queries if side == "query" else self._shown.keys
        if isinstance(position, str):
            try:
                return position_of(tokens, position)
            except ValueError as error:
                raise TraitError(f"{side}: {error}") from None
        return (
            position if position is None else _in_range(f"{side} position", position, len(tokens))
        )


def choice_values(choices: Choices) -> dict[str, Any]:
    """The value of every choice by its name, those first that others depend on."""
    return {name: getattr(choices, name) for name in CHOICES}


def _one_of(name: str, value: str, there: Sequence[str]) -> str:
    if value not in there:
        choices = ", ".join(map(repr, there))
        raise TraitError(f"{name} {value!r} does not exist: there are {choices}")
    return value


def _in_range(what: str, value: int, count: int) -> int:
    if not 0 <= value < count:
        raise TraitError(f"{what} {value} does not exist: this record has 0 to {count - 1}")
    return value


def _chosen(name: str, numbers: list[int] | None) -> list[int] | None:
    if numbers is None:
        return None
    if not numbers:
        raise TraitError(f"{name} is empty; give at least one, or None for all")
    return sorted(set(numbers))
