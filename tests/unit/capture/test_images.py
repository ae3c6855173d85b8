"""The image of a vision model, and the places of its tokens on it."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from attnwidget import AttentionRecord, capture, show
from attnwidget.capture import patches
from attnwidget.capture.grids import Seen, patches_of
from attnwidget.capture.places import _find
from attnwidget.record import Grid, Patches, Picture
from attnwidget.tracing import CallId
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import Model, build, tiny, token_ids

PATCH = 4
SIZES = {"image_size": 16, "patch_size": PATCH}
VISION = {
    **SIZES, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4,
}  # fmt: skip
TEXT = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4,
}  # fmt: skip


def _known(*names: str) -> list[str]:
    """The models that this transformers has: its oldest version lacks some."""
    return [name for name in names if hasattr(transformers, f"{name}Model")]


def _pixels(rows: int = 16, columns: int = 16, batch: int = 1) -> torch.Tensor:
    return torch.rand(batch, 3, rows, columns, generator=torch.Generator().manual_seed(0))


def _yolos() -> Model:
    config = transformers.YolosConfig(**{**VISION, "image_size": [16, 16]}, num_detection_tokens=3)
    return build(transformers.YolosModel, config)


# Model, and the tokens without a patch before and after the patches.
PLACED: dict[str, tuple[Callable[[], Model], list[str], list[str]]] = {
    "ViT": (lambda: tiny("ViT", **SIZES), ["[CLS]"], []),
    "DeiT": (lambda: tiny("DeiT", **SIZES), ["[CLS]", "[DIST]"], []),
    "DINOv2": (lambda: tiny("Dinov2", **SIZES), ["[CLS]"], []),
    "DINOv2 with registers": (
        lambda: tiny("Dinov2WithRegisters", **SIZES, num_register_tokens=3),
        ["[CLS]", "[REG 1]", "[REG 2]", "[REG 3]"],
        [],
    ),
    "BEiT": (lambda: tiny("Beit", **SIZES), ["[CLS]"], []),
    "CLIP": (lambda: tiny("CLIPVision", **SIZES), ["[CLS]"], []),
    "SigLIP": (lambda: tiny("SiglipVision", **SIZES), [], []),
    "I-JEPA": (lambda: tiny("IJepa", **SIZES), [], []),
    "YOLOS": (_yolos, ["[CLS]"], ["[DET 1]", "[DET 2]", "[DET 3]"]),
}


def test_images_of_which_it_is_not_known_whose_they_are() -> None:
    model = build(
        transformers.CLIPModel, transformers.CLIPConfig(text_config=TEXT, vision_config=VISION)
    )

    def seen(texts: int, images: int) -> AttentionRecord:
        ids = token_ids(6).repeat(texts, 1)
        inputs = {"input_ids": ids, "pixel_values": _pixels(batch=images)}
        return capture(model, None, inputs, batch_index=texts - 1)

    for texts, images in ((1, 2), (2, 3)):
        with pytest.warns(UserWarning, match=f"which of {images} images or sounds"):
            assert seen(texts, images).stacks == ("self",)
    assert seen(2, 2).layer(0, "vision").shape == (17, 17)
    assert seen(3, 1).layer(0, "vision").shape == (17, 17)


@pytest.mark.parametrize("name", PLACED)
def test_tokens_are_where_a_change_of_the_image_changes_them(name: str) -> None:
    make, before, after = PLACED[name]
    model, pixels = make(), _pixels()
    tokens = capture(model, None, {"pixel_values": pixels}).stack().queries
    grid = [f"{row},{column}" for row in range(4) for column in range(4)]
    assert list(tokens.labels) == [*before, *grid, *after]
    assert tokens.patches is not None
    assert tokens.patches.grids == (Grid(4, 4),)

    def embedded(image: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return model(pixel_values=image, output_hidden_states=True).hidden_states[0][0]

    unchanged = embedded(pixels)
    for patch in range(16):
        row, column = divmod(patch, 4)
        image = pixels.clone()
        image[:, :, row * PATCH : (row + 1) * PATCH, column * PATCH : (column + 1) * PATCH] += 1
        changed = (embedded(image) - unchanged).abs().amax(-1) > 1e-6
        assert changed.nonzero().tolist() == [[tokens.patches.of.index(patch)]]


def _swin(name: str, **options: Any) -> Model:
    config_class = getattr(transformers, f"{name}Config")
    defaults = {"patch_size": PATCH, "image_size": 16, "depths": [2], "num_heads": [2]}
    config = config_class(**{**defaults, **options}, embed_dim=16)
    return build(getattr(transformers, f"{name}Model"), config, "eager")


def _pvt() -> Model:
    config = transformers.PvtConfig(
        image_size=16, num_encoder_blocks=2, depths=[1, 1], hidden_sizes=[16, 16],
        patch_sizes=[4, 2], strides=[4, 2], num_attention_heads=[1, 1],
        sequence_reduction_ratios=[2, 1], mlp_ratios=[2, 2],
    )  # fmt: skip
    return build(transformers.PvtModel, config, "eager")


def _vit_det() -> Model:
    config = transformers.VitDetConfig(
        **VISION, pretrain_image_size=16, window_block_indices=[0], window_size=2
    )
    return build(transformers.VitDetModel, config, "eager")


SHIFTED = {"patch_size": 2, "image_size": 32, "depths": [2, 2], "num_heads": [2, 4]}


def _in_windows(rows: int, columns: int, shift: int) -> list[int | None]:
    """The patch of each token: padded up to windows of 4 x 4, rolled, and cut into windows."""
    grid = np.arange(rows * columns).reshape(rows, columns)
    grid = np.pad(grid, ((0, -rows % 4), (0, -columns % 4)), constant_values=-1)
    grid = np.roll(grid, (-shift, -shift), (0, 1))
    cut = grid.reshape(len(grid) // 4, 4, -1, 4).swapaxes(1, 2)
    return [None if patch < 0 else int(patch) for patch in cut.ravel()]


@pytest.mark.parametrize("name", _known("Swin", "Swinv2", "DonutSwin", "MaskFormerSwin"))
@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (12, 14)])
def test_windows_that_shift(name: str, rows: int, columns: int) -> None:
    """Stages of padded and whole windows; neighbours on the torus alone do not see each other."""
    model = _swin(name, **SHIFTED, window_size=4)
    record = capture(model, None, {"pixel_values": _pixels(2 * rows, 2 * columns)})
    assert record.stacks == ("self 1", "self shifted 1", "self 2", "self shifted 2")
    assert len(record.images) == 1
    for stack in record.stacks:
        stage, shift = int(stack[-1]), 2 if "shifted" in stack else 0
        sides = rows // stage, columns // stage
        patches = record.stack(stack).queries.patches
        assert patches == Patches((Grid(*sides),), tuple(_in_windows(*sides, shift)))
        padding = [label for label in record.stack(stack).queries.labels if "PAD" in label]
        assert padding == [f"[PAD {n + 1}]" for n in range(patches.of.count(None))]
        layer = 1 if shift else 0
        assert record.stack(stack).numbers == (layer,)
        placed = [n for n, patch in enumerate(patches.of) if patch is not None]
        place = np.array([divmod(patches.of[n] or 0, sides[1]) for n in placed])
        far = (np.abs(place[:, None] - place) >= 4).any(axis=2)
        assert record.weights(layer, 0, stack)[np.ix_(placed, placed)][far].max() < 1e-20


@pytest.mark.parametrize("name", ["Swin", "Swinv2", "DonutSwin"])
def test_shifted_tokens_are_where_a_change_of_the_image_changes_them(name: str) -> None:
    model, pixels = _swin(name, **SHIFTED, window_size=4), _pixels(24, 28)
    last = ("attention.output.dense", "attention.o_proj")
    for module in [each for of, each in model.named_modules() if of.endswith(last)]:
        torch.nn.init.zeros_(module.weight)  # attention adds nothing, so that no tokens mix
        torch.nn.init.zeros_(module.bias)
    record = capture(model, None, {"pixel_values": pixels})
    for stack in record.stacks:
        patches, [layer] = record.stack(stack).queries.patches, record.stack(stack).numbers
        assert patches is not None
        [grid] = patches.grids
        number = np.arange(len(grid)).reshape(grid.rows, grid.columns)
        of = np.array([-1 if patch is None else patch for patch in patches.of])
        for bit in range(len(grid).bit_length()):
            chosen = torch.from_numpy(np.kron(number >> bit & 1, np.ones((24 // grid.rows,) * 2)))
            changed = capture(model, None, {"pixel_values": pixels + chosen.float()}, image=False)
            away = changed.layer(layer, stack).queries - record.layer(layer, stack).queries
            moved = np.abs(away).max(axis=(0, 2)) > 1e-6
            assert (moved == ((of >= 0) & (of >> bit & 1 == 1))).all()


@pytest.mark.parametrize("name", _known("Swin", "MaskFormerSwin"))
def test_one_window_as_large_as_the_image(name: str) -> None:
    """Of MaskFormer's, it shifts."""
    record = capture(_swin(name, window_size=4), None, {"pixel_values": _pixels()})
    assert record.stack("self").queries.patches == Patches((Grid(4, 4),), tuple(range(16)))
    shifts = name == "MaskFormerSwin"
    assert record.stacks == (("self", "self shifted") if shifts else ("self",))
    if shifts:
        patches = record.stack("self shifted").queries.patches
        assert patches == Patches((Grid(4, 4),), tuple(_in_windows(4, 4, 2)))


