"""Records of vLLM's own rows are those of transformers, within what two engines round.

Run by `make test-vllm`, in an environment of its own.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

os.environ |= {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}

pytest.importorskip("vllm")
from vllm import LLM, SamplingParams
from vllm.distributed import cleanup_dist_env_and_memory

sys.path.insert(0, str(Path(__file__).parent))
from models import MODELS, made, profiled, prompts

import attnwidget as aw
from attnwidget import AttentionRecord
from attnwidget.interop import vllm as interop
from attnwidget.interop.vllm import capture, worker

EXTENSION = "attnwidget.interop.vllm.Worker"
GREEDY = {"temperature": 0.0, "max_tokens": 10, "detokenize": False}
Load = Callable[..., tuple[Any, Any]]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Makes a model: (transformers' own, an engine with it)."""

    engines: list[Any] = []

    def loaded(name: str, **options: Any) -> tuple[Any, Any]:
        model = made(name, tmp_path)
        given = {
            "skip_tokenizer_init": True, "enforce_eager": True, "max_model_len": 128,
            "dtype": "bfloat16" if name == "bfloat16" else "float32",
            "worker_extension_cls": EXTENSION,
        }  # fmt: skip
        engines.append(LLM(str(tmp_path), **given | options))
        return model, engines[-1]

    yield loaded
    # What a failed test holds on to must not keep its engine.
    for llm in engines:
        llm.llm_engine.engine_core.shutdown()
    engines.clear()
    cleanup_dist_env_and_memory()


def greedy() -> SamplingParams:
    return SamplingParams(**GREEDY)


def worst(record: Any, model: Any, ids: list[int]) -> float:
    """The largest difference of a weight from transformers' eager attention."""
    with torch.no_grad():
        attentions = model(torch.tensor([ids]), output_attentions=True).attentions
    return max(
        float(
            np.abs(record.weights(layer, head) - attentions[layer][0, head].float().numpy()).max()
        )
        for layer in range(len(attentions))
        for head in range(record.num_heads(layer))
    )


def written(llm: Any, ids: list[int]) -> list[int]:
    [output] = llm.generate([{"prompt_token_ids": ids}], greedy(), use_tqdm=False)
    return list(output.outputs[0].token_ids)


def assert_as_before(llm: Any) -> None:
    engine_worker = llm.llm_engine.model_executor.driver_worker.worker
    context = engine_worker.vllm_config.compilation_config.static_forward_context
    assert all(
        "forward" not in vars(layer.impl) for layer in context.values() if hasattr(layer, "impl")
    )
    assert "prepare_inputs" not in vars(engine_worker.model_runner)
    assert "_attnwidget" not in vars(engine_worker)
    assert not llm.llm_engine.has_unfinished_requests()


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_those_of_transformers(name: str, load: Load) -> None:
    model, llm = load(name)
    [ids] = prompts(32)
    before = written(llm, ids)
    record = capture(llm, {"prompt_token_ids": ids}, generate=greedy(), values=True)
    assert_as_before(llm)
    assert written(llm, ids) == before
    read = ids + before[:-1]
    assert record.tokens()[0] == [str(n) for n in range(len(read))]
    assert record.stack().queries.generated == len(ids)
    assert all(fidelity.exact for fidelity in record.fidelity["self"])
    errors = [fidelity.output_error for fidelity in record.fidelity["self"]]
    apart = worst(record, model, read)
    print(f"\n{name}: weights {apart:.1e}, output {max(errors):.1e}")
    if name == "bfloat16":
        return
    assert apart < 2e-4
    expected = model.generate(torch.tensor([ids]), max_new_tokens=10, do_sample=False)
    assert expected[0, len(ids) :].tolist() == before
    assert len(record.replay.written) == 10
    with torch.no_grad():
        logits = model(torch.tensor([read])).logits[0, len(ids) - 1 :].softmax(1)
    for own, token, row in zip(record.replay.written, before, logits, strict=True):
        assert own.probability == pytest.approx(float(row[token]), rel=1e-3)


