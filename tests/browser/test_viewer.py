"""The viewer: records and saved pages from a disk, or from its own address."""

import json
import struct
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

import attnwidget as aw
from attnwidget.cli.command import main
from attnwidget.wire import encode_overview, encode_profile, heads_alone
from tests import hostile
from tests.browser.earlier import FOLDER, earlier_record
from tests.browser.view import View
from tests.support import OpenPage
from tests.unit.records import LENGTH, layer_of, program, record_with_every_program
from tests.unit.signed import kept, linear, recurrent

CHOOSER = "input[type=file]"


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("viewer") / "viewer.html"
    assert main(["viewer", "-o", str(path), "--quiet"]) == 0
    return path


@pytest.fixture
def page(open_page: OpenPage, viewer: Path) -> Page:
    return open_page(viewer, height=1000)


def _open(page: Page, file: Path) -> View:
    page.locator(CHOOSER).set_input_files(file)
    view = View(page)
    expect(view.layer).to_be_visible()
    return view


def _matrix(view: View, fragment: str) -> np.ndarray:
    """The numbers of the matrix at a place, as copied from it."""
    page = view.page
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    page.evaluate("fragment => { location.hash = fragment; window.copied = null }", fragment)
    wanted = dict(part.split("=") for part in fragment.split("&"))
    expect(view.layer).to_have_text(wanted["layer"])
    expect(view.head).to_have_text(wanted["head"])
    view.button("Copy").click()
    view.within.get_by_role("menuitem", name="Matrix").click()
    expect(view.status).to_contain_text("copied")
    lines = page.evaluate("window.copied").splitlines()[1:]
    return np.array([[float(cell) for cell in line.split("\t")[1:]] for line in lines])


def _check_heads(page: Page, manifest: dict[str, Any], overview: bytes) -> None:
    """The viewer says of heads what Python does."""
    found, data = page.evaluate(
        """async () => {
          const content = JSON.parse(document.querySelector("[data-content]").textContent);
          const [{ manifest, overview }] = content.records;
          const shared = globalThis[Symbol.for("attnwidget.shared")];
          return [manifest, Array.from(await shared.get(overview.data))];
        }"""
    )
    # As JSON, without tuples.
    expected = json.loads(json.dumps(manifest))
    assert found["patterns"] == expected["patterns"]
    assert [stack["keys"] for stack in found["stacks"]] == [s["keys"] for s in expected["stacks"]]
    for own, other in zip(found["metrics"], expected["metrics"], strict=True):
        assert {**own, "values": None} == {**other, "values": None}
        assert own["values"].keys() == other["values"].keys()
        for stack, layers in other["values"].items():
            for row, numbers in zip(own["values"][stack], layers, strict=True):
                np.testing.assert_allclose(row, numbers, atol=2e-5, err_msg=own["name"])
    peaks, known = (each["lenses"][0]["peaks"] or {} for each in (found, expected))
    assert peaks.keys() == known.keys()
    for stack, layers in known.items():
        np.testing.assert_allclose(peaks[stack], layers, rtol=1e-5)
    # Those of lenses that need Python follow.
    overview = overview[: len(data)]
    heads = [layer["heads"] for stack in expected["stacks"] for layer in stack["layers"]]
    assert len(data) >= sum(heads)
    # A weight between two levels may round to either.
    levels = [np.frombuffer(each, np.uint8) for each in (bytes(data), overview)]
    for shift in (0, 4):
        a, b = (each >> shift & 15 for each in levels)
        apart = np.abs(a.astype(int) - b)
        assert apart.max() <= 1
        assert (apart > 0).mean() < 0.01


def test_it_is_small(viewer: Path) -> None:
    assert viewer.stat().st_size < 400_000


