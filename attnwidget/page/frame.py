"""A page in a sandboxed frame: the output of a notebook's cell, or a piece of another page."""

from __future__ import annotations

import html

from .assemble import ShownRecord, page_within
from .blocks import PackedLayers

# The frame may run its own scripts and save files, and has an origin of its own: it sees nothing of
# the page around it. In ASCII, because whoever writes this into a file may not say in which
# encoding.
_FRAME = """\
<div><iframe data-attnwidget="{sizing}" title="{title}" sandbox="allow-scripts allow-downloads" \
allow="clipboard-write" srcdoc="{page}" \
style="display: block; width: 100%; height: {height}px; border: 0"></iframe>
<script>{script}</script></div>
"""

# Gives frames the height of their content and tells them the colour of what they lie on. Where a
# host runs no scripts of outputs, a frame keeps its height and follows the system's theme. The
# counterpart in the frame is js/src/host/frame.ts.
_SCRIPT = """
(() => {
  if (window.attnwidgetFrames) return;
  window.attnwidgetFrames = true;
  const frames = () => [...document.querySelectorAll("iframe[data-attnwidget]")];
  const backgroundOf = (element) => {
    for (let place = element; place; place = place.parentElement) {
      const { backgroundColor } = getComputedStyle(place);
      if (!/^transparent$|, 0\\)$/.test(backgroundColor)) return backgroundColor;
    }
    const { colorScheme } = getComputedStyle(document.documentElement);
    return /dark/.test(colorScheme) ? null : "#ffffff";
  };
  const tell = (frame) =>
    frame.contentWindow?.postMessage({ attnwidget: { background: backgroundOf(frame) } }, "*");
  const tellAll = () => requestAnimationFrame(() => frames().forEach(tell));
  addEventListener("message", ({ source, data }) => {
    const frame = frames().find(({ contentWindow }) => contentWindow === source);
    const height = data?.attnwidget?.height;
    if (!frame || !(height > 0)) return;
    if (frame.dataset.attnwidget === "auto") frame.style.height = `${Math.min(height, 4000)}px`;
    tell(frame);
  });
  for (const element of [document.documentElement, document.body])
    new MutationObserver(tellAll).observe(element, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellAll);
})();
"""

# In CSS pixels: the frame's height besides rows of tokens, that of a row, and the most in all.
_REST, _ROW, _MOST = 340, 28, 900


def frame_html(
    shown: ShownRecord, packed: PackedLayers, note: str = "", height: int | None = None
) -> str:
    """The HTML of a frame with a page in it, in ASCII.

    Args:
        packed: the layers of the page, by stack and number.
        note: for the reader; "" for none.
        height: in CSS pixels; None to follow the content.
    """
    stack = shown.record.stack(shown.choices["stack"])
    rows = max(len(stack.queries), len(stack.keys))
    # Until the height of the content is known.
    estimate = min(_REST + _ROW * rows, _MOST)
    model = shown.manifest["model"]
    frame = _FRAME.format(
        sizing="auto" if height is None else "fixed",
        title=html.escape(f"Attention of {model}" if model else "Attention"),
        page=html.escape(page_within(shown, packed, note)),
        height=estimate if height is None else height,
        script=_SCRIPT,
    )
    return frame.encode("ascii", "xmlcharrefreplace").decode()
