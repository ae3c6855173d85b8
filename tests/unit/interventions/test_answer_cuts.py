"""An answer's probabilities without some of its links, against the same by `intervene`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.capture import captured_pass
from attnwidget.interventions import answer_cuts
from attnwidget.interventions.answer_cuts import AnswerCuts
from attnwidget.interventions.off import Cut
from attnwidget.interventions.rerun import Rerun
from attnwidget.running.generation import drawn_again, generated
from attnwidget.running.one_text import one_item
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import t5, tiny, token_ids


def answering(name: str = "Llama", attention: str = "sdpa", **options: Any) -> Any:
    return tiny(f"{name}ForCausalLM", attention, **{"num_key_value_heads": 2, **options})


def hybrid() -> Any:
    sizes = {"attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False}
    return answering("Jamba", num_experts=2, mamba_d_state=4, mamba_dt_rank=4, **sizes)


def delta() -> Any:
    sizes = {"layer_types": ["linear_attention", "full_attention"], "num_experts": 0}
    heads = {"linear_num_key_heads": 2, "linear_num_value_heads": 4}
    widths = {"linear_key_head_dim": 8, "linear_value_head_dim": 8, "head_dim": 8}
    return answering("Qwen3Next", **sizes, **heads, **widths)


def mamba() -> Any:
    return answering(
        "Mamba2", "eager", num_heads=8, head_dim=8, state_size=8, n_groups=2, chunk_size=4
    )


PROMPT = {"input_ids": token_ids(12)}
PADDED = {
    "input_ids": torch.cat([torch.zeros(1, 2, dtype=torch.long), token_ids(12)], dim=1),
    "attention_mask": torch.tensor([[0] * 2 + [1] * 12]),
}
CASES: dict[str, tuple[Callable[[], Any], dict[str, torch.Tensor], str]] = {
    "grouped keys": (answering, PROMPT, "self"),
    "learned positions": (
        lambda: tiny("GPT2LMHeadModel", n_embd=32, n_head=4, n_layer=2),
        PROMPT,
        "self",
    ),
    "padded on the left": (answering, PADDED, "self"),
    "a window": (lambda: answering("Mistral", sliding_window=6), PROMPT, "self"),
    "biases for distances": (lambda: answering("Bloom", "eager", n_head=4), PROMPT, "self"),
    "recurrent layers": (hybrid, PROMPT, "self"),
    "delta rules": (delta, PROMPT, "self"),
    "without a softmax": (mamba, PADDED, "linear"),
    "cross-attention": (lambda: t5("T5ForConditionalGeneration"), PROMPT, "cross"),
}
KEYS = (1, 2, 3, 8)


def answered(model: Any, inputs: Any) -> Any:
    options = {"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False}
    return captured_pass(model, None, inputs, generate=options)


def probabilities(read: Any) -> list[float]:
    return [each.probability for each in read.record.replay.written]


def by_intervene(model: Any, read: Any, stack: str, cut: Cut) -> np.ndarray[Any, Any]:
    """The change of each token's log probability, with positions of the tensors."""
    tensors = {k: v for k, v in read.inputs.tensors.items() if k != "logits_to_keep"}
    ids = torch.tensor(read.inputs.answer)
    row, count = read.inputs.batch, len(ids)
    own = row.text if row.target is None else row.target
    keys = row.text.kept[list(cut.keys)].tolist()
    rows = range(own.length - count, own.length)

    def of_answer() -> np.ndarray[Any, Any]:
        with torch.no_grad():
            logits = model(**tensors).logits[0, -count:].double().log_softmax(-1)
        found: np.ndarray[Any, Any] = logits[torch.arange(count), ids].numpy()
        return found

    heads = [None] if cut.heads is None else sorted(cut.heads)
    # Of all heads, also where no softmax mixes the tokens.
    stacks = [stack] if cut.heads is not None or stack == "cross" else read.record.stacks
    edits = [
        aw.KnockOut(rows, keys, *([each[0]], [each[1]]) if each else (None, None), stack=name)
        for each in heads
        for name in stacks
    ]
    before = of_answer()
    with aw.intervene(model, *edits):
        return of_answer() - before


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_equal_those_of_intervene(case: Any) -> None:
    build, inputs, stack = case
    model = build()
    read = answered(model, inputs)
    rerun = Rerun(model, None, read.inputs, read.generation)
    cuts = [Cut(KEYS), Cut((4,)), Cut(KEYS, frozenset({(1, 1), (1, 0)}))]
    before = Snapshot(model)
    found = rerun.cut(stack, probabilities(read), cuts)
    before.assert_unchanged()
    assert found[0] == pytest.approx(np.log(probabilities(read)), abs=1e-4)
    for cut, numbers in zip(cuts, found[1:], strict=True):
        assert numbers - found[0] == pytest.approx(by_intervene(model, read, stack, cut), abs=1e-4)
    assert np.abs(found[1] - found[0]).max() > 1e-3
    assert set(rerun.measured) == {(stack, cut) for cut in cuts}


