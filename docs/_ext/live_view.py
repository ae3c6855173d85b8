"""The directive `{attnwidget}`: a snippet, and the view that it makes, alive in the site.

The snippet runs while the site is built. Those of one document run one after the other and share
their names, as the cells of a notebook do. The last line is the widget.
"""

from __future__ import annotations

import ast
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri
from sphinx.util.typing import ExtensionMetadata, OptionSpec
from sphinx.writers.html5 import HTML5Translator

from attnwidget import AttentionWidget
from attnwidget.widget import ProfileWidget

FOLDER = "_live"

# Height of the views of a text of 15 tokens in a column of the site, in CSS pixels.
HEIGHTS = {"head": 732, "model": 704, "neuron": 712, "map": 880}


class live_view(nodes.General, nodes.Element):
    """A page that is shown in a frame. Its child is the picture for readers without JavaScript."""


class LiveView(SphinxDirective):
    """`{attnwidget} caption`, with the snippet as its content; `:height:` for a longer text."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[OptionSpec] = {"height": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        try:
            widget = self._evaluate(code)
            page = widget.to_html()
        except Exception as error:
            raise self.error(f"the snippet failed: {type(error).__name__}: {error}") from error
        caption = self.arguments[0]
        live = live_view(
            name=f"{self.env.docname.replace('/', '-')}-{self.env.new_serialno('live')}.html",
            caption=caption,
            height=self.options.get("height", HEIGHTS[widget.view]),
            page=page,
        )
        live += nodes.image(uri=f"/images/{widget.view}-light.png", alt=caption)
        widget.close()
        return [nodes.literal_block(code, code, language="python"), live]

    def _evaluate(self, code: str) -> AttentionWidget | ProfileWidget:
        names = self.env.temp_data.setdefault("live_view", {})
        *statements, last = ast.parse(code).body
        if not isinstance(last, ast.Expr):
            raise TypeError("its last line is no expression")
        exec(compile(ast.Module(statements, []), "<snippet>", "exec"), names)
        widget = eval(compile(ast.Expression(last.value), "<snippet>", "eval"), names)
        if not isinstance(widget, AttentionWidget | ProfileWidget):
            raise TypeError(f"its last line gives {type(widget).__name__}, and no widget")
        return widget


def visit(self: HTML5Translator, node: live_view) -> None:
    folder = Path(self.builder.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    (folder / node["name"]).write_text(node["page"], encoding="utf-8")
    address, title = _address(self, node), escape(node["caption"])
    self.body.append(
        f'<figure class="live"><iframe src="{address}" title="{title}" loading="lazy" '
        f'height="{node["height"]}"></iframe><noscript>'
    )


def depart(self: HTML5Translator, node: live_view) -> None:
    self.body.append(
        f"</noscript><figcaption>{escape(node['caption'])}. "
        f'<a href="{_address(self, node)}">On a page of its own</a></figcaption></figure>'
    )


def _address(translator: HTML5Translator, node: live_view) -> str:
    here: Any = translator.builder.current_docname
    return relative_uri(translator.builder.get_target_uri(here), f"{FOLDER}/{node['name']}")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(live_view, html=(visit, depart))
    app.add_directive("attnwidget", LiveView)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
