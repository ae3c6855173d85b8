"""The start of every probe: a model or arrays is opened, and the texts are divided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias

from attnwidget.arguments import checked, entries, one_of, whole
from attnwidget.progress import progress_bar

from .annotated import Annotated, annotated
from .cut_words import LeftOut
from .word_attention import ArrayAttention, Heads, Text, WordAttention

if TYPE_CHECKING:
    import torch


Null: TypeAlias = Literal["random weights"]

Pairs: TypeAlias = "Iterable[tuple[Any, Any]]"
"""(weights [layers, heads, words, words] between the words of a text, `Annotated`)."""


class Source(Protocol[Text]):
    """Reads the attention over texts.

    Attributes:
        heads: the heads that are read; complete after the first text.
        left_out: the words that are left out of the texts that were read.
    """

    heads: Heads
    left_out: LeftOut

    def read(self, texts: Iterable[Any], /) -> Iterator[WordAttention[Text]]:
        """The attention of each text."""


@contextmanager
def reading(left_out: LeftOut, unit: str = "texts") -> Iterator[None]:
    """Show a bar of the texts that are read within, and warn of the words that were left out.

    Args:
        unit: what texts are called.
    """
    with progress_bar("Probing", unit):
        yield
    left_out.warn()


class Halves(Generic[Text]):
    """Two halves of some texts, and what reads them.

    Args:
        held_out: the second half; None to divide the texts: every second one is held out, from the
            second on.

    Attributes:
        source: what reads them.
        heads, left_out: those of the source.
        texts: those by which something is chosen or fitted, and the held-out ones.

    Raises:
        TypeError: the texts are arrays that can be read only once, and none are held out.
        ValueError: there are fewer than two texts, and none are held out.
    """

    def __init__(
        self, source: Source[Text], texts: Iterable[Any], held_out: Iterable[Any] | None
    ) -> None:
        self.heads = source.heads
        self.left_out = source.left_out
        self.source = source
        self.texts = self._divided(texts, held_out)
        self._counts = [0, 0]

    def _divided(
        self, texts: Iterable[Any], held_out: Iterable[Any] | None
    ) -> tuple[Iterable[Any], Iterable[Any]]:
        if held_out is not None:
            return texts, entries("held_out", held_out, "a list, as the others are")
        if not isinstance(self.source, ArrayAttention):
            texts = list(texts)
        elif iter(texts) is texts:
            raise TypeError(
                "these pairs can be read only once, and texts must be held out: give a list, or "
                "other pairs as held_out"
            )
        if isinstance(texts, Sized) and len(texts) < 2:
            raise ValueError(
                f"too few texts, {len(texts)}: every second one is held out; give at least two, or "
                "others as held_out"
            )
        return islice(texts, 0, None, 2), islice(texts, 1, None, 2)

    @property
    def num_texts(self) -> tuple[int, int]:
        """The texts of either half that are read so far."""
        return self._counts[0], self._counts[1]

    def first(self) -> Iterator[WordAttention[Text]]:
        """The texts by which something is chosen or fitted."""
        return self._read(0)

    def held_out(self) -> Iterator[WordAttention[Text]]:
        """The texts on which it is scored."""
        return self._read(1)

    def _read(self, half: int) -> Iterator[WordAttention[Text]]:
        for read in self.source.read(self.texts[half]):
            self._counts[half] += 1
            yield read


@checked(
    null=one_of(Null, None), seed=whole(0), batch_size=whole(1), max_tokens=whole(1, none=True)
)
def opened(
    model: torch.nn.Module | Pairs,
    tokenizer: Any,
    texts: Iterable[Any] | None,
    held_out: Iterable[Any] | None,
    null: Null | None,
    seed: int,
    batch_size: int,
    max_tokens: int | None,
) -> Halves[Annotated]:
    """Open a model, or arrays, and divide the texts.

    Args:
        model: a model; or pairs of attention and a text, without tokenizer and texts.

    Raises:
        TypeError: the arguments are neither of both.
        ValueError: there is no such null, or a number is out of range.
    """
    if tokenizer is None and texts is None:
        if not isinstance(model, Iterable):
            raise TypeError(
                "expected a model, its tokenizer and texts; or pairs of an array [layers, heads, "
                "words, words] and an Annotated"
            )
        expected = "(weights [layers, heads, words, words], Annotated)"
        source = ArrayAttention("self", expected, _words_of)
        return Halves(source, entries("pairs", model, expected), held_out)
    if texts is None or tokenizer is None:
        missing = "texts" if texts is None else "a tokenizer"
        raise TypeError(f"a probe of a model needs {missing}: (model, tokenizer, texts)")
    texts = entries("texts", texts, "Annotated texts, as of read_conllu")
    # Imported here, so that arrays can be probed without torch.
    from .model_attention import ModelAttention

    read_by = ModelAttention(
        model,  # type: ignore[arg-type]
        tokenizer,
        null=null is not None,
        seed=seed,
        batch_size=batch_size,
        max_tokens=max_tokens,
    )
    return Halves(read_by, texts, held_out)


def _words_of(given: Any) -> tuple[Annotated, Annotated, Annotated]:
    text = annotated(given)
    return text, text, text
