"""The HTML document of a page: the front end's script, records and layers."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .base85 import base85
from .bundle import bundle
from .pack import Blocks, PackedLayer, block_key

# The policy allows these two scripts, WebAssembly and the script's own worker, but no requests, so
# that no captured text can make the page load or send anything.
_PAGE = """\
<!doctype html>
<html lang="en"{framed}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src {digests} 'wasm-unsafe-eval'; worker-src blob:; {more_policy}\
style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
html {{ background: #fff }}
body {{ margin: 0 auto; max-width: 1600px; padding: 16px; box-sizing: border-box }}
main > * + * {{ margin-top: 24px }}
@media (prefers-color-scheme: dark) {{ html {{ background: #111214 }} }}
html[data-theme=light] {{ background: #fff; color-scheme: light }}
html[data-theme=dark] {{ background: #111214; color-scheme: dark }}
.waiting {{ visibility: hidden; animation: late 0s 2s forwards }}
@keyframes late {{ to {{ visibility: visible }} }}
@media (max-width: 700px) {{ body {{ padding: 0 }} }}
.no-margin body {{ padding: 0; max-width: none }}
{style}</style>
</head>
<body>
<main data-attnwidget>{main}</main>
{parts}
<script type="text/plain" data-program>{program}</script>
<script>{start}</script>
</body>
</html>
"""


_WAITING = """\
<p class="waiting">If this stays, the page is incomplete, or JavaScript, with
which it draws, is switched off.</p>"""


@dataclass(frozen=True)
class PageRecord:
    """A record of a page.

    Attributes:
        manifest, overview: see `attnwidget.wire`; the overview is None if no view needs it. Of a
            further example, the manifest lacks what is in that of its widget's record.
        blocks: its layers, the matrices of lenses, and what the rows of running texts attend to.
    """

    manifest: Mapping[str, Any]
    overview: bytes | None
    blocks: Blocks


def document(
    title: str,
    records: Sequence[PageRecord],
    widgets: Sequence[Mapping[str, Any]],
    views: Sequence[str],
    *,
    complete: bool,
    framed: bool = False,
) -> str:
    """The HTML of a page.

    Args:
        widgets: as JSON, each with the index of its record.
        views: the names of the included views.
        complete: True if all layers of the records are included.
        framed: True for the page of a frame, which takes its height and background from around it.
    """
    content = {
        "views": views,
        "complete": complete,
        "records": [
            {
                "manifest": record.manifest,
                "overview": None if record.overview is None else _packed(record.overview),
            }
            for record in records
        ],
        "widgets": widgets,
    }
    blocks = [
        _block(number, block_key(place), packed)
        for number, record in enumerate(records)
        for place, packed in record.blocks.items()
    ]
    return page(
        title,
        _WAITING,
        [f'<script type="application/json" data-content>{as_json(content)}</script>', *blocks],
        framed=framed,
    )


def page(
    title: str,
    main: str,
    parts: Sequence[str],
    *,
    script: str = "start",
    more_policy: str = "",
    style: str = "",
    framed: bool = False,
) -> str:
    """The HTML of a page with the program in it.

    Args:
        main: what stands there until the program runs, as HTML.
        parts: scripts that are data.
        script: the name of the bundle that starts the program.
        more_policy: further directives of its content policy, each with a semicolon and a space.
        style: further rules.
    """
    start, program = (bundle(f"{name}.js").encode() for name in (script, "page"))
    return _PAGE.format(
        framed=" data-framed" if framed else "",
        title=html.escape(title),
        digests=f"{_digest(start)} {_digest(program)}",
        more_policy=more_policy,
        style=style,
        main=main,
        parts="\n".join(parts),
        program=_packed_program(program),
        start=start.decode(),
    )


@lru_cache(maxsize=1)
def _packed_program(program: bytes) -> str:
    return base85(zlib.compress(program, 9))


def _packed(overview: bytes) -> dict[str, Any]:
    return {"bytes": len(overview), "data": base85(zlib.compress(overview))}


def _digest(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


def _block(record: int, key: str, packed: PackedLayer) -> str:
    content = as_json(packed.content | {"data": base85(packed.data)})
    place = f'data-record="{record}" data-block="{html.escape(key)}"'
    return f'<script type="application/json" {place}>{content}</script>'


def as_json(content: Any) -> str:
    """JSON without `<`, so that it cannot open or close a tag of the page."""
    # In ASCII, because a token may be a lone surrogate, which UTF-8 does not have.
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
