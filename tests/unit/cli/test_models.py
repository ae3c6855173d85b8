"""--model: a directory of any kind of model, or why it cannot be used"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from gguf import GGUFWriter
from safetensors.numpy import load_file, save_file
from transformers import AutoTokenizer

from attnwidget import AttentionRecord, capture
from attnwidget.cli import main
from attnwidget.wire import encode_overview
from tests.unit.pages import content_of
from tests.unit.tiny import bert, t5, tiny
from tests.unit.tokenizing import unigram

TEXT = "the lazy dog jumps"


def _saved(model: Any, folder: Path) -> Any:
    """The model, saved with a tokenizer, which is returned as it is loaded."""
    model.save_pretrained(folder)
    unigram().save_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder)


def _named(record: AttentionRecord, name: str) -> AttentionRecord:
    record.model = name
    return record


def _assert_shows(page: Path, record: AttentionRecord) -> None:
    found = content_of(page)["manifest"]
    expected = json.loads(json.dumps(encode_overview(record)[0]))
    # Rounding differs between two loads of a model, whose weights may be aligned otherwise.
    for mine, own in zip(found["metrics"], expected["metrics"], strict=True):
        mine, own = (metric.pop("values") for metric in (mine, own))
        assert mine.keys() == own.keys()
        for stack, layers in own.items():
            assert mine[stack] == [pytest.approx(heads, rel=1e-5, abs=1e-5) for heads in layers]
    if expected.get("replay"):
        assert found["replay"]["difference"] == pytest.approx(0, abs=1e-5)
        found["replay"] = expected["replay"]
    for mine, own in zip(found["stacks"], expected["stacks"], strict=True):
        answer = (own.get("text") or {}).get("answer")
        if answer:
            assert mine["text"]["answer"]["p"] == pytest.approx(answer["p"], abs=1e-5)
            mine["text"]["answer"] |= {name: answer[name] for name in ("p", "likeliest")}
    assert found == expected


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "whole"
    _saved(bert(), folder)
    return folder


def test_an_encoder(tmp_path: Path) -> None:
    model, folder = tiny("BertForMaskedLM"), tmp_path / "tiny bert"
    record = capture(model, _saved(model, folder), TEXT)
    assert main([TEXT, "--model", str(folder), "-o", str(tmp_path / "out.html")]) == 0
    _assert_shows(tmp_path / "out.html", _named(record, "tiny bert"))


def test_a_decoder_that_goes_on(tmp_path: Path) -> None:
    model, folder = tiny("LlamaForCausalLM", num_key_value_heads=2), tmp_path / "llama"
    # It would sample, if it was asked to do as it does.
    model.generation_config.do_sample = True
    tokenizer = _saved(model, folder)
    options = {"max_new_tokens": 6, "do_sample": False}
    record = capture(model, tokenizer, TEXT, generate=options)
    for _ in range(2):
        page = tmp_path / "out.html"
        assert main([TEXT, "--model", f"{folder}/", "--generate", "6", "-o", str(page)]) == 0
        _assert_shows(page, _named(record, "llama"))


def test_an_encoder_decoder_and_its_target(tmp_path: Path) -> None:
    model, folder, page = t5("T5ForConditionalGeneration"), tmp_path / "t5", tmp_path / "out.html"
    tokenizer = _saved(model, folder)
    record = capture(model, tokenizer, TEXT, target="the fox")
    query = ["--query", "fox"] if "fox" in record.tokens("cross")[0] else ["--query", "1"]
    arguments = [TEXT, "--model", str(folder), "--target", "the fox", *query]
    assert main([*arguments, "-o", str(page)]) == 0
    _assert_shows(page, _named(record, "t5"))
    assert content_of(page)["choices"]["stack"] == "cross"
    written = capture(model, tokenizer, TEXT, generate={"max_new_tokens": 3, "do_sample": False})
    arguments = [TEXT, "--model", str(folder), "--generate", "3"]
    assert main([*arguments, "-o", str(page)]) == 0
    _assert_shows(page, _named(written, "t5"))


def test_the_directory_that_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _saved(bert(), tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    assert main([TEXT, "--model", ".", "-o", "out.html"]) == 0
    assert content_of(Path("out.html"))["manifest"]["model"] == "here"


def test_a_model_of_no_named_class_without_its_pooler(whole: Path, tmp_path: Path) -> None:
    """Many checkpoints lack the pooler, which takes no part in attention."""
    folder, pages = tmp_path / "model", [tmp_path / "whole.html", tmp_path / "part.html"]
    shutil.copytree(whole, folder)
    assert main([TEXT, "--model", str(folder), "-o", str(pages[0])]) == 0
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del config["architectures"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    path = folder / "model.safetensors"
    arrays = load_file(path)
    kept = {name: array for name, array in arrays.items() if "pooler" not in name}
    assert len(kept) < len(arrays)
    save_file(kept, path, {"format": "pt"})
    assert main([TEXT, "--model", str(folder), "-o", str(pages[1])]) == 0
    assert content_of(pages[0]) == content_of(pages[1])


def _write_gguf(model: Any, path: Path, tokens: list[str]) -> None:
    """A tiny Llama, and a tokenizer of GPT-2's kind whose vocabulary is whole words."""
    config, writer = model.config, GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens + [f"unused{n}" for n in range(config.vocab_size - len(tokens))])
    # A word is merged from the left.
    merges = {(word[:n], word[n]): None for word in tokens[1:] for n in range(1, len(word))}
    writer.add_token_merges([f"{a} {b}" for a, b in merges])
    writer.add_eos_token_id(0)
    names = {
        "embed_tokens": "token_embd",
        "norm": "output_norm",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "q_proj": "attn_q",
        "k_proj": "attn_k",
        "v_proj": "attn_v",
        "o_proj": "attn_output",
        "gate_proj": "ffn_gate",
        "up_proj": "ffn_up",
        "down_proj": "ffn_down",
        "lm_head": "output",
    }
    for name, tensor in model.state_dict().items():
        array = tensor.numpy()
        if (part := name.split(".")[-2]) in ("q_proj", "k_proj"):
            # Such files have the two components of a rotated pair side by side.
            head = config.head_dim
            array = array.reshape(-1, 2, head // 2, array.shape[1]).swapaxes(1, 2)
            array = array.reshape(-1, array.shape[-1])
        block = re.search(r"layers\.(\d+)\.", name)
        writer.add_tensor(f"{f'blk.{block[1]}.' if block else ''}{names[part]}.weight", array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_weights_in_a_gguf_file(tmp_path: Path) -> None:
    model, page = tiny("LlamaForCausalLM", num_key_value_heads=2), tmp_path / "out.html"
    letters = sorted(set("Onceuponatime"))
    words = ["Once", "Ġupon", "Ġa", "Ġtime"]
    starts = [word[:n] for word in words for n in range(1, len(word) + 1)]
    tokens = list(dict.fromkeys(["<|endoftext|>", "Ġ", *letters, *starts]))
    (tmp_path / "tiny llama").mkdir()
    _write_gguf(model, tmp_path / "tiny llama" / "tiny.gguf", tokens)
    text = "Once upon a time"
    arguments = [text, "--generate", "3", "--layer", "1", "--head", "1", "--query", "upon"]
    assert main([*arguments, "--model", str(tmp_path / "tiny llama"), "-o", str(page)]) == 0
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "tiny llama", gguf_file="tiny.gguf")
    options = {"max_new_tokens": 3, "do_sample": False}
    record = capture(model, tokenizer, text, generate=options)
    _assert_shows(page, _named(record, "tiny"))
    content = content_of(page)
    assert content["manifest"]["stacks"][0]["queries"]["labels"][:4] == text.split()
    assert content["choices"]["query"] == 1


def _no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def _broken_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "bert",', encoding="utf-8")


def _no_type(folder: Path) -> None:
    (folder / "config.json").write_text("{}", encoding="utf-8")


def _no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def _cut_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def _overwritten_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(bytes(5000))


def _some_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    arrays = load_file(path)
    del arrays["encoder.layer.1.attention.self.query.weight"]
    save_file(arrays, path, {"format": "pt"})


def _other_sizes(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["hidden_size"] = 64
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def _no_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


def _own_code(folder: Path) -> None:
    config = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine"}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "mine.py").write_text("raise SystemExit('ran')", encoding="utf-8")


def _two_gguf(folder: Path) -> None:
    _no_weights(folder)
    for name in ("a", "b"):
        (folder / f"{name}.gguf").write_bytes(b"GGUF")


def _broken_gguf(folder: Path) -> None:
    _no_weights(folder)
    (folder / "a.gguf").write_bytes(b"GGUF")


def _an_image_model(folder: Path) -> None:
    shutil.rmtree(folder)
    tiny("ViT", image_size=8, patch_size=4).save_pretrained(folder)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_no_config, "FOLDER has no config.json"),
        (_broken_config, "cannot load FOLDER: .*JSON"),
        (_no_type, "cannot load FOLDER: Unrecognized model"),
        (_no_weights, "cannot load FOLDER: .*no file named model.safetensors"),
        (_cut_weights, "cannot load FOLDER: SafetensorError: "),
        (_overwritten_weights, "cannot load FOLDER: SafetensorError: "),
        (_some_weights, "FOLDER lacks 1 weights of BertModel, .* encoder.layer.1.*query.weight$"),
        (_other_sizes, "cannot load FOLDER: RuntimeError: .*"),
        (_no_tokenizer, "FOLDER has no tokenizer"),
        (_own_code, "cannot load FOLDER: .*"),
        (_two_gguf, "FOLDER has several models, give the path of one: a.gguf, b.gguf"),
        (_broken_gguf, "cannot load FOLDER: "),
        (_an_image_model, "ViTModel reads pixel_values, not text"),
    ],
)
def test_a_damaged_directory(
    damage: Callable[[Path], None],
    message: str,
    whole: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(whole, folder)
    damage(folder)
    _assert_fails(str(folder), message.replace("FOLDER", re.escape(str(folder))), capsys)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody/nothing", "cannot load nobody/nothing: "),
        ("./nothing", "there is no directory './nothing'; give one that save_pretrained wrote"),
        ("../nothing", "there is no directory '../nothing'"),
        ("./nothing/at/all", "there is no directory './nothing/at/all'"),
        (__file__, "is no .gguf file; give the directory that the model is in"),
        ("", "there is no directory ''"),
    ],
)
def test_what_is_no_directory(
    name: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    _assert_fails(name, message, capsys)


def _assert_fails(model: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([TEXT, "--model", model, "-o", "-"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    assert line.startswith("attnwidget: ")
    assert re.search(message, line)
