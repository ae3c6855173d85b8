"""The code of these documents runs as it stands there, block by block."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import attnwidget as aw
from tests.docs.conftest import ROOT
from tests.unit.records import labels, record_with_every_program, some_weights
from tests.unit.tiny import SIZES, build

TEXT = "The dog was tired because it ran."


def _nothing(_folder: Path) -> dict[str, Any]:
    return {}


def _a_saved_record(folder: Path) -> dict[str, Any]:
    model, tokenizer = aw.default_model()
    aw.capture(model, tokenizer, TEXT).save(folder / "dog.safetensors")
    return {}


def _an_array(_folder: Path) -> dict[str, Any]:
    return {"attention": some_weights(), "tokens": labels()}


def _a_bridge(folder: Path) -> dict[str, Any]:
    bridges = pytest.importorskip("transformer_lens.model_bridge")
    _, tokenizer = aw.default_model()
    kind = transformers.GPT2LMHeadModel
    sizes = {**SIZES, "vocab_size": len(tokenizer), "n_embd": 32, "n_head": 4, "n_layer": 2}
    model = build(kind, kind.config_class(**sizes), "eager")
    model.save_pretrained(folder / "model")
    bridge = bridges.TransformerBridge.boot_transformers(
        str(folder / "model"), hf_model=model, tokenizer=tokenizer, device="cpu"
    )
    return {"bridge": bridge, "text": TEXT}


def _an_attribution(_folder: Path) -> dict[str, Any]:
    """What Inseq returns: of nine tokens, four that were generated, NaN for those not read yet."""
    weights = torch.full((9, 4, 2, 3), torch.nan)
    for step in range(4):
        weights[: 5 + step, step] = 1 / (5 + step)
    found = SimpleNamespace(
        target=[SimpleNamespace(token=label) for label in labels(9)],
        target_attributions=weights,
        attr_pos_start=5,
        attr_pos_end=9,
    )
    return {"out": SimpleNamespace(sequence_attributions=[found])}


def _a_folder_of_headvis(folder: Path) -> dict[str, Any]:
    run = folder / "gemma-3-1b" / "headvis" / "pile"
    (run / "heads").mkdir(parents=True)
    weights = np.round(record_with_every_program().weights(3, 1), 4)
    text = {
        "tokens": labels(),
        "attention_indices": np.flatnonzero(weights).tolist(),
        "attention_values": weights[weights > 0].tolist(),
        "interval": 5,
        "max_activation": float(weights.max()),
    }
    (run / "heads" / "L5H3.json").write_text(json.dumps({"sequences": [text]}))
    rows = [{"layer": 0, "head": head, "prev_token_score": head / 10} for head in range(4)]
    (run / "scatter_data.json").write_text(json.dumps(rows))
    return {}


# Document -> what its reader has before the first block, in an empty folder.
RUN: dict[str, Callable[[Path], dict[str, Any]]] = {
    "AGENTS.md": _nothing,
    "docs/llms.txt": _nothing,
    "docs/guide/jupyterlite.md": _a_saved_record,
    "docs/coming-from/circuitsvis.md": _an_array,
    "docs/coming-from/transformerlens.md": _a_bridge,
    "docs/coming-from/inseq.md": _an_attribution,
    "docs/coming-from/headvis.md": _a_folder_of_headvis,
}


@pytest.mark.parametrize("document", RUN)
def test_the_code_runs(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = RUN[document](tmp_path)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, document, "exec"), names)
