"""Whatever a page sends is answered or ignored, and no trait takes what it must not."""

import json
from random import Random
from typing import Any

import pytest
from traitlets import TraitError

import attnwidget as aw
from attnwidget.wire import Replies
from tests.fuzz import mutate
from tests.fuzz.campaign import campaign
from tests.unit.records import PROGRAMS, hybrid, layer_of, record_of

REQUESTS: list[Any] = [
    {"id": "a.1", "op": "block", "stack": "self", "layer": 3},
    {"id": "a.2", "op": "combined", "stack": "other"},
    {"id": "a.3", "op": "row", "stack": "self", "layer": 7, "side": "query", "position": 2},
    {"id": "a.4", "op": "row", "stack": "other", "layer": 0, "side": "key", "position": 6},
    {"op": "abort", "of": ["a.4", "a.3"]},
]


@pytest.fixture(scope="module")
def record() -> aw.AttentionRecord:
    other = record_of(layer_of(PROGRAMS["everything"])).stack()
    return aw.AttentionRecord({"self": hybrid(), "other": other})


def test_requests(record: aw.AttentionRecord) -> None:
    def make(random: Random) -> bytes:
        several = [mutate.json_of(random.choice(REQUESTS), random) for _ in range(3)]
        return json.dumps(several).encode()

    def check(data: bytes) -> bool:
        sent: list[Any] = []
        replies = Replies(lambda *reply: sent.append(reply))
        # Replies that need a thread are cancelled, because nothing would wait for them.
        replies.close()
        for request in json.loads(data):
            replies.to(record, request)
        for content, buffers in sent:
            json.dumps(content, allow_nan=False, ensure_ascii=False).encode()
            assert all(isinstance(buffer, bytes) for buffer in buffers)
        assert len(sent) <= 3
        return any("parts" in content for content, _ in sent)

    campaign("requests", 2500, make, check)


def test_trait_values(record: aw.AttentionRecord) -> None:
    widget = aw.AttentionWidget(record)
    names = widget.trait_names(choice=True)
    initial = {name: getattr(widget, name) for name in names}
    shown = initial | {"heads": [1, 2], "query": 3, "also": [4, 5], "muted": [0], "layer": 7}

    def make(random: Random) -> bytes:
        changed = mutate.json_of(shown, random)
        return json.dumps(changed if isinstance(changed, dict) else {"layer": changed}).encode()

    def check(data: bytes) -> bool:
        try:
            widget.set_state(json.loads(data))
        except TraitError:
            return False
        finally:
            state = {name: getattr(widget, name) for name in names}
            json.dumps(state, allow_nan=False, ensure_ascii=False).encode()
            assert widget.selection is not None
        return True

    campaign("trait values", 600, make, check)
