"""The viewer: a page without a record, which opens records and saved pages from a reader's disk."""

from __future__ import annotations

from attnwidget.analysis import LENSES, BrowserLens
from attnwidget.wire import lens_words

from .document import as_json, page

# Files of the viewer's own address alone, for "?record=": of a page on a disk, there is none.
_POLICY = "connect-src 'self'; "

_STYLE = """\
.chooser { font: 15px/1.5 system-ui, sans-serif; max-width: 640px; margin: 12vh auto;
padding: 32px; border: 2px dashed #8888; border-radius: 12px }
.chooser h1 { margin: 0 0 8px; font-size: 20px }
.chooser input { font: inherit; max-width: 100% }
.chooser small, .chooser code { font-size: 13px }
.chooser [role=alert] { border-left: 3px solid #d9730d; padding-left: 12px;
overflow-wrap: anywhere }
body.filled { padding-top: 0; padding-bottom: 0 }
.opened { font: 13px/32px system-ui, sans-serif; display: flex; gap: 12px;
justify-content: space-between }
.opened bdi { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.opened button { font: inherit; flex: none; padding: 0; border: 0; background: none;
color: LinkText; cursor: pointer }
@media (max-width: 700px) { .opened { padding: 0 12px } .chooser { margin: 12px } }
"""

_CHOOSER = """\
<div class="chooser">
<h1>attnwidget viewer</h1>
<p>Choose a record (<code>.safetensors</code>, of <code>record.save</code>) or a page that
attnwidget has saved (<code>.html</code>), or drop it here.</p>
<p><input type="file" accept=".safetensors,.html" aria-label="Record or page"></p>
<p><small>The file stays in this browser: it is not uploaded.</small></p>
<noscript>JavaScript, with which this page draws, is switched off.</noscript>
</div>"""


def viewer_html() -> str:
    """The HTML of the viewer."""
    lenses = [lens_words(lens) for lens in LENSES if isinstance(lens, BrowserLens)]
    described = f'<script type="application/json" data-lenses>{as_json(lenses)}</script>'
    return page(
        "attnwidget viewer",
        _CHOOSER,
        [described],
        script="viewer",
        more_policy=_POLICY,
        style=_STYLE,
    )
