"""Captures and profiles in two workers, processes of their own, into the folder given."""

import sys
from pathlib import Path

import psutil
from models import profiled, prompts
from vllm import LLM, SamplingParams

from attnwidget.interop.vllm import capture

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    llm = LLM(
        str(folder / "model"), skip_tokenizer_init=True, enforce_eager=True, max_model_len=128,
        dtype="float32", tensor_parallel_size=2,
        worker_extension_cls="attnwidget.interop.vllm.Worker",
    )  # fmt: skip
    params = SamplingParams(temperature=0.0, max_tokens=10, detokenize=False)
    prompt = {"prompt_token_ids": prompts(32)[0]}
    capture(llm, prompt, generate=params, values=True).save(folder / "record.safetensors")
    [output] = llm.generate([prompt], params, use_tqdm=False)
    ids = [*prompt["prompt_token_ids"], *output.outputs[0].token_ids]
    (folder / "ids").write_text(" ".join(map(str, ids)))
    profiled(llm).save(folder / "profile.safetensors")
    children = psutil.Process().children(recursive=True)
    (folder / "children").write_text(" ".join(str(each.pid) for each in children))
