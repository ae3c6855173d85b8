"""One self-contained HTML page: the views, and every layer, without a kernel or a network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnwidget.record import AttentionRecord
from attnwidget.wire import Block, encode_block, encode_combined

_SCRIPT = Path(__file__).parents[1] / "static" / "page.js"

# The policy allows this one script and no request of any kind, so that the page cannot be
# made to load or send anything, whatever the captured text holds.
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
html {{ background: #fff }}
body {{ margin: 0 auto; max-width: 1600px; padding: 16px; box-sizing: border-box }}
@media (prefers-color-scheme: dark) {{ html {{ background: #111214 }} }}
.waiting {{ visibility: hidden; animation: late 0s 2s forwards }}
@keyframes late {{ to {{ visibility: visible }} }}
@media (max-width: 700px) {{ body {{ padding: 0 }} }}
</style>
</head>
<body>
<main data-attnwidget><p class="waiting">If this stays, the page is incomplete, or JavaScript, with
which it draws, is switched off.</p></main>
<script type="application/json" data-content>{content}</script>
{blocks}
<script>{script}</script>
</body>
</html>
"""


def page(
    record: AttentionRecord,
    manifest: Mapping[str, Any],
    overview: bytes,
    choices: Mapping[str, Any],
) -> str:
    """The page for a record, opening with these choices (the widget's traits by name)."""
    content = {
        "manifest": manifest,
        "overview": base64.b64encode(overview).decode(),
        "choices": choices,
    }
    blocks = []
    for name in record.stacks:
        stack = record.stack(name)
        blocks += [_block(f"{name}.{layer.number}", encode_block(layer)) for layer in stack.layers]
        blocks.append(_block(f"{name}.combined", encode_combined(stack)))
    # A closing tag inside a JavaScript string would end the script.
    script = _SCRIPT.read_text(encoding="utf-8").replace("</script", "<\\/script")
    return _PAGE.format(
        title=html.escape(f"Attention of {record.model}" if record.model else "Attention"),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        content=_json(content),
        blocks="\n".join(blocks),
        script=script,
    )


def _block(key: str, block: Block) -> str:
    content = {
        "parts": block.parts,
        "data": base64.b64encode(b"".join(block.buffers)).decode(),
    }
    key = html.escape(key)
    return f'<script type="application/json" data-block="{key}">{_json(content)}</script>'


def _json(content: Any) -> str:
    """JSON in which no `<` can open or close a tag of the page around it."""
    # In ASCII, because a token may be half of a character, which UTF-8 cannot hold.
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
