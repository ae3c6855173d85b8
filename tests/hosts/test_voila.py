"""Voila: a notebook as an app, whose readers see no code."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

import attnwidget as aw
from tests.browser.view import View, expect_lines
from tests.hosts.hostile_texts import expect_text_alone
from tests.hosts.shown import (
    PAINTS,
    expect_brightness,
    expect_head_view,
    expect_model_view,
    expect_three_views,
)
from tests.hosts.voila import ICONS, NOISE, serve_voila
from tests.support import Watch


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, record: aw.AttentionRecord) -> Iterator[str]:
    with serve_voila(tmp_path_factory.mktemp("voila"), record) as url:
        yield url


@pytest.fixture(scope="module")
def opened(browser: Browser, url: str) -> Iterator[tuple[Page, Watch]]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    server = urlsplit(url).netloc
    watch = Watch(
        context,
        lambda url: url.startswith(("data:", "blob:", ICONS)) or urlsplit(url).netloc == server,
        NOISE,
    )
    context.route(f"{ICONS}**", lambda route: route.fulfill(content_type="text/css", body=""))
    yield context.new_page(), watch
    context.close()


@pytest.fixture(scope="module")
def first(opened: tuple[Page, Watch], url: str) -> tuple[View, View, View]:
    """The first visit: every one runs the notebook in a kernel of its own."""
    return visit(opened[0], url)


@pytest.fixture
def page(opened: tuple[Page, Watch]) -> Iterator[Page]:
    """A test fails at its end if the page complained, or asked another server for anything."""
    page, watch = opened
    yield page
    problems = watch.problems()
    watch.clear()
    assert not problems, "\n".join(problems)


def visit(page: Page, url: str, theme: str = "light") -> tuple[View, View, View]:
    page.goto(f"{url}?theme={theme}")
    tabs = page.get_by_role("tablist", name="View")
    expect(tabs).to_have_count(3)
    views = page.locator(".jp-OutputArea-output").filter(has=tabs)
    return View(views.nth(0)), View(views.nth(1)), View(views.nth(2))


def test_first_paint(page: Page, url: str, first: tuple[View, View, View]) -> None:
    expect_lines(first[0])
    for _ in range(PAINTS - 1):
        view, *_ = visit(page, url)
        expect_lines(view)


def test_what_is_shown_and_chosen(
    page: Page, first: tuple[View, View, View], record: aw.AttentionRecord
) -> None:
    view, other, _ = first
    expect_brightness(view.body, dark=False)
    expect_three_views(view, record)
    expect_model_view(other, record)
    pictures = other.drawn()

    # From the reader to Python; a layer that is new comes from the kernel.
    known = page.locator(".widget-label").first
    view.open("Head")
    view.show(5, 11)
    view.query(9).click()
    expect(known).to_have_text("head 5.11 dog None")
    expect_head_view(view, record, layer=5)
    view.key(4).click()
    expect(known).to_have_text("head 5.11 None fox")

    # And back.
    page.get_by_role("button", name="Go to layer 3").click()
    expect(view.layer).to_have_text("3")
    expect(view.head).to_have_text("6")
    expect(view.query(4)).to_have_attribute("aria-selected", "true")
    expect(known).to_have_text("head 3.6 fox None")
    expect_head_view(view, record, layer=3)

    # With a kernel, no layer has to come with the page.
    expect(page.get_by_text("0 layers are embedded")).to_be_visible()
    # The other widget is another's.
    expect(other.layer).to_have_text("0")
    assert other.drawn() == pictures


def test_it_is_as_dark_as_the_page_and_hostile_texts_stay_text(
    opened: tuple[Page, Watch], page: Page, url: str
) -> None:
    """Together, because of the kernel."""
    view, other, hostile = visit(page, url, "dark")
    expect_lines(view)
    expect_brightness(view.body, dark=True)
    expect_brightness(other.body, dark=True)
    expect_text_alone(hostile, opened[1])