def test_layers_within_windows_and_others() -> None:
    record = capture(_vit_det(), None, {"pixel_values": _pixels()})
    within, whole = (record.stack(name).queries.patches for name in record.stacks)
    assert within == Patches((Grid(4, 4),), (0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15))
    assert whole == Patches((Grid(4, 4),), tuple(range(16)))


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_random_order_or_part_is_that_of_the_recorded_pass(share: float) -> None:
    model, pixels = tiny("ViTMAE", **SIZES, mask_ratio=share), _pixels()

    def read(image: torch.Tensor) -> AttentionRecord:
        torch.manual_seed(3)
        return capture(model, None, {"pixel_values": image})

    record = read(pixels)
    patches = record.stack().queries.patches
    assert patches is not None
    assert sum(place is not None for place in patches.of) == 16 * (1 - share)
    unchanged = record.queries(0, 0)
    for place in patches.of[1:]:
        assert place is not None
        row, column = divmod(place, 4)
        image = pixels.clone()
        image[:, :, row * PATCH : (row + 1) * PATCH, column * PATCH : (column + 1) * PATCH] += 1
        changed = np.abs(read(image).queries(0, 0) - unchanged).max(axis=1) > 1e-6
        assert changed.nonzero()[0].tolist() == [patches.of.index(place)]


