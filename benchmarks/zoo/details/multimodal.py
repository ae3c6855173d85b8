"""Models of text together with images or sound."""

from __future__ import annotations

import torch

from .detail import Detail, each, given, normal, ones, tokens
from .towers import patches

# Their images or sounds take more than a line to prepare. Most of their towers are architectures
# of their own, or those of other models here.
_TEXT_ALONE = [
    "colmodernvbert",
    "colpali",
    "colqwen2",
    "cosmos3_omni",
    "deepseek_ocr2",
    "deepseek_vl_hybrid",
    "diffusion_gemma",
    "dots3_note",
    "embedding_gemma2",
    "ernie4_5_vl_moe",
    "fuyu",
    "gemma4",
    "gemma4_unified",
    "glm_image",
    "glmasr",
    "granite_docling",
    "granite_speech",
    "granite_speech_plus",
    "hunyuan_vl",
    "inkling2",
    "inkling_mm_model",
    "kimi_k25",
    "llama4",
    "minicpm_ocr",
    "minicpmv4_6",
    "minicpmv4_7",
    "mistral_large4",
    "moss_transcribe_diarize",
    "muse_glimmer",
    "muse_spark",
    "musicflamingo",
    "nemotron_h_omni",
    "neomme",
    "paddleocr_vl",
    "qwen2_audio",
    "qwen3_asr",
    "step3p7",
    "t5gemma2",
    "unlimited_ocr",
    "video_llama_3",
    "vipllava",
    "voxtral",
]
_no_media = given(
    pixel_values=None, image_grid_thw=None, input_features=None, input_features_mask=None
)
# One image per text, in a list of images.
_LISTED = Detail(inputs=normal(pixel_values=(1, 1, 3, 32, 32)))
_SIZED = Detail(
    inputs=each(normal(pixel_values=(1, 3, 32, 32)), given(image_sizes=torch.tensor([[32, 32]])))
)
_TILES = Detail(
    {"image_grid_pinpoints": [[32, 64]]},
    each(normal(pixel_values=(1, 3, 3, 32, 32)), given(image_sizes=torch.tensor([[32, 64]]))),
)
_THINKER = Detail({"vision_start_token_id": 120, "audio_start_token_id": 121}, _no_media)

MULTIMODAL = {name: Detail(inputs=_no_media) for name in _TEXT_ALONE} | {
    "align": Detail({"projection_dim": 640}),
    "aria": Detail({"projector_patch_to_query_dict": {16: 8}}),
    "blip-2": Detail({"image_token_index": 100}),
    "chameleon": Detail({"vocabulary_map": {"<image>": 100, "IMGIMGAZ": 101}}, _no_media),
    "emu3": Detail(
        {"vocabulary_map": {"<image>": 100, "<|extra_200|>": 101, "<|visual token 000000|>": 102}},
        _no_media,
    ),
    "fun_asr_nano": Detail({"adaptor_config": {"intermediate_size": 16}}, _no_media),
    "gemma3": Detail({"mm_tokens_per_image": 4}),
    "idefics": Detail(
        inputs=each(normal(pixel_values=(1, 1, 3, 32, 32)), ones(image_attention_mask=(1, 12, 1)))
    ),
    "idefics2": _LISTED,
    "idefics3": _LISTED,
    "instructblip": Detail({"image_token_index": 100}, tokens(qformer_input_ids=6)),
    "instructblipvideo": Detail(
        {"video_token_index": 100},
        each(tokens(qformer_input_ids=6), normal(pixel_values=(1, 4, 3, 32, 32))),
    ),
    "kosmos-2": Detail(
        {"latent_query_num": 4},
        each(
            normal(pixel_values=(1, 3, 32, 32)),
            given(image_embeds_position_mask=torch.tensor([[0] * 2 + [1] * 4 + [0] * 6])),
        ),
    ),
    "lfm2_vl": Detail(inputs=patches(192)),
    "lighton_ocr": _SIZED,
    "llava_next": _TILES,
    "llava_next_video": _TILES,
    "llava_onevision": _TILES,
    "lxmert": Detail(
        {"visual_feat_dim": 64}, normal(visual_feats=(1, 9, 64), visual_pos=(1, 9, 4))
    ),
    "mistral3": _SIZED,
    "mllama": Detail(
        {"vision_config": {"intermediate_layers_indices": [0, 1], "vision_output_dim": 192}},
        each(
            normal(pixel_values=(1, 1, 4, 3, 32, 32)),
            ones(aspect_ratio_ids=(1, 1), aspect_ratio_mask=(1, 1, 4)),
        ),
    ),
    "modernvbert": _LISTED,
    "molmo2": Detail({"adapter_config": {"vision_feature_layer": [1, 0]}}, _no_media),
    "pi0": Detail(
        inputs=each(
            normal(action_embeds=(1, 4, 64), pixel_values=(1, 1, 3, 32, 32)),
            given(pixel_attention_mask=torch.ones(1, 1, dtype=torch.bool)),
        )
    ),
    "qwen2_5_omni_thinker": _THINKER,
    "qwen3_omni_moe_thinker": _THINKER,
    "shieldgemma2": Detail({"mm_tokens_per_image": 4}),
    "siglip2": Detail(inputs=patches(192)),
    "smolvlm": _LISTED,
    "ultravbert": _LISTED,
}
