"""Where tokens lie on the reader's own images, in language models that see.

Each model is tiny, and its processor's image code is real. What is found is compared with what a
change of the image changes, with the tower's attention off.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers

import attnwidget as aw
from attnwidget import AttentionRecord, capture
from attnwidget.analysis import running_text
from attnwidget.record import Grid, Patches
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import Model, build

TOWER = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
    "image_size": 56, "patch_size": 14,
}  # fmt: skip
TEXT = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "pad_token_id": 3,
}  # fmt: skip
CROP = {"size": {"shortest_edge": 56}, "crop_size": {"height": 56, "width": 56}}
SQUARE = {"height": 56, "width": 56}
TILES = [[r, c] for r in range(1, 5) for c in range(1, 5) if r * c <= 4]
PINPOINTS = [[112, 56], [56, 112], [112, 112]]
CHAT = (
    "{% for m in messages %}{{ m['role'] }} : {% for p in m['content'] %}{% if p['type'] == 'image'"
    " %}IMAGE{% else %}{{ p['text'] }}{% endif %}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}assistant :{% endif %}"
)
WORDS = ["<unk>", "<s>", "</s>", "<pad>", "what", "is", "this", "user", "assistant", ":", "?"]

Family = tuple[Model, Any]


def _tokenizer(**special: str) -> Any:
    vocabulary = {word: number for number, word in enumerate([*WORDS, *special.values()])}
    tokens = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokens.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = hf.PreTrainedTokenizerFast(
        tokenizer_object=tokens, unk_token="<unk>", bos_token="<s>", eos_token="</s>",
        pad_token="<pad>", additional_special_tokens=list(special.values()),
    )  # fmt: skip
    for name, token in special.items():
        setattr(tokenizer, name, token)
        setattr(tokenizer, f"{name}_id", tokenizer.convert_tokens_to_ids(token))
    return tokenizer


def _built(model_class: Any, config: Any) -> Model:
    model = build(model_class, config)
    same = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        if not parameter.any():  # some projections are zero before training
            torch.nn.init.normal_(parameter, std=0.1, generator=same)
    return model


def _llava() -> Family:
    tokenizer = _tokenizer(image_token="<image>")
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**TOWER), text_config=hf.LlamaConfig(**TEXT),
        image_token_index=tokenizer.image_token_id,
    )  # fmt: skip
    processor = hf.LlavaProcessor(
        hf.CLIPImageProcessor(**CROP), tokenizer, patch_size=14, num_additional_image_tokens=1,
        vision_feature_select_strategy="default", chat_template=CHAT.replace("IMAGE", "<image>"),
    )  # fmt: skip
    return _built(hf.LlavaForConditionalGeneration, config), processor


def _llava_next() -> Family:
    tokenizer = _tokenizer(image_token="<image>")
    config = hf.LlavaNextConfig(
        vision_config=hf.CLIPVisionConfig(**TOWER), text_config=hf.LlamaConfig(**TEXT),
        image_token_index=tokenizer.image_token_id, image_grid_pinpoints=PINPOINTS,
    )  # fmt: skip
    processor = hf.LlavaNextProcessor(
        hf.LlavaNextImageProcessor(**CROP, image_grid_pinpoints=PINPOINTS), tokenizer,
        patch_size=14, num_additional_image_tokens=1, vision_feature_select_strategy="default",
        chat_template=CHAT.replace("IMAGE", "<image>"),
    )  # fmt: skip
    return _built(hf.LlavaNextForConditionalGeneration, config), processor


def _idefics3() -> Family:
    rows = {f"{r}{c}": f"<row_{r}_col_{c}>" for r in range(1, 4) for c in range(1, 4)}
    tokenizer = _tokenizer(
        image_token="<image>", fake="<fake_token_around_image>", end="<end_of_utterance>",
        whole="<global-img>", **rows,
    )  # fmt: skip
    config = hf.Idefics3Config(
        vision_config=TOWER, text_config={**TEXT, "model_type": "llama"}, scale_factor=2,
        image_token_id=tokenizer.image_token_id,
    )  # fmt: skip
    images = hf.Idefics3ImageProcessor(
        size={"longest_edge": 112}, max_image_size={"longest_edge": 56}
    )
    processor = hf.Idefics3Processor(
        images, tokenizer, image_seq_len=4, chat_template=CHAT.replace("IMAGE", "<image>")
    )
    return _built(hf.Idefics3ForConditionalGeneration, config), processor


def _gemma3() -> Family:
    tokenizer = _tokenizer(boi_token="<boi>", eoi_token="<eoi>", image_token="<soft>")
    config = hf.Gemma3Config(
        vision_config={**TOWER, "vision_use_head": False}, text_config={**TEXT, "head_dim": 8},
        mm_tokens_per_image=4, image_token_index=tokenizer.image_token_id,
        boi_token_index=tokenizer.boi_token_id, eoi_token_index=tokenizer.eoi_token_id,
    )  # fmt: skip
    processor = hf.Gemma3Processor(
        hf.Gemma3ImageProcessor(size=SQUARE), tokenizer, image_seq_length=4,
        chat_template=CHAT.replace("IMAGE", "<boi>"),
    )  # fmt: skip
    return _built(hf.Gemma3ForConditionalGeneration, config), processor


def _paligemma() -> Family:
    tokenizer = _tokenizer(image_token="<image>")
    config = hf.PaliGemmaConfig(
        vision_config={**TOWER, "vision_use_head": False}, projection_dim=32,
        text_config={**TEXT, "model_type": "gemma", "head_dim": 8},
        image_token_index=tokenizer.image_token_id,
    )  # fmt: skip
    images = hf.SiglipImageProcessor(size=SQUARE)
    images.image_seq_length = 16
    processor = hf.PaliGemmaProcessor(
        images, tokenizer, chat_template=CHAT.replace("IMAGE", "<image>")
    )
    return _built(hf.PaliGemmaForConditionalGeneration, config), processor


def _mllama() -> Family:
    tokenizer = _tokenizer(image_token="<|image|>", python_token="<|python_tag|>")
    config = hf.MllamaConfig(
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
            "num_global_layers": 1, "attention_heads": 4, "image_size": 56, "patch_size": 14,
            "max_num_tiles": 4, "intermediate_layers_indices": [1], "vision_output_dim": 64,
            "supported_aspect_ratios": TILES,
        },
        text_config={
            **TEXT, "cross_attention_layers": [1],
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
        },
        image_token_index=tokenizer.image_token_id,
    )  # fmt: skip
    processor = hf.MllamaProcessor(
        hf.MllamaImageProcessor(size=SQUARE, max_image_tiles=4), tokenizer,
        chat_template=CHAT.replace("IMAGE", "<|image|>"),
    )  # fmt: skip
    return _built(hf.MllamaForConditionalGeneration, config), processor


# The grids of an image of 150 × 100 pixels, and of one of 200 × 80 after it: rows and columns.
FAMILIES: dict[str, tuple[Callable[[], Family], list[tuple[int, int]], list[tuple[int, int]]]] = {
    "LLaVA, a crop from the middle": (_llava, [(4, 4)], [(4, 4)]),
    "LLaVA-NeXT, crops without their padding": (
        _llava_next, [(4, 4), *[(3, 4)] * 4], [(4, 4), *[(4, 4)] * 2],
    ),
    "Idefics3, crops and merged patches": (_idefics3, [(2, 2)] * 5, [(2, 2)] * 3),
    "Gemma 3, patches averaged": (_gemma3, [(2, 2)], [(2, 2)]),
    "PaliGemma": (_paligemma, [(4, 4)], [(4, 4)]),
    "Mllama, keys of cross-attention": (_mllama, [(4, 4)] * 4, [(4, 4)] * 3),
}  # fmt: skip


def _photograph(width: int, height: int, seed: int) -> Image.Image:
    noise = np.random.default_rng(seed).integers(0, 255, (height // 8, width // 8, 3), np.uint8)
    return Image.fromarray(noise).resize((width, height))


def _chat(images: Sequence[Image.Image]) -> list[dict[str, Any]]:
    parts = [{"type": "image", "image": image} for image in images]
    return [{"role": "user", "content": [*parts, {"type": "text", "text": "what is this ?"}]}]


def _seen(record: AttentionRecord) -> tuple[Patches | None, np.ndarray]:
    """The places of the tokens that a language model sees, and vectors of what they are made of."""
    if "text cross" in record.stacks:
        stack = record.stack("text cross")
        tokens, vectors = stack.keys, stack.layers[0].keys
    else:
        stack = record.stack("text")
        tokens, vectors = stack.queries, stack.layers[0].queries
    assert vectors is not None
    return tokens.patches, vectors


def _touched(patches: Patches, image: int, box: Sequence[float]) -> tuple[set[int], set[int]]:
    """The tokens that a change of a box must change, and those that it may, by scaling."""
    certain, possible = set(), set()
    for token in range(len(patches.of)):
        found = patches.grid_of(token)
        if found is None or found[0].image != image:
            continue
        left, top, right, bottom = found[0].box_of(found[1])
        across, down = (right - left) * 0.2, (bottom - top) * 0.2
        if _meet((left + across, top + down, right - across, bottom - down), box):
            certain.add(token)
        if _meet((left - across, top - down, right + across, bottom + down), box):
            possible.add(token)
    return certain, possible


def _meet(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(max(one[n], other[n]) < min(one[n + 2], other[n + 2]) for n in (0, 1))


def _painted(image: Image.Image, box: Sequence[float]) -> Image.Image:
    """The image with other colours in a box, in fractions of it."""
    pixels = np.array(image)
    left, top, right, bottom = (
        round(edge * side) for edge, side in zip(box, (*image.size, *image.size), strict=True)
    )
    pixels[top:bottom, left:right] ^= 128
    return Image.fromarray(pixels)


@pytest.mark.parametrize("name", FAMILIES)
def test_tokens_are_where_a_change_of_the_image_changes_them(name: str) -> None:
    make, first, second = FAMILIES[name]
    model, processor = make()
    for path, module in model.named_modules():
        own = path.rpartition(".")[2] in ("out_proj", "o_proj")
        if own and "vision" in path:
            torch.nn.init.zeros_(module.weight)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)
    images = [_photograph(150, 100, 0), _photograph(200, 80, 1)]
    capture(model, processor, _chat(images), image=False)  # transformers prepares itself
    before = Snapshot(model)
    record = capture(model, processor, _chat(images))
    before.assert_unchanged()
    patches, unchanged = _seen(record)
    assert patches is not None
    grids = [(grid.rows, grid.columns, grid.image) for grid in patches.grids]
    assert grids == [*((*each, 0) for each in first), *((*each, 1) for each in second)]
    assert len(record.images) == 2

    placed = [token for token, place in enumerate(patches.of) if place is not None]
    for token in placed[:: max(1, len(placed) // 12)]:
        found = patches.grid_of(token)
        assert found is not None
        grid, patch = found
        left, top, right, bottom = np.clip(grid.box_of(patch), 0, 1)
        if right - left < 0.05 or bottom - top < 0.05:  # nearly all of it is padding
            continue
        across, down = (right - left) * 0.35, (bottom - top) * 0.35
        box = left + across, top + down, right - across, bottom - down
        painted = list(images)
        painted[grid.image] = _painted(images[grid.image], box)
        _, vectors = _seen(capture(model, processor, _chat(painted), image=False))
        changed = set((np.abs(vectors - unchanged).max(axis=(0, 2)) > 1e-4).nonzero()[0].tolist())
        certain, possible = _touched(patches, grid.image, box)
        assert certain <= changed <= possible, (token, certain ^ changed)


def test_image_tokens_stand_in_the_place_of_their_image_in_the_chat() -> None:
    model, processor = _idefics3()
    record = capture(model, processor, _chat([_photograph(150, 100, 0)]))
    tokens = record.stack("text").queries
    assert tokens.text == "user : <image>what is this ?assistant :"
    assert tokens.patches is not None
    assert tokens.offsets is not None
    for token, place in enumerate(tokens.patches.of):
        assert (tokens.offsets[token] == (7, 14)) or place is None
    assert tokens.pieces is not None
    said = [(tokens.text[7:14] if p.template else "", p.role) for p in tokens.pieces]
    assert said == [("<image>", "user"), ("", "user"), ("<image>", "assistant")]
    content = tokens.pieces[1]
    assert tokens.labels[content.start : content.end] == ("what", "is", "this", "?")


def test_images_beside_a_string_and_beside_inputs() -> None:
    model, processor = _llava()
    image = _photograph(150, 100, 0)
    chat = capture(model, processor, _chat([image]))
    text = "user : <image>what is this ?assistant :"
    beside = capture(model, processor, text, images=[image])
    assert beside.stack("text").queries.patches == chat.stack("text").queries.patches
    inputs = processor(text=text, images=image, return_tensors="pt")
    given = capture(model, processor, inputs, images=image)
    assert given.stack("text").queries.patches == chat.stack("text").queries.patches
    assert given.images == chat.images
    with pytest.raises(ValueError, match="other pixel_values of these images"):
        capture(model, processor, inputs, images=_photograph(150, 100, 1))


def test_items_of_different_numbers_of_crops_are_not_taken_for_each_other() -> None:
    """The tower reads five crops of the first item and three of the second one after the other."""
    model, processor = _idefics3()
    texts = ["what <image> is", "what is this ? <image>"]
    images = [[_photograph(150, 100, 0)], [_photograph(200, 80, 1)]]
    inputs = processor(text=texts, images=images, return_tensors="pt", padding=True)
    for item, crops in enumerate([5, 3]):
        with pytest.warns(UserWarning, match="which of 8 images or sounds belong to which of 2"):
            record = capture(model, None, inputs, batch_index=item)
        assert record.stacks == ("self",)
        patches = record.stack().queries.patches
        assert patches is not None
        assert len(patches.grids) == crops


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("make", [_llava, _llava_next])
def test_places_are_exact_in_half_precision(make: Callable[[], Family], dtype: torch.dtype) -> None:
    model, processor = make()
    chat = _chat([_photograph(300, 200, 0)])
    exact = _seen(capture(model, processor, chat))[0]
    assert exact is not None
    assert not exact.soft
    assert _seen(capture(model.to(dtype), processor, chat))[0] == exact


def _flattened() -> Family:
    model = _built(
        hf.Qwen2VLForConditionalGeneration,
        hf.Qwen2VLConfig(
            vision_config={
                "depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4, "patch_size": 14,
                "spatial_merge_size": 2, "temporal_patch_size": 2, "mlp_ratio": 2,
            },
            text_config={**TEXT, "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2]}},
            image_token_id=60, video_token_id=61, vision_start_token_id=62,
            vision_end_token_id=63,
        ),
    )  # fmt: skip
    return model, hf.Qwen2VLImageProcessor(min_pixels=28 * 28 * 4, max_pixels=28 * 28 * 40)


def test_patches_in_rows_of_numbers() -> None:
    """Qwen's processor flattens patches, and puts those together that a token merges."""
    model, processor = _flattened()
    images = [_photograph(140, 84, 0), _photograph(84, 140, 1)]
    pixels = processor(images=images, return_tensors="pt")
    ids = torch.tensor([[5, 62, *[60] * 15, 63, 62, *[60] * 15, 63, 6]])
    inputs = {**pixels, "input_ids": ids, "mm_token_type_ids": (ids == 60).int()}
    record = capture(model, processor, inputs, images=images)
    patches = record.stack("text").queries.patches
    assert patches is not None
    whole = (0.0, 0.0, 1.0, 1.0)
    sizes = [(grid.rows, grid.columns, grid.image, grid.name) for grid in patches.grids]
    assert sizes == [(3, 5, 0, "image 1"), (5, 3, 1, "image 2")]
    for grid in patches.grids:
        assert grid.box == pytest.approx(whole, abs=2e-3)
    assert patches.of == (None, None, *range(15), None, None, *range(15, 30), None, None)
    towers = [record.stack(name).queries.patches for name in record.stacks if "vision" in name]
    assert [tower and tower.grids[0].name for tower in towers] == ["image 1", "image 2"]
    assert aw.head_outputs(model, None, inputs).layers.keys() == set(record.stacks)