def test_keys_that_stand_for_several_patches() -> None:
    record = capture(_pvt(), None, {"pixel_values": _pixels()})
    assert record.stack("self 1").queries.patches == Patches((Grid(4, 4),), tuple(range(16)))
    assert record.stack("self 1").keys.patches == Patches((Grid(2, 2),), (0, 1, 2, 3))
    assert record.stack("self 2").queries.patches == Patches((Grid(2, 2),), (None, 0, 1, 2, 3))


def test_calls_with_tokens_in_the_same_order_are_searched_once() -> None:
    """The order of one call holds for others only where it is theirs in every pixel."""
    pixels = {"x": torch.arange(1.0, 13).requires_grad_()}
    weights = torch.rand(4, 3, 5, generator=torch.Generator().manual_seed(0))
    vectors = torch.einsum("tp,tpd->td", pixels["x"].view(4, 3), weights)
    other = vectors.roll(1, 0)
    some = torch.einsum("tp,tpd->td", pixels["x"].view(4, 3)[:, :2], weights[:, :2])
    sites = {
        (CallId("a", 0), "query"): vectors, (CallId("a", 0), "key"): vectors * 3,
        (CallId("a", 1), "query"): other, (CallId("a", 1), "key"): vectors,
        (CallId("b", 0), "query"): other * 2, (CallId("b", 0), "key"): some,
    }  # fmt: skip
    found: dict[Any, Any] = {}
    _find(sites, pixels, found, [])  # type: ignore[arg-type]
    first, turned = np.repeat([0, 1, 2, 3], 3), np.repeat([1, 2, 3, 0], 3)
    of = [found[site]["x"].tolist() for site in sites]
    expected = first, first, turned, first, turned, [0, 0, -1, 1, 1, -1, 2, 2, -1, 3, 3, -1]
    assert of == [list(each) for each in expected]
    names = list(sites)
    assert found[names[0]] is found[names[1]] is found[names[3]]
    assert found[names[2]] is found[names[4]]


