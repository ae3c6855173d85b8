"""Random models and a made-up treebank, on which notebooks run where the real ones are missing."""

import json
from pathlib import Path

import numpy as np
import torch
from scipy.io import wavfile
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from transformers import (
    BertConfig,
    BertModel,
    MarianConfig,
    MarianMTModel,
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessor,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
    WhisperProcessor,
    WhisperTokenizer,
)
from transformers.convert_slow_tokenizer import bytes_to_unicode

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


def encoder(folder: Path) -> None:
    """2 layers of 12 heads, in place of 12, and MiniLM's tokenizer."""
    torch.manual_seed(0)
    config = BertConfig(hidden_size=48, intermediate_size=48, num_hidden_layers=2)
    BertModel(config).save_pretrained(folder)
    default_model()[1].save_pretrained(folder)


_DOCUMENT = """\
# newdoc id = {number}
# global.Entity = eid-etype-head-other
1\tAnn\tAnn\tPROPN\t_\t_\t2\tnsubj\t_\tEntity=(e1-person-1-)
2\tsaw\tsee\tVERB\t_\t_\t0\troot\t_\t_
3\ta\ta\tDET\t_\t_\t4\tdet\t_\tEntity=(e2-animal-2-
4\tdog\tdog\tNOUN\t_\t_\t2\tobj\t_\tEntity=e2)
5\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\tEntity=(e2-animal-1-)
2\tchased\tchase\tVERB\t_\t_\t0\troot\t_\t_
3\ther\ther\tPRON\t_\t_\t2\tobj\t_\tEntity=(e1-person-1-)
4\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""


def ud_english(folder: Path) -> None:
    """One document, again and again, with trees and coreference."""
    folder.mkdir(parents=True)
    text = "".join(_DOCUMENT.format(number=number) for number in range(24))
    for name in ("ewt", "gum"):
        for part in ("dev", "test"):
            (folder / f"en_{name}-ud-{part}.conllu").write_text(text)


def whisper(folder: Path) -> None:
    """4 + 4 layers of 6 heads over 30 seconds, as Whisper tiny has them, with a token per byte."""
    end = "<|endoftext|>"
    tokenizer = WhisperTokenizer(
        vocab={byte: n for n, byte in enumerate([*bytes_to_unicode().values(), end])}, merges=[]
    )
    tokenizer.add_special_tokens(
        {"additional_special_tokens": ["<|startoftranscript|>", "<|notimestamps|>"]}
    )
    start = tokenizer.convert_tokens_to_ids("<|startoftranscript|>")
    config = WhisperConfig(
        vocab_size=len(tokenizer),
        d_model=24,
        encoder_layers=4,
        decoder_layers=4,
        encoder_attention_heads=6,
        decoder_attention_heads=6,
        encoder_ffn_dim=24,
        decoder_ffn_dim=24,
        pad_token_id=tokenizer.convert_tokens_to_ids(end),
        bos_token_id=tokenizer.convert_tokens_to_ids(end),
        eos_token_id=tokenizer.convert_tokens_to_ids(end),
        decoder_start_token_id=start,
    )
    torch.manual_seed(0)
    WhisperForConditionalGeneration(config).save_pretrained(folder)
    WhisperProcessor(WhisperFeatureExtractor(), tokenizer).save_pretrained(folder)


def librivox(folder: Path) -> None:
    """A second of noise under each name of a recording, and the times of two words."""
    folder.mkdir(parents=True)
    noise = np.random.default_rng(0).integers(-1000, 1000, 16_000, dtype=np.int16)
    words = [{"t": "two", "b": 0.1, "d": 0.4}, {"t": "words", "b": 0.5, "d": 0.5}]
    for part in (870, 880, 890, 920, 930):
        name = f"sense_and_sensibility_01_austen_64kb-0{part}"
        wavfile.write(folder / f"{name}.wav", 16_000, noise)
        (folder / f"{name}.json").write_text(json.dumps({"w": words}))


MAKE = {
    "bge_small": encoder,
    "gte_small": encoder,
    "librivox": librivox,
    "marian_en_fr": marian,
    "mpnet": encoder,
    "ud_english": ud_english,
    "vit": vit,
    "whisper_tiny_en": whisper,
}