IN_LINE = {"grouped keys": True, "learned positions": True, "padded on the left": True}


@pytest.mark.parametrize("name", CASES)
def test_many_cuts_stand_in_a_line_where_the_model_reads_it_so(name: str, monkeypatch: Any) -> None:
    build, inputs, stack = CASES[name]
    model = build()
    read = answered(model, inputs)
    original, lines = AnswerCuts._in_line, []

    def in_line(*args: Any) -> Any:
        lines.append(None)
        lines[-1] = original(*args)
        return lines[-1]

    monkeypatch.setattr(AnswerCuts, "_in_line", in_line)
    monkeypatch.setattr(answer_cuts, "_ROWS", 20)  # four cuts
    monkeypatch.setattr(answer_cuts, "_FEW", 6)
    cuts = [Cut((key, key + 1)) for key in range(10)]
    rerun = Rerun(model, None, read.inputs, read.generation)
    found = rerun.cut(stack, probabilities(read), cuts)
    for cut, numbers in zip(cuts, found[1:], strict=True):
        assert numbers - found[0] == pytest.approx(by_intervene(model, read, stack, cut), abs=1e-4)
    assert any(line is not None for line in lines) == IN_LINE.get(name, False)


@torch.no_grad()
def test_a_cache_that_is_not_the_generations_is_not_used(monkeypatch: Any) -> None:
    model = answering()
    read = answered(model, PROMPT)
    given = one_item(read.inputs)
    cuts = AnswerCuts(given, read.inputs.answer, probabilities(read), "self")
    by_cache = cuts._from_cache(model, [Cut(()), Cut(KEYS)])
    assert by_cache is not None
    monkeypatch.setattr(answer_cuts, "_LARGEST", 1)  # one cut at a time
    whole = cuts._whole(model, [Cut(()), Cut(KEYS)])
    assert whole == pytest.approx(by_cache, abs=1e-4)
    other = AnswerCuts(given, read.inputs.answer, [0.9] * 5, "self")
    assert other._from_cache(model, [Cut(())]) is None


@pytest.mark.parametrize("case", ["grouped keys", "padded on the left", "a window", "delta rules"])
def test_an_answer_without_a_part(case: str) -> None:
    build, inputs, stack = CASES[case]
    model = build()
    read = answered(model, inputs)
    rerun, seen = Rerun(model, None, read.inputs, read.generation), []
    original = model.generate

    def generate(**options: Any) -> Any:
        result = original(**options)
        seen.append(result.sequences[0].tolist())
        return result

    model.generate = generate
    before = torch.get_rng_state()
    # The last token of the prompt keeps the link to itself.
    keys = (*KEYS, 11)
    rerun.answer_without(stack, 11, keys)
    assert torch.equal(torch.get_rng_state(), before)
    length = inputs["input_ids"].shape[1]
    ids, hidden = inputs["input_ids"], (read.inputs.batch.text.kept[list(keys)]).tolist()
    mask = inputs.get("attention_mask", torch.ones_like(ids))
    links = [([length - 1], hidden[:-1]), (range(length, 30), hidden)]
    for token in seen[0][length:]:
        here = [
            aw.KnockOut(*link, stack=each)
            for link in links[: 1 + (ids.shape[1] > length)]
            for each in read.record.stacks
        ]
        with torch.no_grad(), aw.intervene(model, *here):
            logits = model(ids, attention_mask=mask).logits[0, -1]
        # At least five tokens are wanted, so that none of these ends the answer.
        logits[model.generation_config.eos_token_id] = -torch.inf
        assert int(logits.argmax()) == token
        ids = torch.cat([ids, torch.tensor([[token]])], dim=1)
        mask = torch.cat([mask, torch.ones(1, 1, dtype=torch.long)], dim=1)


def test_drawn_again_by_the_same_random_numbers() -> None:
    model = answering()
    options = {"max_new_tokens": 8, "do_sample": True, "eos_token_id": None}
    read = captured_pass(model, None, PROMPT, generate=options)
    generation = read.generation
    assert generation is not None
    options["max_new_tokens"] = 1
    with drawn_again(generation):
        again = generated(model, None, generation.prompt, generation.options)
    assert [each.probability for each in again.written] == pytest.approx(probabilities(read))


def test_a_model_that_was_changed_says_so() -> None:
    model = answering()
    read = answered(model, PROMPT)
    rerun = Rerun(model, None, read.inputs, read.generation)
    with torch.no_grad():
        model.lm_head.weight.mul_(0.5)
    with pytest.raises(ValueError, match="no longer gives this answer the probabilities"):
        rerun.cut("self", probabilities(read), [Cut((1,))])


def test_without_an_answer() -> None:
    model = answering()
    read = captured_pass(model, None, PROMPT)
    rerun = Rerun(model, None, read.inputs)
    with pytest.raises(ValueError, match="generated no answer"):
        rerun.cut("self", [], [Cut((1,))])
    with pytest.raises(ValueError, match="generated no answer"):
        rerun.answer_without("self", 0, [1])
