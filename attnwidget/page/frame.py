"""A page in a sandboxed frame: the output of a notebook's cell, or a piece of another page."""

from __future__ import annotations

import html

from attnwidget.record import Stack

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


def framed(page: str, title: str, height: int | None, stack: Stack) -> str:
    """The HTML of a frame with the page in it, in ASCII.

    Args:
        page: a self-contained HTML document.
        title: of the frame, for screen readers.
        height: in CSS pixels; None to follow the content.
        stack: the one shown, from whose tokens the height is guessed until the content is known.
    """
    rows = max(len(stack.queries), len(stack.keys))
    ascii_page = page.encode("ascii", "xmlcharrefreplace").decode()
    return _FRAME.format(
        sizing="auto" if height is None else "fixed",
        title=html.escape(title),
        page=html.escape(ascii_page),
        height=min(_REST + _ROW * rows, _MOST) if height is None else height,
        script=_SCRIPT,
    )
