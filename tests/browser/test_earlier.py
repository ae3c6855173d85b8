"""Records and pages that the version before this one wrote still open."""

import numpy as np

import attnwidget as aw
from attnwidget.default_model import default_model
from tests.browser.earlier import earlier_record, expect_earlier_view, read_earlier
from tests.browser.view import View
from tests.support import OpenPage


def test_an_earlier_record_is_what_is_captured_now() -> None:
    earlier = earlier_record()
    record = aw.capture(*default_model(), "The dog ran.", layers=[0, 5])
    assert earlier.tokens() == record.tokens()
    for layer in (0, 5):
        for head in range(record.num_heads(layer)):
            scores = (each.scores(layer, head) for each in (earlier, record))
            np.testing.assert_allclose(*scores, atol=1e-4)


def test_an_earlier_page(open_page: OpenPage) -> None:
    expect_earlier_view(View(open_page(read_earlier("page.html").decode())))
