"""One self-contained HTML page: the views, and every layer, without a kernel or a network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnwidget.encoding import Quality, check_quality, encode_layer, fitting, pack
from attnwidget.record import AttentionRecord
from attnwidget.wire import Block

_SCRIPT = Path(__file__).parents[1] / "static" / "page.js"

# The program is the larger part of a page of a short text, so it is compressed, and this starts it.
_START = """\
(async () => {
  try {
    const packed = atob(document.querySelector("[data-program]").textContent);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.body.append(script);
  } catch {
    document.querySelector(".waiting").textContent =
      "This page is damaged, or this browser is older than 2023 and cannot unpack it.";
  }
})();
"""

# The policy allows these two scripts, with the compiled kernels and the worker that the program
# makes of itself, and no request of any kind, so that the page cannot be made to load or send
# anything, whatever the captured text holds.
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src {digests} 'wasm-unsafe-eval'; worker-src blob:; \
style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
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
<script type="text/plain" data-program>{program}</script>
<script>{start}</script>
</body>
</html>
"""


def page(
    record: AttentionRecord,
    manifest: Mapping[str, Any],
    overview: bytes,
    choices: Mapping[str, Any],
    quality: Quality = "default",
) -> str:
    """The page for a record, opening with these choices (the widget's traits by name).

    Raises:
        ValueError: there is no such quality.
    """
    check_quality(quality)
    stacks = [(name, record.stack(name).layers) for name in record.stacks]
    quality = fitting(quality, [layer for _, layers in stacks for layer in layers])
    content = {
        "manifest": manifest,
        "overview": base64.b64encode(overview).decode(),
        "choices": choices,
    }
    blocks = [
        _block(f"{name}.{layer.number}", encode_layer(layer, quality))
        for name, layers in stacks
        for layer in layers
    ]
    program = _SCRIPT.read_bytes()
    return _PAGE.format(
        title=html.escape(f"Attention of {record.model}" if record.model else "Attention"),
        digests=f"{_digest(_START.encode())} {_digest(program)}",
        content=_json(content),
        blocks="\n".join(blocks),
        program=base64.b64encode(zlib.compress(program, 9)).decode(),
        start=_START,
    )


def _digest(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


def _block(key: str, block: Block) -> str:
    packed, data = pack(block)
    content = packed | {"data": base64.b64encode(data).decode()}
    key = html.escape(key)
    return f'<script type="application/json" data-block="{key}">{_json(content)}</script>'


def _json(content: Any) -> str:
    """JSON in which no `<` can open or close a tag of the page around it."""
    # In ASCII, because a token may be half of a character, which UTF-8 cannot hold.
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
