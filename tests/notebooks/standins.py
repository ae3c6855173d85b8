"""Models with random weights, on which notebooks run if the trained ones are not available."""

import json
from pathlib import Path

import torch
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from transformers import (
    BertConfig,
    BertModel,
    MarianConfig,
    MarianMTModel,
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessor,
)

from attnwidget.default_model import default_model

PROSE = Path(__file__).parents[2] / "benchmarks" / "browser" / "prose.txt"


def marian(folder: Path) -> None:
    """6 + 6 layers of 8 heads, as opus-mt has them, with a tokenizer of its kind."""
    folder.mkdir(parents=True)
    SentencePieceTrainer.train(
        input=str(PROSE), model_prefix=str(folder / "source"), vocab_size=200, minloglevel=2
    )
    (folder / "source.model").rename(folder / "source.spm")
    (folder / "source.vocab").unlink()
    (folder / "target.spm").write_bytes((folder / "source.spm").read_bytes())
    pieces = SentencePieceProcessor(str(folder / "source.spm"))
    names = ["</s>", "<unk>", *(pieces.id_to_piece(n) for n in range(pieces.get_piece_size()))]
    vocabulary = {name: n for n, name in enumerate(dict.fromkeys([*names, "<pad>"]))}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "tokenizer_config.json").write_text('{"source_lang": "en", "target_lang": "fr"}')
    pad = vocabulary["<pad>"]
    config = MarianConfig(
        vocab_size=len(vocabulary),
        d_model=64,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
        forced_eos_token_id=0,
    )
    torch.manual_seed(0)
    model = MarianMTModel(config)
    model.generation_config.max_length = 16
    model.save_pretrained(folder)


def vit(folder: Path) -> None:
    """12 layers of 12 heads over 14 x 14 patches, as ViT-base has them."""
    torch.manual_seed(0)
    ViTForImageClassification(ViTConfig(hidden_size=96, intermediate_size=96)).save_pretrained(
        folder
    )
    ViTImageProcessor().save_pretrained(folder)


def bert(folder: Path) -> None:
    """12 layers of 12 heads, with the embedded model's tokenizer, whose vocabulary is the same."""
    _, tokenizer = default_model()
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=96, intermediate_size=96)
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


MAKE = {"bge_small": bert, "gte_small": bert, "marian_en_fr": marian, "vit": vit}