def test_an_image_of_one_row_of_tokens() -> None:
    model, processor = _flattened()
    image = _photograph(112, 28, 0)
    pixels = processor(images=image, return_tensors="pt")
    ids = torch.tensor([[62, *[60] * 4, 63]])
    inputs = {**pixels, "input_ids": ids, "mm_token_type_ids": (ids == 60).int()}
    patches = capture(model, processor, inputs, images=image).stack("text").queries.patches
    assert patches is not None
    (grid,) = patches.grids
    assert (grid.rows, grid.columns) == (1, 4)
    assert grid.box == pytest.approx((0, 0, 1, 1), abs=2e-3)


def test_images_of_one_size_that_a_tower_reads_in_turn_are_stacks() -> None:
    model, processor = _flattened()
    images = [_photograph(140, 84, seed) for seed in (0, 1)]
    pixels = processor(images=images, return_tensors="pt")
    ids = torch.tensor([[5, 62, *[60] * 15, 63, 62, *[60] * 15, 63, 6]])
    inputs = {**pixels, "input_ids": ids, "mm_token_type_ids": (ids == 60).int()}
    record = capture(model, processor, inputs, images=images)
    assert record.stacks == ("text", "vision 1", "vision 2")
    for number in (1, 2):
        stack = record.stack(f"vision {number}")
        assert stack.numbers == (0, 1)
        assert stack.queries.patches is not None
        assert stack.queries.patches.grids[0].name == f"image {number}"
    assert aw.head_outputs(model, None, inputs).layers.keys() == set(record.stacks)


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode])
def test_places_are_found_where_gradients_are_off(context: Callable[[], Any]) -> None:
    model, processor = _llava()
    inputs = processor(text="what <image>", images=_photograph(56, 56, 0), return_tensors="pt")
    expected = capture(model, None, inputs).stack("text").queries.patches
    assert expected is not None
    with context():
        inside = {name: each.clone() for name, each in inputs.items()}
        found = capture(model, None, inside)
        generated = capture(model, None, inside, generate=2)
    assert found.stack("text").queries.patches == expected
    assert generated.stack("text").queries.patches is not None