def test_every_program_of_a_record(page: Page, tmp_path: Path) -> None:
    record = record_with_every_program()
    record.save(tmp_path / "record.safetensors")
    view = _open(page, tmp_path / "record.safetensors")
    expect(page).to_have_title("record.safetensors")
    expect(view.within.get_by_role("tab")).to_have_text(["Head", "Model", "Neuron", "Map"])
    expect(page.get_by_role("note").filter(has_text="need Python")).to_be_visible()
    _check_heads(page, *encode_overview(record))
    for number in record.stack("self").numbers:
        expected = record.weights(number, 2)
        found = _matrix(view, f"layer={number}&head=2")
        np.testing.assert_allclose(found, expected, atol=1e-5, err_msg=f"layer {number}")
    view.open("Neuron")
    expect(view.query(0)).to_be_visible()


def test_layers_without_a_softmax(page: Page, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    coefficients = rng.normal(size=(2, LENGTH, LENGTH)).astype(np.float32)
    record = aw.AttentionRecord(
        {
            "linear": linear(recurrent(0), recurrent(1)),
            "mixed": linear(kept(coefficients)),
            "self": linear(layer_of(program(mask="causal"))),
        },
        model="a hybrid",
    )
    record.save(tmp_path / "record.safetensors")
    view = _open(page, tmp_path / "record.safetensors")
    _check_heads(page, *encode_overview(record))
    for stack, number in (("linear", 1), ("mixed", 0), ("self", 0)):
        layer = record.layer(number, stack)
        expected = layer.head_coefficients(1) if layer.signed else layer.head_weights(1)
        found = _matrix(view, f"stack={stack}&layer={number}&head=1")
        np.testing.assert_allclose(found, expected, atol=1e-5, err_msg=stack)


def test_an_earlier_record(page: Page) -> None:
    view = _open(page, FOLDER / "record.safetensors")
    _check_heads(page, *encode_overview(earlier_record()))
    view.open("Map")
    expect(view.within.get_by_role("tab", name="Map")).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("nulls", [None, "random weights"])
def test_a_profile(page: Page, nulls: str | None, tmp_path: Path) -> None:
    model, tokenizer = aw.default_model()
    texts = ["The dog was tired.", "It ran, and it ran home.", "A cat slept; the dog ran."]
    profile = aw.profile(model, tokenizer, texts, null=nulls)
    profile.save(tmp_path / "profile.safetensors")
    page.evaluate("location.hash = 'layer=2&head=5'")
    view = _open(page, tmp_path / "profile.safetensors")
    expect(view.within.get_by_role("tab")).to_have_text(["Model", "Map"])
    expect(view.tab("Map")).to_have_attribute("aria-selected", "true")
    expect(view.head).to_have_text("5")
    alone = heads_alone(profile)
    manifest, overview = encode_overview(alone, encode_profile(profile, alone))
    _check_heads(page, manifest, overview)
    view.open("Model")
    expect(view.cell(2, 5)).to_have_attribute("aria-selected", "true")


def test_each_view_by_its_link(page: Page, record: aw.AttentionRecord, tmp_path: Path) -> None:
    record.save(tmp_path / "dog.safetensors")
    page.context.set_offline(True)
    page.evaluate("location.hash = 'view=map&layer=2&head=5'")
    view = _open(page, tmp_path / "dog.safetensors")
    for name in ("Map", "Model", "Neuron", "Head"):
        page.evaluate(
            "fragment => { location.hash = fragment }", f"view={name.lower()}&layer=2&head=5"
        )
        expect(view.tab(name)).to_have_attribute("aria-selected", "true")
        expect(view.layer).to_have_text("2")
        expect(view.head).to_have_text("5")


def test_a_saved_page_with_all_its_views(page: Page, pair_page: Path) -> None:
    page.evaluate("location.hash = 'view=model&layer=2&head=5'")
    view = _open(page, pair_page)
    expect(view.tab("Model")).to_have_attribute("aria-selected", "true")
    expect(view.cell(2, 5)).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Open another").click()
    expect(page.locator(CHOOSER)).to_be_visible()
    expect(view.layer).to_have_count(0)


def test_a_file_is_dropped(page: Page, record: aw.AttentionRecord, tmp_path: Path) -> None:
    record.save(tmp_path / "dog.safetensors")
    data = list((tmp_path / "dog.safetensors").read_bytes())
    page.evaluate(
        """(data) => {
          const moved = new DataTransfer();
          moved.items.add(new File([new Uint8Array(data)], "dog.safetensors"));
          document.body.dispatchEvent(
            new DragEvent("drop", { dataTransfer: moved, bubbles: true, cancelable: true }),
          );
        }""",
        data,
    )
    expect(View(page).tab("Head")).to_be_visible()


def test_what_is_no_record_is_refused_with_its_reason(page: Page, tmp_path: Path) -> None:
    def safetensors(metadata: object) -> bytes:
        header = json.dumps({"__metadata__": metadata}).encode()
        return struct.pack("<Q", len(header)) + header

    record_with_every_program().save(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    # The length of the header of one of them begins as HTML does.
    files = {
        "empty": (b"", "neither a record nor a page"),
        "bytes": (bytes(range(256)) * 4, "neither a record nor a page"),
        "other.safetensors": (safetensors({"format": "pt"}), "neither a record nor a page"),
        "profile.safetensors": (safetensors({"attnwidget-profile": "{}"}), "is damaged"),
        "newer": (safetensors({"attnwidget-profile": '{"version": 2}'}), "A newer version"),
        "new": (safetensors({"attnwidget-record": '{"version": 99}'}), "A newer version"),
        "odd.safetensors": (
            safetensors({"attnwidget-record": '{"version": 2, "stacks": 7}'}),
            "is damaged",
        ),
        "half.safetensors": (whole[:900], "is damaged"),
        "page.html": (b"<!doctype html><title>another</title>", "neither a record nor a page"),
    }
    for name, (data, reason) in files.items():
        (tmp_path / name).write_bytes(data)
        page.locator(CHOOSER).set_input_files(tmp_path / name)
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text(f"{name} cannot be opened. ")
        expect(alert).to_contain_text(reason)


def test_hostile_files_stay_text(page: Page, tmp_path: Path) -> None:
    page.evaluate("window.alert = () => { document.title = 'hostile code ran' }")
    hostile.record().save(tmp_path / "hostile.safetensors")
    _open(page, tmp_path / "hostile.safetensors")
    page.get_by_role("button", name="Open another").click()
    html = aw.to_html(hostile.record()).replace(
        "</body>",
        "<script data-block='x'>alert(1)</script></body>",
    )
    (tmp_path / "page.html").write_text(html, encoding="utf-8", errors="replace")
    _open(page, tmp_path / "page.html")
    expect(page).to_have_title("page.html")
    expect(page.locator("script[data-block=x]")).to_have_count(0)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address of a folder."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_from_its_own_address_alone(
    browser: Browser, viewer: Path, site: str, record: aw.AttentionRecord, tmp_path: Path
) -> None:
    record.save(tmp_path / "dog.safetensors")
    (tmp_path / "viewer.html").write_bytes(viewer.read_bytes())
    context = browser.new_context()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(f"{site}/viewer.html?record=dog.safetensors#layer=2")
    view = View(page)
    expect(view.layer).to_have_text("2")
    assert [url for url in asked if not url.startswith((site, "blob:"))] == []
    page.goto(f"{site}/viewer.html?record=none.safetensors")
    expect(page.get_by_role("alert")).to_contain_text("the server answers 404")
    for other in ("https://attn.example/x", "//attn.example/x", "data:,x"):
        page.goto(f"{site}/viewer.html?record={other}")
        expect(page.get_by_role("alert")).to_contain_text("may not read")
    # Nor could a script of the page: its policy says so.
    said = page.evaluate("fetch('https://attn.example/x').then(() => 'sent', () => 'refused')")
    assert said == "refused"
    assert [url for url in asked if "attn.example/" in url and not url.startswith(site)] == []
    page.goto(f"{viewer.as_uri()}?record=dog.safetensors")
    expect(page.get_by_role("alert")).to_contain_text("choose it, or drop it here")
    context.close()
