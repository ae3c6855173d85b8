"""Where changes, scans and attributions reach: equal to the model alone, or refused by name."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import peft
import pytest
import torch

import attnwidget as aw
from tests.unit.tiny import VOCABULARY, Model, tiny, token_ids

IDS = token_ids(9)
Inputs = Mapping[str, torch.Tensor]
ALONE: Inputs = {"input_ids": IDS}
PADDED = torch.nn.functional.pad(IDS, (2, 0))


class Around(torch.nn.Module):
    """A module of one's own that calls a model."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor) -> Any:
        return self.model(input_ids=input_ids)


class Setting(NamedTuple):
    of: Callable[[Model], Model]
    inputs: Inputs = ALONE
    # The distance from the model alone, as a share of the largest number there.
    rounding: float = 1e-5


LORA = peft.LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj", "v_proj"])
SETTINGS = {
    "a part of another module": Setting(Around),
    "the base of an adapter": Setting(lambda model: peft.get_peft_model(model, LORA)),
    "compiled": Setting(lambda model: torch.compile(model, backend="eager")),
    "half precision": Setting(
        lambda model: model.to(torch.bfloat16), rounding=10 * torch.finfo(torch.bfloat16).eps
    ),
    "padded on the left": Setting(
        lambda model: model, {"input_ids": PADDED, "attention_mask": (PADDED != 0).long()}
    ),
}


def decoder() -> Model:
    model = tiny("LlamaForCausalLM", num_key_value_heads=2, initializer_range=0.2)
    return model.to(torch.bfloat16).to(torch.float32)  # weights that both types have


def logits(model: Model, inputs: Inputs, *edits: Any) -> Any:
    with torch.no_grad(), aw.intervene(model, *edits):
        return model(**inputs).logits[0, -len(IDS[0]) :].double().numpy()


def other_text(inputs: Inputs) -> Inputs:
    ids = inputs["input_ids"]
    return {**inputs, "input_ids": torch.where(ids == 0, 0, VOCABULARY - ids)}


def links_cut(model: Model, inputs: Inputs) -> Any:
    record = aw.capture(decoder(), None, ALONE)
    return logits(model, inputs, aw.KnockOut([5, 7], [0, 2], layers=1, record=record))


def outputs_of_another_text(model: Model, inputs: Inputs) -> Any:
    return logits(model, inputs, aw.Patch(aw.head_outputs(model, None, other_text(inputs)), 0, 2))


def weights_of_another_text(model: Model, inputs: Inputs) -> Any:
    record = aw.capture(model, None, other_text(inputs), values=True)
    return logits(model, inputs, aw.Patch(record, 0, at="weights"))


def gradients(model: Model, inputs: Inputs) -> Any:
    found = aw.attention_gradients(model, None, inputs)
    return np.stack([found.products(1, head) for head in range(4)])


def totals(model: Model, inputs: Inputs) -> Any:
    scores = aw.logit_attribution(model, None, inputs, token=7).total
    assert scores is not None
    return scores.values()


def losses(model: Model, inputs: Inputs) -> Any:
    order = [(0, 1), (1, 2), (1, 0)]
    return aw.prune_curve(model, None, [inputs], order, points=4, random_orders=0).losses


NUMBERS: dict[str, Callable[[Model, Inputs], Any]] = {
    "intervene, Ablate": lambda model, inputs: logits(model, inputs, aw.Ablate(1, [1, 3])),
    "intervene, KnockOut": links_cut,
    "intervene, Patch": outputs_of_another_text,
    "intervene, Patch of a record": weights_of_another_text,
    "ablate": lambda *of: aw.ablate(of[0], None, of[1], heads=[(0, 2)]).divergence,
    "ablation_scan": lambda *of: aw.ablation_scan(of[0], None, of[1], null=False).values(),
    "head_importance": lambda *of: aw.head_importance(of[0], None, [of[1]]).values(),
    "attention_gradients": gradients,
    "prune_curve": losses,
    "logit_attribution, direct": lambda *of: aw.logit_attribution(
        of[0], None, of[1], token=7, total=False
    ).direct.values(),
    "logit_attribution, total": totals,
}

REFUSED = {
    ("head_importance", "a part of another module"): "Around predicts no next token",
    ("attention_gradients", "a part of another module"): "Around predicts no next token",
    ("prune_curve", "a part of another module"): "Around predicts no next token",
    ("logit_attribution, direct", "a part of another module"): "Around has no unembedding",
    ("logit_attribution, total", "a part of another module"): "Around has no unembedding",
    ("intervene, KnockOut", "padded on the left"): "text 0 of the batch is padded on the left",
    ("intervene, Patch of a record", "padded on the left"): r"\[1, 4, 9, 9\] in the source",
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", NUMBERS)
def test_equal_to_the_model_alone_or_refused(name: str, setting: str) -> None:
    of, inputs, rounding = SETTINGS[setting]
    numbers, model = NUMBERS[name], of(decoder())
    if (name, setting) in REFUSED:
        with pytest.raises(ValueError, match=REFUSED[name, setting]):
            numbers(model, inputs)
        return
    expected, found = np.asarray(numbers(decoder(), ALONE)), np.asarray(numbers(model, inputs))
    assert found.shape == expected.shape
    largest = np.abs(expected).max()
    assert largest > 0.01
    np.testing.assert_allclose(found, expected, rtol=0, atol=rounding * largest)
