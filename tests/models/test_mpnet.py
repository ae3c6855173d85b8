"""MPNet (all-mpnet-base-v2): an encoder with a bias of relative positions."""

import pytest
from transformers import AutoModel, AutoTokenizer

from attnwidget import capture
from tests.models.conftest import Agree
from tests.models.trained import Load, Trained
from tests.unit.tiny import references_by_stack

TEXT = "The quick brown fox jumped over the lazy dog because it was tired."
PAIR = "Then it slept in the warm sun."

# The noun that is meant depends on the pronoun alone, not on the nouns' places.
PRONOUNS = [
    ("The king thanked the queen because {} was kind.", {"he": "king", "she": "queen"}),
    ("The mother called the boy because {} was worried.", {"she": "mother", "he": "boy"}),
    ("The woman fed the cat before {} ran away.", {"she": "woman", "it": "cat"}),
    ("The man washed the car after {} came home.", {"he": "man", "it": "car"}),
    ("The girl saw the dogs when {} ran across the street.", {"she": "girl", "they": "dogs"}),
    ("The actress met the prince before {} was famous.", {"she": "actress", "he": "prince"}),
    ("The father told the daughter that {} had won.", {"he": "father", "she": "daughter"}),
    ("The children hugged the dog when {} came home.", {"they": "children", "it": "dog"}),
    ("The boy kicked the ball until {} was tired.", {"he": "boy", "it": "ball"}),
    ("The sister helped the brother when {} was ill.", {"she": "sister", "he": "brother"}),
    ("The soldiers guarded the bridge until {} fell.", {"they": "soldiers", "it": "bridge"}),
    ("The students read the book until {} ended.", {"they": "students", "it": "book"}),
]


@pytest.fixture(scope="module")
def mpnet(load: Load) -> Trained:
    return load("mpnet", AutoModel, AutoTokenizer)


@pytest.mark.parametrize("texts", [(TEXT,), (TEXT, PAIR)], ids=["text", "pair"])
def test_every_weight_is_the_models_own(
    mpnet: Trained, agree: Agree, texts: tuple[str, ...]
) -> None:
    record = capture(mpnet.model, mpnet.processor, *texts)
    own = references_by_stack(mpnet.eager, **mpnet.processor(*texts, return_tensors="pt"))
    agree(record, **own)


def test_padding_is_cut_off(mpnet: Trained, agree: Agree) -> None:
    batch = mpnet.processor([PAIR, TEXT], padding=True, return_tensors="pt")
    record = capture(mpnet.model, mpnet.processor, batch)
    agree(record, **references_by_stack(mpnet.eager, **mpnet.processor(PAIR, return_tensors="pt")))


def test_the_bias_is_kept_by_relative_position(mpnet: Trained) -> None:
    record = capture(mpnet.model, mpnet.processor, TEXT)
    length = len(record.tokens()[0])
    for layer in record.stack().layers:
        assert layer.program is not None
        assert layer.program.bias is None
        assert layer.program.relative is not None
        assert layer.program.relative.shape == (12, 2 * length - 1)


def test_head_4_3_finds_what_a_pronoun_stands_for(mpnet: Trained) -> None:
    found = []
    for sentence, meant in PRONOUNS:
        for pronoun, noun in meant.items():
            record = capture(mpnet.model, mpnet.processor, sentence.format(pronoun))
            tokens, _ = record.tokens()
            row = record.weights(4, 3)[tokens.index(pronoun)]
            found.append(max(meant.values(), key=lambda n: row[tokens.index(n)]) == noun)
    assert len(found) == 24
    assert sum(found) >= 20
