"""attnwidget "text" -o out.html, with the embedded model"""

import json
import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import pytest

from attnwidget.cli import main
from attnwidget.cli.arguments import NULLS, parse
from attnwidget.corpus.measurement import Null
from tests.support import PATIENCE_SECONDS
from tests.unit.pages import content_of


def test_a_text_becomes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "out.html"
    assert main(["A text.", "-o", str(page)]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (f"{page}\n", "")
    content = content_of(page)
    assert content["manifest"]["model"] == "all-MiniLM-L6-v2"
    [stack] = content["manifest"]["stacks"]
    assert stack["queries"]["labels"] == ["[CLS]", "a", "text", ".", "[SEP]"]
    assert content["choices"]["view"] == "head"


def test_a_pair_a_view_and_a_place(tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    place = ["--view", "neuron", "--layer", "3", "--head", "11", "--query", "Two"]
    assert main(["One.", "--pair", "Two.", *place, "-o", str(page)]) == 0
    content = content_of(page)
    segments = content["manifest"]["stacks"][0]["queries"]["segments"]
    assert segments == [0, 0, 0, 0, 1, 1, 1]
    choices = content["choices"]
    chosen = [choices[name] for name in ("view", "layer", "head", "query")]
    assert chosen == ["neuron", 3, 11, 4]


def test_the_viewer_allows_requests_to_its_own_address_alone(tmp_path: Path) -> None:
    page = tmp_path / "viewer.html"
    assert main(["viewer", "-o", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert html.count("connect-src") == html.count("connect-src 'self'; ") == 1
    assert "default-src 'none'" in html


def test_a_quality(tmp_path: Path) -> None:
    """Long enough to be worth rounding."""
    page, text = tmp_path / "out.html", "The dog was tired, and it ran. " * 10
    sizes = []
    for quality in ("draft", "default", "exact"):
        assert main([text, "--quality", quality, "-o", str(page)]) == 0
        sizes.append(page.stat().st_size)
    assert sizes == sorted(set(sizes))


def test_a_profile_of_a_file_of_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts, page, table = (tmp_path / name for name in ("texts.txt", "atlas.html", "heads.csv"))
    texts.write_text("The dog slept.\n\nIt was tired.\n", encoding="utf-8")
    files = ["--texts", str(texts), "-o", str(page), "--table", str(table)]
    assert main(["profile", *files, "--null", "none"]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert len(table.read_text("utf-8").splitlines()) == 1 + 6 * 12
    assert '"view":"map"' in page.read_text("utf-8")


def test_a_null_is_spelled_as_in_python_too() -> None:
    args = parse(["profile", "--texts", "a.txt", "-o", "out.html", "--null", "random weights"])
    assert NULLS[args.null] == NULLS["random"]


def test_every_null_has_a_name_and_the_default_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert {name for names in NULLS.values() for name in names or ()} == {*get_args(Null)}
    assert {*get_args(Null), "none"} <= NULLS.keys()
    with pytest.raises(SystemExit):
        parse(["profile", "--help"])
    assert "random, the default, is the model" in " ".join(capsys.readouterr().out.split())


def test_an_interrupted_profile_keeps_what_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnwidget.corpus.profiler import Profiler

    texts, page = tmp_path / "texts.txt", tmp_path / "atlas.html"
    texts.write_text("The dog slept.\n" * 40, encoding="utf-8")
    read = Profiler._read

    def interrupted(*args: Any) -> None:
        read(*args)
        monkeypatch.setattr(Profiler, "_read", read)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Profiler, "_read", interrupted)
    files = ["--texts", str(texts), "-o", str(page)]
    assert main(["profile", *files, "--null", "none", "--json"]) == 130
    said = json.loads(capsys.readouterr().out)
    assert said["missing"] == ["texts: 16 of 40 were read"]
    assert "texts: 16 of 40 were read" in said["description"]
    assert '"num_texts":16' in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([""], "the text '' gives no tokens"),
        (["A \udcff text."], r"the text 'A \\udcff text.' is no Unicode text"),
        (["word " * 600], "602 tokens; .* takes at most 512"),
        (["A text.", "--layer", "6"], "layer 6 does not exist: this stack has 6 layers, 0 to 5"),
        (["A text.", "--layer", "-1"], "layer -1 does not exist"),
        (["A text.", "--head", "12"], "head 12 does not exist: this record has 0 to 11"),
        (["A text.", "--query", "texts"], "no query is the token 'texts'; there are 0 '.CLS"),
        (["A text.", "--target", "B"], "BertModel is no encoder-decoder: it takes no target"),
        (["A text.", "--generate", "3"], "BertModel does not generate"),
        (["A text.", "-o", "NOWHERE/out.html"], "there is no folder NOWHERE"),
        (["A text.", "-o", "FOLDER"], "FOLDER is a folder"),
        (["A text.", "-o", "FOLDER/a.safetensors"], "-o is a page of HTML; give it a name with"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_1(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"NOWHERE": str(tmp_path / "nothing"), "FOLDER": str(tmp_path)}
    for word, place in places.items():
        arguments = [argument.replace(word, place) for argument in arguments]
        message = message.replace(word, re.escape(place))
    output = [] if "-o" in arguments else ["-o", str(tmp_path / "out.html")]
    assert main([*arguments, *output]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    assert re.match(f"attnwidget: .*{message}", line)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["view", "--help"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 0
    out = capsys.readouterr().out
    words = ["--view", "--layer", "--head", "--query", "--quality", "--quiet", "--output", "130"]
    of_text = ["--pair", "--target", "--generate", "--model", "all-MiniLM-L6-v2", "RECORD"]
    for word in [*words, *(["record"] if "view" in arguments else of_text)]:
        assert word in out


def test_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"attnwidget {version('attnwidget')}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: text, -o/--output"),
        (["A text."], "required: -o/--output"),
        (["A text.", "-o", "out.html", "--view", "tree"], "invalid choice: 'tree'"),
        (["A text.", "-o", "out.html", "--layer", "last"], "invalid int value: 'last'"),
        (["A text.", "-o", "out.html", "--heads", "1,b"], "'1,b' is no list of numbers, as 0,2,5"),
        (["A text.", "-o", "out.html", "--generate", "0"], "'0' is no number of tokens"),
        (["view", "-o", "out.html"], "required: record"),
        (["compare", "a.safetensors", "-o", "out.html"], "required: B"),
        (["view", "a.safetensors", "-o", "out.html", "--model", "b"], "unrecognized arguments"),
    ],
)
def test_wrong_usage_is_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_the_text_view(tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    assert main(["-o", str(page), "view"]) == 0
    [stack] = content_of(page)["manifest"]["stacks"]
    assert stack["queries"]["labels"] == ["[CLS]", "view", "[SEP]"]


def test_as_a_module(tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    command = [sys.executable, "-m", "attnwidget", "A text.", "-o", str(page)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{page}\n"
    assert run.stderr == ""
    assert len(content_of(page)["manifest"]["stacks"][0]["layers"]) == 6


def test_json_is_one_object_with_a_description(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "out.html"
    assert main(["A text.", "-o", str(page), "--json"]) == 0
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert said["description"].startswith("Record of all-MiniLM-L6-v2: 1 stack (self)")
    del said["description"]
    assert said == {"output": str(page), "missing": [], "interrupted": False}
    assert err == ""
    assert main(["A text.", "--layer", "6", "-o", str(page), "--json"]) == 1
    out, err = capsys.readouterr()
    expected = "layer 6 does not exist: this stack has 6 layers, 0 to 5"
    assert (json.loads(out), err) == ({"error": expected}, "")


def test_json_of_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts, page = tmp_path / "texts.txt", tmp_path / "atlas.html"
    texts.write_text("The dog slept.\nIt was tired.\n", encoding="utf-8")
    files = ["--texts", str(texts), "-o", str(page), "--null", "none"]
    assert main(["profile", *files, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["description"].startswith(
        "Profile of all-MiniLM-L6-v2 over 2 texts, without a null"
    )


def test_json_and_a_page_on_the_same_output(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["A text.", "-o", "-", "--json"])
    assert "so the page needs -o FILE" in capsys.readouterr().err
