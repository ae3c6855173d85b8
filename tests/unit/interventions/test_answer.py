"""What an answer was written from, and cuts of it, in a trained model."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from attnwidget.analysis import running_text
from attnwidget.wire.running_text import text_of
from tests.unit.interventions.test_live_effects import Conversation
from tests.unit.tiny import Loaded, t5, tiny

CHAT = [
    {
        "role": "user",
        "content": "The lamp burned oil until 1902. After that, it ran on electricity from the "
        "village mill. Dogs may visit the garden.\n\nWhere did the electricity come from?",
    }
]


@pytest.fixture(scope="module")
def answer(smollm2: Loaded) -> aw.Answer:
    return aw.answer(*smollm2, CHAT, generate=14)


def test_parts_and_what_each_gets(answer: aw.Answer) -> None:
    assert len(answer.parts) == 4
    assert "village mill" in answer.text
    assert answer.parts[2] == "Dogs may visit the garden."
    assert answer.text == "".join(token.text for token in answer.tokens)
    assert repr(answer) == f"<Answer {answer.text!r}, {len(answer.tokens)} tokens, 4 parts>"
    table = answer.table("village mill")
    assert table.index.tolist() == [1, 2, 3, 4]
    assert table["share"].sum() == pytest.approx(1)
    assert table["even"].sum() == pytest.approx(1)
    assert table["share"].idxmax() == 2
    heads = answer.heads("village mill", "village mill")
    assert len(heads) == 270
    layer, head = (int(heads[name][0]) for name in ("layer", "head"))
    first, end = answer.span("village mill")
    stack = answer.record.stack()
    found = running_text(stack)
    assert found is not None
    rows = np.arange(found.rows.start + first, found.rows.start + end)
    start, stop = found.sentences[1]
    weights = stack.layer(layer).head_weights(head, rows)[:, start:stop]
    # "the" may be a sink, which is not counted.
    assert heads["share"][0] <= weights.sum(axis=1).mean() + 1e-6
    assert heads["share"][0] > heads["elsewhere"][0]


def test_a_long_answer_is_cut_in_its_repr(answer: aw.Answer, monkeypatch: Any) -> None:
    module = sys.modules["attnwidget.interventions.answer"]
    monkeypatch.setattr(module, "_LONGEST", 3)
    assert repr(answer).startswith(f"<Answer {answer.text[:3] + '…'!r}, ")


def test_cuts_equal_those_of_intervene(answer: aw.Answer, smollm2: Loaded) -> None:
    model, _ = smollm2
    assert list(aw.answer(answer.record).table()) == ["text", "share", "even"]
    changes = answer.cut()
    assert changes.shape == (4, len(answer.tokens))
    assert answer.table()["cut"].tolist() == pytest.approx(changes.sum(axis=1).tolist())
    assert changes[:, slice(*answer.span("village mill"))].sum(axis=1).argmin() == 1
    found = running_text(answer.record.stack())
    assert found is not None
    assert answer.rerun is not None
    inputs = answer.rerun._inputs
    ids, count = torch.tensor(inputs.answer), len(inputs.answer)

    def log_p() -> Any:
        with torch.no_grad():
            logits = model(inputs.tensors["input_ids"]).logits[0, -count:].double()
        return logits.log_softmax(-1)[torch.arange(count), ids].numpy()

    before = log_p()
    for part in (0, 1):
        keys = list(range(*found.sentences[part]))
        with aw.intervene(model, aw.KnockOut(list(found.rows), keys)):
            assert changes[part] == pytest.approx(log_p() - before, abs=1e-4)


def test_segments_in_place_of_sentences(answer: aw.Answer, smollm2: Loaded) -> None:
    labels = answer.record.stack().keys.labels
    mill, dogs = labels.index("mill"), labels.index("Dogs")
    found = running_text(answer.record.stack())
    assert found is not None
    # The second has the tokens of a sentence.
    given = [(mill - 1, mill + 1, "the mill"), (*found.sentences[2], "dogs")]
    assert found.sentences[2][0] == dogs
    named = replace(answer, named=tuple((*np.array(span), name) for *span, name in given))
    assert named.named == tuple(given)
    assert named.parts == ("village mill", "Dogs may visit the garden.")
    cut = named.cut()
    assert cut[1] == pytest.approx(answer.cut()[2], abs=1e-4)
    span = named.span("village mill")
    assert cut[0, slice(*span)].sum() < -2
    table, of_sentences = named.table(span), answer.table(span)
    assert table["name"].tolist() == ["the mill", "dogs"]
    columns = ["text", "share", "even", "cut"]
    assert table.loc[2, columns].tolist() == pytest.approx(
        of_sentences.loc[3, columns].tolist(), abs=1e-4
    )
    rows = np.arange(found.rows.start + span[0], found.rows.start + span[1])
    top = named.heads(table["share"].index[0], np.array(span)).iloc[0]
    layer = answer.record.stack().layer(int(top["layer"]))
    weights = layer.head_weights(int(top["head"]), rows)[:, mill - 1 : mill + 1]
    assert top["share"] == pytest.approx(weights.sum(axis=1).mean(), abs=1e-5)
    assert isinstance(named.without("the mill"), str)
    with pytest.raises(ValueError, match="only sentences are put in other orders"):
        named.shuffled()
    widget = aw.show(named, static=True)
    assert (widget.named_segments, widget.parts) == (given, "named")
    sent = widget.shown_record().manifest["stacks"][0]["text"]["cuts"]
    assert {(mill - 1, mill + 1), found.sentences[2]} <= {(c["start"], c["end"]) for c in sent}
    with pytest.raises(ValueError, match="expected \\(start, end, name\\) of tokens of the prompt"):
        aw.answer(answer.record, segments=[(3, 999, "beyond")])
    with pytest.raises(ValueError, match="segments are 'the mill'; expected"):
        aw.answer(answer.record, segments=["the mill"])  # type: ignore[list-item]


def test_heads_that_carry_a_link(answer: aw.Answer) -> None:
    checked = answer.check_heads(2, "village mill", draws=3)
    first, end = answer.span("village mill")
    assert checked["all"] == pytest.approx(answer.cut()[1, first:end].sum(), abs=1e-3)
    assert checked["these"] < checked["random"] - 1


def test_what_places_get_in_other_orders(answer: aw.Answer) -> None:
    assert "shuffled" not in answer.table()
    ratios = answer.shuffled()
    assert ratios.shape == (len(answer.tokens), 4)
    table = answer.table("village mill")
    rows = slice(*answer.span("village mill"))
    assert table["shuffled"].tolist() == pytest.approx(table["even"] * ratios[rows].mean(axis=0))
    view = Conversation(answer.record, answer.rerun)
    view.send(id="a", op="shuffled", stack="self")
    assert np.array(view.reply("a")["ratios"]) == pytest.approx(ratios, abs=1e-4)
    manifest = aw.show(answer, static=True).shown_record().manifest
    assert np.array(manifest["stacks"][0]["text"]["shuffled"]) == pytest.approx(ratios, abs=1e-4)


def test_what_is_not_there(answer: aw.Answer, smollm2: Loaded) -> None:
    with pytest.raises(ValueError, match="stands nowhere in the answer"):
        answer.table("a generator")
    with pytest.raises(ValueError, match="stands more than once"):
        answer.span("e")
    with pytest.raises(ValueError, match="are no tokens of the answer"):
        answer.table((3, 99))
    with pytest.raises(ValueError, match="stands in no part"):
        answer.heads("a generator")
    with pytest.raises(ValueError, match=r"there is no part 1\.5"):
        answer.heads(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no part 0"):
        answer.without(0)
    with pytest.raises(ValueError, match="a cut runs the model"):
        aw.answer(answer.record).cut()
    with pytest.raises(ValueError, match="has no answer with its text"):
        aw.answer(aw.capture(*smollm2, "A dog."))


def test_an_answer_of_one_token(smollm2: Loaded, tmp_path: Path) -> None:
    model, tokenizer = smollm2
    one = aw.answer(model, tokenizer, CHAT, generate=1)
    more = aw.answer(model, tokenizer, CHAT, generate=2)
    assert one.tokens == more.tokens[:1]
    assert one.parts == more.parts
    assert one.cut() == pytest.approx(more.cut()[:, :1], abs=1e-3)
    assert one.table()["share"].tolist() == pytest.approx(more.table((0, 1))["share"].tolist())
    # The new answer, too, ends with the row that the prompt has.
    assert isinstance(one.without(4), str)
    one.record.save(tmp_path / "one.attn")
    loaded = aw.AttentionRecord.load(tmp_path / "one.attn")
    assert aw.answer(loaded).text == one.text
    sent = aw.show(one, static=True).shown_record().manifest["stacks"][0]
    assert sent["queries"]["generated"] is None
    assert sent["text"]["first"] == len(sent["queries"]["labels"]) - 1
    source = t5("T5ForConditionalGeneration", vocab_size=len(tokenizer))
    crossed = aw.answer(source, tokenizer, "A cat sat. It slept.", generate=1)
    assert (crossed.stack, crossed.cut().shape) == ("cross", (2, 1))


def test_the_source_of_an_encoder_decoder_and_a_prompt_of_one_sentence(smollm2: Loaded) -> None:
    _, tokenizer = smollm2
    model = t5("T5ForConditionalGeneration", vocab_size=len(tokenizer))
    options = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False}
    found = aw.answer(model, tokenizer, "A cat sat. It slept.", generate=options)
    assert (found.stack, found.parts) == ("cross", ("A cat sat.", "It slept."))
    assert found.cut().shape == (2, 4)
    assert isinstance(found.without(2), str)
    # A target that is given is looked at as any text.
    given = text_of(aw.capture(model, tokenizer, "A cat sat.", target="It slept."), "cross")
    assert given is not None
    assert not given.answered
    model = tiny("LlamaForCausalLM", num_key_value_heads=2, vocab_size=len(tokenizer))
    one = aw.answer(model, tokenizer, "It slept.", generate=options)
    assert len(one.parts) == 1
    assert repr(one).endswith(", 4 tokens, 1 part>")
    assert np.isfinite(one.cut()).all()
    assert isinstance(one.without(1), str)


def test_a_view_asks_for_cuts(answer: aw.Answer) -> None:
    view = Conversation(answer.record, answer.rerun)
    found = running_text(answer.record.stack())
    assert found is not None
    keys = list(range(*found.sentences[1]))
    view.send(id="a", op="cut", stack="self", cuts=[{"keys": keys, "heads": None}])
    changes = view.reply("a")["changes"]
    assert changes[0] == pytest.approx(answer.cut()[1].tolist())
    view.send(id="b", op="cut", stack="self", cuts=[{"keys": keys, "heads": [[18, 6], [3, 0]]}])
    assert view.reply("b")["changes"] != changes
    view.send(id="c", op="answer", stack="self", keys=keys)
    assert view.reply("c")["text"] == answer.without(2) != answer.text
    for id_, sent in {"d": [], "e": [{"keys": []}], "f": [{"keys": [9999]}], "g": "x"}.items():
        view.send(id=id_, op="cut", stack="self", cuts=sent)
        assert "cut" in view.reply(id_)["error"] or "position" in view.reply(id_)["error"]
    # A page has what was measured.
    manifest = aw.show(answer, static=True).shown_record().manifest
    cuts = manifest["stacks"][0]["text"]["cuts"]
    assert cuts[1]["answer"] == answer.without(2)
    assert cuts[1]["changes"] == pytest.approx(answer.cut()[1].tolist(), abs=1e-4)
