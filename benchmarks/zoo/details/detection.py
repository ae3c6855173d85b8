"""Models of detection, segmentation and depth."""

from __future__ import annotations

from .detail import Detail, normal

# Replaces one of timm's backbones.
_RESNET = Detail(
    {
        "backbone_config": {
            "model_type": "resnet",
            "depths": [1, 1, 1, 1],
            "embedding_size": 16,
            "hidden_sizes": [16, 32, 64, 64],
        }
    }
)
_LEVELS = {"decoder_in_channels": [64, 64, 64]}
_HIERA = {
    "hidden_size": 16,
    "image_size": [64, 64],
    "window_positional_embedding_background_size": [4, 4],
    "blocks_per_stage": [1, 2, 2, 1],
    "embed_dim_per_stage": [16, 32, 64, 128],
    "num_attention_heads_per_stage": [1, 2, 4, 8],
    "window_size_per_stage": [4, 4, 4, 2],
    "global_attention_blocks": [4],
}
_HIERA_NECK = {
    "backbone_channel_list": [128, 64, 32, 16],
    "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
}
_PROMPT = {"hidden_size": 64, "image_size": 64, "patch_size": 16}
_SAM = Detail(
    {
        "vision_config": {
            "image_size": 64,
            "patch_size": 16,
            "output_channels": 64,
            "num_pos_feats": 32,
            "window_size": 2,
            "global_attn_indexes": [1],
        },
        "prompt_encoder_config": _PROMPT,
    }
)

DETECTION = {
    "chmv2": Detail({"backbone_config": {"return_class_token": True}}),
    "conditional_detr": _RESNET,
    "d_fine": Detail(_LEVELS),
    "dab-detr": _RESNET,
    "deformable_detr": _RESNET,
    "deimv2": Detail(_LEVELS),
    "depth_pro": Detail(
        {
            "patch_size": 32,
            "intermediate_hook_ids": [1, 0],
            "intermediate_feature_dims": [64, 64],
            "scaled_images_feature_dims": [64, 64, 64],
            "image_model_config": {"image_size": 32},
            "patch_model_config": {"image_size": 32},
            "fov_model_config": {"image_size": 32},
        },
        normal(pixel_values=(1, 3, 128, 128)),
    ),
    "detr": _RESNET,
    "lw_detr": Detail({"projector_scale_factors": [1.0]}),
    "lw_detr_vit": Detail({"image_size": 64, "num_windows": 4, "window_block_indices": [0]}),
    "pp_doclayout_v2": Detail(
        {
            **_LEVELS,
            "class_thresholds": [0.5] * 25,
            "class_order": list(range(25)),
            "reading_order_config": {"max_2d_position_embeddings": 1024},
        }
    ),
    "pp_doclayout_v3": Detail({**_LEVELS, "x4_feat_dim": 128}),
    "pp_doclayout_v4": Detail(_LEVELS),
    "rt_detr": Detail(_LEVELS),
    "rt_detr_v2": Detail(_LEVELS),
    "sam": _SAM,
    "sam_hq": _SAM,
    "sam2": Detail({"vision_config": _HIERA_NECK, "prompt_encoder_config": _PROMPT}),
    "sam2_hiera_det_model": Detail(_HIERA),
    "sam2_vision_model": Detail(_HIERA_NECK),
    "sam3_tracker": Detail(
        {
            "vision_config": {"backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]]},
            "prompt_encoder_config": {"image_size": 32, "patch_size": 8},
        }
    ),
    "table-transformer": _RESNET,
}
