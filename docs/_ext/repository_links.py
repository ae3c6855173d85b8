"""Links from a document to files of the repository, which work on a code host, work in the site.

A file outside of docs/ has a page of the site, which `source_pages` makes. A link whose title names
a function there goes to that function. A folder has no page: a link to it becomes its text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.osutil import relative_uri
from sphinx.util.typing import ExtensionMetadata

ROOT = Path(__file__).parents[2]

# Prefix of the anchors of a source's lines.
LINE = "line"

# Files at the root that are documents of the site.
DOCUMENTS = {"README.md": "index", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}
# Documents that include such a file: its links lie at the root.
INCLUDING = {"changelog", "contributing"}


class RepositoryLinks(SphinxTransform):
    """Points what MyST made of such a link at its page of the site."""

    default_priority = 500

    def apply(self, **_options: Any) -> None:
        kinds = addnodes.download_reference, addnodes.pending_xref
        for node in [node for kind in kinds for node in self.document.findall(kind)]:
            if node.get("reftype") == "myst":
                self._point(node)

    def _point(self, node: nodes.Element) -> None:
        path, fragment = self._destination(node)
        if path is None or not path.exists() or not path.is_relative_to(ROOT):
            return  # a document of the site, or an error, which MyST tells
        document = document_of(self.env, path)
        link: nodes.Element
        if document:
            link = addnodes.pending_xref(
                refdoc=self.env.docname,
                reftype="myst",
                refdomain="doc",
                refexplicit=True,
                reftarget=document,
                reftargetid=fragment,
            )
        elif path.is_relative_to(self.env.srcdir):
            return  # a picture, which Sphinx copies
        elif path.is_file():
            linked_files(self.env).setdefault(self.env.docname, set()).add(path)
            uri = self.app.builder.get_target_uri
            address = relative_uri(uri(self.env.docname), uri(page_of(path)))
            title = node.get("reftitle")
            link = nodes.reference(refuri=address + _line(path, title), internal=True)
            if title:
                link["reftitle"] = title
        else:
            link = nodes.inline()
        link += node.children
        node.replace_self(link)

    def _destination(self, node: nodes.Element) -> tuple[Path | None, str | None]:
        target = node["reftarget"]
        if node.get("refdomain") == "doc":
            # MyST takes every Markdown file for a document, also one that is not of the site.
            found = target in self.env.found_docs
            return None if found else Path(f"{target}.md"), node.get("reftargetid")
        place, _, fragment = target.partition("#")
        if not place:
            return None, None
        here = Path(self.env.doc2path(self.env.docname)).parent
        folder = ROOT if self.env.docname in INCLUDING else here
        return (folder / place).resolve(), fragment or None


def document_of(env: BuildEnvironment, path: Path) -> str | None:
    """The name of the site's document that this file is."""
    at_root = DOCUMENTS.get(path.name) if path.parent == ROOT else None
    name = at_root or env.path2doc(path)
    return name if name in env.found_docs else None


def page_of(path: Path) -> str:
    """The name of the page that another file has."""
    return f"source/{path.relative_to(ROOT).as_posix()}"


def _line(path: Path, title: str | None) -> str:
    """The fragment of the line where a file of Python defines what the link's title names."""
    if title and path.suffix == ".py":
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.match(rf"\s*(def|class) {re.escape(title)}\b", line):
                return f"#{LINE}-{number}"
    return ""


def linked_files(env: BuildEnvironment) -> dict[str, set[Path]]:
    """Document -> the files it links to, kept with the environment."""
    found: dict[str, set[Path]] = vars(env).setdefault("linked_files", {})
    return found


def forget(_app: Sphinx, env: BuildEnvironment, document: str) -> None:
    linked_files(env).pop(document, None)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_transform(RepositoryLinks)
    app.connect("env-purge-doc", forget)
    return {"env_version": 1, "parallel_read_safe": False, "parallel_write_safe": True}
