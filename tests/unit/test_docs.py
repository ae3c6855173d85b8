"""Links of the documents lead somewhere."""

import ast
import re
from pathlib import Path

import pytest

import attnwidget as aw

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "docs" / "llms.txt"]


# [name]: file "title"
NAMED = re.compile(r'^\[([^\]]+)\]: (\S+)(?: "([^"]+)")?$', re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    inline = re.findall(r"\]\(([^)#]+)", text)
    named = {name: target for name, target, _ in NAMED.findall(text)}
    for target in (*inline, *named.values()):
        assert "://" in target or (document.parent / target).exists(), target
    used = set(re.findall(r"\]\[([^\]]+)\]", text))
    assert used == named.keys()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_snippet_can_be_written_so(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for _, code in re.findall(r"^```(python|{attnwidget}.*)\n(.*?)^```", text, re.M | re.S):
        # Options of a directive, and magics of a notebook.
        code = re.sub(r"^(:\w+:|%).*\n", "", code, flags=re.M)
        names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)]
        of_ours = [n.attr for n in names if isinstance(n.value, ast.Name) and n.value.id == "aw"]
        of_widget = [
            n.attr for n in names if isinstance(n.value, ast.Name) and n.value.id == "widget"
        ]
        assert [name for name in of_ours if not hasattr(aw, name)] == []
        assert [name for name in of_widget if not hasattr(aw.AttentionWidget, name)] == []


def test_every_row_of_parity_is_held_by_a_test() -> None:
    text = (ROOT / "docs" / "parity.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) > 40
    unlinked = [row for row in rows if "][test_" not in row and "| test |" not in row]
    assert unlinked == []


def test_what_is_said_of_hosts_is_held_by_tests_that_exist() -> None:
    document = ROOT / "docs" / "hosts.md"
    tests = [(file, test) for _, file, test in NAMED.findall(document.read_text("utf-8")) if test]
    assert len(tests) > 30
    for file, test in tests:
        text = (document.parent / file).read_text(encoding="utf-8")
        assert f"def {test}(" in text, f"{file} has no {test}"