class Filming:
    """A processor that reads videos, as Qwen's: a token has 2 × 2 patches of two frames.

    Qwen's own processor of videos needs torchvision.
    """

    video_processor = True
    chat_template = "written by apply_chat_template"

    def __init__(self) -> None:
        self.tokenizer = _tokenizer(pad="<pad_video>", start="<start>", stop="<stop>")
        self.images = hf.Qwen2VLImageProcessor(min_pixels=28 * 28 * 4, max_pixels=28 * 28 * 40)

    def __call__(self, **_inputs: Any) -> Any:
        raise AssertionError("the chat is written by its template")

    def apply_chat_template(
        self, messages: Any, *, tokenize: bool, do_sample_frames: bool = True, **_options: Any
    ) -> Any:
        text, count = "", 0
        for part in messages[0]["content"]:
            if part["type"] == "video":
                found = self.images(images=list(part["video"]), return_tensors="pt")
                each = found["pixel_values"].view(len(part["video"]), -1, 3, 2, 14 * 14)
                pixels = torch.stack([each[::2, ..., 0, :], each[1::2, ..., 1, :]], -2)
                pixels = pixels.flatten(0, 1).flatten(1)
                rows = found["image_grid_thw"][0, 1:].tolist()
                count = len(pixels) // 4
                text += "<start><pad_video><stop>"
            else:
                text += part["text"]
        if not tokenize:
            return text
        assert not do_sample_frames
        ids = self.tokenizer(text.replace("<pad_video>", "<pad_video>" * count))["input_ids"]
        pad = self.tokenizer.convert_tokens_to_ids("<pad_video>")
        frames = pixels.shape[0] // (rows[0] * rows[1])
        ids = torch.tensor([[61 if n == pad else n for n in ids]])
        return {
            "input_ids": ids, "mm_token_type_ids": (ids == 61).int() * 2,
            "pixel_values_videos": pixels, "video_grid_thw": torch.tensor([[frames, *rows]]),
        }  # fmt: skip


