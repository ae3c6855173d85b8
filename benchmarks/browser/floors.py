"""Almost empty pages, which measure the browser's own cost."""

from __future__ import annotations

# Repaints all of a canvas as large as a view, at every move of the pointer. Before the first the
# canvas has no memory, so that what the page holds then is the least that any page does.
BARE = """\
<!doctype html>
<html><head><meta charset="utf-8"><title>Bare canvas</title></head>
<body style="margin: 0"><canvas width="1000" height="750"></canvas><p>Bare</p>
<script>
const canvas = document.querySelector("canvas");
const draw = (x, y) => {
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, 1000, 750);
  pen.fillRect(x - 20, y - 10, 40, 20);
};
addEventListener("pointermove", ({ clientX, clientY }) =>
  requestAnimationFrame(() => draw(clientX, clientY)),
);
</script>
</body></html>
"""


def as_long_as(size: int) -> str:
    """A page of `size` bytes, with one visible line."""
    start, end = (
        '<!doctype html>\n<html><head><meta charset="utf-8"><title>Nothing</title></head>'
        '<body><p>Nothing</p><script type="application/json">',
        "</script></body></html>\n",
    )
    return start + "A" * (size - len(start) - len(end)) + end
