"""Heads off, edges cut and gradients in architectures of every kind, beside the same by hand."""

import pytest

from benchmarks.interventions.examine import examine
from benchmarks.interventions.result import Verdict

BOTH = {
    "encoders": ["bert", "distilbert", "electra", "modernbert", "mpnet"],
    "encoders with relative positions": ["deberta", "deberta-v2", "mobilebert", "roformer"],
    "decoders": ["gpt2", "llama", "gptj", "gpt_neox", "opt", "phi3", "xlm"],
    "decoders with shared keys": ["falcon", "gpt_bigcode", "mistral", "qwen3"],
    "latent attention": ["deepseek_v3"],
    "linear biases": ["bloom", "mpt"],
    "softcaps and sinks": ["gemma2", "gpt_oss"],
    "windows of text": ["gpt_neo"],
    "mixtures of experts": ["mixtral"],
    "hybrids": ["bamba"],
    "encoders and decoders": ["bart", "t5", "whisper"],
    "pages and images": ["layoutlmv3", "beit", "vit", "dinov2"],
    "windows of images": ["sam2_vision_model", "swin", "swinv2"],
    "objects in images": ["yolos"],
    "sound and series": ["hubert", "wav2vec2", "patchtst"],
    "images and text": ["clip", "llava", "qwen2_vl", "vilt"],
}


@pytest.mark.parametrize("name", [name for names in BOTH.values() for name in names])
def test_equal_a_change_by_hand(name: str) -> None:
    result = examine(name)
    assert {result.off, result.cut, result.gradients} == {Verdict.EQUAL}, result


def test_gradients_pass_through_sampling_points() -> None:
    """Those of earlier layers, which a later deformable attention reads."""
    assert examine("deformable_detr").gradients == Verdict.EQUAL