# What a reader of the configuration could get wrong, by model.
MISTAKES = {
    "window": [{"window": None}, {"window": 9}],
    "softcap": [{"softcap": None}],
    "sinks": [{"sinks": None}],
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_wrong_program_is_not_exact(
    name: str, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, llm = load(name)
    right = worker.layer_of
    for mistake in MISTAKES[name]:

        def wrong(tensors: Any, about: Any, *rest: Any, mistake: Any = mistake) -> Any:
            kept = {key: each for key, each in tensors.items() if key not in mistake}
            return right(kept, about | mistake, *rest)

        monkeypatch.setattr(worker, "layer_of", wrong)
        record = capture(llm, {"prompt_token_ids": prompts(32)[0]}, generate=greedy())
        errors = [f.output_error for f in record.fidelity["self"] if not f.exact]
        print(f"\n{name} {mistake}: {min(errors):.2g} to {max(errors):.2g}")
        assert min(errors) > 0.1


def test_several_requests_in_chunks_beside_a_prefix_cache(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, llm = load("llama", max_num_batched_tokens=16, enable_prefix_caching=True, block_size=32)
    several = prompts(70, 9, 40)
    asked = [{"prompt_token_ids": ids} for ids in several]
    first = capture(llm, asked, generate=greedy())
    again = capture(llm, asked, generate=greedy())
    for ids, one, other in zip(several, first, again, strict=True):
        read = ids + written(llm, ids)[:-1]
        assert max(worst(one, model, read), worst(other, model, read)) < 2e-4
        assert all(fidelity.exact for fidelity in one.fidelity["self"])
    [some] = capture(llm, asked[:1], layers=[2])
    assert some.stack().numbers == (2,)
    assert some.tokens()[0] == [str(n) for n in range(70)]

    # Rows that vLLM reads from its cache do not arrive.
    params = interop.params_of
    monkeypatch.setattr(interop, "params_of", lambda *each: _cached(params(*each)))
    with pytest.raises(ValueError, match=r"of 70 rows .* arrived"):
        capture(llm, asked[0])
    assert_as_before(llm)


def _cached(params: Any) -> Any:
    params.skip_reading_prefix_cache = False
    return params


def test_after_an_exception_the_engine_is_as_before(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, llm = load("llama")
    [ids] = prompts(20)
    before = written(llm, ids)
    step, count = llm.llm_engine.step, [0]

    def broken() -> Any:
        count[0] += 1
        if count[0] == 3:
            raise KeyboardInterrupt
        return step()

    monkeypatch.setattr(llm.llm_engine, "step", broken)
    with pytest.raises(KeyboardInterrupt):
        capture(llm, {"prompt_token_ids": ids}, generate=greedy())
    monkeypatch.undo()
    assert_as_before(llm)
    assert written(llm, ids) == before
    with pytest.raises(ValueError, match="n is 2"):
        capture(llm, {"prompt_token_ids": ids}, generate=SamplingParams(n=2))
    with pytest.raises(IndexError, match="no attention to record in \\[7\\]"):
        capture(llm, {"prompt_token_ids": ids}, layers=[1, 7])


def assert_same(found: aw.HeadProfile, model: Any) -> None:
    """The profile is that of transformers, within what two engines round."""
    expected = profiled(model)
    one, other = found.stack("self"), expected.stack("self")
    assert (found.num_texts, one.numbers, one.heads) == (30, other.numbers, other.heads)
    for null in (None, *expected.nulls):
        a, b = (each.estimates if null is None else each.nulls[null] for each in (one, other))
        for name in b.keys() - {"copying", "copying_weights"}:
            for each in ("mean", "low", "high", "count"):
                pair = getattr(a[name], each), getattr(b[name], each)
                np.testing.assert_allclose(*pair, rtol=0, atol=2e-4, err_msg=f"{null} {name}")
    np.testing.assert_allclose(one.thumbnails, other.thumbnails, atol=1e-3)  # half precision
    assert np.array_equal(one.extremes.texts, other.extremes.texts)


def test_a_profile_is_that_of_transformers(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    model, llm = load("llama")
    [ids] = prompts(20)
    before = written(llm, ids)
    assert_same(profiled(llm), model)
    assert_as_before(llm)

    with monkeypatch.context() as patch:
        patch.setattr(worker.Meter, "finish", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            profiled(llm)
    assert_as_before(llm)
    assert written(llm, ids) == before


def test_compiled(load: Load) -> None:
    model, llm = load("llama", enforce_eager=False)
    [ids] = prompts(32)
    record = capture(llm, {"prompt_token_ids": ids}, generate=greedy())
    assert worst(record, model, ids + written(llm, ids)[:-1]) < 2e-4


def test_an_engine_without_the_extension_says_so(load: Load) -> None:
    _, llm = load("llama", worker_extension_cls="")
    with pytest.raises(ValueError, match=f'worker_extension_cls="{EXTENSION}"'):
        capture(llm, {"prompt_token_ids": [5, 6]})


@pytest.mark.parametrize("name", ["llama", "one key head"])
def test_two_workers(name: str, tmp_path: Path) -> None:
    model = made(name, tmp_path / "model")
    script = Path(__file__).with_name("two_workers.py")
    env = os.environ | {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"}
    subprocess.run([sys.executable, script, tmp_path], check=True, env=env, timeout=300)
    ended = time.monotonic()
    record = AttentionRecord.load(tmp_path / "record.safetensors")
    assert all(fidelity.exact for fidelity in record.fidelity["self"])
    assert_same(aw.HeadProfile.load(tmp_path / "profile.safetensors"), model)
    ids = [int(token) for token in (tmp_path / "ids").read_text().split()]
    assert worst(record, model, ids[:-1]) < 2e-4
    children = [int(pid) for pid in (tmp_path / "children").read_text().split()]
    assert len(children) >= 3
    # Python's own watcher of shared memory ends a little later.
    while any(Path(f"/proc/{pid}").exists() for pid in children):
        assert time.monotonic() < ended + 60
        time.sleep(0.1)
