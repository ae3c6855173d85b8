"""Architectures of every kind: a sample of what `python -m benchmarks.coverage` compares."""

import pytest

from benchmarks.coverage.examine import examine
from benchmarks.coverage.result import Category

EXACT = {
    "encoders": ["albert", "bert", "distilbert", "electra", "modernbert", "mpnet", "roberta"],
    "encoders with relative positions": [
        "deberta",
        "deberta-v2",
        "roformer",
        "xlnet",
    ],
    "decoders": ["gpt2", "llama", "gptj", "gpt_neox", "opt", "phi3", "xlm"],
    "decoders with shared keys": ["falcon", "gpt_bigcode", "mistral", "qwen3", "stablelm"],
    "latent attention": ["deepseek_v3", "minicpm3"],
    "selected keys": ["deepseek_v32"],
    "linear biases": ["bloom", "mpt"],
    "softcaps": ["gemma2"],
    "sinks": ["gpt_oss"],
    "windows of text": ["cohere2", "gpt_neo"],
    "mixtures of experts": ["mixtral", "qwen3_moe"],
    "encoders and decoders": ["bart", "pegasus", "t5", "t5gemma"],
    "pages": ["layoutlmv3", "lilt"],
    "images": ["beit", "dinov2", "siglip_vision_model", "vit"],
    "windows of images": ["swin", "swinv2"],
    "objects in images": ["deformable_detr", "detr", "yolos"],
    "without a softmax in some layers": ["bamba", "jamba", "minimax", "recurrent_gemma", "zamba"],
    "sound": ["hubert", "wav2vec2", "whisper"],
    "series": ["patchtst", "time_series_transformer"],
    "images and text": ["blip", "clip", "llava", "qwen2_vl", "vilt"],
}
SAMPLE = {name: Category.EXACT for names in EXACT.values() for name in names} | {
    # After embeddings of three tokens each.
    "mobilebert": Category.PARTIAL,
    # Returns its scores as they are before the softmax.
    "squeezebert": Category.WRONG_REFERENCE,
    # Recurrences alone, each checked against its own function.
    "mamba": Category.NO_REFERENCE,
    # No attention: convolutions.
    "resnet": Category.NO_ATTENTION,
}


@pytest.mark.parametrize("name", SAMPLE)
def test_equals_the_models_own_attention_and_leaves_its_outputs(name: str) -> None:
    """A changed output would be Category.SILENT."""
    result = examine(name)
    assert result.category is SAMPLE[name], result
