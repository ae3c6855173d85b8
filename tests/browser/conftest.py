from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

import attnwidget as aw
from tests.browser.texts import TEXT
from tests.browser.view import View
from tests.browser.visit import Visit
from tests.support import OpenPage, Shared

SavePage = Callable[[aw.AttentionRecord, str], Path]


@pytest.fixture(scope="session")
def save_page(tmp_path_factory: pytest.TempPathFactory) -> SavePage:
    folder = tmp_path_factory.mktemp("pages")

    def save(record: aw.AttentionRecord, name: str) -> Path:
        # Tests compare what is shown with the record.
        aw.AttentionWidget(record).save_html(folder / name, quality="exact")
        return folder / name

    return save


@pytest.fixture(scope="session")
def pair_page(record: aw.AttentionRecord, save_page: SavePage) -> Path:
    return save_page(record, "pair.html")


@pytest.fixture
def view(open_page: OpenPage, pair_page: Path) -> View:
    """The page of the pair, freshly opened, high enough to need no scrolling."""
    return View(open_page(pair_page, height=1000))


@pytest.fixture(scope="session")
def smollm2_record(shared: Shared, request: pytest.FixtureRequest) -> aw.AttentionRecord:
    """A decoder's attention: causal, and three query heads to a key head."""

    def make(path: Path) -> None:
        aw.capture(*request.getfixturevalue("smollm2"), TEXT).save(path)

    return aw.AttentionRecord.load(shared("smollm2.safetensors", make))


@pytest.fixture(scope="session")
def smollm2_page(smollm2_record: aw.AttentionRecord, save_page: SavePage) -> Path:
    return save_page(smollm2_record, "smollm2.html")


@pytest.fixture(scope="session")
def answer(smollm2: Any) -> aw.Answer:
    chat = [
        {"role": "system", "content": "Answer in one short sentence."},
        {
            "role": "user",
            "content": "The lamp burned oil until 1902. After that, it ran on electricity from "
            "the village mill. Dogs may visit the garden.\n\nWhere did the electricity come from?",
        },
    ]
    found = aw.answer(*smollm2, chat, generate=14)
    found.cut()
    return found


@pytest.fixture(scope="session")
def answer_page(answer: aw.Answer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The text view of a chat whose cuts are measured, and one layer of the others."""
    page = tmp_path_factory.mktemp("pages") / "answer.html"
    aw.save_html(page, aw.show(answer, static=True), layers=[0])
    return page


@pytest.fixture(scope="session")
def weights_only() -> aw.AttentionRecord:
    """2 layers of 4 heads as weights, without the queries and keys behind them."""
    tokens = ["a", "record", "of", "weights", "alone"]
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(len(tokens), 0.5), (2, 4, len(tokens)))
    return aw.AttentionRecord.from_arrays(weights, tokens)


@pytest.fixture
def model_view(view: View) -> View:
    view.open("Model")
    return view


@pytest.fixture
def smollm2_view(open_page: OpenPage, smollm2_page: Path) -> View:
    """30 layers of 9 heads, in a window that holds some of them."""
    view = View(open_page(smollm2_page, width=1000, height=800))
    view.open("Model")
    return view


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Iterator[Visit]:
    visit = Visit(browser, tmp_path)
    yield visit
    visit.context.close()
