"""What vLLM's workers keep becomes layers, and what they cannot keep is refused: without vLLM."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

import attnwidget as aw
from attnwidget.interop.vllm import Worker, capture, joined
from tests.support import PATIENCE_SECONDS

STORED = Path(__file__).parents[2] / "vectors" / "vllm.safetensors"
NAME = "model.layers.3.self_attn.attn"


def test_what_two_workers_sent() -> None:
    """By tests/vllm/store.py: grouped keys, a window and a softcap."""
    stored = load_file(STORED)
    sent = [stored[f"worker {n}"].tobytes() for n in range(2)]
    layer = joined(sent, NAME, 0)
    assert layer.fidelity.exact
    assert (layer.num_heads, layer.num_kv_heads, layer.fidelity.module) == (8, 2, NAME)
    assert layer.values is not None
    np.testing.assert_allclose(layer.all_weights(np.arange(12)), stored["weights"], atol=2e-4)


class AttentionLayerBase:
    """Named as vLLM's own."""


class Impl:
    """Causal attention, of one head, over what it has read."""

    scale, alibi_slopes = 0.5, None

    def forward(
        self, _: Any, query: Any, key: Any, value: Any, __: Any, metadata: Any, output: Any
    ) -> None:
        ends = metadata.query_start_loc.tolist()
        for own, start, end in zip(metadata.read, ends[:-1], ends[1:], strict=True):
            own_keys, own_values = own
            scores = torch.einsum("qhd,khd->hqk", query[start:end], own_keys) * self.scale
            seen = torch.ones(scores.shape[1:]).tril(len(own_keys) - (end - start)) > 0
            weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
            output[start:end] = torch.einsum("hqk,khd->qhd", weights, own_values)


def layer_like(kind: str = "Attention", **changes: Any) -> Any:
    made = type(kind, (AttentionLayerBase,), {})()
    made.impl, made.attn_type, made.sliding_window = Impl(), "decoder", None
    made.kv_sharing_target_layer_name = None
    vars(made).update(changes)
    return made


def worker(*layers: Any, speculative: Any = None, **parallel: int) -> Any:
    made: Any = Worker()
    names = {f"model.layers.{n}.self_attn.attn": each for n, each in enumerate(layers, 3)}
    made.vllm_config = SimpleNamespace(
        compilation_config=SimpleNamespace(static_forward_context=names),
        parallel_config=SimpleNamespace(**parallel),
        speculative_config=speculative,
        model_config=SimpleNamespace(get_total_num_kv_heads=lambda: 1),
    )
    made.model_runner = SimpleNamespace(input_batch=SimpleNamespace(req_ids=[]))
    return made


class SecondRunner:
    """Keeps no batch, but hands it on, as vLLM's model runner V2 does."""

    def prepare_inputs(self, requests: list[str]) -> Any:
        return SimpleNamespace(req_ids=requests)


def step(made: Any, layer: Any, *read: tuple[str, int, int]) -> None:
    """One step that reads, of each request, the positions from … to …."""
    names = [name for name, _, _ in read]
    if isinstance(made.model_runner, SecondRunner):
        made.model_runner.prepare_inputs(names)
    else:
        made.model_runner.input_batch.req_ids = names
    texts = [
        torch.randn(3, 99, 1, 4, generator=torch.Generator().manual_seed(ord(r[0])))
        for r, *_ in read
    ]
    rows = torch.cat([text[:, s:e] for text, (_, s, e) in zip(texts, read, strict=True)], 1)
    metadata = SimpleNamespace(
        read=[text[1:, :end] for text, (_, _, end) in zip(texts, read, strict=True)],
        query_start_loc=torch.tensor([0, *(end - start for _, start, end in read)]).cumsum(0),
        seq_lens=torch.tensor([end for *_, end in read]),
    )
    layer.impl.forward(layer, *rows, None, metadata, output=torch.empty_like(rows[0]))


@pytest.mark.parametrize("second", [False, True])
def test_requests_in_one_batch(second: bool) -> None:
    """In chunks; one is put off and read anew, one is read beyond its end."""
    layer = layer_like()
    made = worker(layer, object())
    if second:
        made.model_runner = SecondRunner()
    assert json.loads(made.attnwidget_begin(None)) == {"layers": {NAME: 3}, "missing": []}
    step(made, layer, ("a-1", 0, 5), ("b-1", 0, 9))
    step(made, layer, ("b-1", 9, 10), ("a-1", 5, 80))
    step(made, layer, ("a-1", 0, 90), ("b-1", 10, 11))
    for request, count in (("a", 90), ("b", 10)):
        found = joined([made.attnwidget_layer(NAME, request, count, False)], NAME, 3)
        assert found.shape == (count, count)
        assert found.fidelity.exact
        assert found.values is None
    step(made, layer, ("c-1", 7, 9))
    for request, arrived in (("c", 2), ("d", 0)):
        with pytest.raises(ValueError, match=f"{arrived} of 9 rows .* arrived"):
            joined([made.attnwidget_layer(NAME, request, 9, False)], NAME, 3)
    layer.impl.scale = 0.4  # other than that of the outputs so far
    assert joined([made.attnwidget_layer(NAME, "a", 90, False)], NAME, 3).fidelity.exact is False
    made.attnwidget_end()
    left = {*vars(layer.impl), *vars(made), *vars(made.model_runner)}
    assert not {"forward", "_attnwidget", "prepare_inputs"} & left