def test_patches_that_begin_in_padding() -> None:
    sizes = {**VISION, "image_size": [32, 32], "patch_size": [8, 8]}
    config = transformers.VitPoseBackboneConfig(**sizes)
    model = build(transformers.VitPoseBackbone, config, "eager")
    record = capture(model, None, {"pixel_values": _pixels(32, 32)})
    box = -0.0625, -0.0625, 0.9375, 0.9375
    assert record.stack().queries.patches == Patches((Grid(4, 4, box=box),), tuple(range(16)))


def test_listed_patches_are_no_pictures() -> None:
    fed = np.arange(4, dtype=np.int32).reshape(4, 1, 1, 1).repeat(3, axis=1)
    tensors = {"pixel_values": torch.zeros(4, 3, 1, 1), "grid_thw": torch.tensor([[1, 2, 2]])}
    assert patches_of({"pixel_values": fed}, 4, Seen(tensors, None)) is None


@pytest.mark.parametrize("name", _known("VJEPA2"))
def test_a_video_by_the_name_of_its_own(name: str) -> None:
    model = tiny(
        name, crop_size=16, patch_size=PATCH, frames_per_clip=4, pred_hidden_size=32,
        pred_num_attention_heads=4, pred_num_hidden_layers=1,
    )  # fmt: skip
    pixels = torch.randn(1, 4, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    record = capture(model, None, {"pixel_values_videos": pixels})
    patches = record.stack("encoder").queries.patches
    assert patches is not None
    assert [(grid.rows, grid.columns) for grid in patches.grids] == [(4, 4), (4, 4)]
    assert patches.of == tuple(range(32))


class OverlappingPatches(torch.nn.Module):
    """Its convolution reads a pixel of the next patch, too."""

    def __init__(self, overlap: int) -> None:
        super().__init__()
        self.cut = torch.nn.Conv2d(3, 8, PATCH, PATCH)
        self.blur = torch.nn.Conv2d(3, 3, 1 + overlap, padding=0)
        self.overlap = overlap
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        padded = torch.nn.functional.pad(pixel_values, (0, self.overlap, 0, self.overlap))
        out: torch.Tensor = self.layer(self.cut(self.blur(padded)).flatten(2).transpose(1, 2))
        return out


@pytest.mark.parametrize("overlap", [0, 1, 4])
def test_a_model_of_ones_own(overlap: int) -> None:
    torch.manual_seed(0)
    record = capture(OverlappingPatches(overlap).eval(), None, {"pixel_values": _pixels()})
    found = record.stack().queries.patches
    assert bool(record.images) == (found is not None) == (overlap < 4)
    if found is not None:
        assert found == Patches((Grid(4, 4),), tuple(range(16)), soft=overlap > 0)


def _llava(**options: Any) -> Model:
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**VISION),
        text_config=transformers.LlamaConfig(**TEXT),
        image_token_index=60,
        **options,
    )
    return build(transformers.LlavaForConditionalGeneration, config)


class WithMemory(OverlappingPatches):
    """A token without a patch, of which nothing says that it is a [CLS]."""

    def __init__(self) -> None:
        super().__init__(overlap=0)
        self.memory = torch.nn.Parameter(torch.ones(1, 1, 8))

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        tokens = self.cut(pixel_values).flatten(2).transpose(1, 2)
        out: torch.Tensor = self.layer(torch.cat([self.memory, tokens], dim=1))
        return out


def test_a_token_of_unknown_use_has_a_number() -> None:
    torch.manual_seed(0)
    record = capture(WithMemory().eval(), None, {"pixel_values": _pixels()})
    assert record.tokens()[0][:2] == ["[1]", "0,0"]
    assert record.stack().queries.special == (0,)


