"""The tables in docs/benchmarks.md and on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from .cases import READINGS, Case, readings
from .chromium import LOOK_SECONDS, QUIET_LOOKS
from .measure import SLOW
from .models import TITLES
from .ratios import Row, Spread, above, plain, ratio, spread
from .results import Results
from .targets import targets

_HOW = """\
# Benchmarks

BertViz {version}, attnwidget, and pages that do next to nothing, in turns in the same browser on
the same machine: `make bench` measures this anew and writes this page; `benchmarks.json` beside it
has every round. Times depend on the machine; the ratios of one run are what can be compared.

{machine}

## How it is measured

- **The same input.** The first T tokens of one text (`benchmarks/browser/prose.txt`); MiniLM has 6
  layers of 12 heads, SmolLM2-135M 30 of 9. Every view opens with all heads on, in a window of 1100
  × 800. BertViz draws every weight as a line; attnwidget leaves out weights below 0.0005 and says
  how much attention is shown.
- **BertViz's page** is the HTML that it returns itself (`html_action="return"`), not edited,
  between `<body>` tags. What it loads from a CDN comes from this disk, in the versions that it asks
  for (of jQuery 2.1.0 instead of 2.0.0, which npm lacks). Its neuron view works with copies of old
  models only: its own BERT was given MiniLM's weights. It knows no SmolLM2.
- **Bytes** of a whole page. BertViz writes its data twice, once into a comment; it is counted once
  here, and the size of the file is stated apart. Where its page was not made, its data was counted
  (≈: on evenly spread rows).
- **First paint** is the time from the start of the navigation to the frame after which the picture
  changes no more, minus the bare page's. A frame is what the browser's compositor notes as drawn
  (`DrawFrame` in its trace): it counts after it was rastered, and whoever computed it. A page is
  taken for finished when no thread of its process has had work for {quiet:.1f} s.
- **Hover**: from the pointer's move to another token to the last change of the picture before the
  next move, with the frame limiter off. **CPU** is what all threads of the page's process used per
  move, minus what they do for the bare canvas. In the model view a head is opened, and its tokens
  are hovered.
- **Layer**: from the key or the choice to the last change.
- **60 Hz**: the frame limiter is on, the pointer goes to another token every 1/60 s. p95 of the
  time between frames, and the share of frames that were missed.
- **Memory** that the page's process shares with no other, after a collection of garbage, minus the
  bare page's (before its canvas is painted). **Nodes** of all documents.
- Each number is the median over the rounds, with the least and the most in brackets; ratios are
  taken round by round. "Did not draw": no picture within {limit:.0f} s, or no page. A page that
  took over {slow} s in all was opened once.
- The floors: *bare canvas* repaints a rectangle on every move of the pointer; *same bytes* is as
  long as our page and shows one word.
"""


def markdown(found: Results) -> str:
    """The text of docs/benchmarks.md."""
    loads = [run["load"] for run in found.runs]
    machine = [
        *(f"- {name.capitalize()}: {value}" for name, value in found.machine.items()),
        f"- Load while measuring: {min(loads):.1f} to {max(loads):.1f}",
    ]
    head = _HOW.format(
        version=found.machine["python"].split("bertviz ")[1], machine="\n".join(machine),
        quiet=QUIET_LOOKS * LOOK_SECONDS, limit=found.limit, slow=SLOW,
    )  # fmt: skip
    return "\n".join([head, *_sections(found)])


def summary(found: Results) -> str:
    """The tables alone."""
    return "\n".join(_sections(found))


def _sections(found: Results) -> list[str]:
    return [
        *_section("Targets", *_table(("", "wanted", "measured", ""), targets(found))),
        *_section("Bytes", *_bytes(found)),
        *_section("Making a page, in Python", *_making(found)),
        *(line for view in ("head", "model", "neuron") for line in _view(found, view)),
        *_section("Weightings, and two records", *_readings(found)),
        *_section("Capturing", *_capturing(found)),
    ]


def _bytes(found: Results) -> list[str]:
    rows = []
    for counted in (page for page in found.pages if "counted" in page):
        where = {"model": counted["model"], "tokens": counted["tokens"]}
        ours = found.page(**where, subject="attnwidget")
        theirs = next(
            (p for p in found.pages
             if where.items() <= p.items() and "bytes_once" in p and p["view"] != "neuron"), {}
        )  # fmt: skip
        once = theirs.get("bytes_once", counted["counted"])
        near = "" if theirs or counted["exact"] else "≈ "
        rows.append((
            f"{TITLES[counted['model']]}, T = {counted['tokens']}",
            near + _megabytes(once),
            _megabytes(theirs["bytes"]) if theirs else "not made",
            *_size(counted["compact"], once, near),
            *_size(ours, once, near),
        ))  # fmt: skip
    of_page = ("ratio", "largest error of a weight", "mean variation per row")
    head = ("", "BertViz, data once", "its file", "compact", *of_page, "default", *of_page)
    return _table(head, rows)


def _size(page: Row, once: int, near: str) -> tuple[str, str, str, str]:
    """The bytes of a page, their ratio to BertViz's, and its stated errors."""
    return (
        _megabytes(page["bytes"]),
        f"{near}{once / page['bytes']:.0f} ×",
        f"{page['largest']:.4f}",
        "" if page["variation"] is None else f"{page['variation']:.2%}",
    )


