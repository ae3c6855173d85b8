"""Tiny models with sharp random weights, in the kinds of attention that vLLM has."""

from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM

import attnwidget as aw

_SIZES: dict[str, Any] = {
    "vocab_size": 200, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4,
    "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 32,
    "max_position_embeddings": 256, "pad_token_id": None, "eos_token_id": 199, "bos_token_id": 1,
}  # fmt: skip

# By name: the config's class, and what is other than above.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", {}),
    "one key head": ("LlamaConfig", {"num_key_value_heads": 1}),
    "window": ("MistralConfig", {"sliding_window": 8}),
    "softcap": ("Gemma2Config", {
        "sliding_window": 8, "attn_logit_softcapping": 4.0, "query_pre_attn_scalar": 8,
    }),
    "sinks": ("GptOssConfig", {
        "sliding_window": 8, "num_local_experts": 4, "num_experts_per_tok": 2,
    }),
    "bfloat16": ("Qwen3Config", {}),
}  # fmt: skip


def made(name: str, folder: Path) -> Any:
    """A model with weights so large that attention is sharp, saved in a folder."""
    kind, options = MODELS[name]
    config = getattr(transformers, kind)(**(_SIZES | options))
    config.attn_implementation = "eager"
    torch.manual_seed(0)
    dtype = torch.bfloat16 if name == "bfloat16" else torch.float32
    model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="eager")
    with torch.no_grad():
        for key, weights in model.named_parameters():
            if key.endswith(("q_proj.weight", "k_proj.weight")):
                weights.normal_(std=0.3)
            elif key.endswith("sinks"):
                weights.normal_(std=2)
            elif weights.ndim > 1:
                weights.normal_(std=0.1)
    model.generation_config.do_sample = False
    model.save_pretrained(folder)
    return model.eval()


def prompts(*lengths: int) -> list[list[int]]:
    """Token ids of these lengths."""
    random = torch.Generator().manual_seed(1)
    return [torch.randint(2, 198, (length,), generator=random).tolist() for length in lengths]


def profiled(model: Any) -> Any:
    """The profile of a model, or of an engine with it, with all nulls that both have."""
    texts = [
        {"input_ids": torch.tensor([ids])} for ids in prompts(*(7 + n % 23 for n in range(30)))
    ]
    nulls = ["position", "shuffled", "best offset"]
    return aw.profile(model, None, texts, null=nulls, batch_size=4)
