"""Counts and reports of `make bench`, without a browser and without BertViz."""

import json

import numpy as np
import pytest

from benchmarks.browser import rival
from benchmarks.browser.cases import Case
from benchmarks.browser.floors import as_long_as
from benchmarks.browser.measure import Run
from benchmarks.browser.payload import json_bytes
from benchmarks.browser.report import markdown
from benchmarks.browser.results import Results

CASE = Case("head", "minilm", 128)
MADE = {"model": "minilm", "tokens": 128, "view": "head"}


def some_layers(length: int) -> np.ndarray:
    """2 layers of 3 heads."""
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(length), (2, 3, length)).astype(np.float32)


def bertviz_json(layers: np.ndarray, labels: list[str]) -> str:
    """Data as `bertviz.head_view` writes it."""
    data = {"name": None, "attn": layers.tolist(), "left_text": labels, "right_text": labels}
    return json.dumps(
        {
            "attention": [data],
            "default_filter": "0",
            "root_div_id": "bertviz-0123456789abcdef0123456789abcdef",
            "layer": None,
            "heads": None,
            "include_layers": [0, 1],
        }
    )


def test_every_byte_of_the_data_is_counted() -> None:
    labels = ["a", 'quo"te', "ünï", "d"]
    layers = some_layers(4)
    assert json_bytes(layers, labels) == len(bertviz_json(layers, labels))


def test_some_rows_stand_for_all() -> None:
    labels = [str(position) for position in range(64)]
    layers = some_layers(64)
    exact = json_bytes(layers, labels)
    assert json_bytes(layers, labels, every=8) != exact
    assert json_bytes(layers, labels, every=8) == pytest.approx(exact, rel=0.01)


def test_the_copies_in_a_page_are_found() -> None:
    data = bertviz_json(some_layers(4), ["a", "b", "c", "d"])
    page = f"x\n  const params = {data}; // HACK: {data} is a template marker\n  more = 1;\n"
    assert rival.data_of(page) == (len(data), 2)
    assert rival.data_of(f"window.bertviz_params = {data}\n") == (len(data), 1)


def test_a_floor_has_the_bytes_that_are_wanted() -> None:
    assert len(as_long_as(5000)) == 5000


def results(*theirs: Run) -> Results:
    found = Results({"python": "Python 3, bertviz 1.4.1"})
    found.pages = [
        {"model": "minilm", "tokens": 128, "subject": "bertviz", "counted": 6e6, "exact": True,
         "compact": {"bytes": 1e5, "largest": 0.02, "variation": 0.005}},
        {**MADE, "subject": "attnwidget", "bytes": 2e5, "seconds": [0.1], "peak_mb": [5.0],
         "largest": 0.0004, "variation": None},
        {**MADE, "subject": "bertviz", "failed": "not made: that takes about 5 GB of memory"},
    ]  # fmt: skip
    paints = {"attnwidget": (120.0, 140.0), "bare": (20.0, 20.0)}
    for subject, values in paints.items():
        for number, paint in enumerate(values):
            found.add_run(CASE, subject, number, Run(True, paint=paint, memory=20.0), 1)
    for number, run in enumerate(theirs):
        found.add_run(CASE, "bertviz", number, run, 1)
    return found


def test_ratios_are_taken_round_by_round_above_the_bare_page() -> None:
    page = markdown(results(Run(True, paint=1020.0), Run(True, paint=2420.0)))
    assert "| 110 (100–120) |" in page
    # 1000 / 100 and 2400 / 120.
    assert "15 × (10–20)" in page


@pytest.mark.parametrize(
    "theirs", [(), (Run(False, "took over 120 s"),)], ids=["no page", "no picture"]
)
def test_who_does_not_draw_has_no_number(theirs: tuple[Run, ...]) -> None:
    page = markdown(results(*theirs))
    [line] = [line for line in page.splitlines() if "did not draw" in line]
    assert not any(character.isdigit() for character in line.split("did not draw")[1].split("|")[1])
    assert "ratio | | " not in page.split("## Head view")[1]


def test_bytes_are_compared_where_the_page_was_not_made() -> None:
    page = markdown(results())
    sizes = "0.10 MB | 60 × | 0.0200 | 0.50% | 0.20 MB | 30 × | 0.0004 |  |"
    assert f"| MiniLM, T = 128 | 6.00 MB | not made | {sizes}" in page
    assert "| bytes of quality compact, MiniLM, T = 128 | ≥ 33 × | 60 × | met |" in page


def test_a_weighting_stands_beside_attention() -> None:
    found = results()
    found.pages.append({**MADE, "subject": "values", "bytes": 3e5})
    for name, missed in (("attnwidget", 0.01), ("values", 0.04)):
        found.runs = [run for run in found.runs if run["subject"] != name]
        found.add_run(CASE, name, 0, Run(True, paint=120.0, memory=20.0, dropped=missed), 1)
    section = markdown(found).split("## Weightings")[1]
    rows = [line.split(" | ")[1:4] for line in section.splitlines() if line.startswith("| ")]
    assert rows[2:] == [
        ["attention", "0.20 MB", "100"],
        ["value-weighted", "0.30 MB, 1.50 ×", "100"],
    ]
    assert section.index("| 1% |") < section.index("| 4% |")
    assert "## Weightings" not in markdown(results(Run(True, paint=1020.0)))