def test_image_tokens_among_text() -> None:
    """Their embeddings are those of patches, where no layer of the tower mixes them."""
    model, pixels = _llava(), _pixels()
    ids = torch.tensor([[1, 7, *[60] * 16, 5, 6]])
    record = capture(model, None, {"input_ids": ids, "pixel_values": pixels})
    assert record.images
    assert record.stack("vision").queries.patches == Patches((Grid(4, 4),), (None, *range(16)))
    tokens = record.stack("text").queries
    assert tokens.labels[:4] == ("0", "1", "0,0", "0,1")
    assert tokens.patches is not None

    # Older versions of transformers have these parts in other places.
    whole = getattr(model, "model", model)
    vision = getattr(whole.vision_tower, "vision_model", whole.vision_tower)
    for layer in vision.encoder.layers:
        for last in (layer.self_attn.out_proj, layer.mlp.fc2):
            torch.nn.init.zeros_(last.weight)
            torch.nn.init.zeros_(last.bias)
    read: list[torch.Tensor] = []
    whole.language_model.register_forward_pre_hook(
        lambda _module, _args, inputs: read.append(inputs["inputs_embeds"][0]), with_kwargs=True
    )

    def embedded(image: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            model(input_ids=ids, pixel_values=image)
        return read[-1]

    unchanged = embedded(pixels)
    for patch in range(16):
        row, column = divmod(patch, 4)
        image = pixels.clone()
        image[:, :, row * PATCH : (row + 1) * PATCH, column * PATCH : (column + 1) * PATCH] += 1
        changed = (embedded(image) - unchanged).abs().amax(-1) > 1e-6
        assert changed.nonzero().tolist() == [[tokens.patches.of.index(patch)]]


def test_image_tokens_of_which_one_is_no_patch() -> None:
    model = _llava(vision_feature_select_strategy="full")
    ids = torch.tensor([[1, *[60] * 17, 5]])
    record = capture(model, None, {"input_ids": ids, "pixel_values": _pixels()})
    of = (None, None, *range(16), None)
    assert record.stack("text").queries.patches == Patches((Grid(4, 4),), of)


def test_image_tokens_before_generated_text() -> None:
    inputs = {"input_ids": torch.tensor([[1, *[60] * 16, 5]]), "pixel_values": _pixels()}
    record = capture(_llava(), None, inputs, generate={"max_new_tokens": 3, "do_sample": False})
    of = (None, *range(16), *[None] * (len(record.tokens("text")[0]) - 17))
    assert record.stack("text").queries.patches == Patches((Grid(4, 4),), of)


def test_a_decoder_that_reads_patches() -> None:
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(
        transformers.ViTConfig(**VISION),
        transformers.BertConfig(**TEXT, is_decoder=True, add_cross_attention=True),
    )
    model = build(transformers.VisionEncoderDecoderModel, config, "eager")
    inputs = {"pixel_values": _pixels(), "decoder_input_ids": token_ids(3)}
    record = capture(model, None, inputs)
    assert record.stack("cross").keys == record.stack("encoder").queries
    assert record.stack("cross").queries.patches is None


def test_the_recorded_item_and_chosen_layers() -> None:
    pixels = _pixels(batch=2)
    model = tiny("ViT", **SIZES)
    record = capture(model, None, {"pixel_values": pixels}, batch_index=1, layers=[1])
    alone = capture(model, None, {"pixel_values": pixels[1:]}, layers=[1])
    assert record.images == alone.images
    assert record.stack().queries == alone.stack().queries


def _count_calls(model: Model, failing: int = 0) -> list[int]:
    """Numbers the model's passes; one of them may fail."""
    calls: list[int] = []

    def count(*_: Any) -> None:
        calls.append(len(calls) + 1)
        if calls[-1] == failing:
            raise RuntimeError("stop")

    model.register_forward_pre_hook(count)
    return calls


# One pass is recorded, and one more finds the places.
@pytest.mark.parametrize("failing", [0, 1, 2])
def test_the_model_is_left_as_it_was(failing: int) -> None:
    """Nothing shows that the image was changed: no weight, hook, mode or random number."""
    model, inputs = tiny("ViT", **SIZES), {"pixel_values": _pixels()}
    next(model.children()).train()
    calls = _count_calls(model, failing)
    before = Snapshot(model)
    if failing == 1:
        with pytest.raises(RuntimeError, match="stop"):
            capture(model, None, inputs)
    else:
        record = capture(model, None, inputs)
        assert (not record.images) == bool(failing)
        assert len(calls) == 2
    before.assert_unchanged()


def test_a_model_that_accelerate_offloads_runs_once() -> None:
    model = tiny("ViT", **SIZES)
    next(model.children())._hf_hook = object()
    calls = _count_calls(model)
    record = capture(model, None, {"pixel_values": _pixels()})
    assert len(calls) == 1
    assert not record.images
    assert record.tokens()[0][:2] == ["[CLS]", "0,0"]


def test_without_pillow_the_model_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "find_spec", lambda _name: None)
    model = tiny("ViT", **SIZES)
    calls = _count_calls(model)
    capture(model, None, {"pixel_values": _pixels()})
    assert len(calls) == 1


