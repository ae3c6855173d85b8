"""The links of a page of the site."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path


@dataclass
class Html(HTMLParser):
    """Attributes:
    ids: what a fragment can name.
    links: where a reader can go.
    loaded: what a browser loads by itself.
    """

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.add(given["id"] or "")
        if tag == "a":
            self.links.extend(_values(given, "href"))
        elif tag == "link":
            # Pages before and after this one are not loaded.
            loads = set((given.get("rel") or "").split()) & {"stylesheet", "preload", "icon"}
            (self.loaded if loads else self.links).extend(_values(given, "href"))
        else:
            self.loaded.extend(_values(given, "src", "srcset", "data", "poster"))


def _values(given: dict[str, str | None], *names: str) -> Iterator[str]:
    for name in names:
        value = given.get(name)
        if value:
            yield value


def parsed(path: Path) -> Html:
    page = Html()
    page.feed(path.read_text(encoding="utf-8"))
    return page
