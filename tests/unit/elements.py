"""An HTML page, taken apart."""

from html.parser import HTMLParser


class Elements(HTMLParser):
    """Tags with their attributes and the text directly inside them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self._open: list[int] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(len(self.found))
        self.found.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, attributes, text = self.found[self._open[-1]]
            self.found[self._open[-1]] = tag, attributes, text + data

    def handle_endtag(self, tag: str) -> None:
        while self._open and self.found[self._open.pop()][0] != tag:
            pass

    def all(self, tag: str, attribute: str = "") -> list[tuple[dict[str, str | None], str]]:
        return [
            (a, t) for name, a, t in self.found if name == tag and (attribute in a or not attribute)
        ]
