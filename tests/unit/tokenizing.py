"""Tokenizers of kinds that none of the models here has, trained on a few words."""

import json
from typing import Any

from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

from attnwidget.running.labels import token_labels

CORPUS = ["the quick brown fox jumps over the lazy dog", "the tokens of a tokenizer"] * 20


def ids_of(tokenizer: Any, *texts: str) -> list[int]:
    return tokenizer(*texts)["input_ids"]


def labels_of(tokenizer: Any, text: str) -> tuple[str, ...]:
    return token_labels(tokenizer, ids_of(tokenizer, text))


def unigram(split: bool = True) -> Any:
    """A tokenizer of T5's kind; without `split`, it reports a text as one word."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<unk>", "</s>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=60, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=split)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>")


def byte_fallback() -> Any:
    """Llama's kind: a text is one word, and characters outside the vocabulary are bytes."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=330, special_tokens=["<unk>", "<s>", *fallback], show_progress=False
    )
    # Spaces kept out of the merges, as in a vocabulary that was trained on words.
    tokenizer.train_from_iterator([word for line in CORPUS for word in line.split()], trainer)
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = content["added_tokens"][:2]
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        bos_token="<s>",
        additional_special_tokens=["<image>"],
    )
