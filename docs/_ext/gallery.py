"""The directive `{gallery}`: entries of docs/gallery, alive where the embedded model will do."""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

sys.path.insert(0, str(Path(__file__).parents[2]))

from scripts.gallery_entries import SECTIONS, Entry, entry


class Gallery(SphinxDirective):
    """All entries, by section."""

    def run(self) -> list[nodes.Node]:
        text = "".join(
            f"## {section}\n\n{''.join(_shown(entry(name)) for name in names)}"
            for section, names in SECTIONS.items()
        )
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _shown(entry: Entry) -> str:
    head = f"### {entry.title}\n\n{entry.text}\n\n"
    if not entry.embedded:
        return f"{head}```python\n{entry.code}\n```\n\n"
    return f"{head}```{{attnwidget}} {entry.title}\n\n{entry.code}\n```\n\n"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