def _making(found: Results) -> list[str]:
    rows = []
    for ours in (page for page in found.pages if page["subject"] == "attnwidget"):
        where = {name: ours[name] for name in ("view", "model", "tokens")}
        theirs = found.page(**where, subject="bertviz")
        if not theirs:
            continue
        cells = [theirs.get("failed", ""), "", "", ""]
        if "seconds" in theirs:
            cells = [
                _cell(spread(theirs["seconds"]), "{:.2f}"),
                _times(ratio(_numbered(theirs["seconds"]), _numbered(ours["seconds"]), 1e-3)),
                _cell(spread(theirs["peak_mb"]), "{:.0f}"),
                _times(ratio(_numbered(theirs["peak_mb"]), _numbered(ours["peak_mb"]), 1)),
            ]
        taken = _cell(spread(ours["seconds"]), "{:.2f}")
        peak = _cell(spread(ours["peak_mb"]), "{:.0f}")
        rows.append((_title(Case(**where)), cells[0], taken, cells[1], cells[2], peak, cells[3]))
    head = ("", "BertViz, CPU s", "attnwidget", "ratio", "BertViz, peak MB", "attnwidget", "ratio")
    note = (
        "One thread; from the captured attention (for BertViz's neuron view: from the text, "
        "with its forward pass) to the text of the page."
    )
    return [note, "", *_table(head, rows)]


# A column: its title, how a number is written, and how a row's runs and the floor's give it.
Numbers = Callable[[Sequence[Row], Sequence[Row]], Mapping[int, float]]
_COLUMNS: Sequence[tuple[str, str, Numbers]] = (
    ("first paint, ms", "{:.0f}", lambda runs, bare: above(runs, "paint", bare)),
    ("hover p50, ms", "{:.1f}", lambda runs, bare: plain(runs, "hover_p50")),
    ("hover p95, ms", "{:.1f}", lambda runs, bare: plain(runs, "hover_p95")),
    ("CPU per hover, ms", "{:.1f}", lambda runs, bare: above(runs, "hover_cpu", bare)),
    ("layer, ms", "{:.0f}", lambda runs, bare: plain(runs, "layer")),
    ("60 Hz: p95, ms", "{:.1f}", lambda runs, bare: plain(runs, "frame_p95")),
    ("missed", "{:.0%}", lambda runs, bare: plain(runs, "dropped")),
    ("memory, MB", "{:.1f}", lambda runs, bare: above(runs, "memory", bare)),
    ("nodes", "{:.0f}", lambda runs, bare: plain(runs, "nodes")),
)
_NO_RATIO = ("60 Hz: p95, ms", "missed")


