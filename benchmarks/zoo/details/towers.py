"""The parts of multimodal models that are architectures of their own."""

from __future__ import annotations

import torch

from .detail import Detail, Make, each, given, normal, ones, rope


def _frames(width: int) -> Make:
    """Sixteen patches of an image four wide and four high, each a row."""
    return each(normal(pixel_values=(16, width)), given(grid_thw=torch.tensor([[1, 4, 4]])))


def patches(width: int) -> Make:
    """Sixteen patches of an image four wide and four high, in a batch."""
    return each(
        normal(pixel_values=(1, 16, width)),
        ones(pixel_attention_mask=(1, 16)),
        given(spatial_shapes=torch.tensor([[4, 4]])),
    )


_WINDOWS = Detail({"window_size": 32, "fullatt_block_indexes": [1]})
_AXES = Detail(rope(2, 3, 3))

TOWERS = {
    "blip_2_qformer": Detail(
        {"encoder_hidden_size": 64},
        normal(query_embeds=(1, 8, 64), encoder_hidden_states=(1, 12, 64)),
    ),
    "cosmos3_edge_text": Detail(rope(4, 2, 2)),
    "cosmos3_edge_vision": Detail(inputs=_frames(192)),
    "deepseek_ocr2_text": Detail(
        {"mlp_layer_types": ["dense", "sparse"], "num_experts_per_tok": 2}
    ),
    "diffusion_gemma_text": Detail(
        {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 32}
    ),
    "ernie4_5_vl_moe_text": Detail({**rope(3, 3, 2), "moe_k": 2, "moe_num_experts": 4}),
    "exaone4_5_vision": _WINDOWS,
    "gemma4_text": Detail({"global_head_dim": 16}),
    "gemma4_unified_text": Detail({"global_head_dim": 16}),
    "gemma4_vision": Detail(
        inputs=each(
            normal(pixel_values=(1, 36, 192)),
            given(pixel_position_ids=torch.cartesian_prod(torch.arange(6), torch.arange(6))[None]),
        )
    ),
    "glm4v_moe_text": Detail(rope(2, 1, 1)),
    "glm4v_text": _AXES,
    "glm_image_text": _AXES,
    "glm_ocr_text": _AXES,
    "hunyuan_vl_text": Detail({"head_dim": 16, **rope(2, 2, 2, 2, xdrope_section=[2, 2, 2, 2])}),
    "hunyuan_vl_vision": Detail(inputs=_frames(192)),
    "kimi_k25_vision": Detail(
        inputs=each(normal(pixel_values=(16, 3, 8, 8)), given(grid_thw=torch.tensor([[1, 4, 4]])))
    ),
    "lfm3_vl_vision": Detail(inputs=_frames(384)),
    "muse_glimmer_vision": Detail(inputs=_frames(384)),
    "muse_spark_vision": Detail(inputs=_frames(384)),
    "paddleocr_vl_text": _AXES,
    "qwen2_5_omni_text": _AXES,
    "qwen2_5_omni_vision_encoder": _WINDOWS,
    "qwen2_5_vl_text": _AXES,
    "qwen2_5_vl_vision": _WINDOWS,
    "qwen2_vl_text": _AXES,
    "siglip2_vision_model": Detail(inputs=patches(192)),
    "step3p5": Detail({"sliding_window": 8}),
    "t5gemma2_encoder": Detail({"mm_tokens_per_image": 4, "text_config": {"dropout_rate": 0.0}}),
    "video_llama_3_vision": Detail(inputs=each(_frames(192), given(merge_sizes=torch.tensor([2])))),
}
