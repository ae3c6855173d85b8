"""A page in a sandboxed frame: the output of a notebook's cell, or a piece of another page."""

from __future__ import annotations

import html

from attnwidget.view_state import ShownRecord

from .assemble import page_within
from .pack import Blocks
from .title import title_of

# Only the text inside the frame is left where untrusted HTML is sanitized, as in somebody else's
# notebook. Browsers do not show it beside a frame.
_FALLBACK = "{title}. To see the view here, trust this notebook, or run its cell again."

# The frame may run its own scripts and save files, and has an origin of its own: it sees nothing of
# the page around it. In ASCII, because whoever writes this into a file may not say in which
# encoding.
_FRAME = """\
<div><iframe data-attnwidget="{sizing}" title="{title}" sandbox="allow-scripts allow-downloads" \
allow="clipboard-write" srcdoc="{page}" \
onload="{script}" style="display: block; width: 100%; height: {height}px; border: 0">\
{fallback}</iframe></div>
"""

# Gives frames the height of their content and tells them the colour of what they lie on, in a page
# of which nothing else is known. It is a handler because a script would not run in HTML that a page
# inserts later; bare names in a handler may be properties of the frame. Where a host allows no
# handlers, a frame keeps its height and follows the system's theme. The counterpart in the frame is
# js/src/host/page.ts.
_SCRIPT = """
((loaded) => {
  // The nearest background that is not mostly transparent, as in js/src/styles/surroundings.ts.
  const backgroundOf = (element) => {
    // Hosts may put outputs into shadow trees.
    for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
      const { backgroundColor } = getComputedStyle(at);
      // Browsers write the opacity last: rgba(0, 0, 0, 0.5), color(srgb 0 0 0 / 0.5).
      const opacity = /(?:^rgba.*,|\\/) *([\\d.]+)\\)$/.exec(backgroundColor)?.[1] ?? 1;
      if (opacity >= 0.5) return backgroundColor;
    }
    return null;
  };
  const tell = (frame) => {
    const surroundings = {
      background: backgroundOf(frame),
      color: getComputedStyle(frame.parentElement).color,
      // The height in which a view is in sight: all of a frame of a fixed height, else the window
      // without the bars of the program. In a page that is in a frame itself, nobody knows it.
      window:
        frame.dataset.attnwidget === "fixed" ? frame.clientHeight :
        window.parent === window ? window.innerHeight - 150 : 0,
    };
    frame.contentWindow?.postMessage({ attnwidget: surroundings }, "*");
  };
  const others = window.attnwidgetFrames;
  const frames = (window.attnwidgetFrames ??= new Set());
  frames.add(loaded);
  tell(loaded);
  if (others) return;
  const tellAll = () =>
    requestAnimationFrame(() => {
      for (const frame of frames) frame.isConnected ? tell(frame) : frames.delete(frame);
    });
  window.addEventListener("message", ({ source, data }) => {
    const frame = [...frames].find(({ contentWindow }) => source && contentWindow === source);
    if (!frame || !data?.attnwidget) return;
    const { height, ready } = data.attnwidget;
    if (frame.dataset.attnwidget === "auto" && height > 0)
      frame.style.height = `${Math.min(height, 4000)}px`;
    if (ready) tell(frame);
  });
  for (const element of [document.documentElement, document.body])
    new MutationObserver(tellAll).observe(element, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellAll);
  window.addEventListener("resize", tellAll);
})(this);
"""

# In CSS pixels: the frame's height besides rows of tokens, that of a row, and the most in all.
_REST, _ROW, _MOST = 340, 28, 900


def frame_html(
    shown: ShownRecord,
    blocks: Blocks,
    note: str = "",
    height: int | None = None,
) -> str:
    """The HTML of a frame with a page in it, in ASCII.

    Args:
        blocks: those of the page.
        note: for the reader; "" for none.
        height: in CSS pixels; None to follow the content.
    """
    stack = shown.record.stack(shown.choices["stack"])
    rows = max(len(stack.queries), len(stack.keys))
    # Until the height of the content is known.
    estimate = min(_REST + _ROW * rows, _MOST)
    title = html.escape(title_of([shown]))
    frame = _FRAME.format(
        sizing="auto" if height is None else "fixed",
        title=title,
        fallback=_FALLBACK.format(title=title),
        page=html.escape(page_within(shown, blocks, note)),
        height=estimate if height is None else height,
        script=html.escape(_SCRIPT),
    )
    return frame.encode("ascii", "xmlcharrefreplace").decode()
