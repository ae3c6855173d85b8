"""Attention on an image as an array of pixels."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import attnwidget as aw
from attnwidget.record import AttentionRecord, Grid, Patches, Picture

# The whole image, its right half, a padded one, and another image.
GRIDS = (
    Grid(2, 2, name="whole"),
    Grid(1, 2, 0, (0.5, 0.0, 1.0, 1.0), "crop 1"),
    Grid(1, 2, 0, (0.0, -0.5, 1.0, 0.5), "crop 2"),
    Grid(1, 1, 1, name="image 2"),
)


def record() -> AttentionRecord:
    weights = np.random.default_rng(0).dirichlet(np.ones(10), (1, 2, 10)).astype(np.float32)[0]
    made = AttentionRecord.from_arrays([weights], ["[CLS]", *map(str, range(9))])
    stack = made.stack()
    tokens = replace(stack.queries, patches=Patches(GRIDS, (None, *range(9))))
    file = io.BytesIO()
    Image.new("RGB", (24, 16)).save(file, "WEBP")
    stack = replace(stack, queries=tokens, keys=tokens)
    return AttentionRecord({"self": stack}, images=[Picture(file.getvalue())] * 2)


@pytest.mark.parametrize("size", [None, (24, 16), (7, 5), (1, 1)])
def test_the_sum_is_the_attention_on_the_image(size: tuple[int, int] | None) -> None:
    shown = record()
    for side in ("query", "key"):
        found = aw.analysis.on_image(shown, 0, 1, 3, side=side, size=size)  # type: ignore[arg-type]
        weights = shown.weights(0, 1)
        weights = weights[:, 3] if side == "key" else weights[3]
        assert found.dtype == np.float32
        assert found.shape == ((16, 24) if size is None else size[::-1])
        # Half of the padded grid lies above the image.
        expected = weights[1:7].sum() + weights[7:9].sum() / 2
        assert found.sum() == pytest.approx(expected, abs=1e-6)
    assert aw.analysis.on_image(shown, 0, 1, 3, image=1).sum() == pytest.approx(
        shown.weights(0, 1)[3, 9], abs=1e-6
    )


def test_through_a_resampler() -> None:
    """The text's row on the image's tokens, times where these have read the patches."""
    some = np.random.default_rng(0)
    text = some.dirichlet(np.ones(5), (1, 2, 5)).astype(np.float32)
    cross = some.dirichlet(np.ones(10), (1, 2, 3)).astype(np.float32)
    made = AttentionRecord.from_arrays([text[0]], ["a", "<image>", "<image>", "<image>", "b"])
    read = AttentionRecord.from_arrays([cross[0]], list("012"), key_tokens=list("0123456789"))
    keys = replace(read.stack().keys, patches=Patches(GRIDS, (None, *range(9))))
    stacks = {"text": made.stack(), "cross": replace(read.stack(), keys=keys)}
    shown = AttentionRecord(stacks, images=record().images)
    both = [
        aw.analysis.on_image(shown, 0, 1, 4, stack="text", image=n, through="cross").sum()
        for n in (0, 1)
    ]
    on_patches = text[0, 1, 4, 1:4] @ cross[0].mean(axis=0)
    on_first = on_patches[1:7].sum() + on_patches[7:9].sum() / 2
    assert both == pytest.approx([on_first, on_patches[9]], abs=1e-5)
    few = AttentionRecord.from_arrays([text[0]], list("abcde")).stack()
    shown = AttentionRecord({**stacks, "text": few}, images=shown.images)
    with pytest.raises(ValueError, match="0 runs of 3 equal tokens"):
        aw.analysis.on_image(shown, 0, 1, 4, stack="text", through="cross")


def test_patches_are_spread_evenly_and_add_up() -> None:
    shown = record()
    weights = shown.weights(0, 0)[2]
    found = aw.analysis.on_image(shown, 0, 0, 2) * (24 * 16)
    # Bottom left is on the whole image alone, top right on a patch of each grid.
    assert found[12, 3] == pytest.approx(4 * weights[3], rel=1e-5)
    on_three = 4 * weights[2] + 4 * weights[6] + 2 * weights[8]
    assert found[3, 20] == pytest.approx(on_three, rel=1e-5)
    assert np.allclose(found[8:, :12], found[12, 3])


def test_what_is_not_there_is_refused() -> None:
    shown = record()
    with pytest.raises(IndexError, match="there are 10 tokens"):
        aw.analysis.on_image(shown, 0, 0, 10)
    with pytest.raises(ValueError, match="image 2 are not known"):
        aw.analysis.on_image(shown, 0, 0, 0, image=2)
    with pytest.raises(ValueError, match="at least 1 pixel"):
        aw.analysis.on_image(shown, 0, 0, 0, size=(0, 3))
    bare = shown.without_images()
    with pytest.raises(ValueError, match="give the size"):
        aw.analysis.on_image(bare, 0, 0, 0)
    assert aw.analysis.on_image(bare, 0, 0, 0, size=(3, 2)).shape == (2, 3)