def test_a_backend_without_lengths() -> None:
    """What fails while the engine runs does not end it."""
    silent = type("Silent", (Impl,), {"forward": lambda *_, **__: None})
    layer = layer_like(impl=silent())
    made = worker(layer)
    made.attnwidget_begin([3])
    rows = torch.zeros(4, 1, 1, 4)
    layer.impl.forward(layer, *rows[:3], None, SimpleNamespace(), output=rows[3])
    with pytest.raises(ValueError, match="does not say whose rows are whose"):
        joined([made.attnwidget_layer(NAME, "a", 1, False)], NAME, 3)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"speculative": object()}, "speculative decoding"),
        ({"data_parallel_size": 2}, "data_parallel_size"),
        ({"decode_context_parallel_size": 2}, "decode_context_parallel_size"),
        ({"prefill_context_parallel_size": 2}, "prefill_context_parallel_size"),
    ],
)
def test_engines_that_are_refused(options: dict[str, Any], reason: str) -> None:
    assert reason in json.loads(worker(layer_like(), **options).attnwidget_begin(None))["problem"]


SHARED = {"kv_sharing_target_layer_name": "model.layers.0.attn"}


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (layer_like("MLAAttention"), "kind MLAAttention"),
        (layer_like("ChunkedLocalAttention"), "kind ChunkedLocalAttention"),
        (layer_like(attn_type="encoder_only"), "not causal"),
        (layer_like(impl=SimpleNamespace(alibi_slopes=[1.0])), "ALiBi"),
        (layer_like(**SHARED), "keys of model.layers.0.attn"),
    ],
)
def test_layers_that_are_missing(layer: Any, reason: str) -> None:
    begun = json.loads(worker(layer_like(), layer).attnwidget_begin(None))
    assert list(begun["layers"].values()) == [3]
    assert reason in begun["missing"][0]


def test_a_layer_without_a_number_is_missing() -> None:
    made = worker(layer_like())
    made.vllm_config.compilation_config.static_forward_context["attn"] = layer_like()
    assert json.loads(made.attnwidget_begin(None))["missing"] == [
        "attn: its name has no number of a layer"
    ]


def engine(extension: str = "attnwidget.interop.vllm.Worker", n: int = 1) -> Any:
    params = SimpleNamespace(n=n, logprobs=None)
    params.clone = lambda: params
    config = SimpleNamespace(
        parallel_config=SimpleNamespace(worker_extension_cls=extension),
        model_config=SimpleNamespace(skip_tokenizer_init=True),
    )
    waiting = SimpleNamespace(vllm_config=config, has_unfinished_requests=lambda: True)
    return SimpleNamespace(get_default_sampling_params=lambda: params, llm_engine=waiting)


def test_what_is_asked_for_in_vain() -> None:
    ids = {"prompt_token_ids": [1, 2]}
    for extension in ("", "pathlib.Path"):
        with pytest.raises(ValueError, match="worker_extension_cls="):
            capture(engine(extension), ids)
    with pytest.raises(ValueError, match="n is 2"):
        capture(engine(n=2), ids)
    with pytest.raises(ValueError, match="requests are waiting"):
        capture(engine(), ids)
    with pytest.raises(ValueError, match="generate is 0"):
        capture(engine(), ids, generate=0)
    with pytest.raises(TypeError, match="a tokenizer is needed"):
        capture(engine(), "a text")
    with pytest.raises(TypeError, match="prompt_token_ids"):
        capture(engine(), {"input_ids": [1]})


