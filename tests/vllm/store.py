"""Writes tests/vectors/vllm.safetensors: what two workers send of a layer, and its weights."""

import os
import tempfile
from pathlib import Path

import torch
from models import made, prompts
from safetensors.torch import save_file
from vllm import LLM

from attnwidget.running.vllm import keeping, params_of

os.environ |= {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_CPU_KVCACHE_SPACE": "1"}

if __name__ == "__main__":
    [ids] = prompts(12)
    with tempfile.TemporaryDirectory() as folder:
        model = made("softcap", Path(folder))
        llm = LLM(
            folder, skip_tokenizer_init=True, enforce_eager=True, max_model_len=128,
            dtype="float32", tensor_parallel_size=2,
            worker_extension_cls="attnwidget.interop.vllm.Worker",
        )  # fmt: skip
        with keeping(llm, [0]) as ([name], _):
            [output] = llm.generate([{"prompt_token_ids": ids}], params_of(llm, None))
            sent = llm.collective_rpc("attnwidget_layer", args=(name, output.request_id, 12, True))
    stored = {
        f"worker {n}": torch.frombuffer(bytearray(x), dtype=torch.uint8) for n, x in enumerate(sent)
    }
    with torch.no_grad():
        attentions = model(torch.tensor([ids]), output_attentions=True).attentions
    stored["weights"] = attentions[0][0].contiguous()
    save_file(stored, Path(__file__).parents[1] / "vectors" / "vllm.safetensors")
