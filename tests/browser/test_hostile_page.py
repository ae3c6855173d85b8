"""A page that claims what cannot be says so, and takes neither the memory nor the time for it."""

import json
import re
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import attnwidget as aw
from tests.browser.view import View, expect_lines
from tests.decoding import to_base85
from tests.support import OpenPage

Content = dict[str, Any]


@pytest.fixture
def html(pair_page: Path) -> str:
    return pair_page.read_text(encoding="utf-8")


def rewritten(html: str, part: str, change: Callable[[Content], Any]) -> str:
    """The page with one of its data scripts changed."""

    def replace(found: re.Match[str]) -> str:
        content = json.loads(found[2])
        change(content)
        return found[1] + json.dumps(content).replace("<", "\\u003c") + found[3]

    out, count = re.subn(rf"(<script[^>]*{part}[^>]*>)(.*?)(</script>)", replace, html, flags=re.S)
    assert count == 1
    return out


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("stacks[0].layers[0].heads", lambda layer: layer.update(heads=2**40)),
        ("stacks[0].layers[0].program", lambda layer: layer["program"].update(mask="<script>")),
    ],
)
def test_a_manifest_that_cannot_be(
    open_page: OpenPage, html: str, where: str, change: Callable[[Content], Any]
) -> None:
    def first_layer(content: Content) -> None:
        change(content["records"][0]["manifest"]["stacks"][0]["layers"][0])

    page = open_page(rewritten(html, "data-content", first_layer))
    expect(page.get_by_role("alert")).to_contain_text("This record is damaged")
    expect(page.get_by_role("alert")).to_contain_text(where)


@cache
def gigabyte() -> str:
    """A gigabyte of zeros in a megabyte."""
    compressor = zlib.compressobj(9)
    data = b"".join(compressor.compress(bytes(1 << 20)) for _ in range(1 << 10))
    return to_base85(data + compressor.flush())


def bomb(content: Content) -> None:
    content["data"] = gigabyte()


def claims(content: Content) -> None:
    bomb(content)
    for part in content["parts"]:
        part["shape"] = [2**9, 2**10, 2**10]


@pytest.mark.parametrize(
    ("change", "said"),
    [(bomb, "incomplete or damaged"), (claims, "do not have the shape that its record says")],
)
def test_a_layer_that_is_a_bomb(
    open_page: OpenPage, html: str, change: Callable[[Content], Any], said: str
) -> None:
    view = View(open_page(rewritten(html, r'data-block="self\.0"', change)))
    expect(view.alert).to_contain_text(said)
    # The rest of the page is as good as before.
    view.layer.press("ArrowUp")
    expect(view.alert).to_have_count(0)
    expect_lines(view)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("view", "constructor"),
        ("layer", "<img src=x onerror=alert(1)>"),
        ("theme", {"__proto__": None}),
    ],
)
def test_a_choice_that_cannot_be(open_page: OpenPage, html: str, name: str, value: Any) -> None:
    changed = rewritten(
        html, "data-content", lambda content: content["widgets"][0]["choices"].update({name: value})
    )
    view = View(open_page(changed))
    expect(view.alert).to_contain_text(f"The new value of {name} is not valid")
    expect_lines(view)


def test_thumbnails_that_are_cut_short(open_page: OpenPage, html: str) -> None:
    def cut(content: Content) -> None:
        overview = {"bytes": 9, "data": to_base85(zlib.compress(bytes(9)))}
        content["records"][0].update(overview=overview)

    page = open_page(rewritten(html, "data-content", cut))
    expect(page.get_by_role("alert")).to_contain_text("thumbnails of this record are incomplete")


def test_thumbnails_that_are_a_bomb(open_page: OpenPage, html: str) -> None:
    page = open_page(
        rewritten(
            html,
            "data-content",
            lambda content: content["records"][0]["overview"].update(data=gigabyte()),
        )
    )
    expect(page.get_by_role("alert")).to_contain_text("This record is incomplete or damaged")


def test_thumbnails_that_claim_to_be_a_bomb(open_page: OpenPage, html: str) -> None:
    def claim(content: Content) -> None:
        content["records"][0].update(overview={"bytes": 2**30, "data": gigabyte()})

    page = open_page(rewritten(html, "data-content", claim))
    expect(page.get_by_role("alert")).to_contain_text("too many thumbnails")


def test_damaged_thumbnails_leave_the_other_record(
    open_page: OpenPage, record: aw.AttentionRecord
) -> None:
    other = aw.AttentionRecord.from_arrays(np.full((1, 1, 2, 2), 0.5), ["a", "b"])
    html = aw.to_html(aw.AttentionWidget(record), aw.AttentionWidget(other))

    def damage(content: Content) -> None:
        content["records"][1]["overview"].update(data="!")

    page = open_page(rewritten(html, "data-content", damage))
    expect(page.get_by_role("alert")).to_contain_text("This record is incomplete or damaged")
    expect_lines(View(page))