def _film(frames: Any) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": [
            {"type": "video", "video": frames}, {"type": "text", "text": "what is this ?"},
        ]},
    ]  # fmt: skip


def test_a_video_in_a_chat_has_a_grid_for_the_frames_that_a_token_reads() -> None:
    model, _ = _flattened()
    frames = [_photograph(140, 84, seed) for seed in range(6)]
    record = capture(model, Filming(), _film(frames))
    patches = record.stack("text").queries.patches
    assert patches is not None
    assert not patches.soft
    names = ["frames 1–2", "frames 3–4", "frames 5–6"]
    shown = [(each.rows, each.columns, each.image, each.name) for each in patches.grids]
    assert shown == [(3, 5, n, name) for n, name in enumerate(names)]
    assert [place for place in patches.of if place is not None] == list(range(45))
    assert len(record.images) == 3
    as_array = np.stack([np.asarray(frame) for frame in frames])
    again = capture(model, Filming(), _film(as_array))
    assert (again.images, again.stack("text").queries) == (
        record.images, record.stack("text").queries,
    )  # fmt: skip
    assert {grid.video for grid in patches.grids} == {"video"}


def test_a_video_is_one_part_of_what_an_answer_was_written_from() -> None:
    model, _ = _flattened()
    frames = [_photograph(140, 84, seed) for seed in range(4)]
    processor = Filming()
    record = capture(model, processor, _film(frames))
    running = running_text(record.stack("text"))
    assert running is not None
    assert [running.name_of(span) for span in running.sentences] == ["video", None]
    two = Grid(1, 1, 3, name="frames 3–4 of video 2")
    assert two.video == "video 2"


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ("film.mp4", "choose so: .*load_video"),
        (np.zeros((2, 3, 8, 8), np.uint8), r"array uint8 \[frames, height, width, 3\]; this is"),
        ([Image.new("RGB", (8, 8)), Image.new("RGB", (8, 9))], "of several sizes"),
        ([Image.new("RGB", (8, 8))] * 65, r"more than 64: .* video\[::2\]"),
    ],
)
def test_a_video_that_cannot_be_read(frames: Any, message: str) -> None:
    model, _ = _flattened()
    with pytest.raises((TypeError, ValueError), match=message):
        capture(model, Filming(), _film(frames))


