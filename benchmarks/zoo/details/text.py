"""Models of text."""

from __future__ import annotations

from .detail import Detail, given

_MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 16}
_HEAD = {"head_dim": 16}

TEXT = {
    "bamba": Detail({**_MAMBA, "attn_layer_indices": [1]}),
    "blt": Detail(
        {
            "encoder_hash_byte_group_vocab": 1000,
            "encoder_config": {"hidden_size_global": 64},
            "decoder_config": {"hidden_size_global": 64},
        },
        given(use_cache=False),
    ),
    "clvp_encoder": Detail({"num_attention_heads": 2}),
    "cohere_compass_text": Detail(
        {
            "layer_types": ["sliding_attention", "full_attention"],
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                "full_attention": {"rope_type": "default", "rope_theta": 1e4},
            },
        }
    ),
    "dbrx": Detail({"attn_config": {"rope_theta": 1e4, "kv_n_heads": 2, "clip_qkv": 8.0}}),
    "deepseek_v2": Detail({**_HEAD, "num_experts_per_tok": 2}),
    "dots1": Detail({"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2}),
    "dots3_note_text": Detail(
        {
            "num_key_value_heads": 4,
            "kv_lora_rank": 32,
            "qk_nope_head_dim": 16,
            "head_dim": 32,
            "swa_num_attention_heads": 4,
            "swa_num_key_value_heads": 4,
            "swa_q_lora_rank": 32,
            "swa_kv_lora_rank": 32,
            "swa_head_dim": 32,
            "swa_qk_nope_head_dim": 16,
            "swa_v_head_dim": 16,
            "rope_parameters": None,
        }
    ),
    "ernie4_5_moe": Detail(
        {"moe_k": 2, "moe_num_experts": 4, "moe_num_shared_experts": 1, "moe_layer_end_index": 1}
    ),
    "esm": Detail({"vocab_size": 128, "pad_token_id": 1, "mask_token_id": 96}),
    "falcon_h1": Detail({**_MAMBA, "mamba_n_heads": 4, "mamba_d_ssm": 64}),
    "funnel": Detail({"block_sizes": [2, 2], "block_repeats": [1, 1]}),
    "glm5_next_text": Detail({"index_kpool": 2, "index_topk": 4}),
    "gpt_neo": Detail(
        {
            "attention_types": [[["global", "local"], 1]],
            "attention_layers": ["global", "local"],
            "window_size": 4,
        }
    ),
    "granitemoehybrid": Detail({**_MAMBA, "layer_types": ["linear_attention", "full_attention"]}),
    "hunyuan_v1_dense": Detail(_HEAD),
    "hunyuan_v1_moe": Detail(_HEAD),
    "jamba": Detail({"attn_layer_period": 2, "attn_layer_offset": 1}),
    "layoutlmv3": Detail({"coordinate_size": 12, "shape_size": 8, "input_size": 32}),
    "lfm2_moe": Detail({"layer_types": ["conv", "full_attention"], "num_dense_layers": 1}),
    "lilt": Detail({"hidden_size": 96}),
    "mamba2": Detail({"num_heads": 8, "n_groups": 2}),
    "ministral": Detail(_HEAD),
    "nemotron": Detail({"num_key_value_heads": 2}),
    "nemotron_h": Detail({"n_groups": 2, "mamba_num_heads": 8, "ssm_state_size": 16}),
    "qwen4_exp_text": Detail(
        {
            "indexer_n_heads": 2,
            "indexer_kv_heads": 1,
            "indexer_head_dim": 16,
            "indexer_budget": 8,
            "indexer_compress_ratio": 2,
        }
    ),
    "recurrent_gemma": Detail(
        {"num_hidden_layers": 3, "num_key_value_heads": 2, "attention_window_size": 8}
    ),
    "reformer": Detail(
        {
            "axial_pos_shape": (8, 16),
            "axial_pos_embds_dim": (32, 32),
            "attn_layers": ("local", "lsh"),
            "local_attn_chunk_length": 4,
            "lsh_attn_chunk_length": 4,
        }
    ),
    "xmod": Detail({"default_language": "en_XX"}),
    "zamba": Detail(
        {
            "num_hidden_layers": 4,
            "layers_block_type": ["linear_attention", "hybrid"] * 2,
            "attention_hidden_size": 128,
            "attention_head_dim": 32,
            "mamba_dt_rank": 4,
        }
    ),
}