def _view(found: Results, view: str) -> list[str]:
    cases = dict.fromkeys(
        Case(run["view"], run["model"], run["tokens"]) for run in found.runs if run["view"] == view
    )
    rows: list[Sequence[str]] = []
    for case in cases:
        bare, ours = found.of(case, "bare"), found.of(case, "attnwidget")
        theirs = found.of(case, "bertviz")
        title = f"**{TITLES[case.model]}, T = {case.tokens}**"
        if any(run["drew"] for run in theirs):
            rows.append((title, "BertViz", *_numbers(theirs, bare)))
            ratios = [
                "" if name in _NO_RATIO else _times(ratio(of(theirs, bare), of(ours, bare)))
                for name, _, of in _COLUMNS
            ]
            rows.append(("", "attnwidget", *_numbers(ours, bare)))
            rows.append(("", "ratio", *ratios))
        else:
            failed = found.page(**case._asdict(), subject="bertviz").get("failed")
            why = failed or next((run["why"] for run in theirs), "")
            if why:
                rows.append((title, "BertViz", f"did not draw: {why}", *[""] * 8))
            rows.append(("" if why else title, "attnwidget", *_numbers(ours, bare)))
        rows.append(("", "bare canvas", *_floor(bare)))
        rows.append(("", "same bytes", *_numbers(found.of(case, "same"), bare)))
    if not rows:
        return []
    head = ("", "", *(name for name, _, _ in _COLUMNS))
    return _section(f"{view.capitalize()} view", *_table(head, rows))


def _readings(found: Results) -> list[str]:
    """Our pages of other numbers, beside those of attention."""
    rows: list[Sequence[str]] = []
    cases = dict.fromkeys(Case(run["view"], run["model"], run["tokens"]) for run in found.runs)
    for case in cases:
        measured = [name for name in readings(case) if found.of(case, name)]
        bare, plain = found.of(case, "bare"), found.page(**case._asdict(), subject="attnwidget")
        title = f"**{_title(case)}**"
        for name in ("attnwidget", *measured) if measured else ():
            page = found.page(**case._asdict(), subject=name)
            size = _megabytes(page["bytes"])
            if page is not plain:
                size += f", {page['bytes'] / plain['bytes']:.2f} ×"
            numbers = _numbers(found.of(case, name), bare)
            rows.append((title, READINGS.get(name, "attention"), size, *numbers))
            title = ""
    if not rows:
        return []
    note = (
        "attnwidget alone: a page with a weighting on, and a page of two records that shows their "
        "difference (in the text of B, the token in the middle is masked), beside the page of "
        "attention. The neuron view has no weightings."
    )
    head = ("", "", "bytes", *(name for name, _, _ in _COLUMNS))
    return [note, "", *_table(head, rows)]


def _numbers(runs: Sequence[Row], bare: Sequence[Row]) -> list[str]:
    return [_cell(spread(of(runs, bare).values()), form) for _, form, of in _COLUMNS]


def _floor(bare: Sequence[Row]) -> list[str]:
    """The row of the floor, with the absolute numbers that other rows subtract."""
    absolute = {
        "first paint, ms": "paint",
        "CPU per hover, ms": "hover_cpu",
        "memory, MB": "memory",
    }
    cells = []
    for name, form, of in _COLUMNS:
        numbers = plain(bare, absolute[name]) if name in absolute else of(bare, bare)
        cells.append(_cell(spread(numbers.values()), form))
    return cells


def _capturing(found: Results) -> list[str]:
    return ["```", *found.capture, "```", ""] if found.capture else []


def _title(case: Case) -> str:
    return f"{case.view}, {TITLES[case.model]}, T = {case.tokens}"


def _numbered(values: Iterable[float]) -> dict[int, float]:
    return dict(enumerate(values))


def _cell(found: Spread | None, form: str) -> str:
    if found is None:
        return ""
    middle, least, most = (form.format(value) for value in found)
    return middle if least == most else f"{middle} ({least}–{most})"


def _times(found: Spread | None) -> str:
    def short(value: float) -> str:
        return f"{value:.0f}" if value >= 10 else f"{value:.1f}"

    if found is None:
        return ""
    middle, least, most = map(short, found)
    return f"{middle} ×" if least == most else f"{middle} × ({least}–{most})"


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.2f} MB" if size < 1e8 else f"{size / 1e6:,.0f} MB"


def _section(title: str, *lines: str) -> list[str]:
    return [f"## {title}", "", *lines] if lines else []


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]