def test_a_processor_without_videos() -> None:
    model, processor = _llava()
    with pytest.raises(TypeError, match="reads no video: give its frames as images"):
        capture(model, processor, _film([_photograph(56, 56, 0)] * 2))


class Fickle:
    """A processor that looks at what is on an image."""

    def __call__(self, images: Any, **_: Any) -> dict[str, torch.Tensor]:
        seen = torch.tensor(np.array(images[0])).permute(2, 0, 1)[None].float() / 255
        return {"pixel_values": seen if seen.mean() < 0.6 else seen[..., :28, :28]}


def test_a_processor_that_depends_on_what_is_shown() -> None:
    model = build(hf.CLIPVisionModel, hf.CLIPVisionConfig(**TOWER))
    with pytest.warns(UserWarning, match="other pixel_values of other images of the same size"):
        record = capture(model, Fickle(), _photograph(56, 56, 0).point(lambda light: light // 2))
    assert record.images == ()


class Cropping:
    """A processor that takes another part of an image each time."""

    def __init__(self) -> None:
        self._at = 0

    def __call__(self, images: Any, **_: Any) -> dict[str, torch.Tensor]:
        self._at += 1
        seen = torch.tensor(np.array(images[0])).permute(2, 0, 1)[None].float() / 255
        return {"pixel_values": seen[..., self._at : self._at + 56]}


def test_a_processor_that_takes_another_part_each_time() -> None:
    model = build(hf.CLIPVisionModel, hf.CLIPVisionConfig(**TOWER))
    with pytest.warns(UserWarning, match="other numbers of the same images each time"):
        record = capture(model, Cropping(), _photograph(88, 56, 0))
    assert record.images == ()


@pytest.mark.parametrize(
    ("text", "images", "message"),
    [
        ("what is <image>?", "missing.png", "no image can be read from .*there is no such file"),
        ("what is <image>?", (), "the text has a place for an image, <image>, but there is none"),
        ([{"role": "user", "content": [{"type": "image"}]}], (), "there is none"),
        (_chat([_photograph(8, 8, 0)]), [_photograph(8, 8, 0)], "more than places"),
        ("what is <image>?", "http://localhost:1/image.png", "no image can be read"),
    ],
)
def test_images_that_are_not_there(text: Any, images: Any, message: str) -> None:
    model, processor = _llava()
    with pytest.raises(ValueError, match=message):
        capture(model, processor, text, images=images)


def test_an_array_is_no_image() -> None:
    model, processor = _llava()
    array: Any = np.zeros((8, 8, 3), np.uint8)
    with pytest.raises(TypeError, match=r"an image is ndarray; .*fromarray"):
        capture(model, processor, _chat([array]))
    with pytest.raises(TypeError, match=r"text is ndarray; .*fromarray"):
        capture(model, processor, array)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P"])
def test_a_vision_model_reads_paths_and_images_of_any_mode(mode: str, tmp_path: Path) -> None:
    model = _built(hf.ViTModel, hf.ViTConfig(**TOWER))
    processor = hf.ViTImageProcessor(size=SQUARE)
    image, path = _photograph(60, 40, 0).convert(mode), tmp_path / "photograph.png"
    image.save(path)
    expected = capture(model, processor, image.convert("RGB")).weights(0, 0)
    for given in (image, path, str(path)):
        record = capture(model, processor, given)
        np.testing.assert_array_equal(record.weights(0, 0), expected)
        assert record.region(1) == (0, (0, 0, 0.25, 0.25))


def test_a_part_that_is_neither_text_nor_image() -> None:
    model, processor = _llava()
    parts = [{"type": "image", "image": _photograph(8, 8, 0)}, "what is this ?"]
    with pytest.raises(TypeError, match="message 0 has a part 'str'"):
        capture(model, processor, [{"role": "user", "content": parts}])


def test_contents_that_are_strings_beside_images_reach_the_model() -> None:
    """The template writes lists of parts alone, and nothing of a string."""
    model, processor = _llava()
    chat = [*_chat([_photograph(56, 56, 0)]), {"role": "assistant", "content": "this is what"}]
    with pytest.warns(UserWarning, match="each is given as a list of parts"):
        tokens = capture(model, processor, chat).stack("text").queries
    assert tokens.labels[-3:] == ("this", "is", "what")
    assert tokens.text == "user : <image>what is this ?assistant : this is what"


def test_a_path_of_an_image(tmp_path: Path) -> None:
    model, processor = _llava()
    image = _photograph(56, 56, 0)
    image.save(tmp_path / "image.png")
    by_path = capture(model, processor, "what is <image>", images=tmp_path / "image.png")
    given = capture(model, processor, "what is <image>", images=image)
    assert by_path.images == given.images


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 60)])
@pytest.mark.parametrize("make", [_llava, _llava_next])
def test_an_image_of_one_row_of_pixels_has_no_places(
    make: Callable[[], Family], size: tuple[int, int]
) -> None:
    model, processor = make()
    with pytest.warns(UserWarning, match=rf"{size[0]} × {size[1]} pixels, too few .* enlarge it"):
        record = capture(model, processor, _chat([Image.new("RGB", size)]))
    assert record.stack("text").queries.patches is None
    assert record.images == ()