class LLM:
    """An engine of one layer, whose worker runs here; text n is that of request chr(97 + n)."""

    __module__ = "vllm.entrypoints.llm"

    def __init__(self) -> None:
        self.layer, self.read, self.believed = layer_like(), 0, 0.5
        self.worker = worker(self.layer)
        self.worker.model_runner.get_model = torch.nn.Identity
        self.get_default_sampling_params = engine().get_default_sampling_params
        self.llm_engine = engine().llm_engine
        self.llm_engine.has_unfinished_requests = lambda: False
        self.llm_engine.output_processor = SimpleNamespace(request_states={})
        self.llm_engine.abort_request = lambda *_, **__: None
        vars(self.llm_engine.vllm_config.model_config).update(
            model="a/tiny", max_model_len=30, get_vocab_size=lambda: 50,
            hf_text_config=SimpleNamespace(),
        )  # fmt: skip

    def collective_rpc(self, name: str, args: tuple[Any, ...] = ()) -> list[Any]:
        return [getattr(self.worker, name)(*args)]

    def generate(self, prompts: list[Any], _: Any, use_tqdm: bool) -> list[Any]:
        assert not use_tqdm
        outputs = []
        for prompt in prompts:
            request = chr(97 + self.read)
            self.layer.impl.scale = 0.5
            step(self.worker, self.layer, (f"{request}-1", 0, len(prompt["prompt_token_ids"])))
            self.layer.impl.scale = self.believed
            outputs.append(SimpleNamespace(request_id=request))
            self.read += 1
        return outputs


TEXTS = [{"input_ids": torch.ones(1, length, dtype=torch.long)} for length in (5, 9)]


def test_a_profile_is_folded_in_the_worker() -> None:
    llm = LLM()
    found = aw.profile(llm, None, TEXTS, null="position", metrics=["same", "induction"])
    assert (found.num_texts, found.model, found.missing) == (2, "tiny", ())
    assert llm.read == 12  # and ten of repeated tokens
    diagonals = []
    made = LLM()
    made.worker.attnwidget_begin(None)
    made.generate([{"prompt_token_ids": each["input_ids"][0]} for each in TEXTS], None, False)
    for request, count in (("a", 5), ("b", 9)):
        layer = joined([made.worker.attnwidget_layer(NAME, request, count, False)], NAME, 3)
        diagonals.append(np.diagonal(layer.all_weights(np.arange(count))[0]).mean())
    [row] = found.table().to_dict("records")
    assert (row["layer"], row["head"]) == (3, 0)
    assert row["same"] == pytest.approx(np.mean(diagonals), abs=1e-6)
    assert np.isfinite([row["induction"], row["induction_position"]]).all()
    assert not {"forward", "_attnwidget"} & {*vars(llm.layer.impl), *vars(llm.worker)}


def test_a_profile_goes_on_after_its_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnwidget.corpus.run._BATCHES_PER_SHARD", 1)
    options: Any = {"null": "shuffled", "metrics": ["same"], "batch_size": 1, "resume": tmp_path}
    first, again = LLM(), LLM()
    aw.profile(first, None, TEXTS[:1], **options)
    found = aw.profile(again, None, TEXTS, **options)
    assert (found.num_texts, first.read, again.read) == (2, 2, 2)
    other = LLM()
    other.worker.model_runner.get_model = lambda: torch.nn.Linear(2, 2)
    with pytest.raises(ValueError, match="some texts were read by tiny"):
        aw.profile(other, None, TEXTS, **options)


def test_a_layer_that_fails_is_not_in_a_profile() -> None:
    llm = LLM()
    llm.believed = 0.4
    with pytest.raises(ValueError, match=f"no attention .*: {NAME}: its weights times"):
        aw.profile(llm, None, TEXTS, null=None, metrics=["same"])


def test_after_an_interrupted_profile_the_engine_is_as_before() -> None:
    llm = LLM()
    llm.generate = lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        aw.profile(llm, None, TEXTS, null=None, metrics=["same"])
    assert not {"forward", "_attnwidget"} & {*vars(llm.layer.impl), *vars(llm.worker)}


def test_what_needs_transformers_says_so() -> None:
    with pytest.raises(ValueError, match=r'"random weights" needs .* choose null="position"'):
        aw.profile(LLM(), None, TEXTS)
    with pytest.raises(ValueError, match="copying_weights cannot be measured in vLLM"):
        aw.profile(LLM(), None, TEXTS, null=None, metrics=["same", "copying_weights"])
    with pytest.raises(ValueError, match="workers of its own"):
        aw.profile(LLM(), None, TEXTS, engine="ray", num_workers=2)
    cutting = LLM()
    cutting.llm_engine.vllm_config.model_config.skip_tokenizer_init = False
    cutting.get_tokenizer = lambda: SimpleNamespace(truncation_side="left")  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"with max_tokens, pass a tokenizer"):
        aw.profile(cutting, None, TEXTS, null=None, max_tokens=4)
    found = aw.profile(LLM(), None, TEXTS, null=None)
    assert found.missing[0].startswith("copying, copying_weights: ")
    with pytest.raises(aw.corpus.example_texts.UnreadableError, match="the profile's model"):
        found.reader().read("a text")
    with pytest.raises(TypeError, match=r"interop.vllm.capture.*need the same weights"):
        aw.ablate(LLM(), None, "a text", heads=[(0, 0)])


def test_vllm_is_not_imported() -> None:
    code = "import sys, attnwidget.interop.vllm; print('vllm' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert run.stdout.strip() == "False", run.stderr
