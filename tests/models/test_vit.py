"""ViT (patch16-224): an image in 196 patches."""

import numpy as np
import pytest
from PIL import Image

from attnwidget import capture
from tests.models.conftest import Agree
from tests.models.trained import Load, Trained
from tests.unit.tiny import references_by_stack


@pytest.fixture(scope="module")
def vit(load: Load) -> Trained:
    # Processing of images takes seconds to import.
    from transformers import AutoImageProcessor, AutoModelForImageClassification

    return load("vit", AutoModelForImageClassification, AutoImageProcessor)


def test_every_weight_is_the_models_own(vit: Trained, agree: Agree) -> None:
    y, x = np.mgrid[:240, :320]
    channels = np.stack([x * 255 // 320, y * 255 // 240, (x // 20 + y // 20) % 2 * 255], axis=-1)
    image = Image.fromarray(channels.astype(np.uint8))
    pixels = vit.processor(images=image, return_tensors="pt")
    record = capture(vit.model, vit.processor, pixels)
    agree(record, **references_by_stack(vit.eager, **pixels))
    tokens, _ = record.tokens()
    assert len(tokens) == 197
    assert tokens[:3] == ["[CLS]", "0,0", "0,1"]
    assert tokens[-1] == "13,13"
