"""The viewer: a page without a record, which opens a reader's records, profiles and saved pages."""

from __future__ import annotations

from typing import Any

from attnwidget.analysis import ALL_METRICS, LENSES, METRICS, SIGNED_METRICS, BrowserLens, Metric
from attnwidget.analysis.patterns import rules_as_json
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
<p>Choose a record or a profile (<code>.safetensors</code>, of <code>record.save</code> or
<code>profile.save</code>), or a page that attnwidget has saved (<code>.html</code>), or drop it
here.</p>
<p><input type="file" accept=".safetensors,.html" aria-label="Record, profile or page"></p>
<p><small>The file stays in this browser: it is not uploaded.</small></p>
<noscript>JavaScript, with which this page draws, is switched off.</noscript>
</div>"""


def viewer_html() -> str:
    """The HTML of the viewer."""
    known = {
        "lenses": [lens_words(lens) for lens in LENSES if isinstance(lens, BrowserLens)],
        "metrics": [
            *(_words(metric, of_softmax=metric.of_softmax or None) for metric in METRICS.values()),
            *(_words(metric, of_softmax=False) for metric in SIGNED_METRICS.values()),
        ],
        "of_profiles": [
            {"name": name, "digits": metric.digits, "directions": metric.directions}
            for name, metric in ALL_METRICS.items()
        ],
        "patterns": rules_as_json(),
    }
    described = f'<script type="application/json" data-known>{as_json(known)}</script>'
    return page(
        "attnwidget viewer",
        _CHOOSER,
        [described],
        script="viewer",
        more_policy=_POLICY,
        style=_STYLE,
    )


def _words(metric: Metric, *, of_softmax: bool | None) -> dict[str, Any]:
    """A metric that the viewer computes, and the stacks for which it is defined."""
    return {
        "name": metric.name,
        "label": metric.label,
        "unit": metric.unit,
        "digits": metric.digits,
        "directions": metric.directions,
        "description": metric.description,
        "self_only": metric.self_only,
        "of_softmax": of_softmax,
    }
