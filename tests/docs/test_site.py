"""The site of the documents is whole, and needs nothing from elsewhere."""

import inspect
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import attnwidget as aw
from attnwidget import record, widget
from tests.docs.conftest import ROOT
from tests.docs.pages import Html

DOCUMENTS = [path.relative_to(ROOT / "docs") for path in ROOT.glob("docs/**/*.md")]


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[str, Html]) -> None:
    loaded = [address for page in pages.values() for address in page.loaded]
    for sheet in site.rglob("*.css"):
        loaded += re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", sheet.read_text("utf-8"))
    assert len(loaded) > 100
    assert [address for address in loaded if re.match(r"(\w+:)?//", address)] == []


def test_every_link_and_picture_is_there(site: Path, pages: dict[str, Html]) -> None:
    broken = []
    for name, page in pages.items():
        for address in (*page.links, *page.loaded):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (site / name).parent.joinpath(unquote(parts.path)).resolve()
            if not parts.path:
                target = site / name
            there = pages.get(target.relative_to(site.resolve()).as_posix())
            missing = parts.fragment and there and unquote(parts.fragment) not in there.ids
            if not target.is_file() or missing:
                broken.append(f"{name}: {address}")
    assert broken == []


def test_every_document_is_in_the_contents(pages: dict[str, Html]) -> None:
    contents = set(pages["index.html"].links)
    missing = {path.with_suffix(".html").as_posix() for path in DOCUMENTS} - contents
    assert missing <= {"index.html"}


def test_a_file_of_the_repository_has_a_page(pages: dict[str, Html]) -> None:
    assert "source/tests/browser/test_neuron.py.html" in pages["parity.html"].links
    assert "source/notebooks/quickstart.ipynb.html" in pages["notebooks.html"].links


def test_every_public_name_is_documented(pages: dict[str, Html]) -> None:
    names = {
        f"module-attnwidget.{name}" if inspect.ismodule(getattr(aw, name)) else f"attnwidget.{name}"
        for name in aw.__all__
    }
    classes = [aw.AttentionRecord, aw.AttentionWidget, widget.Selection]
    parts = [getattr(record, name) for name in record.__all__]
    for found in (*classes, *filter(inspect.isclass, parts)):
        place = (
            "attnwidget" if found.__name__ in aw.__all__ else found.__module__.rpartition(".")[0]
        )
        name = f"{place}.{found.__name__}"
        names |= {name} | {f"{name}.{member}" for member in _members(found)}
    assert len(names) > 50
    assert names - pages["api.html"].ids == set()


def _members(found: type) -> set[str]:
    """Methods and properties that a class adds, but for what its host calls."""
    kinds = (property, classmethod)
    return {
        name
        for name, member in vars(found).items()
        if (inspect.isfunction(member) or isinstance(member, kinds))
        and not name.startswith("_")
        and name != "set_state"
    }