def test_a_tokenizer_that_reads_no_images() -> None:
    model, processor = _llava()
    with pytest.raises(TypeError, match="needs the model's processor"):
        capture(model, processor.tokenizer, _chat([_photograph(8, 8, 0)]))


def test_an_image_is_a_part_of_what_an_answer_was_written_from() -> None:
    model, processor = _llava_next()
    found = aw.answer(model, processor, _chat([_photograph(150, 100, 0)]), generate=6)
    assert found.parts == ("image", "what is this ?")
    found.cut()
    table = found.table()
    assert table["share"].sum() == pytest.approx(1)
    tokens = found.record.stack("text").queries
    assert tokens.patches is not None
    placed = [at for at, place in enumerate(tokens.patches.of) if place is not None]
    first, last = placed[0], placed[-1]
    # With what stands between patches: ends of rows.
    assert table["even"][1] == pytest.approx((last + 1 - first) / (last + 1 - first + 4))
    assert table["cut"].abs().all()


def test_an_answer_where_the_processor_adds_labels() -> None:
    model, processor = _paligemma()
    found = aw.answer(model, processor, _chat([_photograph(56, 56, 0)]), generate=3)
    assert np.isfinite(found.cut()).all()


def test_an_image_alone_for_a_model_that_reads_text_with_it() -> None:
    model, processor = _llava()
    with pytest.raises(TypeError, match="LlavaProcessor reads images within a text"):
        capture(model, processor, _photograph(56, 56, 0))