def _decoded(picture: Picture | None) -> np.ndarray:
    assert picture is not None
    return np.asarray(Image.open(io.BytesIO(picture.data)).convert("RGB")).astype(float)


def _photograph(rows: int, columns: int) -> np.ndarray:
    """Colours that change slowly, red from left to right, green from top to bottom."""
    down, across = np.mgrid[0:rows, 0:columns]
    blue = np.full((rows, columns), 60)
    return np.stack([255 * across / columns, 255 * down / rows, blue], -1).astype(np.uint8)


def test_it_has_the_colours_of_the_photograph() -> None:
    processor = transformers.ViTImageProcessor(size={"height": 64, "width": 64})
    photograph = _photograph(64, 64)
    inputs = processor(images=Image.fromarray(photograph), return_tensors="pt")
    record = capture(tiny("ViT", image_size=64, patch_size=16), processor, inputs)
    shown = _decoded(record.images[0])
    assert shown.shape == (64, 64, 3)
    assert np.abs(shown - photograph).mean() < 4


@pytest.mark.parametrize("largest", [1, 255])
def test_the_colours_of_a_photograph_that_was_not_rescaled(largest: int) -> None:
    processor = transformers.ViTImageProcessor(
        size={"height": 64, "width": 64}, do_rescale=False, do_resize=False
    )
    photograph = _photograph(64, 64)
    read = torch.from_numpy(photograph).permute(2, 0, 1).float() * (largest / 255)
    inputs = processor(images=read, return_tensors="pt")
    record = capture(tiny("ViT", image_size=64, patch_size=16), processor, inputs)
    assert np.abs(_decoded(record.images[0]) - photograph).mean() < 4


def test_pixels_of_unknown_origin_are_stretched() -> None:
    record = capture(tiny("ViT", **SIZES), None, {"pixel_values": 6 * _pixels() - 3})
    shown = _decoded(record.images[0])
    assert shown.min() < 30
    assert shown.max() > 225


def test_a_large_image_is_shown_small_and_its_grid_is_what_patches_cover() -> None:
    model = tiny("Dinov2", image_size=512, patch_size=32)
    record = capture(model, None, {"pixel_values": torch.rand(1, 3, 260, 516)})
    assert record.images[0].size == (224, 113)
    patches = record.stack().queries.patches
    assert patches is not None
    assert patches.grids == (Grid(8, 16, 0, (0.0, 0.0, 0.9922, 0.9846)),)


def test_it_is_saved(tmp_path: Path) -> None:
    record = capture(tiny("ViT", **SIZES), None, {"pixel_values": _pixels()})
    record.save(tmp_path / "record.safetensors")
    loaded = AttentionRecord.load(tmp_path / "record.safetensors")
    assert loaded.images == record.images
    assert loaded.stack().queries == record.stack().queries


def test_it_can_be_left_out() -> None:
    model, inputs = tiny("ViT", **SIZES), {"pixel_values": _pixels()}
    record = capture(model, None, inputs)
    assert show(record)._manifest["images"]
    assert capture(model, None, inputs, image=False).images == ()
    assert show(model, None, inputs, image=False)._manifest["images"] == []
    assert show(record, image=False)._manifest["images"] == []
    assert record.without_images().tokens() == record.tokens()


@pytest.mark.parametrize(
    "data", [b"", b"RIFF", b"RIFF....WEBPVP8L" + bytes(20), b"\x89PNG\r\n" + bytes(30)]
)
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="WebP"):
        Picture(data)


def test_an_image_that_would_fill_the_memory_is_refused() -> None:
    file = io.BytesIO()
    Image.new("RGB", (600, 20)).save(file, "WEBP")
    with pytest.raises(ValueError, match="600 × 20"):
        Picture(file.getvalue())
