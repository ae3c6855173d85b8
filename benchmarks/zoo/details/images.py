"""Models of images and videos."""

from __future__ import annotations

import torch

from .detail import Detail, normal, tokens

# Four stages whose grids (16, 8, 4 and 2 wide) divide into windows.
_SWIN = Detail(
    {
        "embed_dim": 32,
        "depths": [2, 2, 2, 2],
        "num_heads": [2, 2, 4, 4],
        "window_size": 2,
        "image_size": 64,
        "patch_size": 4,
    }
)
# A line of text, wide and low.
_LINE = Detail(inputs=normal(pixel_values=(1, 3, 48, 96)))


def _pair(model: object) -> dict[str, torch.Tensor]:
    """Two images to match."""
    return {"pixel_values": torch.rand(1, 2, 3, 64, 64)}


IMAGES = {
    "donut-swin": _SWIN,
    "efficientloftr": Detail(
        {
            "stage_num_blocks": [1, 1, 1, 1],
            "out_features": [64, 64, 64, 64],
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1e4,
                "partial_rotary_factor": 2.0,
            },
        },
        _pair,
    ),
    "levit": Detail(
        {
            "image_size": 64,
            "patch_size": 16,
            "hidden_sizes": [32, 32, 32],
            "num_attention_heads": [2, 2, 2],
            "depths": [1, 1, 1],
        }
    ),
    "lightglue": Detail(inputs=_pair),
    "maskformer-swin": _SWIN,
    "mobilevitv2": Detail(inputs=normal(pixel_values=(1, 3, 64, 64))),
    "perceiver": Detail({"d_model": 64, "num_blocks": 1}, normal(inputs=(1, 12, 64))),
    "pix2struct": Detail(inputs=lambda model: {"flattened_patches": torch.rand(1, 12, 2 + 64)}),
    "pp_ocrv5_server_rec": _LINE,
    "pp_ocrv6_small_rec": _LINE,
    "pp_ocrv6_tiny_rec": _LINE,
    "pvt": Detail(
        {
            "image_size": 64,
            "num_encoder_blocks": 4,
            "sequence_reduction_ratios": [4, 2, 1, 1],
            "hidden_sizes": [16, 32, 64, 64],
            "num_attention_heads": [1, 2, 4, 4],
            "depths": [1, 1, 1, 1],
        }
    ),
    "sapiens2": Detail({"num_key_value_heads_per_layer": [4, 2]}),
    "seggpt": Detail(
        {"image_size": [64, 32]},
        normal(
            pixel_values=(1, 3, 32, 32),
            prompt_pixel_values=(1, 3, 32, 32),
            prompt_masks=(1, 3, 32, 32),
        ),
    ),
    "superglue": Detail(inputs=_pair),
    "superpoint": Detail(
        {"keypoint_decoder_dim": 65, "keypoint_threshold": 0.0, "max_keypoints": 20},
        lambda model: {"pixel_values": torch.rand(1, 3, 64, 64)},
    ),
    "swin": _SWIN,
    "swin2sr": Detail({"embed_dim": 32, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}),
    "swinv2": _SWIN,
    "tvp": Detail(
        {"max_img_size": 64, "visual_prompt_size": 8, "num_frames": 2},
        normal(pixel_values=(1, 2, 3, 64, 64)),
    ),
    "videoprism_vision_model": Detail({"num_frames": 4, "tubelet_size": [1, 8, 8]}),
    "oneformer": Detail(inputs=lambda model: tokens(task_inputs=model.config.task_seq_len)(model)),
}
