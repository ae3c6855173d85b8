"""The views of a profile: in a notebook, without a kernel, and as a page, its atlas."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import traitlets

from attnwidget.corpus import Example, HeadProfile, TextReader, UnreadableError
from attnwidget.page import pack_example, page_html, page_of_examples
from attnwidget.progress import on_step, progress_bar, step_done
from attnwidget.record import AttentionRecord
from attnwidget.view_state import WITHOUT_TEXT, ChoiceOptions, View
from attnwidget.view_state.signature import CHOICE_DEFAULTS, with_options
from attnwidget.wire import (
    encode_examples,
    encode_overview,
    encode_profile,
    encode_similarity,
    heads_alone,
)

from .record_view import RecordOptions, RecordView
from .static_view import StaticView
from .widget import AttentionWidget

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The most texts of which a reader can open one.
_MAX_TEXTS = 256
# The most texts that are read until one has all stacks.
_TRIES = 8
# The most texts of a page.
_MAX_TEXTS_OF_PAGE = 64


class ProfileView(RecordView):
    """The views of a profile: numbers of heads over many texts, and attention over one of them.

    The map and the model view show the profile's metrics with their intervals and null, the words
    of `HeadProfile.patterns`, and mean thumbnails. The head and the neuron view show one text. If
    none can be read, there are the map and the model view alone, and a note that says why.

    Args:
        profile: the profile.
        reader: reads its texts.
        similarity: True to offer places by the similarity of heads, and the nearest of each, which
            takes several seconds for hundreds of heads.
        view, metrics, choices: as of `AttentionWidget`.

    Raises:
        TypeError: lenses are given, which are of one text.
        ValueError: the reader has the heads of another model.
        traitlets.TraitError: the view needs a text, and none can be read.
        ModuleNotFoundError: for similarity, scikit-learn is not installed.
    """

    @with_options(ChoiceOptions, CHOICE_DEFAULTS)
    def __init__(
        self,
        profile: HeadProfile,
        reader: TextReader,
        *,
        similarity: bool = False,
        view: View = "map",
        **options: Unpack[RecordOptions],
    ) -> None:
        if options.get("lenses"):
            raise TypeError(
                "a profile takes no lenses, which are numbers of one text: give them to "
                "show(record, lenses=...)"
            )
        texts = profile.example_texts(_MAX_TEXTS)
        text = None
        try:
            if not texts:
                raise UnreadableError(
                    "the profile has no examples: all of its metrics are of repeated tokens"
                )
            # A text may be too long for a map of channels.
            for text in texts[:_TRIES]:
                record = reader.read(profile.text(text))
                if record.stacks == profile.stacks:
                    break
        except UnreadableError as error:
            record, texts, text = heads_alone(profile), [], None
            self._heads_alone = f"Heads alone: {error}."
        self._profile, self._reader, self._texts = profile, reader, texts
        self._text = text
        # Places by similarity can be chosen once it is known.
        map_x = options.pop("map_x", None)
        super().__init__(record, view=view, **options)
        if similarity:
            self._similarity = encode_similarity(profile)
        if map_x is not None:
            self.map_x = map_x

    @property
    def text(self) -> int | None:
        """The number of the text that is shown; None if none can be read."""
        return self._text

    @property
    def profile(self) -> HeadProfile:
        """The profile whose numbers are shown."""
        return self._profile

    def _encode_overview(self, record: AttentionRecord) -> tuple[dict[str, Any], bytes]:
        return encode_overview(record, encode_profile(self._profile, record))


class StaticProfile(ProfileView, StaticView):
    """The views of a profile without a kernel: those of one text, as no other can be read."""


class ProfileWidget(ProfileView, AttentionWidget):
    """The views of a profile in a notebook, which open its examples as a reader asks for them."""

    _examples = traitlets.Any(None, allow_none=True).tag(sync=True)

    def _opened(self) -> None:
        super()._opened()
        self._note = self._heads_alone
        if self._texts:
            self._examples = encode_examples(self._profile, self._texts)
        self.on_msg(lambda _widget, content, _buffers: self._open_asked(content))

    def open_example(
        self, example: Example, layer: int, head: int, stack: str | None = None
    ) -> None:
        """Show an example of a head in the head view, with the query of its pair locked.

        Args:
            example: of `HeadProfile.examples`.
            layer: its number in the model.
            stack: the stack of the head; the one shown if None.

        Raises:
            KeyError, IndexError: there is no such stack, layer or head.
            ValueError: the text cannot be read once more.
        """
        self._show_text(example.index, stack or self.stack, layer, head, example.pair[0])

    def _show_text(self, text: int, stack: str, layer: int, head: int, query: int) -> None:
        self._profile.stack(stack).place(layer, head)
        with self.hold_sync():
            if text != self._text:
                self._replace_text(text)
            self.stack, self.layer, self.head, self.heads = stack, layer, head, [head]
            self.query = query if 0 <= query < len(self._record.stack(stack).queries) else None
            self.key = None
            self.view = "head"

    def _replace_text(self, text: int) -> None:
        record = self._reader.read(self._profile.text(text))
        # Positions in another text.
        self._grids = ()
        if self.view == "grid":
            self.view = "head"
        self.shown_grid = 0
        manifest, overview = self._named_overview(record)
        self.query = self.key = None
        self.arcs = self.cut = ()
        self._text = text
        self._record, self._manifest, self._overview = record, manifest, overview
        self._blocks, self._note = {}, ""

    def _open_asked(self, content: Any) -> None:
        """Open the example that a reader asks for: {op: "open", text, stack, layer, head, query}.

        `text` is the place among those sent. A failure is shown in the view.
        """
        if not isinstance(content, dict) or content.get("op") != "open":
            return
        names = ("text", "layer", "head", "query")
        try:
            text, layer, head, query = (int(content[name]) for name in names)
            self._show_text(self._texts[text], str(content["stack"]), layer, head, query)
        except Exception as error:
            # A KeyError prints its message in quotes.
            self.send({"error": str(error.args[0] if error.args else type(error).__name__)})


def atlas_html(
    profile: HeadProfile, reader: TextReader, *, size: int, similarity: bool, **choices: Any
) -> str:
    """The HTML of an atlas.

    Args:
        reader: reads the texts.
        size: the most bytes of the page, which has one text in any case.
        similarity: see `ProfileView`.
        choices: those of `AttentionWidget`, with which the page opens.
    """
    texts = profile.example_texts(_MAX_TEXTS_OF_PAGE)
    with progress_bar("Reading", "texts"):
        with _whole_step():
            view = StaticProfile(profile, reader, similarity=similarity, **choices)
            shown = view.shown_record()
            if shown.note:
                return page_html([shown], views=WITHOUT_TEXT, layers=None, quality="default")
            first = view.text
            assert first is not None
            packed, kept = [pack_example(shown.record)], [first]
        # With fewer texts, there are fewer examples.
        room = size - len(page_of_examples(shown, encode_examples(profile, texts), packed))
        for text in texts:
            if text == first:
                continue
            with _whole_step():
                record = reader.read(profile.text(text))
                if record.stacks != shown.record.stacks:  # too long for a map of channels
                    continue
                example = pack_example(record)
            room -= example.size
            if room < 0:
                break
            packed.append(example)
            kept.append(text)
    return page_of_examples(shown, encode_examples(profile, kept), packed)


@contextmanager
def _whole_step() -> Iterator[None]:
    """Count what is done within this context as one step."""
    with on_step(lambda: None):
        yield
    step_done()
