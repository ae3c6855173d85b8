"""Sphinx's configuration for the site of these documents (`make docs`)."""

import sys
from pathlib import Path

from sphinx.application import Sphinx

import attnwidget

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "attnwidget"
author = "The attnwidget authors"
project_copyright = f"{author}. Apache-2.0"
release = attnwidget.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "gallery",
    "live_view",
    "source_pages",
]
exclude_patterns = ["_ext"]
# In docstrings, `name` is code, and a link where the name is documented.
default_role = "py:obj"

myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
napoleon_numpy_docstring = False
# "Attributes" become a list in the class's own text, where its docstring has them.
napoleon_use_ivar = True

copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = f"attnwidget {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
# For assistants that read the site.
html_extra_path = ["llms.txt"]
html_show_sphinx = False
# An excerpt is fetched from the page found, which no browser allows on a file: page.
html_show_search_summary = False
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": {
        "color-brand-primary": "#1f5fbf",
        "color-brand-content": "#1f5fbf",
        "color-brand-visited": "#1f5fbf",
    },
    "dark_css_variables": {
        # The colour of an exported page, so that a live view has no edges.
        "color-background-primary": "#111214",
        "color-brand-primary": "#7db0ff",
        "color-brand-content": "#7db0ff",
        "color-brand-visited": "#7db0ff",
    },
}


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", _plain_bars)


def _plain_bars(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """In docstrings, |x| is an absolute value; reStructuredText takes it for a substitution."""
    lines[:] = [line.replace("|", r"\|") for line in lines]
