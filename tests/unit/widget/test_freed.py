"""A closed widget, and the record that it showed, leave the memory."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import ref

import ipywidgets
import pytest

import attnwidget as aw
from tests.unit.records import labels, some_weights


def make_record() -> aw.AttentionRecord:
    return aw.AttentionRecord.from_arrays([some_weights()], labels())


MAKE: dict[str, Callable[[Any], Any]] = {
    "a record": aw.show,
    "a comparison": lambda record: aw.show(aw.compare(record, make_record())),
}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_a_closed_widget_is_freed(make: Callable[[Any], Any]) -> None:
    record = make_record()
    widget = make(record)
    widget.close()
    left = [ref(widget), ref(record)]
    del widget, record
    gc.collect()
    assert [each() for each in left] == [None, None]


def test_a_page_leaves_no_widget(tmp_path: Path) -> None:
    record = make_record()
    before = len(ipywidgets.Widget.widgets)
    aw.save_html(tmp_path / "page.html", record)
    left = ref(record)
    del record
    gc.collect()
    assert left() is None
    assert len(ipywidgets.Widget.widgets) == before
